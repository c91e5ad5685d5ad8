"""Scores of error detection, by hand; recorded ones are in tests/reference."""

import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.formats.treebank_sentence import language_vocab
from spacy_lal.ged.scorer import Detection, DetectionReport, score_detection


# By the rules of MultiGED-2023: precision is 1 without false positives, recall without misses.
@pytest.mark.parametrize(
    ("right", "wrong", "missed", "p", "r", "f"),
    [
        (0, 0, 0, 1, 1, 1),
        (0, 0, 3, 1, 0, 0),
        (0, 2, 0, 0, 1, 0),
        (0, 2, 3, 0, 0, 0),
        (3, 0, 0, 1, 1, 1),
        (2, 2, 6, 1 / 2, 1 / 4, 5 / 12),
    ],
)
def test_rules(right, wrong, missed, p, r, f):
    counts = Detection(right, wrong, missed)
    assert (counts.p, counts.r, counts.f()) == pytest.approx((p, r, f))


def example(words, found, gold, gold_words=None, spaces=None):
    predicted = Doc(language_vocab("en"), words=words, spaces=spaces)
    set_errors(predicted, found)
    reference = Doc(predicted.vocab, words=gold_words or words)
    if gold is not None:
        set_errors(reference, gold)
    return Example(predicted, reference)


def test_types_count_apart():
    one = example(["a", "b", "c", "d"], ["R", "M", "", "R"], ["R", "R", "R", ""])
    scores = score_detection([one])
    assert (scores["ged_p"], scores["ged_r"]) == pytest.approx((2 / 3, 2 / 3))
    assert scores["ged_per_type"]["R"]["p"] == pytest.approx(1 / 2)
    assert scores["ged_per_type"]["R"]["r"] == pytest.approx(1 / 3)
    assert scores["ged_per_type"]["M"] == {"p": 0.0, "r": 1.0, "f05": 0.0}


def test_docs_without_gold_do_not_count():
    with_gold = example(["a", "b"], ["E", ""], ["E", ""])
    without = example(["a", "b"], ["E", ""], None)
    assert score_detection([with_gold, without])["ged_f05"] == 1.0
    assert set(score_detection([without]).values()) == {None}
    assert set(score_detection([]).values()) == {None}


def test_other_tokens():
    # "cannot" was read as two tokens, the second of which was marked
    one = example(
        ["I", "can", "not", "go"],
        ["", "", "E", ""],
        ["", "E", ""],
        gold_words=["I", "cannot", "go"],
        spaces=[True, False, True, False],
    )
    scores = score_detection([one])
    assert (scores["ged_p"], scores["ged_r"]) == (1.0, 1.0)


def test_whitespace_does_not_count():
    one = example(["a", "\n", "b"], ["", "E", ""], ["", "", "E"])
    scores = score_detection([one])
    assert (scores["ged_p"], scores["ged_r"]) == (1.0, 0.0)


def test_different_numbers_of_labels():
    with pytest.raises(ValueError, match="shorter"):
        DetectionReport().add(["", ""], [""])
