"""Dynamic programs over binary trees, batched over padded charts.

A *chart* holds one score for every span of a sentence. It is **packed by width**: the S = n(n+1)/2
spans of an n-word sentence stand in order of width w = 1..n, then of start i = 0..n-w, so the spans
of one width are contiguous. A binary tree has 2n-1 spans; its score is the sum of theirs.

Every program walks the widths once and computes all sentences, starts and splits of a width in one
operation. Its square tables hold a span (i, j) at `[i, j]` and at `[j, i]`: row i has its left
children (i, k), row j its right children (k, j), in order of the split k, so the children of all
spans of a width are views. Shorter sentences need no mask: m words read only spans inside (0, m).
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def chart_size(n: int) -> int:
    """Returns the number of spans of an n-word sentence."""
    return n * (n + 1) // 2


def width_offset(n: int, width: int) -> int:
    """Returns where the spans of `width` begin in a packed chart of an n-word sentence."""
    return (width - 1) * (n + 1) - (width - 1) * width // 2


def packed_spans(n: int) -> tuple[Tensor, Tensor]:
    """Returns the fenceposts (starts [S], ends [S]) of the spans in packed order."""
    # long sentences are rare, and their tables large
    return _cached_spans(n) if n <= 128 else _packed_spans(n)


@torch.inference_mode(False)  # what is cached must serve training, too
def _packed_spans(n: int) -> tuple[Tensor, Tensor]:
    widths = torch.arange(1, n + 1)
    counts = n + 1 - widths
    per_span = widths.repeat_interleave(counts)
    first = torch.cumsum(counts, 0) - counts
    starts = torch.arange(chart_size(n)) - first.repeat_interleave(counts)
    return starts, starts + per_span


_cached_spans = lru_cache(maxsize=None)(_packed_spans)


def span_position(n: int, starts: Tensor, ends: Tensor) -> Tensor:
    """Returns packed positions of the spans (starts, ends); n is the chart's padded length."""
    widths = ends - starts
    return (widths - 1) * (n + 1) - (widths - 1) * widths // 2 + starts


def own_spans(chart: Tensor, length: int) -> Tensor:
    """Returns the positions of the spans of the first `length` words in a packed chart [B, S]."""
    return span_position(chart_length(chart), *packed_spans(length)).to(chart.device)


def root_positions(chart: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Returns rows [B] and positions [B] of whole sentences in a packed chart [B, S, ...]."""
    lengths = lengths.to(chart.device)
    rows = torch.arange(len(lengths), device=chart.device)
    return rows, span_position(chart_length(chart), torch.zeros_like(lengths), lengths)


def pack(square: Tensor) -> Tensor:
    """Packs [B, n+1, n+1, ...], indexed by fenceposts, to [B, S, ...]."""
    side = square.shape[1]
    starts, ends = packed_spans(side - 1)
    # the gradient of one index is scattered far faster than that of two
    return square.flatten(1, 2).index_select(1, (starts * side + ends).to(square.device))


def unpack(packed: Tensor, n: int, fill: float = 0.0) -> Tensor:
    """Unpacks [B, S, ...] to [B, n+1, n+1, ...], with `fill` where there is no span."""
    square = packed.new_full((packed.shape[0], n + 1, n + 1, *packed.shape[2:]), fill)
    starts, ends = packed_spans(n)
    square[:, starts.to(packed.device), ends.to(packed.device)] = packed
    return square


def chart_length(chart: Tensor) -> int:
    """Returns the number of words of a packed chart, padding included."""
    n = int(((8 * chart.shape[1] + 1) ** 0.5 - 1) / 2)
    if chart_size(n) != chart.shape[1]:
        raise ValueError(
            "a packed chart must have n(n+1)/2 spans for some number of words n, not "
            f"{chart.shape[1]}"
        )
    return n


def spans_within(n: int, lengths: Tensor) -> Tensor:
    """Returns [B, S], True at spans of the sentence, False at those that reach into the padding."""
    _, ends = packed_spans(n)
    return ends.to(lengths.device) <= lengths.unsqueeze(1)


def width_slice(n: int, width: int) -> slice:
    """Returns the slice of the spans of `width` in a packed chart of an n-word sentence."""
    return slice(width_offset(n, width), width_offset(n, width + 1))


def spans_of_width(table: Tensor, width: int) -> Tensor:
    """Views a square table at [i, j] and [j, i] of the spans of `width`: [2, B, n-width+1]."""
    size, side = table.shape[:2]
    strides = width * (side - 1), side * side, side + 1
    return table.as_strided((2, size, side - width), strides, width)


def _children(table: Tensor, width: int) -> Tensor:
    """Views the left and right children by split: [2, B, n-width+1, width-1]."""
    size, side = table.shape[:2]
    strides = width * side, side * side, side + 1, 1
    return table.as_strided((2, size, side - width, width - 1), strides, 1)


def split_sums(table: Tensor, width: int) -> Tensor:
    """Sums both children of the spans of `width`, by split: [B, n-width+1, width-1]."""
    left, right = _children(table, width).unbind()
    return left + right


def _whole(table: Tensor, lengths: Tensor) -> Tensor:
    return table[torch.arange(len(lengths), device=table.device), 0, lengths]


class InsidePass(NamedTuple):
    """The tables of the inside pass.

    Let x_k be the sum of the totals of a span's children at the split k. That split's probability,
    given the span, is exp(x_k - shift) * scale; exp(x_k - logsumexp(x)) is inexact for large x.
    """

    lengths: Tensor
    """[B]"""
    total: Tensor
    """[B, n+1, n+1], the log-sum of exp(score) over the trees of the span."""
    shift: Tensor
    """[B, S], the highest x_k."""
    scale: Tensor
    """[B, S], one over the sum of exp(x_k - shift); 0 where no split is possible."""


@torch.no_grad()
def inside_pass(scores: Tensor, lengths: Tensor) -> InsidePass:
    """Runs the inside algorithm over packed scores of spans."""
    n, lengths = chart_length(scores), lengths.to(scores.device)
    if lengths.numel() and int(lengths.min()) < n:
        # no tree reads the padding, but weights of 0 would meet infinite scores there
        scores = scores.masked_fill(~spans_within(n, lengths), 0.0)
    lowest = torch.finfo(scores.dtype).min
    total = scores.new_zeros(len(scores), n + 1, n + 1)
    shift, scale = torch.zeros_like(scores), torch.zeros_like(scores)
    for width in range(1, n + 1):
        here = width_slice(n, width)
        values = scores[:, here]
        if width > 1:
            sums = split_sums(total, width)
            highest = torch.amax(sums, -1, out=shift[:, here]).clamp_(min=lowest)
            sums.sub_(highest.unsqueeze(-1)).exp_()
            values = values + torch.sum(sums, -1, out=scale[:, here]).log().add_(highest)
        spans_of_width(total, width).copy_(values)
    # sums are at least 1 where any split is possible
    return InsidePass(lengths, total, shift, scale.reciprocal().masked_fill_(scale == 0, 0.0))


@torch.no_grad()
def marginals(tables: InsidePass, tops: Tensor) -> Tensor:
    """Returns the probability of each span [B, S], times its root's weight, tops [B].

    Each span, from the widest down, divides its weight over its splits by their probabilities: an
    outside pass without the cancellation errors of outside scores.
    """
    n, scale = chart_length(tables.scale), tables.scale
    weights = torch.zeros_like(tables.total)
    weights[torch.arange(len(tops), device=tops.device), 0, tables.lengths] = tops
    masses = torch.empty_like(scale)
    for width in range(n, 0, -1):
        here = width_slice(n, width)
        left, right = spans_of_width(weights, width).unbind()
        mass = torch.add(left, right, out=masses[:, here])
        if width > 1:
            odds = split_sums(tables.total, width).sub_(tables.shift[:, here].unsqueeze(-1)).exp_()
            share = odds.mul_((mass * scale[:, here]).unsqueeze(-1))
            _children(weights, width).add_(share)
    return masses


class LogPartition(torch.autograd.Function):
    """log Z [B] of scores [B, S], whose gradient is the marginals (Baker 1979; Eisner 2016)."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, *tables: Tensor) -> Tensor:
        ctx.save_for_backward(*tables)
        lengths, total, *_ = tables
        return _whole(total, lengths)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        return marginals(InsidePass(*ctx.saved_tensors), grads[0]), None, None, None, None


def inside(scores: Tensor, lengths: Tensor) -> Tensor:
    """Returns log Z [B], the log-sum of exp(score) over all binary trees of each sentence.

    scores: packed chart [B, S]; lengths: words of each sentence [B], 1..n. The gradient is the
    spans' marginal probability.
    """
    return LogPartition.apply(scores, *inside_pass(scores, lengths))


@torch.no_grad()
def best_tree(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """Returns the score [B] and the span mask [B, S] of each sentence's best binary tree (CKY).
    scores: packed chart [B, S]. Of equal splits the one with the shortest left child wins."""
    n, lengths = chart_length(scores), lengths.to(scores.device)
    best = scores.new_zeros(len(scores), n + 1, n + 1)
    for width in range(1, n + 1):
        values = scores[:, width_slice(n, width)]
        if width > 1:
            values = values + split_sums(best, width).amax(-1)
        spans_of_width(best, width).copy_(values)

    # down from the roots, all spans of one depth at a time: finding a split again is O(n)
    spans = torch.stack(
        [torch.arange(len(scores), device=scores.device), torch.zeros_like(lengths), lengths]
    )
    splits = torch.arange(n + 1, device=scores.device)
    found = [spans]
    while (spans := spans[:, spans[2] - spans[1] > 1]).shape[1]:
        rows, starts, ends = spans
        outside = (splits <= starts.unsqueeze(1)) | (splits >= ends.unsqueeze(1))
        sums = (best[rows, starts] + best[rows, ends]).masked_fill_(outside, -math.inf)
        # the first of splits that are all -inf
        split = torch.maximum(sums.argmax(1), starts + 1)
        spans = torch.cat([torch.stack([rows, starts, split]), torch.stack([rows, split, ends])], 1)
        found.append(spans)
    rows, starts, ends = torch.cat(found, 1)
    mask = torch.zeros_like(scores, dtype=torch.bool)
    mask[rows, span_position(n, starts, ends)] = True
    return _whole(best, lengths), mask


def hamming_augment(label_scores: Tensor, gold: Tensor, cost: float = 1.0) -> Tensor:
    """Adds `cost` to every label but the gold one [B, S] of each span: [B, S, L].

    The best tree of the result is that of the margin loss's cost-augmented search (Stern et al.
    2017, section 4.1; Mrini et al. 2020, section 3.2, eqs. 8 and 9).
    """
    return (label_scores + cost).scatter_add(
        -1, gold.unsqueeze(-1), label_scores.new_full((*gold.shape, 1), -cost)
    )
