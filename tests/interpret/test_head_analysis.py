"""Heads by category, and errors by head."""

import json

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.interpret import error_analysis, explain, top_heads
from spacy_lal.interpret.head_analysis import averaged

from ..pipeline.toy import TREES, gold_doc

SPANS = [
    ("NP", [0.5, 0.3, 0.2]),
    ("VP", [0.1, 0.1, 0.8]),
    ("NP", [0.1, 0.5, 0.4]),
    ("NP", [0.6, 0.1, 0.3]),
]


def by_hand():
    return averaged([(label, numpy.array(values)) for label, values in SPANS], "normalised")


def test_averages_by_hand():
    heads = by_hand()
    assert heads.categories == ["NP", "VP"]
    assert heads.counts.tolist() == [3, 1]
    numpy.testing.assert_allclose(heads.contributions, [[0.4, 0.3, 0.3], [0.1, 0.1, 0.8]])
    assert heads.firsts.tolist() == [[2, 1, 0], [0, 0, 1]]
    numpy.testing.assert_allclose(heads.overall, [1.3 / 4, 1.0 / 4, 1.7 / 4])
    # heads count from 0, and the last one is there
    (first, second) = heads.top("VP", 2)
    assert (first.head, second.head) == (2, 0)
    assert first.contribution == pytest.approx(0.8)
    assert first.first == 1.0
    assert [share.head for share in heads.top(k=2)] == [2, 0]
    assert heads.top(k=1)[0].first == pytest.approx(1 / 4)
    json.dumps(heads.to_dict())


def test_nothing_to_average():
    heads = averaged([], "normalised")
    assert heads.categories == []
    assert heads.top() == []
    json.dumps(heads.to_dict())


@pytest.mark.parametrize("method", ["normalised", "softmax"])
def test_top_heads_are_averages_of_explanations(nlp, method):
    docs = [gold_doc(nlp, tree) for tree in TREES]
    heads = top_heads(nlp, docs, method=method)
    spans = [
        (label, row)
        for doc in docs
        for explanation in explain(nlp, doc, method=method)
        for (_, _, label), row in zip(explanation.spans, explanation.contributions, strict=True)
    ]
    assert heads.counts.sum() == len(spans)
    for category, averages in zip(heads.categories, heads.contributions, strict=True):
        rows = [row for label, row in spans if label == category]
        assert len(rows) == heads.counts[heads.categories.index(category)]
        numpy.testing.assert_allclose(averages, numpy.mean(rows, 0), atol=1e-5)


def example(nlp, change):
    """A tree that the toy parser has learnt, with gold constituents changed."""
    reference = gold_doc(nlp, TREES[0])
    spans = [(s.start, s.end, s.label_) for s in reference.spans["constituents"]]
    predicted = Doc(
        nlp.vocab, words=[t.text for t in reference], sent_starts=[t.i == 0 for t in reference]
    )
    set_constituents(reference, change(spans))
    return Example(predicted, reference)


def test_error_analysis(nlp):
    # predicted: S (0,7), NP (0,2), VP (2,6), PP (3,6), NP (4,6)
    right = error_analysis(nlp, [example(nlp, lambda spans: spans)])
    assert (right.docs, right.correct, right.errors, right.missed) == (1, 5, [], 0)
    assert right.agreement() == {"predicted": None, "gold": None}

    def change(spans):
        labels = {(0, 2): "QP", (2, 6): "VP"}
        kept = [(i, j, labels.get((i, j), label)) for i, j, label in spans if (i, j) != (3, 6)]
        return [*kept[:3], (2, 5, "X"), *kept[3:]]

    examples = [example(nlp, lambda spans: spans), example(nlp, change)]
    found = error_analysis(nlp, examples, k=2, words=3, method="softmax")
    assert (found.docs, found.correct, found.missed) == (2, 8, 1)
    (wrong_label,), (wrong_span,) = found.wrong_labels, found.wrong_spans
    assert (wrong_label.doc, wrong_label.tokens, wrong_label.text) == (1, (0, 2), "The cat")
    assert (wrong_label.predicted, wrong_label.gold) == ("NP", "QP")
    assert (wrong_span.predicted, wrong_span.gold) == ("PP", None)
    assert wrong_span.text == "on the mat"
    (explanation,) = explain(nlp, examples[1].predicted, method="softmax")
    shares = explanation.contributions[explanation.spans.index((0, 2, "NP"))]
    first, second = wrong_label.heads
    assert first.head == shares.argmax()
    assert first.contribution == pytest.approx(shares.max(), abs=1e-6)
    assert first.contribution >= second.contribution
    attention = explanation.attention[first.head]
    assert len(first.words) == 3
    assert first.words[0] == (
        explanation.words[attention.argmax()],
        pytest.approx(attention.max(), abs=1e-6),
    )
    assert [(p, g, len(e)) for p, g, e in found.confusions()] == [
        ("NP", "QP", 1),
        ("PP", None, 1),
    ]
    assert found.first_heads(found.errors)[0][1] in (1, 2)
    json.dumps(found.to_dict())


def test_examples_without_trees_are_left_out(nlp):
    words = ["Go", "home", "!"]
    bare = Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words))
    found = error_analysis(nlp, [bare])
    assert (found.docs, found.correct, found.errors) == (0, 0, [])
