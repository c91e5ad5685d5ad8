"""Kinds of errors as labels: their spans, their loss, and a start from a detector without kinds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.grammar_errors import error_scores, grammar_errors, set_errors
from tests.pipeline.toy_errors import MODEL, agreement_examples

KINDS = ["", "R:VERB:SVA", "U:PREP"]


def blank() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL})
    return nlp


def example(nlp: Language, words: str, labels: list[str]) -> Example:
    doc = Doc(nlp.vocab, words=words.split())
    set_errors(doc, labels)
    return Example(Doc(nlp.vocab, words=words.split()), doc)


def test_an_error_of_unknown_kind_counts_by_the_sum() -> None:
    nlp = blank()
    gold = [
        example(nlp, "he go", ["", "R:VERB:SVA"]),
        example(nlp, "we to it", ["", "U:PREP", "ERROR"]),
    ]
    nlp.initialize(lambda: gold)
    pipe = nlp.get_pipe("gec_detector")
    assert pipe.labels == ("R:VERB:SVA", "U:PREP")
    logits = numpy.asarray([[1, 0, 0], [0, 2, 1], [1, 1, 1], [0, 0, 3], [2, 0, 1]], "float32")
    loss, gradient = pipe.get_loss(gold, logits)
    p = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    expected = [p[0, 0], p[1, 1], p[2, 0], p[3, 2], p[4, 1] + p[4, 2]]
    assert loss == pytest.approx(-sum(map(math.log, expected)) / 5, rel=1e-5)
    # of the sum, by hand: the correct label's probability, and shares of the rest
    shares = p[4] - numpy.asarray([0.0, p[4, 1], p[4, 2]]) / expected[4]
    assert gradient[4] == pytest.approx(shares / 5, abs=1e-6)


def test_neighbours_of_other_kinds_are_two_errors() -> None:
    nlp = blank()
    gold = [example(nlp, "he have go", ["", "R:VERB:SVA", "U:PREP"])]
    nlp.initialize(lambda: gold)
    doc = nlp.make_doc("he have go")
    scores = [numpy.asarray([[0.9, 0.1, 0], [0.1, 0.8, 0.1], [0.2, 0.3, 0.5]], "float32")]
    nlp.get_pipe("gec_detector").set_annotations([doc], scores)
    found = [(error.span.text, error.label) for error in grammar_errors(doc)]
    assert found == [("have", "R:VERB:SVA"), ("go", "U:PREP")]
    assert error_scores(doc) == pytest.approx([0.1, 0.9, 0.8], abs=1e-6)


def test_kinds_begin_as_errors_did(tmp_path: Path) -> None:
    binary = blank()
    examples = agreement_examples(binary, 50)
    binary.initialize(lambda: examples)
    binary.to_disk(tmp_path / "binary")
    spacy.util.fix_random_seed(3)
    nlp = blank()
    gold = [*agreement_examples(nlp, 50), example(nlp, "he have go", KINDS)]
    pipe = nlp.get_pipe("gec_detector")
    pipe.initialize(lambda: gold, nlp=nlp, warm_start=str(tmp_path / "binary"))
    assert pipe.labels == ("R:VERB:SVA", "U:PREP")
    with torch.no_grad():
        for text in ("he walk today .", "they walk now ."):
            assert error_scores(nlp(text)) == pytest.approx(error_scores(binary(text)), abs=1e-5)
