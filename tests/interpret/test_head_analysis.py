"""Heads by category, and errors by head."""

import json

import numpy
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.interpret import error_analysis, explain, top_heads
from spacy_lal.interpret.head_analysis import ErrorAnalysis, HeadInError, SpanError, averaged

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
    assert (right.docs, right.correct, right.errors, right.missed_spans) == (1, 5, [], [])

    def change(spans):
        labels = {(0, 2): "QP", (2, 6): "VP"}
        kept = [(i, j, labels.get((i, j), label)) for i, j, label in spans if (i, j) != (3, 6)]
        return [*kept[:3], (2, 5, "X"), *kept[3:]]

    examples = [example(nlp, lambda spans: spans), example(nlp, change)]
    found = error_analysis(nlp, examples, k=2, words=3, method="softmax")
    assert (found.docs, found.correct, len(found.missed_spans)) == (2, 8, 1)
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


def test_categories_of_a_head():
    """Share of categories among the spans that a head leads, and the heads that lead most."""
    heads = averaged(
        [
            *[("S", numpy.array([0.5, 0.3, 0.2]))] * 2,
            *[("NP", numpy.array([0.6, 0.4, 0.0]))] * 3,
            # on average, head 0 contributes most, though it leads few of them
            *[("VP", numpy.array([0.4, 0.6, 0.0]))] * 2,
            ("VP", numpy.array([1.0, 0.0, 0.0])),
        ],
        "normalised",
    )
    assert heads.led_by(0) == [("NP", 3, 3 / 6), ("S", 2, 2 / 6), ("VP", 1, 1 / 6)]
    assert heads.led_by(1) == [("VP", 2, 1.0)]
    assert heads.led_by(2) == []
    assert [share.head for share in heads.top("VP", 2)] == [0, 1]
    assert [(share.head, share.first) for share in heads.top("VP", 2, by_first=True)] == [
        (1, pytest.approx(2 / 3)),
        (0, pytest.approx(1 / 3)),
    ]
    assert list(heads.to_dict()["led by head"]) == [0, 1]


def wrong(gold, predicted, head, at_head_word):
    word = None if at_head_word is None else "x"
    found = [HeadInError(head, 0.5, [("x", 1.0)], at_head_word)]
    return SpanError(0, (0, 1), "x", predicted, gold, found, word)


def test_errors_by_gold_category():
    """As in section 4.6 of Mrini et al. 2020: of 3 gold NPs with another label, 2 are led by one of
    the 2 heads that lead most predicted NPs."""
    lead = numpy.eye(4)
    predicted = averaged([("NP", lead[h]) for h in (0, 0, 0, 2, 2, 1)], "normalised")
    wrong_labels = [
        wrong("NP", "QP", 0, True),
        wrong("NP", "S", 2, False),
        wrong("NP", "S", 1, None),
        wrong("S", "NP", 0, True),
        wrong(None, "NP", 0, True),  # no gold constituent
    ]
    missed = [wrong("NP", None, 3, True), wrong("NP", None, 0, False)]
    of = ErrorAnalysis(1, 0, wrong_labels, missed, 2, predicted, (0, 0))
    assert of.by_gold() == [
        {
            **{"category": "NP", "top": [0, 2], "wrong": 3, "wrong led": 2},
            **{"missed": 2, "missed led": 1, "at head word": 2, "known": 4},
        },
        {  # never predicted: no heads
            **{"category": "S", "top": [], "wrong": 1, "wrong led": 0},
            **{"missed": 0, "missed led": 0, "at head word": 1, "known": 1},
        },
    ]


def test_missed_constituents_have_heads_too(nlp):
    """Whose contributions are those of any span; head words are by the gold heads."""

    def change(spans):
        return [*spans[:3], (2, 5, "X"), *spans[3:]]

    missing = example(nlp, change)
    reference = missing.reference  # The cat sat on the mat .
    for token, head in zip(reference, [1, 2, 2, 5, 5, 2, 2], strict=True):
        token.head, token.dep_ = reference[head], "dep"
    found = error_analysis(nlp, [missing], k=2)
    (error,) = found.missed_spans
    assert (error.tokens, error.predicted, error.gold) == ((2, 5), None, "X")
    # "sat", and "on" and "the" of "mat": three words have their heads outside
    assert error.head_word is None
    assert error.heads[0].at_head_word is None
    (explanation,) = explain(nlp, missing.predicted)
    sums = explanation.sums[5] - explanation.sums[2]
    assert error.heads[0].head == int(sums.argmax())
    assert found.at_head_word[1] == found.correct == 5
    numpy.testing.assert_allclose(
        explanation.shares_of([span[:2] for span in explanation.spans], "normalised"),
        explanation.contributions,
    )
    with pytest.raises(ValueError, match="no contributions of heads"):
        explain(nlp, missing.predicted, method=None)[0].shares_of([(0, 1)], "normalised")


def test_head_words_of_errors(nlp):
    """The word whose head is outside; attention tells whether the first head looks at it."""
    changed = example(
        nlp, lambda spans: [(i, j, "QP" if i == 0 < j < 3 else la) for i, j, la in spans]
    )
    for token, head in zip(changed.reference, [1, 2, 2, 2, 5, 3, 2], strict=True):
        token.head, token.dep_ = changed.reference[head], "dep"
    found = error_analysis(nlp, [changed], k=1, words=1)
    (error,) = found.errors
    assert (error.text, error.head_word) == ("The cat", "cat")
    (head,) = error.heads
    assert head.at_head_word == (head.words[0][0] == "cat")
    assert found.by_gold()[0]["known"] == 1
    (explanation,) = explain(nlp, changed.predicted)
    heads = {(0, 7): 2, (2, 6): 2, (3, 6): 3, (4, 6): 5}
    looked = 0
    for (i, j, _), shares in zip(explanation.spans, explanation.contributions, strict=True):
        if (i, j) in heads:
            attention = explanation.attention[shares.argmax()]
            looked += attention.argmax() == heads[i, j] + 1
    assert found.at_head_word == (looked, 4)
