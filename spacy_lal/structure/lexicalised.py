"""Joint decoding of constituents and dependencies: the best head-lexicalised binary tree.

A joint tree (the *joint span* of Zhou & Zhao 2019; Mrini et al. 2020, section 3.1) is a binary tree
whose every node has a head word. A word heads itself. A wider node takes the head of one child, and
the head of the other child becomes its dependent. Its score is the sum of its nodes' labels and its
words' arcs. The sentence and dependents of several words are constituents; others may be empty.

The algorithm of Zhou & Zhao is O(n^5): a span, its split, and the heads of both children. This one
maximises over the dependent's head first. `comp` is the best inside of a span (a, b) with head h::

    T[a, b, h] = comp[a, b, h] + max(constituent, empty)[a, b]                   h inside (a, b)
    T[a, b, h] = max over h' inside of comp[a, b, h'] + A[h' <- h]
                     + constituent[a, b]                                         h outside (a, b)

Of the two children of a span exactly one holds its head, so the same table serves both roles::

    comp[i, j, h] = max over k of T[i, k, h] + T[k, j, h]                        h inside (i, j)

Either maximum is O(n^4) over all spans, in two operations per width. The tables have 2 n^3 numbers,
of which half are written.
"""

import math
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from .chart import chart_length, own_spans, root_positions, span_position, width_offset

BLOCK = 1 << 19
"""Numbers in the sums of one operation, which fit the cache."""
FEW = 1 << 13
"""Least numbers in sums that PyTorch is faster with."""
TABLE = 1 << 24
"""Numbers in the tables of sentences decoded together."""


Floats = NDArray[np.floating]
Ints = NDArray[np.int64]


class JointTree(NamedTuple):
    """The best joint tree of each sentence of a batch."""

    score: Tensor
    """[B]"""
    spans: Tensor
    """[B, S], True at the 2m-1 nodes of the binary tree of m words."""
    labelled: Tensor
    """[B, S], True at the nodes that are constituents; the others are empty."""
    heads: Tensor
    """[B, n], the head of each word: 0 the root, k word k; 0 past the end of the sentence."""

    @classmethod
    def none(cls, constituent: Tensor, arcs: Tensor) -> Self:
        """Returns no trees, with score -inf, for charts [B, S] and arcs [B, n, n+1]."""
        scores = arcs.new_full((len(arcs),), -math.inf)
        spans, labelled = constituent.new_zeros(2, *constituent.shape, dtype=torch.bool)
        return cls(scores, spans, labelled, torch.zeros_like(arcs[..., 0], dtype=torch.long))


@torch.no_grad()
def best_joint_tree(constituent: Tensor, empty: Tensor, arcs: Tensor, lengths: Tensor) -> JointTree:
    """Returns the highest-scoring joint tree of each sentence (Mrini et al. 2020, section 3.4).

    constituent: [B, S] packed chart, the value of each span's best label; empty: [B, S], the value
    of no constituent; arcs: [B, n, n+1], `arcs[b, d, h]` is the score of head h (0 the root, k word
    k) for word d+1; lengths: words of each sentence [B], 1..n. -inf excludes.

    Ties: a span is empty where it may be; the shortest left child and the first head win. The
    search runs on the CPU.
    """
    lengths = lengths.to(arcs.device)
    best = JointTree.none(constituent, arcs)
    for block in _blocks(lengths.tolist()):
        rows = torch.tensor(block, device=arcs.device)
        longest = int(lengths[block[0]])
        charts = rows.unsqueeze(1), own_spans(constituent, longest)
        of_words = arcs[rows, :longest, : longest + 1]
        one, other = constituent[charts], empty[charts]
        either = torch.maximum(one, other)
        whole = root_positions(one, lengths[rows])
        either[whole] = one[whole]
        values = (of.cpu().numpy() for of in (one, either, of_words))
        tables = _tables(*values)
        found = _trace(*tables, of_words, lengths[rows], one > other)
        best.score[rows], best.spans[charts], best.labelled[charts] = found[:3]
        best.heads[rows, :longest] = found.heads
    return best


def _blocks(lengths: list[int]) -> list[list[int]]:
    """Returns sentences to decode together, longest first: work grows with length to the fourth."""
    blocks: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lambda row: -lengths[row]):
        longest = lengths[blocks[-1][0]] if blocks else math.inf
        full = blocks and 2 * longest**3 * (len(blocks[-1]) + 1) > TABLE
        if full or (longest > 24 and 3 * lengths[row] < 2 * longest):
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def _tables(constituent: Floats, either: Floats, arcs: Floats) -> tuple[Floats, Floats]:
    """Returns T twice, so that both children of a width are slices.

    left[w, b, i, r]: the span of width w that starts at i, head r words after i;
    right[n-w, b, j, r]: the span of width w that ends at j, head n-r words before j.
    Heads run in a circle: those outside the span (i, j) are the n-w words from j on, modulo n.
    In NumPy, as of few sentences each operation is small: PyTorch takes longer to begin one.
    """
    size, n = arcs.shape[:2]
    left = np.empty((n + 1, size, n, n), arcs.dtype)
    right = np.empty((n, size, n + 1, n), arcs.dtype)
    words = np.ascontiguousarray(np.concatenate([arcs[..., 1:], arcs[..., 1:]], -1))
    step = words.itemsize
    strides = 2 * n * step, 2 * n * n * step, (2 * n + 1) * step, step
    for width in range(1, n + 1):
        at, starts = width_offset(n, width), n + 1 - width
        here = slice(at, at + starts)
        if width > 1:
            comp = _best_sums(
                left[1:width, :, :starts, :width],
                right[n - width + 1 :, :, width:, n - width :],
            )
        else:
            comp = np.zeros((size, n, 1), arcs.dtype)
        inside = comp + either[:, here, None]
        left[width, :, :starts, :width] = inside
        if width == n:
            break
        right[n - width, :, width:, n - width :] = inside
        # the span's words as dependents of the words around it: [width, B, starts, n-width]
        shape = width, size, starts, n - width
        around: Floats = np.ndarray(shape, words.dtype, words, width * step, strides)
        outside = _best_sums(comp.transpose(2, 0, 1)[..., None], around)
        outside += (either if width == 1 else constituent)[:, here, None]
        left[width, :, :starts, width:] = outside
        right[n - width, :, width:, : n - width] = outside
    return left, right


def _best_sums(first: Floats, second: Floats) -> Floats:
    k, size, starts, heads = *first.shape[:3], second.shape[3]
    if k * size * starts * heads < FEW:
        return (first + second).max(0)
    block = min(starts, max(1, BLOCK // (k * size * heads)))
    best = np.empty((size, starts, heads), first.dtype)
    ones, others, bests = map(torch.from_numpy, (first, second, best))
    for at in range(0, starts, block):
        one, other = ones[:, :, at : at + block], others[:, :, at : at + block]
        # as rows of one length, whatever the strides: the maximum runs over whole rows
        sums = torch.add(one, other, out=one.new_empty(k, *other.shape[1:]))
        torch.amax(sums, 0, out=bests[:, at : at + block])
    return best


# what is not written of the tables, and not chosen, may be anything
@np.errstate(invalid="ignore", over="ignore")
def _trace(
    of_left: Floats, of_right: Floats, arcs: Tensor, lengths: Tensor, labelled: Tensor
) -> JointTree:
    """Walks down from the roots, all nodes of one depth at a time.

    Finding a node's split and its dependent's head again is O(n), so no choices are stored.
    labelled: [B, S], True where a node that may be empty is a constituent.
    """
    of_arcs, widths = (of.cpu().numpy() for of in (arcs, lengths))
    n = of_arcs.shape[1]
    splits, offsets = np.arange(1, n)[:, None], np.arange(n)

    def attach(rows: Ints, starts: Ints, widths: Ints, head: Ints) -> tuple[Floats, Ints]:
        """Returns the score and the word of each span that best depends on `head`."""
        words = np.minimum(starts[:, None] + offsets, n - 1)
        scores = of_left[widths, rows, starts] + of_arcs[rows[:, None], words, head[:, None]]
        scores[offsets >= widths[:, None]] = -np.inf
        word = scores.argmax(1)
        return scores[np.arange(len(rows)), word], starts + word

    rows, zeros = np.arange(len(widths)), np.zeros_like(widths)
    score, words = attach(rows, zeros, widths, zeros)
    nodes = np.stack([rows, zeros, widths, words])
    all_nodes, all_dependents = [nodes], [np.stack([*nodes, zeros])]
    while True:
        rows, starts, widths, words = nodes = nodes[:, nodes[2] > 1]
        if not rows.size:
            break
        shift, offset = n - widths, words - starts
        scores = (
            of_left[1:n, rows, starts, offset]
            + of_right[np.minimum(shift + splits, n - 1), rows, starts + widths, shift + offset]
        )
        scores[splits >= widths] = -np.inf
        split = scores.argmax(0) + 1
        headed_left = offset < split
        middles, rests = starts + split, widths - split
        # start and width of the child with the head, and of its dependent
        child = np.where(headed_left, starts, middles), np.where(headed_left, split, rests)
        other = np.where(headed_left, middles, starts), np.where(headed_left, rests, split)
        head = words + 1
        _, other_words = attach(rows, *other, head)
        dependents = np.stack([rows, *other, other_words, head])
        nodes = np.concatenate([np.stack([rows, *child, words]), dependents[:4]], 1)
        all_nodes.append(nodes)
        all_dependents.append(dependents)

    def on_device(parts: list[Ints]) -> Tensor:
        return torch.from_numpy(np.concatenate(parts, 1)).to(arcs.device)

    rows, starts, widths, _ = on_device(all_nodes)
    spans = torch.zeros_like(labelled)
    spans[rows, span_position(n, starts, starts + widths)] = True
    rows, starts, widths, words, head = on_device(all_dependents)
    heads = torch.zeros_like(arcs[..., 0], dtype=torch.long)
    heads[rows, words] = head
    # a dependent wider than a word is a constituent, and so is the sentence
    certain = torch.zeros_like(labelled)
    certain[rows, span_position(n, starts, starts + widths)] = (widths > 1) | (head == 0)
    found = torch.from_numpy(score).to(arcs.device)
    return JointTree(found, spans, (labelled | certain) & spans, heads)


def joint_values(
    label_scores: Tensor, lengths: Tensor, sub_head: int | None
) -> tuple[Tensor, Tensor, Tensor]:
    """Converts label scores [B, S, L] to the input of `best_joint_tree`; label 0 is no constituent.

    Returns the value of each span's best label (-inf if none is allowed), that label, and the value
    of no constituent, all [B, S]. `sub_head` is the label `<H>` of groups of dependents, which
    single words and whole sentences never have.
    """
    scores = label_scores.clone()
    scores[..., 0] = -math.inf
    if sub_head is not None:
        rows, position = root_positions(scores, lengths)
        scores[:, : chart_length(scores), sub_head] = -math.inf
        scores[rows, position, sub_head] = -math.inf
    constituent, labels = scores.max(-1)
    return constituent, labels, label_scores[..., 0]
