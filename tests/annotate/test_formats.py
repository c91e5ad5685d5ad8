"""Several formats from one parse; lines that are sentences; what reads the files again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from typer.testing import CliRunner

from spacy_lal.annotate import read_docs
from spacy_lal.annotate import run as runs
from spacy_lal.annotate.records import check_record, doc_record, record_doc
from spacy_lal.annotate.run import Done, Workers, annotate_texts
from spacy_lal.annotate.shards import AnnotateSettings, default_chars
from spacy_lal.annotate.texts import Texts
from spacy_lal.annotations import sentence_trees
from spacy_lal.cli import app
from spacy_lal.formats.conllu import read_conllu

LINES = ["The cat sat on the mat. She ate the fish.", "  ", "Dogs  eat .", "Go home (now)! Hello."]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("\n".join(LINES))
    return path


@pytest.fixture
def loaded(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "load", lambda *_: nlp)


def made(text: Path, output: Path, format: str, **settings: Any) -> list[Done]:
    own = AnnotateSettings(format, **settings)
    return list(annotate_texts("toy", Texts(str(text)), output, own, Workers()))


@pytest.mark.usefixtures("loaded")
def test_lines_of_all_formats_belong_together(nlp: Language, text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made(text, out, "ids,headed, brackets,conllu,jsonl", upos=True, shard_chars=30)
    found = {
        suffix: [
            x for p in sorted(out.glob(f"part-*.{suffix}")) for x in p.read_text().splitlines()
        ]
        for suffix in ("ids", "headed", "brackets")
    }
    docs = [nlp(line) for line in LINES]
    trees = [str(tree) for doc in docs for tree in sentence_trees(doc) if tree.leaves]
    assert found["brackets"] == trees
    rows = [row for path in sorted(out.glob("*.conllu")) for row in read_conllu(path)]
    assert found["ids"] == [row.id for row in rows]
    assert found["ids"][0] == "in.txt:1-1"
    assert len(found["ids"]) == len(trees) > len(LINES) - 1
    assert [line.replace("=H", "") for line in found["headed"]] == trees
    assert all(line.count("=H") >= 1 for line in found["headed"])
    assert all(all(row.upos) for row in rows)

    again = list(read_docs(out))
    assert [doc.user_data["id"] for doc in again] == ["in.txt:1", "in.txt:3", "in.txt:4"]
    assert [doc.text for doc in again] == [LINES[0], *LINES[2:]]
    assert again[0][0].pos_ == rows[0].upos[0]
    for suffix in ("conllu", "brackets", "headed"):
        sentences = [doc for path in sorted(out.glob(f"*.{suffix}")) for doc in read_docs(path)]
        assert [str(*sentence_trees(doc)) for doc in sentences] == trees
    (out / "part-00000.brackets").unlink()
    with pytest.raises(ValueError, match=r"part-00000\.brackets, complete before, is gone"):
        made(text, out, "ids,headed, brackets,conllu,jsonl", upos=True, shard_chars=30)


@pytest.mark.usefixtures("loaded")
def test_fields_beside_trees(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(
        '{"id": "a", "year": 1999, "by": "A\\tB", "text": "Go home!"}\n{"text": "Hello"}'
    )
    settings = AnnotateSettings("brackets,ids", ("year", "by"))
    texts = Texts(str(path), keep=("year", "by"))
    list(annotate_texts("toy", texts, tmp_path / "out", settings, Workers()))
    written = (tmp_path / "out/part-00000.ids").read_text()
    assert written == "a-1\t1999\tA B\nin.jsonl:2-1\t\t\n"
    for format, said in (
        ("brackets,brackets", "--format names brackets twice"),
        ("brackets,xml", "no format 'xml'"),
        ("", "no format ''"),
    ):
        with pytest.raises(ValueError, match=said):
            AnnotateSettings(format)
    with pytest.raises(ValueError, match="brackets,props has no place for fields"):
        AnnotateSettings("brackets,props", ("year",))


@pytest.mark.usefixtures("loaded")
def test_one_per_line(text: Path, tmp_path: Path) -> None:
    made(text, tmp_path / "out", "spacy", one_per_line=True)
    Doc.remove_extension("trees")  # as in a process that has loaded no pipeline
    docs = list(read_docs(tmp_path / "out"))
    assert [len(list(doc.sents)) for doc in docs] == [1, 1, 1]
    assert [len(doc._.trees) for doc in docs] == [1, 1, 1]
    assert len(docs[0]) == 12


def test_a_component_that_cuts_lines(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line fails: its sentences would no longer be the input's."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer", config={"overwrite": True})
    monkeypatch.setattr(runs, "load", lambda *_: nlp)
    (done,) = made(text, tmp_path / "out", "jsonl", one_per_line=True)
    assert (done.counts["texts"], done.counts["failed"]) == (1, 2)
    failed = (tmp_path / "out/failed/part-00000.jsonl").read_text()
    assert failed.count("ValueError: a component made 2 sentences of one line") == 2


def test_what_a_pipeline_lacks(text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    monkeypatch.setattr(runs, "load", lambda *_: nlp)
    with pytest.raises(ValueError, match="headed needs constituents, which no component writes"):
        made(text, tmp_path / "out", "jsonl,headed")
    with pytest.raises(ValueError, match="--upos needs tags of the Penn Treebank, found none"):
        made(text, tmp_path / "out", "jsonl", upos=True)


def test_size_of_shards() -> None:
    """Some four for each process, but no smaller than a batch; one process has few files."""
    assert default_chars(450_000, 1) == default_chars(None, 2) == 500_000
    assert default_chars(450_000, 2) == 56_250
    assert default_chars(450_000, 4) == 50_000
    assert default_chars(10**9, 8) == 500_000


@pytest.mark.usefixtures("loaded")
def test_a_run_keeps_its_size(text: Path, tmp_path: Path) -> None:
    call = ["annotate", "toy", str(text), str(tmp_path / "out")]
    for options, there in (["--shard-chars", "30"], "files"), ([], "2 of them there before"):
        result = CliRunner().invoke(app, [*call, *options])
        assert result.exit_code == 0, result.output
        assert there in " ".join(result.output.split())


def test_names_and_features_in_records() -> None:
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["Anna", "sees"], morphs=["Number=Sing", ""], lemmas=["Anna", "see"])
    doc.set_ents([Span(doc, 0, 1, "PERSON")])
    record = doc_record({"id": "a", "text": doc.text}, doc)
    assert record["morphs"] == ["Number=Sing", ""]
    assert record["entities"] == [{"start": 0, "end": 1, "label": "PERSON", "score": None}]
    check_record(record)
    again = record_doc(record, vocab)
    assert again.to_json() == doc.to_json()
    assert [token.ent_iob_ for token in again] == ["B", "O"]


def test_what_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no files of \.spacy, "):
        list(read_docs(tmp_path))
    with pytest.raises(ValueError, match=r"a\.pdf doesn't end in \.spacy, "):
        list(read_docs(tmp_path / "a.pdf"))
    path = tmp_path / "a.mrg"
    path.write_text("( (S (NP-SBJ (PRP We)) (VP (VBP sing))) )\n")
    (doc,) = read_docs(tmp_path)
    assert str(*sentence_trees(doc)) == "(TOP (S (NP (PRP We)) (VP (VBP sing))))"
