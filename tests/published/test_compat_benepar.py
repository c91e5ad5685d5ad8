"""`spacy_lal.compat.benepar`: what benepar's own extensions and component recorded."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

from spacy_lal.compat import benepar

from .test_benepar import doc_of, docs_of, expected, imported, source


@pytest.mark.parametrize("name", ["bert", "electra", "chars"])
def test_extensions_say_what_benepars_say(name: str) -> None:
    benepar.install_extensions()
    for doc, entry in zip(
        imported(name).pipe(docs_of(imported(name), name)), expected(name), strict=True
    ):
        if "error" in entry:
            continue
        sent = next(doc.sents)
        assert sent._.parse_string == entry["parse_string"]
        found = [
            [
                *(span.start, span.end, list(span._.labels)),
                [[child.start, child.end] for child in span._.children],
                [span._.parent.start, span._.parent.end] if span._.parent else None,
            ]
            for span in sent._.constituents
        ]
        assert found == entry["constituents"]
        for token in doc:
            assert token._.labels == doc[token.i : token.i + 1]._.labels


def test_spans_that_are_no_constituents() -> None:
    benepar.install_extensions()
    doc = Doc(spacy.blank("en").vocab, ["a", " ", "b", "c"], sent_starts=[True, *[False] * 3])
    with pytest.raises(ValueError, match="this Doc has no trees"):
        doc[0:1]._.labels  # noqa: B018
    doc.spans["constituents"] = [Span(doc, 0, 4, "S"), Span(doc, 0, 3, "NP")]
    with pytest.raises(benepar.NonConstituentException, match="no constituent: b c"):
        doc[2:4]._.labels  # noqa: B018
    for nothing in (doc[1:1], Doc(doc.vocab)[:]):
        nothing.doc.spans["constituents"] = doc.spans["constituents"] if len(nothing.doc) else []
        with pytest.raises(benepar.NonConstituentException, match="a span without tokens"):
            nothing._.parse_string  # noqa: B018
    assert doc[:]._.parse_string == "(S (NP ( a) ( b)) ( c))"
    assert [c.text for c in doc[:]._.children] == ["a   b", "c"]
    path = Doc(spacy.blank("en").vocab, ["C:\\", "(\\x"], tags=["NN", "NN"])
    path.spans["constituents"] = [Span(path, 0, 2, "NP")]
    assert path[:]._.parse_string == "(NP (NN C:-BACKSLASH-) (NN -LRB-\\x))"
    assert doc[2]._.parent.text == "a   b"


def test_the_factory_finds_the_trees_and_writes_tags_over_others() -> None:
    for disabled in (False, True):
        nlp = spacy.blank("en")
        config = {"model": str(source("bert")), "disable_tagger": disabled}
        nlp.add_pipe("benepar", config=config)
        doc = doc_of(nlp, expected("bert")[0])
        doc[0].tag_ = "XYZ"
        doc = nlp.get_pipe("benepar")(doc)
        tags = [token.tag_ for token in doc]
        assert tags == (
            ["XYZ", *[""] * (len(doc) - 1)] if disabled else expected("bert")[0]["tags"]
        )
        if not disabled:
            assert next(doc.sents)._.parse_string == expected("bert")[0]["parse_string"]


def test_the_factory_reads_imported_pipelines_and_no_names(tmp_path: Path) -> None:
    imported("chars").to_disk(tmp_path / "own")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("benepar", config={"model": str(tmp_path / "own")})
    doc = nlp(" ".join(expected("chars")[2]["words"]))
    assert [token.tag_ for token in doc] == expected("chars")[2]["tags"]
    with pytest.raises(ValueError, match=r"benepar_en3: no such folder.*it downloads nothing"):
        spacy.blank("en").add_pipe("benepar", config={"model": "benepar_en3"})


@pytest.mark.parametrize("imported", [False, True])
def test_the_factory_finds_what_benepars_download_left(
    imported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the first of NLTK's folders that has it, whether or not NLTK is there."""
    monkeypatch.delitem(sys.modules, "nltk.data", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NLTK_DATA", f"{tmp_path / 'none'}{os.pathsep}{tmp_path / 'named'}")
    if imported:
        data = ModuleType("nltk.data")
        data.path = [str(tmp_path / "other"), str(tmp_path / "own")]
        monkeypatch.setitem(sys.modules, "nltk.data", data)
    place = tmp_path / ("own" if imported else "home/nltk_data") / "models" / "benepar_en3"
    shutil.copytree(source("bert"), place)
    assert benepar.downloaded("benepar_en3") == place
    nlp = spacy.blank("en")
    nlp.add_pipe("benepar", config={"model": "benepar_en3"})
    assert benepar.downloaded("benepar_de2") == Path("benepar_de2")
    assert benepar.downloaded("models/benepar_en3") == Path("models/benepar_en3")
    if not imported:
        (tmp_path / "named/models/benepar_en3").mkdir(parents=True)
        assert benepar.downloaded("benepar_en3") == tmp_path / "named/models/benepar_en3"


def test_nltks_folders() -> None:
    """Those of NLTK itself."""
    code = (
        "from spacy_lal.compat.benepar import nltk_folders; import sys\n"
        "assert 'nltk.data' not in sys.modules; mine = nltk_folders()\n"
        "import nltk.data; assert mine == nltk.data.path == nltk_folders(), mine"
    )
    pytest.importorskip("nltk")
    environment = {**os.environ, "NLTK_DATA": os.pathsep.join(["~/a", "", "/b c"])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_it_refuses_to_stand_beside_benepar(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = benepar.__spec__
    # the factory is there: that of this package
    with pytest.raises(ImportError, match="import one of the two packages"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    monkeypatch.setattr(Language, "has_factory", lambda name: False)
    Doc.set_extension("_constituent_data", default=None)
    try:
        with pytest.raises(ImportError, match="import one of the two packages"):
            spec.loader.exec_module(importlib.util.module_from_spec(spec))
    finally:
        Doc.remove_extension("_constituent_data")


def test_taken_names_are_refused() -> None:
    before = Token.get_extension("labels")
    Token.set_extension("labels", default=1, force=True)
    try:
        with pytest.raises(ValueError, match=r"Token._.labels is taken by another package"):
            benepar.install_extensions()
    finally:
        Token.set_extension("labels", getter=before[2], force=True)
