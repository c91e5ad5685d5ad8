"""Label scores of all spans of a sentence, from the differences of its fenceposts."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .dropout import Dropout
from .integers import MOST, IntegerMatrix, Linear
from .layer_norm import TINY, LayerNorm, centred
from .precision import Precision
from .prepared import Prepared

CHUNK_SIZE = 1 << 18
"""Hidden values in a chunk on a CPU, which fit a core's cache."""
ACCELERATOR_CHUNK_SIZE = 1 << 24
"""Hidden values in a chunk on an accelerator, which keep it busy."""


MOST_DEVIATIONS = 6.0
"""Standard deviations of a normalised row above which a rounded feature is cut."""


class RoundedLabels(NamedTuple):
    """What follows the layer norm, for products of integers: label scores are `bias` + `scale` *
    the sums of `matrix` with rows of integers, `shift` + `factor` * a normalised row, from -127
    (feature 0) to 127. No row has a scale of its own: to find the largest number of each takes half
    as long as the products."""

    factor: Tensor
    shift: Tensor
    matrix: IntegerMatrix
    bias: Tensor


class SpanScorer(Prepared):
    """s(i,j) = W2 relu(LayerNorm(W1 (f_j - f_i) + b1)) + b2 (Mrini et al. 2020, eqs. 5 and 6).

    fenceposts [B,n+1,d_in] -> scores [B,S,n_labels] of the S = n (n + 1) / 2 spans, packed by
    width. Label 0 (no constituent) scores 0; W2 has `n_labels - 1` rows. Dropout drops the same
    hidden features in all spans of a sentence. `layer_norm` may be a `torch.nn.LayerNorm`, for
    weights trained with one.

    The first layer projects fenceposts, and a span is a difference of two projections. Hidden
    vectors of spans exist only in chunks of about `CHUNK_SIZE` values (at least the spans of one
    sentence and width), which the backward pass recomputes. So they stay in the cache, and memory
    holds no [B,S,d_hidden].
    """

    def __init__(
        self, d_in: int, d_hidden: int, n_labels: int, linear: type[nn.Linear] = nn.Linear
    ) -> None:
        """linear: the class of the first layer. With `Linear`, which rounds in prediction, the
        second layer rounds, too."""
        super().__init__()
        if d_hidden < 2:
            raise ValueError(f"d_hidden must be at least 2 to be normalised, got {d_hidden}")
        self.rounds = linear is Linear
        self.dropout = Dropout()
        self.hidden = linear(d_in, d_hidden)
        self.layer_norm: LayerNorm | nn.LayerNorm = LayerNorm(d_hidden)
        self.output = nn.Linear(d_hidden, n_labels - 1)

    def made(self, precision: Precision) -> RoundedLabels | None:
        """Returns the rounded second layer, for such products."""
        if precision != "int8" or not self.rounds:
            return None
        scale, shift = (of.detach() for of in self.layer_norm.parameters())
        steps = (MOST_DEVIATIONS * scale.abs() + shift.abs()).clamp(min=TINY) / (2 * MOST)
        # label 0 has a row of zeros
        matrix = IntegerMatrix(F.pad(self.output.weight.detach() * steps, (0, 0, 1, 0)))
        bias = F.pad(self.output.bias.detach(), (1, 0))
        bias += MOST * matrix.of_ones * matrix.scale.squeeze(0)
        return RoundedLabels(scale / steps, shift / steps - MOST, matrix, bias)

    def forward(self, fenceposts: Tensor) -> Tensor:
        ends = self.hidden(fenceposts).to(self.hidden.weight.dtype)
        starts = ends - self.hidden.bias
        norm, keep = self.layer_norm, None
        # squares are divided by one less than the width, unless the norm is the standard one
        degrees, inside, added = starts.shape[2] - 1, 0.0, norm.eps
        if isinstance(norm, nn.LayerNorm):
            degrees, inside, added = starts.shape[2], norm.eps, 0.0
        rounded: RoundedLabels | None = self.prepared()
        if rounded is not None:
            return _rounded_scores(starts, ends, rounded, degrees, inside, added)
        if self.dropout.active:
            keep = self.dropout(starts.new_ones(starts.shape[0], 1, starts.shape[2]))
        with torch.autocast(starts.device.type, enabled=False):
            scores: Tensor = _SpanScores.apply(
                starts,
                ends,
                *norm.parameters(),
                *self.output.parameters(),
                keep,
                degrees,
                inside,
                added,
            )
        return scores


def _rounded_scores(
    starts: Tensor, ends: Tensor, rounded: RoundedLabels, degrees: int, inside: float, added: float
) -> Tensor:
    """Returns what `_SpanScores` does, by products of integers."""
    factor, shift, matrix, bias = rounded
    starts, ends = centred(starts), centred(ends)
    batch, n_rows, _ = starts.shape
    scores = starts.new_empty(batch, n_rows * (n_rows - 1) // 2, len(bias))
    for sentences, widths, spans in _chunks(starts):
        rows = _differences(starts[sentences], ends[sentences], widths)
        rows.div_(_deviations(rows, degrees, inside).add_(added))
        integers = torch.addcmul(shift, rows, factor, out=rows).clamp_(-MOST, MOST).round_()
        integers = integers.flatten(0, 1).to(matrix.dtype)
        of_spans = matrix.float_sums(integers).view(*rows.shape[:2], -1)
        torch.addcmul(bias, of_spans, matrix.scale, out=scores[sentences, spans])
    return scores


def _deviations(rows: Tensor, degrees: int, inside: float) -> Tensor:
    """Returns sqrt(sum of squares / degrees + inside) of each row [..., 1]."""
    # several times faster than torch.var on CPU
    length = torch.linalg.vector_norm(rows, dim=-1, keepdim=True)
    deviation = (length / math.sqrt(degrees)).clamp_min_(TINY)
    return deviation.square_().add_(inside).sqrt_() if inside else deviation


class _SpanScores(torch.autograd.Function):
    """Scores of all spans from their projected fenceposts, forward and backward in chunks.

    Rows are divided by sqrt(sum of squares / degrees + inside) + added.
    Plain torch takes 1.1 to 2 times as long and 2.5 to 4 times the memory, or, recomputing chunks,
    1.3 to 1.7 times as long: `benchmarks/layers.py`, docs/decisions/005-hand-written-autograd.md.
    """

    @staticmethod
    def forward(
        ctx: Any,
        starts: Tensor,
        ends: Tensor,
        scale: Tensor,
        shift: Tensor,
        weight: Tensor,
        bias: Tensor,
        keep: Tensor | None,
        degrees: int,
        inside: float,
        added: float,
    ) -> Tensor:
        # differences of centred rows are centred: no mean to compute for every span
        starts, ends = centred(starts), centred(ends)
        batch, n_rows, _ = starts.shape
        n_spans = n_rows * (n_rows - 1) // 2
        scores = starts.new_empty(batch, n_spans, weight.shape[0] + 1)
        scores[..., 0] = 0
        deviations = starts.new_empty(batch, n_spans, 1)
        for sentences, widths, spans in _chunks(starts):
            rows = _differences(starts[sentences], ends[sentences], widths)
            deviation = _deviations(rows, degrees, inside)
            deviations[sentences, spans] = deviation
            rows.mul_(1 / (deviation + added))
            hidden = torch.addcmul(shift, rows, scale, out=rows).relu_()
            if keep is not None:
                hidden.mul_(keep[sentences])
            scores[sentences, spans, 1:] = F.linear(hidden, weight, bias)
        ctx.save_for_backward(starts, ends, scale, shift, weight, keep, deviations)
        ctx.degrees, ctx.added = degrees, added
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        starts, ends, scale, shift, weight, keep, deviations = ctx.saved_tensors
        grad_starts, grad_ends = torch.zeros_like(starts), torch.zeros_like(ends)
        grad_scale, grad_shift = torch.zeros_like(scale), torch.zeros_like(shift)
        grad_weight, grad_bias = torch.zeros_like(weight), weight.new_zeros(len(weight))
        for sentences, widths, spans in _chunks(starts):
            rows = _differences(starts[sentences], ends[sentences], widths)
            deviation = deviations[sentences, spans]
            inverse = 1 / (deviation + ctx.added)
            rows.mul_(inverse)
            hidden = torch.addcmul(shift, rows, scale).relu_()
            if keep is not None:
                hidden.mul_(keep[sentences])
            d_scores = grad[sentences, spans, 1:].flatten(0, 1)
            grad_weight.addmm_(d_scores.T, hidden.flatten(0, 1))
            grad_bias += d_scores.sum(0)
            d_hidden_rows = torch.mm(d_scores, weight).view_as(hidden)
            if keep is not None:
                d_hidden_rows.mul_(keep[sentences])
            d_hidden_rows = torch.ops.aten.threshold_backward(d_hidden_rows, hidden, 0)
            grad_shift += d_hidden_rows.sum((0, 1))
            products = torch.mul(d_hidden_rows, rows, out=hidden)
            grad_scale += products.sum((0, 1))
            # the gradient through the deviation, itself a function of the row
            through = (products @ scale).unsqueeze(-1) / (deviation * ctx.degrees)
            d_hidden_rows.mul_(scale).mul_(inverse).addcmul_(rows, through, value=-1)
            offset = 0
            for width in widths:
                n = starts.shape[1] - width
                d_width = d_hidden_rows[:, offset : offset + n]
                grad_ends[sentences, width:] += d_width
                grad_starts[sentences, :n] -= d_width
                offset += n
        return (
            centred(grad_starts),
            centred(grad_ends),
            grad_scale,
            grad_shift,
            grad_weight,
            grad_bias,
            *[None] * 4,
        )


def _chunks(rows: Tensor) -> Iterator[tuple[slice, range, slice]]:
    """Yields chunks of spans over rows [B,n+1,d]: sentences, widths, and their packed positions."""
    batch, n_rows, d_hidden = rows.shape
    size = CHUNK_SIZE if rows.is_cpu else ACCELERATOR_CHUNK_SIZE
    n_sentences = max(1, size // (n_rows * d_hidden))
    for sentence in range(0, batch, n_sentences):
        sentences = slice(sentence, min(sentence + n_sentences, batch))
        limit = size // ((sentences.stop - sentence) * d_hidden)
        first, begin, end = 1, 0, 0
        for width in range(1, n_rows):
            n = n_rows - width
            if end > begin and end - begin + n > limit:
                yield sentences, range(first, width), slice(begin, end)
                first, begin = width, end
            end += n
        if end > begin:
            yield sentences, range(first, n_rows), slice(begin, end)


def _differences(starts: Tensor, ends: Tensor, widths: range) -> Tensor:
    """Returns ends[j] - starts[i] for all spans (i, j) of these widths: [B,spans,d]."""
    batch, n_rows, d_hidden = starts.shape
    spans = starts.new_empty(batch, sum(n_rows - width for width in widths), d_hidden)
    offset = 0
    for width in widths:
        n = n_rows - width
        torch.sub(ends[:, width:], starts[:, :n], out=spans[:, offset : offset + n])
        offset += n
    return spans
