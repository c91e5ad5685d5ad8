"""The shipped pipeline, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

pytest.importorskip("en_lal_sm", reason="pip install ./packages/en_lal_sm")

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "I can't believe it's not butter! Who told you that?",
    "NEW YORK (AP) -- Shares fell 3.5% on Monday, the exchange said.\n\nlol :-) see http://x.yz",
    "",
    "Why?",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load("en_lal_sm")


def trees(doc: Doc) -> list[str]:
    return [str(tree) for tree in doc._.trees]


def test_parses_a_plain_sentence(nlp: Language) -> None:
    (tree,) = trees(nlp("I saw the man in the park."))
    assert tree in (
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN man)) "
        "(PP (IN in) (NP (DT the) (NN park)))) (. .)))",
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT the) (NN man)) "
        "(PP (IN in) (NP (DT the) (NN park))))) (. .)))",
    )


def test_is_one_component_that_needs_nothing_else(nlp: Language) -> None:
    assert nlp.pipe_names == ["lal_constituency"]
    assert nlp.vocab.vectors.shape[0] == 0
    doc = nlp("The dogs were here. They don't bite.")
    assert [t.tag_ for t in doc] == ["DT", "NNS", "VBD", "RB", ".", "PRP", "VBP", "RB", "VB", "."]
    assert len(list(doc.sents)) == 2


def test_heads_and_constituents_come_together(nlp: Language) -> None:
    doc = nlp("The dogs chased the cat.")
    assert [(t.text, t.dep_, t.head.text) for t in doc] == [
        ("The", "det", "dogs"),
        ("dogs", "nsubj", "chased"),
        ("chased", "ROOT", "chased"),
        ("the", "det", "cat"),
        ("cat", "obj", "chased"),
        (".", "punct", "chased"),
    ]
    for text in TEXTS:
        for sentence in nlp(text).sents:
            assert sum(token.head == token for token in sentence) == 1


@pytest.mark.parametrize("vectors", [False, True])
def test_sourced_into_a_blank_pipeline_it_gives_the_same_trees(
    nlp: Language, vectors: bool
) -> None:
    other = spacy.blank("en")
    if vectors:
        other.vocab.set_vector("fox", numpy.ones(2, dtype="f"))
    other.add_pipe("lal_constituency", source=spacy.load("en_lal_sm"))
    assert [trees(other(text)) for text in TEXTS] == [trees(nlp(text)) for text in TEXTS]


def test_probabilities_are_the_scores(nlp: Language) -> None:
    group = nlp(TEXTS[0]).spans["constituents"]
    assert len(group.attrs["scores"]) == len(group)
    assert all(0.4 < score <= 1.0001 for score in group.attrs["scores"])


def test_meta_says_what_it_was_trained_on(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert len(nlp.meta["sources"]) == 2
    assert nlp.meta["performance"]["const_evalb_f"] > 0.86
    assert nlp.meta["performance"]["tag_acc"] > 0.945
    assert nlp.meta["performance"]["conll18_las"] > 0.84


def test_weights_are_small(nlp: Language) -> None:
    files = [path for path in Path(nlp.path).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40_000_000
    assert any(path.name == "model.safetensors" for path in files)
    encoder = nlp.config["components"]["lal_constituency"]["model"]["encoder"]
    assert encoder["heads"] >= 32
    assert encoder["projection_width"] >= 16
