"""The best sequences of labelled spans, in which some labels occur at most once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

MOST_SCORES = 1 << 24
"""Words times labels, or words times words, of what is searched together."""

Spans = list[tuple[int, int, int]]
"""(start, end, label) in order of the words."""


@torch.no_grad()
def best_spans(
    begin: Tensor,
    inside: Tensor,
    outside: Tensor,
    whole: Tensor,
    losses: Tensor,
    lengths: Tensor,
    unique: Sequence[int] = (),
) -> list[Spans]:
    """The disjoint spans of highest score (a semi-Markov model's Viterbi).

    begin, inside: [B, n, C], scores of a word that begins a span of that label, and that continues
        it; -inf where it can't. outside: [B, n], of a word in no span.
    whole: [B, n, n], whether the words i to j are a constituent. losses: [C], at least 0, what a
        span of each label loses that is none.
    lengths: [B], in 1..n. What is past the end is never read.
    unique: labels that may occur at most once in their sequence.

    Sarawagi and Cohen (2004). Of the spans that end at a word and are no constituents, the best of
    a label begins there, or where that of the word before does: the work grows with C times n and
    the number of constituents, not with C n². Where a label of `unique` comes twice, its one span
    begins either not after the first of both, or after it: both are searched. Ties: a word outside
    before a span, of spans the longest, of labels the lowest.
    """
    _, n, size = begin.shape
    rows = max(1, MOST_SCORES // max(1, n * max(n, size)))
    best: list[tuple[float, Spans]] = [(-torch.inf, []) for _ in begin]
    # the sequences to search by their row, with words at which a label may not begin
    searches: list[tuple[int, list[tuple[slice, int]]]] = [(row, []) for row in range(len(begin))]
    while searches:
        part, searches = searches[:rows], searches[rows:]
        at = [row for row, _ in part]
        starts = begin[at].double()
        for sequence, (_, forbidden) in zip(starts, part, strict=True):
            for words, label in forbidden:
                sequence[words, label] = -torch.inf
        parts = starts, inside[at].double(), outside[at].double(), whole[at]
        found = _search(*parts, losses.double(), lengths[at])
        for (row, forbidden), (score, spans) in zip(part, found, strict=True):
            if repeated := _first_repeated(spans, unique):
                label, first = repeated
                for words in (slice(first + 1, None), slice(first + 1)):
                    searches.append((row, [*forbidden, (words, label)]))
            elif score > best[row][0]:
                best[row] = score, spans
    return [spans for _, spans in best]


def _search(
    begin: Tensor, inside: Tensor, outside: Tensor, whole: Tensor, losses: Tensor, lengths: Tensor
) -> list[tuple[float, Spans]]:
    """The best sequence of each row and its score, whatever labels it repeats."""
    batch, n, _ = begin.shape
    # of words that can't be inside: sums of -inf have no differences
    never = torch.isneginf(inside)
    sums = inside.masked_fill(never, 0).cumsum(1)
    broken = never.cumsum(1)
    # value of a span of the words i to j: start[i] + sums[j], if no word after i can't be inside
    start = begin - sums
    ends_of: list[list[int]] = [[] for _ in range(n)]
    for i, j in whole.any(0).nonzero().tolist():
        if i <= j:
            ends_of[j].append(i)
    best = outside.new_zeros(batch, n + 1)
    back = torch.full((batch, n, 2), -1, dtype=torch.long, device=begin.device)
    longest = torch.full_like(start[:, 0], -torch.inf)
    first = torch.zeros_like(longest, dtype=torch.long)
    for j in range(n):
        start[:, j] += best[:, j, None]
        longest = longest.masked_fill(never[:, j], -torch.inf)
        here = start[:, j] > longest
        longest, first = torch.where(here, start[:, j], longest), first.masked_fill(here, j)
        value, at = longest - losses, first
        for i in ends_of[j]:
            there = whole[:, i, j, None] & (broken[:, i] == broken[:, j])
            better = there & ((start[:, i] > value) | ((start[:, i] == value) & (at > i)))
            value, at = torch.where(better, start[:, i], value), at.masked_fill(better, i)
        value = value + sums[:, j]
        top = value.amax(1, keepdim=True)
        begins, label = at.masked_fill(value < top, n).min(1)
        alone = best[:, j] + outside[:, j]
        span = top[:, 0] > alone
        best[:, j + 1] = torch.where(span, top[:, 0], alone)
        back[:, j] = torch.stack([begins, label], 1).where(span.unsqueeze(1), -1)
    ends = best.gather(1, lengths.to(best.device, torch.long).unsqueeze(1)).squeeze(1).tolist()
    steps = zip(back.tolist(), lengths.tolist(), strict=True)
    return [(score, _spans(*of_row)) for score, of_row in zip(ends, steps, strict=True)]


def _spans(back: list[list[int]], end: int) -> Spans:
    spans = []
    while end:
        first, label = back[end - 1]
        if label >= 0:
            spans.append((first, end, label))
        end = first if label >= 0 else end - 1
    return spans[::-1]


def _first_repeated(spans: Spans, unique: Sequence[int]) -> tuple[int, int] | None:
    """A label of `unique` that comes twice, and the word at which it does first."""
    first: dict[int, int] = {}
    for start, _, label in spans:
        if label in first and label in unique:
            return label, first[label]
        first.setdefault(label, start)
    return None
