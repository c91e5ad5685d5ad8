"""Sequences in which some labels occur at most once, against all such sequences."""

import math
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lal.structure import sequence
from spacy_lal.structure.sequence import bio_constraints, unique_viterbi, viterbi

BIO = ["O", "B-A", "I-A", "B-B", "I-B", "B-C-A"]
UNIQUE = torch.tensor([1, 3])


def best_of_all(scores, transitions, start, unique):
    """The highest score of a sequence in which no label of `unique` is twice."""
    rows, steps, firsts = scores.tolist(), transitions.tolist(), start.tolist()
    best = -math.inf
    for path in product(range(len(firsts)), repeat=len(rows)):
        if all(path.count(label) < 2 for label in unique.tolist()):
            best = max(best, score_of(path, rows, steps, firsts))
    return best


def score_of(path, rows, steps, firsts):
    return (
        firsts[path[0]]
        + sum(row[label] for row, label in zip(rows, path, strict=True))
        + sum(steps[before][label] for before, label in pairwise(path))
    )


@st.composite
def cases(draw, labels=4):
    """Scores [B, n, L], lengths, transitions, start and unique labels; whole numbers, many ties."""
    n, batch = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    highest = draw(st.sampled_from([2, 50]))

    def numbers(*shape, forbidden):
        values = torch.randint(-highest, highest, shape, generator=generator).double()
        return values.masked_fill(torch.rand(shape, generator=generator) < forbidden, -math.inf)

    forbidden = draw(st.sampled_from([0.0, 0.3]))
    return (
        numbers(batch, n, labels, forbidden=forbidden / 2),
        torch.tensor(draw(st.lists(st.integers(1, n), min_size=batch, max_size=batch))),
        numbers(labels, labels, forbidden=forbidden),
        numbers(labels, forbidden=forbidden),
        torch.tensor(draw(st.lists(st.integers(0, labels - 1), unique=True)), dtype=torch.long),
    )


@settings(max_examples=60, deadline=None)
@given(cases())
def test_against_all_sequences(case):
    """And against the search that has all constraints from the beginning."""
    scores, lengths, transitions, start, unique = case
    found = unique_viterbi(*case)
    at_once = viterbi(*case[:4], once=unique.expand(len(scores), -1))
    assert torch.equal(found.score, at_once.score)
    for k, n in enumerate(lengths.tolist()):
        expected = best_of_all(scores[k, :n], transitions, start, unique)
        assert float(found.score[k]) == expected
        if expected > -math.inf:
            for labels in (found.labels, at_once.labels):
                path = labels[k, :n].tolist()
                assert all(path.count(label) < 2 for label in unique.tolist())
                tables = scores[k, :n].tolist(), transitions.tolist(), start.tolist()
                assert score_of(path, *tables) == expected
        assert not found.labels[k, n:].any()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 5), st.integers(0, 2**32), st.booleans())
def test_valid_sequences_with_unique_spans(n, seed, raw):
    """With BIO constraints, and with probabilities of transitions beside them."""
    generator = torch.Generator().manual_seed(seed)
    transitions, start = bio_constraints(BIO)
    if raw:
        transitions = transitions + torch.rand(6, 6, generator=generator)
    scores = torch.randn(2, n, len(BIO), generator=generator)
    lengths = torch.tensor([n, (n + 1) // 2])
    found = unique_viterbi(scores, lengths, transitions, start, UNIQUE)
    for k, length in enumerate(lengths.tolist()):
        expected = best_of_all(scores[k, :length], transitions, start, UNIQUE)
        assert float(found.score[k]) == pytest.approx(expected, abs=1e-5)


def test_the_weaker_of_two_goes_or_its_words_go_elsewhere():
    transitions, start = bio_constraints(BIO)
    scores = torch.zeros(3, 3, len(BIO))
    scores[:, 0, 1], scores[:, 2, 1] = 5.0, 4.0
    scores[1, 2, 5] = 3.0  # a continuation instead
    scores[2, 2, 2] = scores[2, 1, 2] = 3.0  # or one span of all
    found = unique_viterbi(scores, torch.tensor([3, 3, 3]), transitions, start, UNIQUE)
    assert found.labels.tolist() == [[1, 0, 0], [1, 0, 5], [1, 2, 2]]
    assert found.score.tolist() == [5.0, 8.0, 11.0]
    free = viterbi(scores, torch.tensor([3, 3, 3]), transitions, start)
    assert free.score.tolist() == [9.0, 9.0, 12.0]


def test_what_breaks_no_constraint_is_not_searched_again(monkeypatch):
    searched = []

    def counting(scores, *rest):
        searched.append((tuple(scores.shape[:2]), *(once.tolist() for once in rest[3:])))
        return viterbi(scores, *rest)

    monkeypatch.setattr(sequence, "viterbi", counting)
    transitions, start = bio_constraints(BIO)
    scores = torch.zeros(3, 4, len(BIO))
    scores[0, :2, 3] = 1.0  # B-B twice
    scores[1, :, 1] = 1.0  # B-A; when that may not be, B-B
    scores[1, :, 3] = 0.5
    scores[2, 0, 1] = 1.0
    unique_viterbi(scores, torch.tensor([2, 4, 4]), transitions, start, UNIQUE)
    # first all; then two, of which B-B and B-A are constrained; then one, with both
    assert searched == [((3, 4),), ((2, 4), [[3], [1]]), ((1, 4), [[1, 3]])]


@settings(max_examples=30, deadline=None)
@given(cases(labels=6), st.sampled_from([0.0, 1e30, math.inf, -math.inf, math.nan]))
def test_a_padded_batch_equals_single_sequences(case, padding):
    """Whatever the padding holds, and however few are searched together."""
    scores, lengths, transitions, start, unique = case
    scores[torch.arange(scores.shape[1]) >= lengths.unsqueeze(1)] = padding
    together = unique_viterbi(*case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence, "MOST_STATES", 1)
        for k, n in enumerate(lengths.tolist()):
            single = unique_viterbi(
                scores[k : k + 1, :n], lengths[k : k + 1], transitions, start, unique
            )
            assert torch.equal(together.score[k], single.score[0])
            if together.score[k] > -math.inf:
                assert torch.equal(together.labels[k, :n], single.labels[0])


def test_no_allowed_sequence_and_no_sequence():
    only = torch.zeros(1, 3, 1), torch.tensor([3]), torch.zeros(1, 1), torch.zeros(1)
    assert unique_viterbi(*only, torch.tensor([0])).score.tolist() == [-math.inf]
    empty = torch.zeros(0, 3, 1), torch.zeros(0, dtype=torch.long), torch.zeros(1, 1), None
    assert unique_viterbi(*empty, torch.tensor([0])).labels.shape == (0, 3)
