"""Label scores of all spans of a sentence, from the differences of its fenceposts."""

from itertools import accumulate
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .dropout import feature_dropout
from .layer_norm import LayerNorm, centred


def fenceposts(
    annotations: Tensor, *, n_heads: int | None = None, deinterleave: bool = False
) -> Tensor:
    """Annotations [B,n+2,D] of START, n words, STOP -> fenceposts [B,n+1,D].

    Fencepost k takes the first half of row k and the second half of row k + 1 (Mrini et al. 2020,
    section 4.2). With `n_heads`, the row is a concatenation of heads and each head is cut in
    half. `deinterleave` brings the even features before the odd ones first.
    """
    if deinterleave:
        annotations = torch.cat([annotations[..., 0::2], annotations[..., 1::2]], dim=-1)
    first, second = halves(annotations, n_heads)
    return torch.cat([first[:, :-1], second[:, 1:]], dim=-1)


def halves(annotations: Tensor, n_heads: int | None = None) -> tuple[Tensor, Tensor]:
    """The first and the second halves of rows [B,n,D], or of each of their heads."""
    if n_heads is None:
        middle = annotations.shape[-1] // 2
        return annotations[..., :middle], annotations[..., middle:]
    heads = annotations.unflatten(-1, (n_heads, -1))
    middle = heads.shape[-1] // 2
    return heads[..., :middle].flatten(2), heads[..., middle:].flatten(2)


class SpanScorer(nn.Module):
    """s(i,j) = W2 relu(LayerNorm(W1 (f_j - f_i) + b1)) + b2 (Mrini et al. 2020, section 4.2).

    fenceposts [B,n+1,d_in] -> scores [B,S,n_labels] of the S = n (n + 1) / 2 spans, packed by
    width: first the spans (i, i+1) from left to right, then (i, i+2), and so on. Label 0 (no
    constituent) scores 0; W2 has `n_labels - 1` rows.

    The first layer is linear: it projects the n + 1 fenceposts, and a span is a difference of
    two projections. Without gradients, spans are scored in chunks of about `chunk_size` hidden
    values, at least all spans of one width.
    """

    def __init__(
        self,
        d_in: int,
        d_hidden: int,
        n_labels: int,
        *,
        dropout: float = 0.0,
        chunk_size: int = 1 << 18,
    ) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.dropout = dropout
        self.chunk_size = chunk_size
        self.hidden = nn.Linear(d_in, d_hidden)
        self.layer_norm = LayerNorm(d_hidden)
        self.output = nn.Linear(d_hidden, n_labels - 1)

    def forward(self, fenceposts: Tensor) -> Tensor:
        starts = F.linear(fenceposts, self.hidden.weight)
        ends = starts + self.hidden.bias
        if torch.is_grad_enabled() or self.training:
            spans: Tensor = _Differences.apply(starts, ends)
            hidden = F.relu(self.layer_norm(spans))
            # the same features for all spans of a sentence: n^2 masks would cost more than W2
            hidden = feature_dropout(hidden, self.dropout, self.training)
            return F.pad(self.output(hidden), (1, 0))
        return self._in_chunks(starts, ends)

    def _in_chunks(self, starts: Tensor, ends: Tensor) -> Tensor:
        if self.layer_norm.width > 1:
            # Differences of centred rows are centred: no mean to take for every span.
            starts, ends = centred(starts), centred(ends)
        batch, n_rows, d_hidden = starts.shape
        offsets = _offsets(n_rows)
        scores = starts.new_empty(batch, offsets[-1], self.n_labels)
        scores[..., 0] = 0
        first = 1
        while first < n_rows:
            last = first + 1
            begin = offsets[first - 1]
            while last < n_rows and (offsets[last] - begin) * batch * d_hidden <= self.chunk_size:
                last += 1
            spans = _differences(starts, ends, first, last)
            hidden = self.layer_norm.of_centred_(spans).relu_()
            scores[:, begin : offsets[last - 1], 1:] = self.output(hidden)
            first = last
        return scores


def _offsets(n_rows: int) -> list[int]:
    """Entry w - 1: where spans of width w begin among those of n_rows fenceposts."""
    return [0, *accumulate(n_rows - width for width in range(1, n_rows))]


def _differences(starts: Tensor, ends: Tensor, first: int, last: int) -> Tensor:
    """ends[j] - starts[i] for all spans (i, j) of widths first to last - 1, by width."""
    batch, n_rows, d_hidden = starts.shape
    n_spans = sum(n_rows - width for width in range(first, last))
    spans = starts.new_empty(batch, n_spans, d_hidden)
    offset = 0
    for width in range(first, last):
        n = n_rows - width
        torch.sub(ends[:, width:], starts[:, :n], out=spans[:, offset : offset + n])
        offset += n
    return spans


class _Differences(torch.autograd.Function):
    """All differences by width; the gradient is gathered in place, not one tensor a width."""

    @staticmethod
    def forward(ctx: Any, starts: Tensor, ends: Tensor) -> Tensor:
        ctx.n_rows = starts.shape[1]
        return _differences(starts, ends, 1, ctx.n_rows)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        grad_starts = grad.new_zeros(grad.shape[0], ctx.n_rows, grad.shape[2])
        grad_ends = torch.zeros_like(grad_starts)
        offset = 0
        for width in range(1, ctx.n_rows):
            n = ctx.n_rows - width
            of_width = grad[:, offset : offset + n]
            grad_ends[:, width:] += of_width
            grad_starts[:, :n] -= of_width
            offset += n
        return grad_starts, grad_ends
