"""The best joint tree where the best constituents and the best heads agree, without a search.

Where no value is below 0, and spans that are no constituents have 0, no joint tree (`lexicalised`)
has a higher score than all constituents with a value and each word's best head. If these make a
tree, it is the best one. The heads must be a projective tree. No two constituents may cross. In
each constituent one word, its head, depends on a word outside. No other word in it has dependents
outside.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .arborescence import is_tree
from .chart import packed_spans, root_positions
from .lexicalised import Ints
from .pruned import best_joint

Bools = NDArray[np.bool_]


@torch.no_grad()
def best_joint_of_gains(
    gains: Tensor, arcs: Tensor, lengths: Tensor, probabilities: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Returns the constituents [B, S] with a gain of each sentence's best joint tree, the sentence
    among them, and its heads [B, n]. gains: packed chart [B, S], 0 beyond a sentence; the rest: as
    in `best_joint`."""
    constituents = gains > 0
    lengths = lengths.to(gains.device)
    words = torch.arange(arcs.shape[1], device=arcs.device)
    heads = arcs.argmax(-1).where(words < lengths.unsqueeze(1), 0)
    values = heads, lengths, is_tree(heads, lengths), constituents
    agree = torch.from_numpy(_agree(*(of.cpu().numpy() for of in values))).to(gains.device)
    if not agree.all():
        rest = ~agree
        of_rest = gains[rest]
        likely = None if probabilities is None else probabilities[rest]
        found = best_joint(of_rest, torch.zeros_like(of_rest), arcs[rest], lengths[rest], likely)
        constituents[rest] &= found.labelled
        heads[rest] = found.heads
    constituents[root_positions(gains, lengths)] = True
    return constituents, heads


def _agree(heads: Ints, lengths: Ints, trees: Bools, constituents: Bools) -> Bools:
    """Returns whether heads [B, n], which are trees or not [B], and constituents [B, S] make joint
    trees [B]. In NumPy: of few sentences, PyTorch takes longer to begin each operation."""
    size, n = heads.shape
    wide = constituents[:, n:]
    # m words have less than m constituents of several words that don't cross
    agree = trees & ~_cross(heads, lengths) & (wide.sum(1) < lengths)
    rows, at = (wide & agree[:, None]).nonzero()
    starts, ends = (of.numpy()[n:][at] for of in packed_spans(n))
    farthest = np.zeros((size, n), np.int64)
    np.maximum.at(farthest, (rows, starts), ends)
    words, start, end, head = np.arange(n), starts[:, None], ends[:, None], heads[rows]
    inside = (start <= words) & (words < end)
    headed_inside = (start < head) & (head <= end)
    out = inside & ~headed_inside
    own = out.argmax(1)[:, None] + 1
    wrong = (out.sum(1) != 1) | (headed_inside & ~inside & (head != own)).any(1)
    wrong |= (inside & (start < words) & (farthest[rows] > end)).any(1)
    agree[rows[wrong]] = False
    return agree


def _cross(heads: Ints, lengths: Ints) -> Bools:
    """Returns whether arcs cross [B]."""
    size, n = heads.shape
    words = np.arange(1, n + 1)
    heads = np.where(words <= lengths[:, None], heads, words)
    first, last = np.minimum(heads, words), np.maximum(heads, words)
    begin, end = first[..., None], last[..., None]
    crossed = (begin < first[:, None]) & (first[:, None] < end) & (end < last[:, None])
    return np.asarray(crossed.reshape(size, n * n).any(1))
