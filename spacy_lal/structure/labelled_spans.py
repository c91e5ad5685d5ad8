"""The best sequences of labelled spans, in which some labels occur at most once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from torch import Tensor

MOST_SCORES = 1 << 24
"""Size of one search, in words times labels or words times words."""

Array = numpy.ndarray
Spans = list[tuple[int, int, int]]
"""(start, end, label) in order of the words."""


def best_spans(
    begin: Tensor,
    inside: Tensor,
    outside: Tensor,
    whole: Tensor,
    losses: Tensor,
    lengths: Tensor,
    unique: Sequence[int] = (),
) -> list[Spans]:
    """Returns the disjoint spans of highest score (a semi-Markov model's Viterbi).

    begin, inside: [B, n, C], scores of a word that begins or continues a span of each label; -inf
    forbids. outside: [B, n], scores of a word in no span. whole: [B, n, n], whether the words i to
    j are a constituent. losses: [C], the cost (at least 0) of a span of each label that is no
    constituent. lengths: [B], in 1..n. unique: labels that occur at most once in a sequence.

    Sarawagi and Cohen (2004). A label's best span that is no constituent begins at its last word or
    extends that of the word before, so the work grows with C n and the number of constituents, not
    with C n². Where a label of `unique` comes twice, its one span begins in the first half of these
    spans or after them, and the search takes both cases unless they can't win. Ties: a word outside
    before a span, longer spans before shorter, lower labels before higher.
    """
    _, n, size = begin.shape
    rows = max(1, MOST_SCORES // max(1, n * max(n, size)))
    of_words = [t.double().cpu().numpy() for t in (begin, inside, outside)]
    constituents, lost = whole.cpu().numpy(), losses.double().cpu().numpy()
    best: list[tuple[float, Spans]] = [(-numpy.inf, []) for _ in begin]
    # searches: their row, the most that they may score, words at which a label may not begin
    searches: list[tuple[int, float, list[tuple[slice, int]]]]
    searches = [(row, numpy.inf, []) for row in range(len(begin))]
    while searches:
        part = [search for search in searches[:rows] if search[1] > best[search[0]][0]]
        searches = searches[rows:]
        at = [row for row, *_ in part]
        starts, later, alone = (array[at] for array in of_words)
        for sequence, (*_, forbidden) in zip(starts, part, strict=True):
            for words, label in forbidden:
                sequence[words, label] = -numpy.inf
        found = _search(starts, later, alone, constituents[at], lost, lengths[at].tolist())
        for (row, _, forbidden), (score, spans) in zip(part, found, strict=True):
            if repeated := _repeated(spans, unique):
                label, last = repeated
                for words in (slice(last + 1, None), slice(last + 1)):
                    searches.append((row, score, [*forbidden, (words, label)]))
            elif score > best[row][0]:
                best[row] = score, spans
    return [spans for _, spans in best]


def _search(
    begin: Array, inside: Array, outside: Array, whole: Array, losses: Array, lengths: list[int]
) -> list[tuple[float, Spans]]:
    batch, n, _ = begin.shape
    # words that can't be inside: sums of -inf have no differences
    never = numpy.isneginf(inside)
    sums = numpy.where(never, 0, inside).cumsum(1)
    broken = never.cumsum(1)
    # value of a span of words i to j: start[i] + sums[j], unless one after i can't be inside
    start = begin - sums
    starts_of = [
        numpy.flatnonzero(column[: j + 1])
        for j, column in enumerate(numpy.asarray(whole.any(axis=0)).T)
    ]
    best = numpy.zeros((batch, n + 1))
    back = numpy.full((batch, n, 2), -1)
    longest = numpy.full_like(start[:, 0], -numpy.inf)
    first = numpy.zeros(longest.shape, dtype=numpy.int64)
    for j in range(n):
        start[:, j] += best[:, j, None]
        longest[never[:, j]] = -numpy.inf
        here = start[:, j] > longest
        longest, first = numpy.where(here, start[:, j], longest), numpy.where(here, j, first)
        value, at = longest - losses, first
        if len(starts := starts_of[j]):
            there = whole[:, starts, j, None] & (broken[:, starts] == broken[:, j, None])
            values = numpy.where(there, start[:, starts], -numpy.inf)
            which = values.argmax(1)
            top, begins = numpy.take_along_axis(values, which[:, None], 1)[:, 0], starts[which]
            better = (top > value) | ((top == value) & (begins < at))
            value, at = numpy.where(better, top, value), numpy.where(better, begins, at)
        value = value + sums[:, j]
        highest = value.max(1)
        begins = numpy.where(value < highest[:, None], n, at)
        chosen = numpy.stack([begins.min(1), begins.argmin(1)], 1)
        alone = best[:, j] + outside[:, j]
        best[:, j + 1] = numpy.maximum(highest, alone)
        back[:, j] = numpy.where((highest > alone)[:, None], chosen, -1)
    return [
        (float(best[row, end]), _spans(back[row].tolist(), end)) for row, end in enumerate(lengths)
    ]


def _spans(back: list[list[int]], end: int) -> Spans:
    spans = []
    while end:
        first, label = back[end - 1]
        if label >= 0:
            spans.append((first, end, label))
        end = first if label >= 0 else end - 1
    return spans[::-1]


def _repeated(spans: Spans, unique: Sequence[int]) -> tuple[int, int] | None:
    """Returns the most repeated label, and the last beginning in the first half of its spans."""
    begins: dict[int, list[int]] = {label: [] for label in unique}
    for start, _, label in spans:
        if label in begins:
            begins[label].append(start)
    label = max(begins, key=lambda label: len(begins[label]), default=-1)
    if label < 0 or len(begins[label]) < 2:
        return None
    return label, begins[label][len(begins[label]) // 2 - 1]
