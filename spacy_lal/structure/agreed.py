"""The best joint tree where the best constituents and the best heads agree, without a search.

Where constituents have gains, at least 0, and other spans have none, no joint tree (`lexicalised`)
has a higher score than all constituents with a gain and each word's best head. If these make a
tree, it is the best one. They do if the heads are a projective tree, no constituents cross, and
each constituent has one word alone, its head, that has a head outside, or is the head of words
outside.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .chart import packed_spans, root_positions
from .lexicalised import Floats, Ints
from .pruned import best_joint


def best_of_gains(
    gains: Tensor, arcs: Tensor, lengths: Tensor, probabilities: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Returns the constituents [B, S] with a gain of each sentence's best joint tree, the sentence
    among them, and its heads [B, n]. gains: packed chart [B, S], 0 beyond a sentence; the rest: as
    in `best_joint`."""
    constituents = gains > 0
    best = best_heads(*(of.cpu().numpy() for of in (arcs, lengths)))
    agree = torch.from_numpy(_agree(best, constituents.cpu().numpy())).to(gains.device)
    heads = torch.from_numpy(best.heads).to(gains.device)
    if not agree.all():
        rest = ~agree
        few = None if probabilities is None else probabilities[rest]
        of_rest = gains[rest]
        found = best_joint(of_rest, torch.zeros_like(of_rest), arcs[rest], lengths[rest], few)
        constituents[rest] &= found.labelled
        heads[rest] = found.heads
    constituents[root_positions(gains, lengths)] = True
    return constituents, heads


class BestHeads(NamedTuple):
    """Each word's best head, whether or not they make a tree."""

    heads: Ints
    """[B, n], 0 the root, k word k; 0 past the end of the sentence."""
    lengths: Ints
    """[B]"""
    projective: NDArray[np.bool_]
    """[B], whether they are a projective tree, or several."""


def best_heads(arcs: Floats, lengths: Ints) -> BestHeads:
    """Returns the best heads by arcs [B, n, n+1]."""
    n = arcs.shape[1]
    words = np.arange(1, n + 1)
    real = words <= lengths[:, None]
    heads = np.where(real, arcs.argmax(-1), 0)
    # 2^k steps up from every word is the root, whose head is itself
    up = np.pad(heads, ((0, 0), (1, 0)))
    for _ in range(n.bit_length()):
        up = np.take_along_axis(up, up, 1)
    # arcs of padding cross none
    others = np.where(real, heads, words)
    first, last = np.minimum(others, words), np.maximum(others, words)
    one, other = first[..., None], last[..., None]
    crossed = (one < first[:, None]) & (first[:, None] < other) & (other < last[:, None])
    return BestHeads(heads, lengths, (up.sum(1) + crossed.sum((1, 2))) == 0)


def _agree(best: BestHeads, constituents: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Returns whether heads and constituents [B, S] make one tree [B]."""
    size, n = best.heads.shape
    all_starts, all_ends = (of.numpy() for of in packed_spans(n))
    rows, at = constituents[:, n:].nonzero()
    # of a sentence, too, one word alone has its head outside
    rows = np.concatenate([np.arange(size), rows])
    starts = np.concatenate([np.zeros(size, np.int64), all_starts[at + n]])
    ends = np.concatenate([best.lengths, all_ends[at + n]])
    farthest = np.zeros((size, n), np.int64)
    np.maximum.at(farthest, (rows, starts), ends)
    words, start, end = np.arange(n), starts[:, None], ends[:, None]
    heads = best.heads[rows]
    inside = (start <= words) & (words < end)
    headed_inside = (start < heads) & (heads <= end)
    out = inside & ~headed_inside
    own = out.argmax(1)[:, None] + 1
    wrong = (out.sum(1) != 1) | (headed_inside & ~inside & (heads != own)).any(1)
    wrong |= (inside & (start < words) & (farthest[rows] > end)).any(1)
    agree = best.projective.copy()
    agree[rows[wrong]] = False
    return agree
