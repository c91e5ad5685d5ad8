"""The best sequences of labelled spans, in which some labels occur at most once."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

MOST_SCORES = 1 << 24
"""Of all words and labels of the sequences that are searched together: 128 MB of 64-bit floats."""


@torch.no_grad()
def best_spans(
    begin: Tensor,
    inside: Tensor,
    outside: Tensor,
    added: Tensor,
    lengths: Tensor,
    unique: Sequence[int] = (),
    without: Sequence[int] = (),
) -> list[list[tuple[int, int, int]]]:
    """The disjoint spans (start, end, label) of highest score (a semi-Markov model's Viterbi).

    begin, inside: [B, n, C], scores of a word that begins a span of that label, and that continues
        it; -inf where it can't. outside: [B, n], of a word in no span.
    added: [B, n, n]; `added[b, i, j]` is added to the score of a span of the words i to j, unless
        its label is one of `without`.
    lengths: [B], in 1..n. What is past the end is never read.
    unique: labels that may occur at most once in their sequence.

    Sarawagi and Cohen (2004). The work grows with n² C. Where a label of `unique` comes twice, its
    one span begins either not after the first of both, or after it: both are searched. Ties: a word
    outside before a span, of spans the longest, of labels the lowest.
    """
    _, n, size = begin.shape
    rows = max(1, MOST_SCORES // max(1, n * max(n, size)))
    counts = torch.ones(size, dtype=torch.double, device=begin.device)
    counts[list(without)] = 0
    found = []
    for part in torch.arange(len(begin)).split(rows):
        parts = [t[part.to(t.device)] for t in (begin, inside, outside, added, lengths)]
        found += [spans for _, spans in _search(parts, counts, set(unique))]
    return found


def _search(
    parts: list[Tensor], counts: Tensor, unique: set[int]
) -> list[tuple[float, list[tuple[int, int, int]]]]:
    begin, inside, outside, added, lengths = parts
    batch, n, _ = begin.shape
    begin, inside, outside, added = (t.double() for t in (begin, inside, outside, added))
    # of words that can't be inside: sums of -inf have no differences
    never = torch.isneginf(inside)
    sums = inside.masked_fill(never, 0).cumsum(1)
    broken = never.cumsum(1)
    # a span of the words i to j: from[i] + sums[j], if as many words before both can't be inside
    start = begin - sums
    best = outside.new_zeros(batch, n + 1)
    back = torch.full((batch, n, 2), -1, dtype=torch.long, device=begin.device)
    for j in range(n):
        scores = start[:, : j + 1] + sums[:, j : j + 1] + added[:, : j + 1, j, None] * counts
        scores = scores.masked_fill(broken[:, : j + 1] != broken[:, j : j + 1], -torch.inf)
        of_label, label = scores.max(2)
        value, first = (of_label + best[:, : j + 1]).max(1)
        alone = best[:, j] + outside[:, j]
        span = value > alone
        best[:, j + 1] = torch.where(span, value, alone)
        chosen = torch.stack([first, label.gather(1, first.unsqueeze(1)).squeeze(1)], 1)
        back[:, j] = chosen.where(span.unsqueeze(1), -1)
    ends = best.gather(1, lengths.to(best.device, torch.long).unsqueeze(1)).squeeze(1).tolist()
    found = []
    for row, (steps, end) in enumerate(zip(back.tolist(), lengths.tolist(), strict=True)):
        spans = _spans(steps, end)
        again = _first_repeated(spans, unique)
        if again is None:
            found.append((ends[row], spans))
            continue
        repeated, at = again
        two = [t[row].expand(2, *t[row].shape) for t in (inside, outside, added, lengths)]
        starts = begin[row].expand(2, *begin[row].shape).clone()
        starts[0, at + 1 :, repeated] = -torch.inf
        starts[1, : at + 1, repeated] = -torch.inf
        found.append(max(_search([starts, *two], counts, unique), key=lambda pair: pair[0]))
    return found


def _spans(back: list[list[int]], end: int) -> list[tuple[int, int, int]]:
    spans = []
    while end:
        first, label = back[end - 1]
        if label < 0:
            end -= 1
        else:
            spans.append((first, end, label))
            end = first
    return spans[::-1]


def _first_repeated(spans: list[tuple[int, int, int]], unique: set[int]) -> tuple[int, int] | None:
    """A label of `unique` that comes twice, and the word at which it does first."""
    first: dict[int, int] = {}
    for start, _, label in spans:
        if label in first:
            return label, first[label]
        if label in unique:
            first[label] = start
    return None
