"""Decoders of a first-order dependency parser.

`arcs` [B, n, n+1]: `arcs[b, d, h]` is the score of head h for dependent word d+1, where head 0 is
the root and head k is word k. A tree gives each word one head, all words descend from the root, and
**exactly one word depends on the root**. Its score is the sum of its arcs' scores. Trees are int64
`heads` [B, n] in the same numbering, 0 past a sentence's end.

All decoders ignore self-loops and scores past the `lengths` [B]; -inf forbids an arc. They return a
tree even where all trees need a forbidden arc, or where scores are nan.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..trees.nest import crossing


def _prepared(arcs: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    arcs = arcs.to(torch.promote_types(arcs.dtype, torch.float32))
    return arcs, lengths.to(arcs.device, torch.long)


def _words(lengths: Tensor, n: int) -> Tensor:
    return torch.arange(n, device=lengths.device) < lengths.unsqueeze(1)


def _without_loops(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Sets self-loops and arcs past the end to -inf, so that padding chooses head 0."""
    n = arcs.shape[1]
    words = _words(lengths, n)
    loops = torch.eye(n, n + 1, dtype=torch.bool, device=arcs.device).roll(1, 1)
    heads = torch.nn.functional.pad(words, (1, 0), value=True)
    return arcs.masked_fill(loops | ~words.unsqueeze(2) | ~heads.unsqueeze(1), -torch.inf)


def _follow(heads: Tensor) -> Tensor:
    """Climbs at least n heads from each of the nodes 0..n by pointer doubling; returns the end of
    each climb [B, n+1], 0 unless it is caught in a cycle."""
    ends = torch.nn.functional.pad(heads, (1, 0))
    for _ in range(heads.shape[1].bit_length()):
        ends = ends.gather(1, ends)
    return ends


def mask_padding(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Returns arc scores [B, n, n+1], or [B, n, n] without the root, with -inf for heads past the
    sentence's end."""
    _, n, n_heads = arcs.shape
    heads = torch.arange(n + 1 - n_heads, n + 1, device=arcs.device)
    return arcs.masked_fill(heads > lengths.to(arcs.device).view(-1, 1, 1), -torch.inf)


def is_tree(heads: Tensor, lengths: Tensor) -> Tensor:
    """Returns [B] bool: whether heads [B, n] are a tree with one dependent of the root. Heads of
    padding don't matter; a head in the padding makes the result False."""
    lengths = lengths.to(heads.device)
    words = _words(lengths, heads.shape[1])
    exists = (heads >= 0) & (heads <= lengths.unsqueeze(1))
    ends = _follow(heads.long().where(words & exists, 0))
    one_root = (words & (heads == 0)).sum(1) == 1
    return one_root & (exists | ~words).all(1) & (ends == 0).all(1)


def is_projective(heads: Sequence[int]) -> bool:
    """Returns whether no two arcs of one sentence's heads (0 the root, before all words) cross."""
    arcs = ((min(h, d), max(h, d)) for d, h in enumerate(heads, 1))
    return crossing(sorted(arcs, key=lambda arc: (arc[0], -arc[1]))) is None


@torch.no_grad()
def projective(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Returns the heads [B, n] of the best projective tree (Eisner 1996), in O(n^3).

    The chart covers the words of arcs [B, n, n+1] only; the root then takes one of them. If every
    projective tree has an arc of score -inf, the result is some projective tree.
    """
    arcs, lengths = _prepared(arcs, lengths)
    batch, n, _ = arcs.shape
    if not batch:
        return lengths.new_zeros(0, n)
    words = arcs[..., 1:]
    rows = torch.arange(batch, device=arcs.device)
    # Items of width w reach w words to one side of their head. *Open* items end at a dependent
    # without dependents on its far side: `open_right[b, i, w]` is the arc i -> i+w with all
    # between. Closed items are complete: `right[b, i, w]` is head i with i..i+w, `left[b, j, w]`
    # head j with j-w..j. `*_end` hold the same values by the far end, so splits are contiguous.
    right, right_end, left, left_end, open_right, open_left = arcs.new_zeros(6, batch, n, n)
    # splits[b, i, j]: the last word of the left half between the ends of the arc;
    # outer[b, h, e]: the outermost dependent of the closed item from head h to end e
    splits = torch.zeros(batch, n, n, dtype=torch.long, device=arcs.device)
    outer = torch.zeros_like(splits)
    for w in range(1, n):
        m = n - w
        first = torch.arange(m, device=arcs.device)
        between, at = (right[:, :m, :w] + left[:, w:, :w].flip(-1)).max(-1)
        splits.diagonal(w, 1, 2).copy_(first + at)
        open_right[:, :m, w] = between + words.diagonal(-w, 1, 2)
        open_left[:, w:, w] = between + words.diagonal(w, 1, 2)
        best, at = (open_right[:, :m, 1 : w + 1] + right_end[:, w:, :w].flip(-1)).max(-1)
        outer.diagonal(w, 1, 2).copy_(first + 1 + at)
        right[:, :m, w] = right_end[:, w:, w] = best
        best, at = (left_end[:, :m, :w] + open_left[:, w:, 1 : w + 1].flip(-1)).max(-1)
        outer.diagonal(-w, 1, 2).copy_(first + at)
        left[:, w:, w] = left_end[:, :m, w] = best
    last = lengths - 1
    to_end = last.unsqueeze(1) - torch.arange(n, device=arcs.device)
    totals = arcs[..., 0] + left_end[:, 0] + right_end[rows, last].gather(1, to_end.clamp(min=0))
    root = totals.masked_fill(to_end < 0, -torch.inf).argmax(1)

    # Closed items (row, head, end), top-down. Each gives one arc and three closed items.
    heads = torch.zeros(batch, n, dtype=torch.long, device=arcs.device)
    pair = torch.stack([rows, root])
    items = torch.cat([torch.vstack([pair, torch.zeros_like(last)]), torch.vstack([pair, last])], 1)
    while (items := items[:, items[1] != items[2]]).shape[1]:
        row, head, end = items
        dependent = outer[row, head, end]
        heads[row, dependent] = head + 1
        low, high = torch.minimum(head, dependent), torch.maximum(head, dependent)
        split = splits[row, low, high]
        parts = [(row, dependent, end), (row, low, split), (row, high, split + 1)]
        items = torch.cat([torch.stack(part) for part in parts], 1)
    return heads


@torch.no_grad()
def nonprojective(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Returns the heads [B, n] of the best tree, projective or not: exact, in O(n^2) a sentence.

    The tree is a maximum spanning arborescence (McDonald et al. 2005) of arcs [B, n, n+1].
    Sentences whose best heads are no tree are solved one by one in float64. If every tree has arcs
    of score -inf, the result has the fewest, then the best other arcs.
    """

    def solved(scores: Tensor, lengths: Tensor) -> Tensor:
        heads = np.zeros(scores.shape[:2], dtype=np.int64)
        for row, (table, n) in enumerate(zip(scores.cpu().numpy(), lengths.tolist(), strict=True)):
            heads[row, :n] = _arborescence(table[:n, : n + 1])
        return torch.from_numpy(heads).to(scores.device)

    return _best_heads(arcs, lengths, solved)


def _best_heads(
    arcs: Tensor, lengths: Tensor, repaired: Callable[[Tensor, Tensor], Tensor]
) -> Tensor:
    """Returns each word's best head or, where these are no tree, `repaired` scores and lengths."""
    arcs, lengths = _prepared(arcs, lengths)
    scores = _without_loops(arcs, lengths)
    heads = scores.argmax(-1)
    broken = (~is_tree(heads, lengths)).nonzero().squeeze(1)
    if len(broken):
        heads[broken] = repaired(scores[broken], lengths[broken])
    return heads


def _arborescence(scores: NDArray[np.floating]) -> NDArray[np.int64]:
    """Returns the heads [n] of the best tree with one dependent of the root, for scores [n, n+1].

    Chu & Liu 1965 and Edmonds 1967 for dense graphs (Tarjan 1977; expansion as in Camerini et al.
    1979): walk from a component to the source of its best arc. Where the walk meets itself,
    contract the cycle and score each arc into it by its gain over the cycle's own arc.

    One root dependent (cf. Gabow & Tarjan 1984): subtract a constant M from all arcs of the root.
    For a large enough M the best tree has one root dependent. No component then takes an arc of the
    root while a word is outside it, so one component comes to hold all words, and M is part of no
    gain. The limit of infinite M needs no M: the root's arcs wait until the end. Zmigrod et al.
    2020 first solve without the constraint.

    Forbidden arcs: the algorithm only adds, subtracts and compares, so it holds in any ordered
    group. Scores are pairs (-number of forbidden arcs, score), compared as numpy compares complex
    numbers. Unlike a large penalty, that costs no precision.
    """
    n = len(scores)
    nodes = 2 * n - 1  # the words 0..n-1, then components in order of their making
    forbidden = ~np.isfinite(scores)
    # into[v, h], enters[v, h]: score of the best arc from head h into v, and the word it enters
    into = np.zeros((nodes, n + 1), dtype=np.complex128)
    into.real[:n] = -forbidden.astype(float)
    into.imag[:n] = np.where(forbidden, 0.0, scores)
    into.real[np.arange(n), np.arange(1, n + 1)] = -np.inf  # never from within
    enters = np.zeros((nodes, n + 1), dtype=np.int64)
    enters[:n] = np.arange(n)[:, None]
    sources = np.arange(n + 1)
    component = np.arange(n)  # of each word
    parent = np.zeros(nodes, dtype=np.int64)
    best = np.zeros(nodes, dtype=np.int64)  # the head each node takes
    position = np.full(nodes, -1)  # on the walk
    walk, made, left = [0], n, n
    position[0] = 0
    while left > 1:
        node = walk[-1]
        best[node] = 1 + into[node, 1:].argmax()
        source = component[best[node] - 1]
        if position[source] < 0:
            position[source] = len(walk)
            walk.append(source)
            continue
        cycle = np.array(walk[position[source] :])
        del walk[position[source] :]
        gains = into[cycle] - into[cycle, best[cycle]][:, None]
        which = gains.argmax(0)
        into[made] = gains[which, sources]
        enters[made] = enters[cycle[which], sources]
        within = np.isin(component, cycle)
        into.real[made, 1:][within] = -np.inf
        component[within] = made
        parent[cycle] = made
        position[made] = len(walk)
        walk.append(made)
        made, left = made + 1, left + 1 - len(cycle)
    # The last component takes the root. From the outside in, the word that a component's arc enters
    # keeps that arc and loses its arc in the cycle.
    heads = np.zeros(n, dtype=np.int64)
    settled = np.zeros(nodes, dtype=bool)
    for node in range(made - 1, -1, -1):
        if not settled[node]:
            inner = enters[node, best[node]]
            heads[inner] = best[node]
            while inner != node:
                settled[inner] = True
                inner = parent[inner]
    return heads


@torch.no_grad()
def greedy(arcs: Tensor, lengths: Tensor) -> Tensor:
    """Returns heads [B, n]: each word's best head or, where these are no tree, the best projective
    tree of arcs [B, n, n+1]."""
    return _best_heads(arcs, lengths, projective)
