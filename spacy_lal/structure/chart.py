"""Dynamic programs over binary trees, batched over padded charts.

A *chart* holds one score for every span of a sentence. It is **packed by width**: the
S = n(n+1)/2 spans of an n-word sentence stand in order of width w = 1..n, then of start
i = 0..n-w, so that all spans of one width are one contiguous slice. `packed_spans`, `pack`,
`unpack` translate to fenceposts (i, j).

A binary tree over n words has 2n-1 spans: the n words, the whole sentence, and the spans in
between; its score is the sum of its spans' scores. Every program walks the widths once and
does all sentences, starts and splits of a width in one operation. Two tables make both
children of a width contiguous: `left[b, i, w]` is the span of width w that *starts* at i,
`right[b, j, w]` the one that *ends* at j; the splits of all spans of width w are
`left[:, :n-w+1, 1:w] + right[:, w:, 1:w].flip(-1)`.

Sentences shorter than the batch's n need no mask: a tree of m words reads only spans inside
(0, m), all of which exist in the padded chart.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def chart_size(n: int) -> int:
    """The number of spans of an n-word sentence."""
    return n * (n + 1) // 2


def width_offset(n: int, width: int) -> int:
    """Where the spans of `width` start in a packed chart of an n-word sentence."""
    return (width - 1) * (n + 1) - (width - 1) * width // 2


def packed_spans(n: int) -> tuple[Tensor, Tensor]:
    """Fenceposts (starts [S], ends [S]) of the spans in packed order."""
    # long sentences are rare, and their tables large
    return _cached_spans(n) if n <= 128 else _packed_spans(n)


def _packed_spans(n: int) -> tuple[Tensor, Tensor]:
    widths = torch.arange(1, n + 1)
    counts = n + 1 - widths
    per_span = widths.repeat_interleave(counts)
    first = torch.cumsum(counts, 0) - counts
    starts = torch.arange(chart_size(n)) - first.repeat_interleave(counts)
    return starts, starts + per_span


_cached_spans = lru_cache(maxsize=None)(_packed_spans)


def span_position(n: int, starts: Tensor, ends: Tensor) -> Tensor:
    """Packed positions of the spans (starts, ends), for n the chart's (padded) length."""
    widths = ends - starts
    return (widths - 1) * (n + 1) - (widths - 1) * widths // 2 + starts


def pack(square: Tensor) -> Tensor:
    """[B, n+1, n+1, ...] indexed by fenceposts -> [B, S, ...]."""
    starts, ends = packed_spans(square.shape[1] - 1)
    return square[:, starts.to(square.device), ends.to(square.device)]


def unpack(packed: Tensor, n: int, fill: float = 0.0) -> Tensor:
    """[B, S, ...] -> [B, n+1, n+1, ...], `fill` where there is no span."""
    square = packed.new_full((packed.shape[0], n + 1, n + 1, *packed.shape[2:]), fill)
    starts, ends = packed_spans(n)
    square[:, starts.to(packed.device), ends.to(packed.device)] = packed
    return square


def _length_of(chart: Tensor) -> int:
    n = int(((8 * chart.shape[1] + 1) ** 0.5 - 1) / 2)
    if chart_size(n) != chart.shape[1]:
        raise ValueError(f"a packed chart has n(n+1)/2 spans, not {chart.shape[1]}")
    return n


def _roots(chart: Tensor, n: int, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Row and packed position of each sentence's whole span."""
    lengths = lengths.to(chart.device)
    if lengths.numel() and (int(lengths.min()) < 1 or int(lengths.max()) > n):
        raise ValueError(f"sentence lengths must lie in 1..{n}, got {lengths.tolist()}")
    return torch.arange(len(lengths), device=chart.device), span_position(
        n, torch.zeros_like(lengths), lengths
    )


def _split_scores(left: Tensor, right: Tensor, n: int, width: int) -> Tensor:
    """[B, n-width+1, width-1]: best or total score of both children, by the left child's width."""
    return left[:, : n - width + 1, 1:width] + right[:, width:, 1:width].flip(-1)


def _tables(scores: Tensor, n: int) -> tuple[Tensor, Tensor]:
    left = scores.new_zeros(scores.shape[0], n + 1, n + 1)
    return left, torch.zeros_like(left)


def _fill(left: Tensor, right: Tensor, n: int, width: int, values: Tensor) -> None:
    left[:, : n - width + 1, width] = values
    right[:, width:, width] = values


def _inside_tables(scores: Tensor) -> tuple[int, Tensor, Tensor]:
    n = _length_of(scores)
    left, right = _tables(scores, n)
    for width in range(1, n + 1):
        at = width_offset(n, width)
        values = scores[:, at : at + n + 1 - width]
        if width > 1:
            values = values + torch.logsumexp(_split_scores(left, right, n, width), -1)
        _fill(left, right, n, width, values)
    return n, left, right


def _expectation(
    n: int, tops: Tensor, weigh: Any, like: Tensor, rows: Tensor, roots: Tensor
) -> Tensor:
    """Send the weight of each root down to its spans.

    `weigh(width)` gives [B, n-width+1, width-1], how a span of that width divides its weight
    over its splits (rows that sum to 1). Parents of a width are complete before the width is
    reached, so one walk from the widest span down visits every span once: the outside pass
    without outside scores, hence without their cancellation errors.
    """
    left, right = _tables(like, n)
    out = torch.zeros_like(like)
    out[rows, roots] = tops
    for width in range(n, 0, -1):
        at = width_offset(n, width)
        mass = out[:, at : at + n + 1 - width]
        mass += left[:, : n - width + 1, width] + right[:, width:, width]
        if width > 1:
            weight = mass.unsqueeze(-1)
            # no weight, no share, even where no split has a finite score (0 * nan)
            share = torch.where(weight != 0, weight * weigh(width), 0.0)
            left[:, : n - width + 1, 1:width] += share
            right[:, width:, 1:width] += share.flip(-1)
    return out


class _LogPartition(torch.autograd.Function):
    """log Z whose gradient is computed as marginals rather than by replaying the loop."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, lengths: Tensor) -> Tensor:
        n, left, right = _inside_tables(scores)
        rows, roots = _roots(scores, n, lengths)
        ctx.save_for_backward(left, right, rows, roots)
        ctx.n = n
        return left[rows, 0, lengths.to(scores.device)]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        left, right, rows, roots = ctx.saved_tensors
        n = ctx.n

        def weigh(width: int) -> Tensor:
            return torch.softmax(_split_scores(left, right, n, width), -1)

        like = left.new_zeros(left.shape[0], chart_size(n))
        return _expectation(n, grads[0], weigh, like, rows, roots), None


def inside(scores: Tensor, lengths: Tensor) -> Tensor:
    """log Z [B], the log-sum of exp(score) over all binary trees of each sentence.

    scores: packed chart [B, S]; lengths: words of each sentence [B], 1..n. Differentiable once;
    the gradient with respect to `scores` is the spans' marginal probability (the inside-outside
    algorithm, Baker 1979; Eisner 2016 for the identity).
    """
    return _LogPartition.apply(scores, lengths)


def marginals(scores: Tensor, lengths: Tensor) -> Tensor:
    """[B, S]: the probability that a span is in the tree; 0 outside the sentence."""
    with torch.enable_grad():
        leaf = scores.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(inside(leaf, lengths).sum(), leaf)
    return gradient


@torch.no_grad()
def best_tree(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The highest-scoring binary tree of each sentence (CKY).

    scores: packed chart [B, S]; returns its score [B] and a mask [B, S], True at its 2n-1
    spans. Of equal splits the one with the shortest left child wins.
    """
    n = _length_of(scores)
    left, right = _tables(scores, n)
    rows, roots = _roots(scores, n, lengths)
    splits: dict[int, Tensor] = {}
    for width in range(1, n + 1):
        at = width_offset(n, width)
        values = scores[:, at : at + n + 1 - width]
        if width > 1:
            best, splits[width] = _split_scores(left, right, n, width).max(-1)
            values = values + best
        _fill(left, right, n, width, values)

    def weigh(width: int) -> Tensor:
        choice = splits[width]
        return torch.zeros(*choice.shape, width - 1, device=scores.device).scatter_(
            -1, choice.unsqueeze(-1), 1.0
        )

    like = torch.zeros(scores.shape, device=scores.device)
    mask = _expectation(n, like.new_ones(len(rows)), weigh, like, rows, roots) > 0.5
    return left[rows, 0, lengths.to(scores.device)], mask


def hamming_augment(label_scores: Tensor, gold: Tensor, cost: float = 1.0) -> Tensor:
    """[B, S, L] with `cost` added to every label but the gold one [B, S] of the span.

    The best tree of the result maximises s(T) + cost * (number of the tree's spans whose label
    is not the gold label of that span), the cost-augmented search of the margin loss (Stern et
    al. 2017, section 4.1; Mrini et al. 2020, section 4).
    """
    return (label_scores + cost).scatter_add(
        -1, gold.unsqueeze(-1), label_scores.new_full((*gold.shape, 1), -cost)
    )
