"""Probabilities of errors, raised by the surest other error of the sentence."""

import math

import numpy
import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import error_scores
from spacy_lal.ged.odds import DOUBT, with_cooccurrence
from tests.pipeline.toy_errors import MODEL, agreement_examples


def one_by_one(probabilities, starts, weight):
    """The formula of the docstring, with logarithms, a token at a time."""

    def log_odds(p):
        return math.log(p) - math.log1p(-p)

    found = []
    for i, p in enumerate(probabilities):
        first = max(start for start in starts if start <= i)
        last = min((start for start in starts if start > i), default=len(probabilities))
        others = [probabilities[j] for j in range(first, last) if j != i]
        gain = max([0.0, *(log_odds(q) - log_odds(DOUBT) for q in others)]) * weight
        found.append(1 / (1 + math.exp(-log_odds(p) - gain)))
    return found


@pytest.mark.parametrize("weight", [0.0, 0.2, 1.0, 3.0])
def test_formula(weight):
    probabilities = numpy.random.default_rng(0).beta(0.3, 1.0, 40).clip(1e-4, 1 - 1e-6)
    starts = [0, 1, 9, 10, 25]
    found = with_cooccurrence(probabilities, starts, weight)
    assert found.tolist() == pytest.approx(one_by_one(probabilities.tolist(), starts, weight))


def test_what_is_certain_and_what_is_none():
    certain = with_cooccurrence(numpy.array([1.0, 0.0, 0.3, 1.0]), [0], 0.5)
    assert certain[[0, 1, 3]].tolist() == [1.0, 0.0, 1.0]
    assert 0.3 < certain[2] <= 1.0
    alone = numpy.array([0.9, 0.2])
    assert with_cooccurrence(alone, [0, 1], 2.0).tolist() == alone.tolist()
    doubtful = numpy.array([DOUBT, 0.01])
    assert with_cooccurrence(doubtful, [0], 2.0).tolist() == pytest.approx(doubtful.tolist())
    assert with_cooccurrence(numpy.zeros(0), [], 1.0).tolist() == []


def test_the_component_reads_its_sentences(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL, "error_cooccurrence": 0.5})
    nlp.initialize(lambda: agreement_examples(nlp, 20))
    pipe = nlp.get_pipe("gec_detector")
    words = ["he", "walk", "today", ".", "they", "walks", "now", "."]
    starts = [i in (0, 4) for i in range(len(words))]
    doc = pipe(Doc(nlp.vocab, words=words, sent_starts=starts))
    pipe.error_cooccurrence = 0.0
    plain = error_scores(pipe(Doc(nlp.vocab, words=words, sent_starts=starts)))
    expected = with_cooccurrence(numpy.array(plain), [0, 4], 0.5).tolist()
    assert error_scores(doc) == pytest.approx(expected)
    assert error_scores(doc) != pytest.approx(plain)
    nlp.to_disk(tmp_path)
    assert spacy.load(tmp_path).get_pipe("gec_detector").error_cooccurrence == 0.5


def test_what_is_refused():
    config = {"model": MODEL, "error_cooccurrence": -0.1}
    with pytest.raises(ValueError, match="error_cooccurrence must be from 0 on"):
        spacy.blank("en").add_pipe("gec_detector", config=config)
