"""The best labelled spans against all sequences of spans, and against BIO sequences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy
import pytest
import torch

from spacy_lal.structure import sequence
from spacy_lal.structure.sequence import best_spans, bio_constraints, bio_to_spans, unique_viterbi

Spans = list[tuple[int, int, int]]

LOSSES = torch.tensor([0.7, 0.0])


def all_spans(n: int, labels: int, first: int = 0) -> Iterator[Spans]:
    if first == n:
        yield []
        return
    yield from all_spans(n, labels, first + 1)
    for end in range(first + 1, n + 1):
        for label in range(labels):
            for rest in all_spans(n, labels, end):
                yield [(first, end, label), *rest]


def total(spans: Spans, scores: tuple[torch.Tensor, ...], n: int) -> float:
    begin, inside, outside, whole = scores
    covered = {i for start, end, _ in spans for i in range(start, end)}
    value = sum(float(outside[i]) for i in range(n) if i not in covered)
    for start, end, label in spans:
        value += float(begin[start, label])
        if not whole[start, end - 1]:
            value -= float(LOSSES[label])
        value += sum(float(inside[i, label]) for i in range(start + 1, end))
    return value


def random_scores(batch: int, n: int, labels: int) -> tuple[torch.Tensor, ...]:
    begin, inside = torch.randn(2, batch, n, labels).unbind()
    inside[torch.rand(inside.shape) < 0.2] = -torch.inf
    begin[torch.rand(begin.shape) < 0.2] = -torch.inf
    return begin, inside, torch.randn(batch, n), torch.rand(batch, n, n) < 0.4


@pytest.mark.parametrize("unique", [(), (0,), (0, 1)])
def test_against_all_sequences(unique: tuple[int, ...]) -> None:
    torch.manual_seed(0)
    lengths = torch.tensor([4, 5, 1, 5, 3, 5] * 3)
    scores = random_scores(len(lengths), 5, 2)
    # words that can't be outside, some of them in all sequences
    scores[2][torch.rand(scores[2].shape) < 0.2] = -torch.inf
    for row, found in enumerate(best_spans(*scores, LOSSES, lengths, unique)):
        n = int(lengths[row])
        of_row = tuple(t[row] for t in scores)
        allowed = [
            spans
            for spans in all_spans(n, 2)
            if all(sum(label == c for *_, label in spans) < 2 for c in unique)
        ]
        best = max(total(spans, of_row, n) for spans in allowed)
        if best > -torch.inf:
            assert found in allowed
            assert total(found, of_row, n) == pytest.approx(best)


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("outside", [-1.0, 0.5, 1.5])
def test_what_is_not_searched_cannot_win(
    labels: int, outside: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a search of all words and labels, on sequences too long for enumeration."""
    torch.manual_seed(labels)
    begin, inside, alone, whole = random_scores(60, 14, labels)
    alone += outside
    alone[torch.arange(60), torch.randint(0, 14, (60,))] = -torch.inf
    losses, lengths = torch.rand(labels) * 2, torch.randint(1, 15, (60,))
    args = begin, inside, alone, whole, losses, lengths, range(labels - 1)
    found = best_spans(*args)
    monkeypatch.setattr(
        sequence,
        "_useful",
        lambda begin, *rest: (
            (numpy.arange(14) < lengths.numpy()[:, None])[..., None]
            & numpy.ones(begin.shape, dtype=bool)
        ),
    )
    assert found == best_spans(*args)


@pytest.mark.parametrize("spans", [3, 60, 120])
def test_many_repeats_are_little_work(spans: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best span of each of two labels stays, whatever their number."""
    rows, n, labels = 4, 6 * spans, 20
    states = []
    search = sequence._search

    def counting(begin: numpy.ndarray, *rest: numpy.ndarray) -> list[Spans]:
        states.append(begin.size << rest[-1].shape[1])
        return search(begin, *rest)

    monkeypatch.setattr(sequence, "_search", counting)
    torch.manual_seed(spans)
    begin, inside = torch.full((2, rows, n, labels), -6.0)
    heights = torch.rand(rows, spans, 2) + 1
    begin[:, 0::6, 3], begin[:, 3::6, 7] = heights.unbind(2)
    inside[:, 1::6, 3], inside[:, 4::6, 7] = 1.0, 1.0
    whole, lengths = torch.zeros(rows, n, n, dtype=torch.bool), torch.full((rows,), n)
    found = best_spans(
        begin, inside, torch.zeros(rows, n), whole, torch.zeros(labels), lengths, [3, 7, 9]
    )
    for of_row, highest in zip(found, heights.argmax(1).tolist(), strict=True):
        first, second = (6 * highest[0], 3), (6 * highest[1] + 3, 7)
        assert of_row == sorted((i, i + 2, label) for i, label in (first, second))
    # once without constraints and once with both
    assert sum(states) <= 5 * rows * (n * 2 // 3) * 2 < 0.5 * begin.numel()


def test_without_additions_as_bio() -> None:
    torch.manual_seed(1)
    labels = ["O", "B-A", "I-A", "B-C", "I-C", "B-D", "I-D"]
    lengths = torch.randint(1, 13, (40,))
    scores = torch.randn(40, 12, 7)
    transitions, start = bio_constraints(labels)
    unique = torch.tensor([1, 3])
    expected = unique_viterbi(scores, lengths, transitions, start, unique).labels
    parts = scores[..., 1::2], scores[..., 2::2], scores[..., 0]
    nowhere = torch.zeros(40, 12, 12, dtype=torch.bool)
    found = best_spans(*parts, nowhere, torch.zeros(3), lengths, (0, 1))
    for spans, row, n in zip(found, expected.tolist(), lengths.tolist(), strict=True):
        assert [(start, end, "ACD"[label]) for start, end, label in spans] == bio_to_spans(
            labels[k] for k in row[:n]
        )


def test_empty() -> None:
    none = torch.zeros(0, 3, 2)
    whole, lengths = torch.zeros(0, 3, 3, dtype=torch.bool), torch.zeros(0, dtype=torch.long)
    assert best_spans(none, none, none[..., 0], whole, LOSSES, lengths) == []
