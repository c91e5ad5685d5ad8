"""Scores of trees on Docs: equal to EVALB on the trees, whatever the tokens."""

import pickle
import random

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.parsing.scorer import make_constituency_scorer, score_constituency
from spacy_lal.scoring.evalb import ERROR, EvalbParameters, evaluate
from spacy_lal.trees.tree import ConstituentTree

VOCAB = spacy.blank("en").vocab
EVALB = ("const_evalb_p", "const_evalb_r", "const_evalb_f")
SPANS = ("spans_constituents_p", "spans_constituents_r", "spans_constituents_f")


def doc(words, spans=None, tags=None, starts=None, spaces=None, key="constituents"):
    result = Doc(VOCAB, words=words, tags=tags, spaces=spaces, sent_starts=starts)
    if spans is not None:
        set_constituents(result, spans, key=key)
    return result


def random_spans(rng, n, labels=("NP", "VP", "ADVP", "PRT", "NP-SBJ")):
    """Preorder constituents of a random tree over n words, some unary and some words bare."""
    spans = []
    stack = [(0, n)]
    while stack:
        start, end = stack.pop()
        spans += [(start, end, rng.choice(labels)) for _ in range(rng.choice((0, 1, 1, 2)))]
        if end - start > 1:
            middle = rng.randint(start + 1, end - 1)
            stack += [(middle, end), (start, middle)]
    return spans or [(0, n, "NP")]


@pytest.mark.parametrize("prm", ["nk", "collins", "sample"])
def test_equals_evalb_on_the_trees(prm):
    rng = random.Random(0)
    examples, gold_trees, test_trees = [], [], []
    for _ in range(40):
        n = rng.randint(1, 12)
        words = [rng.choice("abc") for _ in range(n)]
        tags = [rng.choice(("NN", "VB", ",", "''", ".")) for _ in range(n)]
        gold, found = random_spans(rng, n), random_spans(rng, n)
        if rng.random() < 0.3:
            found = gold
        # the predicted tags are wrong, yet no sentence is lost over them
        examples.append(Example(doc(words, found, ["X"] * n), doc(words, gold, tags)))
        gold_trees.append(ConstituentTree.from_spans(words, tags, gold))
        test_trees.append(ConstituentTree.from_spans(words, tags, found))
    scores = score_constituency(examples, prm=prm)
    summary = evaluate(gold_trees, test_trees, EvalbParameters.load(prm)).summary
    assert ERROR not in {result.status for result in summary.results}
    assert 0 < summary.complete_match < 100
    assert len(summary.valid) < len(examples)
    expected = [getattr(summary.total, name) / 100 for name in ("precision", "recall", "f1")]
    assert [scores[key] for key in EVALB] == pytest.approx(expected)
    assert scores["const_complete"] == pytest.approx(summary.complete_match / 100)
    assert scores["tag_acc"] == 0


def test_perfect_prediction():
    words, spans, tags = ["a", "b"], [(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")], ["NN", "VB"]
    scores = score_constituency([Example(doc(words, spans, tags), doc(words, spans, tags))])
    assert scores.pop("spans_constituents_per_type") == {
        label: {"p": 1.0, "r": 1.0, "f": 1.0} for label in ("NP", "S", "VP")
    }
    assert set(scores) == {*EVALB, *SPANS, "const_complete", "tag_acc"}
    assert set(scores.values()) == {1.0}


def test_a_lost_unary_counts():
    gold = doc(["a", "b"], [(0, 2, "NP"), (0, 2, "NP"), (0, 1, "NP")])
    found = doc(["a", "b"], [(0, 2, "NP"), (0, 1, "NP")])
    scores = score_constituency([Example(found, gold)])
    for keys in (EVALB, SPANS):
        assert [scores[key] for key in keys] == pytest.approx([1, 2 / 3, 0.8])
    assert scores["spans_constituents_per_type"]["NP"]["r"] == pytest.approx(2 / 3)
    assert scores["const_complete"] == 0


def test_without_gold_all_is_none():
    found = doc(["a", "b"], [(0, 2, "NP")], ["NN", "NN"])
    scores = score_constituency([Example(found, doc(["a", "b"]))])
    assert set(scores.values()) == {None}
    assert "tag_acc" not in scores
    assert set(score_constituency([]).values()) == {None}


def test_nothing_predicted_is_zero():
    scores = score_constituency([Example(doc(["a", "b"]), doc(["a", "b"], [(0, 2, "NP")]))])
    assert [scores[key] for key in (*EVALB, *SPANS)] == [0.0] * 6


def test_a_flat_gold_tree_counts_as_evalb_counts_it():
    """Its sentence is annotated: what is predicted there is wrong."""
    words, starts = ["a", "b", "c", "d"], [True, False, True, False]
    gold = doc(words, [(0, 2, "NP")], starts=starts)
    found = doc(words, [(0, 2, "NP"), (2, 4, "NP"), (2, 3, "NP")])
    report = evaluate(
        ["(TOP (NP (X a) (X b)))", "(TOP (X c) (X d))"],
        ["(TOP (NP (X a) (X b)))", "(TOP (NP (NP (X c)) (X d)))"],
        EvalbParameters.load("nk"),
    )
    scores = score_constituency([Example(found, gold)])
    assert scores["const_evalb_p"] == pytest.approx(report.summary.total.precision / 100)
    assert [scores[key] for key in EVALB] == pytest.approx([1 / 3, 1, 0.5])
    # without boundaries the Doc is one sentence
    unsplit = doc(words, [(0, 2, "NP")])
    assert score_constituency([Example(found, unsplit)])["const_evalb_p"] == pytest.approx(1 / 3)


def test_gold_sentences_that_nobody_parsed_do_not_count():
    """Unlike flat ones, they have no tree to compare with."""
    words, starts = ["a", "b", "c", "d"], [True, False, True, False]
    gold = doc(words, starts=starts)
    set_constituents(gold, [(0, 2, "NP")], unparsed=[(2, 4)])
    found = doc(words, [(0, 2, "NP"), (2, 4, "NP"), (2, 3, "NP")])
    scores = score_constituency([Example(found, gold)])
    assert [scores[key] for key in (*EVALB, *SPANS)] == [1.0] * 6
    assert scores["const_complete"] == 1.0


def test_a_constituent_across_gold_sentences_is_wrong():
    gold = doc(["a", "b"], [(0, 1, "S"), (1, 2, "S")], starts=[True, True])
    scores = score_constituency([Example(doc(["a", "b"], [(0, 2, "S"), (0, 1, "S")]), gold)])
    assert [scores[key] for key in EVALB] == pytest.approx([0.5, 0.5, 0.5])


def test_other_tokens_are_aligned():
    gold = doc(["do", "n't", "go", "."], [(0, 4, "S"), (0, 3, "VP"), (2, 3, "VP")],
               spaces=[False, True, False, False])  # fmt: skip
    found = doc(["don't", "go", "."], [(0, 3, "S"), (0, 2, "VP"), (1, 2, "VP")],
                spaces=[True, False, False])  # fmt: skip
    assert score_constituency([Example(found, gold)])["const_evalb_f"] == pytest.approx(1)
    # the other way round, a constituent inside a gold token matches nothing and counts as wrong
    split = doc([*["do", "n't", "go", "."]], [(0, 4, "S"), (0, 3, "VP"), (1, 3, "VP")],
                spaces=[False, True, False, False])  # fmt: skip
    scores = score_constituency([Example(split, found)])
    for keys in (EVALB, SPANS):
        assert [scores[key] for key in keys] == pytest.approx([2 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("spaced_gold", [False, True])
def test_whitespace_tokens_do_not_count(spaced_gold):
    plain = doc(["a", "b"], [(0, 2, "NP"), (1, 2, "X")], ["NN", "VB"])
    spaced = doc(["a", "\n", "b", "\n"], [(0, 4, "NP"), (1, 3, "X"), (3, 4, "X")],
                 ["NN", "_SP", "VB", "_SP"])  # fmt: skip
    example = Example(plain, spaced) if spaced_gold else Example(spaced, plain)
    scores = score_constituency([example])
    assert [scores[key] for key in (*EVALB, *SPANS)] == pytest.approx([1] * 6)


def test_missing_gold_tags_are_taken_from_the_prediction():
    spans = [(0, 2, "S"), (0, 1, "NP")]
    wrong = [(0, 2, "S"), (0, 2, "NP")]
    found = doc(["a", "."], wrong, ["NN", "."])
    # once the full stop is deleted, NP covers the same word in both
    assert score_constituency([Example(found, doc(["a", "."], spans))])["const_evalb_f"] == 1
    assert score_constituency([Example(found, doc(["a", "."], spans, ["A", "B"]))])[
        "const_evalb_f"
    ] == pytest.approx(0.5)


def test_sentences_of_deleted_words_only_are_skipped_by_evalb():
    gold, found = doc(["."], [(0, 1, "NP")], ["."]), doc(["."], [(0, 1, "X")])
    scores = score_constituency([Example(found, gold)])
    assert (scores["const_evalb_f"], scores["const_complete"]) == (None, None)
    assert scores["spans_constituents_f"] == 0


def test_registered_scorer():
    scorer = spacy.registry.scorers.get("spacy-lal.constituency_scorer.v1")("trees", "collins")
    gold = doc(["a", "?"], [(0, 2, "S"), (0, 1, "NP")], ["NN", "?"], key="trees")
    found = doc(["a", "?"], [(0, 2, "S"), (0, 2, "NP")], key="trees")
    scores = pickle.loads(pickle.dumps(scorer))([Example(found, gold)], labels=(), threshold=0.5)
    # collins keeps the word tagged "?", nk deletes it
    assert scores["const_evalb_f"] == pytest.approx(0.5)
    assert scores["spans_trees_f"] == pytest.approx(0.5)
    assert make_constituency_scorer("trees")([Example(found, gold)])["const_evalb_f"] == 1
