"""Joint decoding over few of a sentence's spans: the search of `lexicalised` for long sentences.

All spans and all heads are O(n^4). Where a coarser model knows which spans are at all probable, the
search needs no others (coarse-to-fine pruning, Charniak et al. 2006). Here a chart is a list of its
K kept spans, and T and comp, defined in `lexicalised`, are tables [K, n] by span and head. A kept
span has the splits whose two children are kept. The tree found is the best of those made of kept
spans; where the best of all trees is among them, it is that one.

Two maxima make the tables. That over splits reads two rows a split. That over the words h' of a
span as dependents of h outside skips words that can't win for any h, which are most: those with
comp[h'] + max over h of A[h' <- h] less than comp[h''] + min over h of A[h'' <- h] for an h''.

O(n (splits + candidates)) time, both summed over kept spans, and O(K n) memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from .chart import packed_spans, span_position
from .lexicalised import JointTree

# Numbers in the sums of one operation, unless one span has more.
BLOCK = 1 << 19


@torch.no_grad()
def best_joint_tree_within(
    keep: Tensor, constituent: Tensor, empty: Tensor, arcs: Tensor, lengths: Tensor
) -> JointTree:
    """The highest-scoring joint tree of each sentence all of whose nodes are in `keep`.

    keep: mask [B, S]. All else, ties included, is as in `lexicalised.best_joint_tree`. Sentences
    are decoded one by one, on the CPU. Raises ValueError if `keep` lacks a sentence or a word. A
    score of -inf says that the other kept spans make no tree; the tree's nodes then mean nothing.
    """
    best = JointTree(
        arcs.new_zeros(len(arcs)),
        torch.zeros_like(keep),
        torch.zeros_like(keep),
        torch.zeros_like(arcs[..., 0], dtype=torch.long),
    )
    for row, n in enumerate(lengths.tolist()):
        starts, ends = packed_spans(n)
        at = span_position(arcs.shape[1], starts, ends).to(keep.device)
        kept = keep[row, at].cpu()
        if not (kept[:n].all() and kept[-1]):
            raise ValueError("the words and the whole of a sentence must be kept")
        at = at[kept.to(at.device)]
        chart = _KeptChart(
            starts[kept],
            ends[kept],
            constituent[row, at].cpu(),
            empty[row, at].cpu(),
            arcs[row, :n, : n + 1].cpu(),
        )
        score, nodes, certain, heads = chart.best()
        best.score[row] = score
        best.spans[row, at[nodes]] = True
        best.labelled[row, at[nodes]] = (constituent > empty)[row, at[nodes]]
        best.labelled[row, at[certain]] = True
        best.heads[row, :n] = torch.tensor(heads, device=arcs.device)
    return best


class _KeptChart:
    """The kept spans of one sentence, narrow ones first; see the module's description.

    starts, ends, constituent, empty: of the K spans [K]; arcs [n, n+1].
    """

    def __init__(
        self, starts: Tensor, ends: Tensor, constituent: Tensor, empty: Tensor, arcs: Tensor
    ) -> None:
        self.n = n = len(arcs)
        self.size = len(starts)
        self.starts, self.ends, self.widths = starts, ends, ends - starts
        self.constituent = constituent
        self.either = torch.maximum(constituent, empty)
        self.either[-1] = constituent[-1]  # the whole sentence
        self.to_root, self.arcs = arcs[:, 0], arcs[:, 1:].contiguous()
        # K stands for all spans that aren't kept
        self.number = torch.full((n + 1, n + 1), self.size)
        self.number[starts, ends] = torch.arange(self.size)
        self.table = arcs.new_full((self.size + 1, n), -math.inf)
        self._fill()

    def _fill(self) -> None:
        n, words = self.n, torch.arange(self.n)
        highest, lowest = self.arcs.amax(1), self.arcs.amin(1)
        for width in range(1, n + 1):
            first, last = torch.searchsorted(self.widths, torch.tensor([width, width + 1])).tolist()
            if first == last:
                continue
            starts = self.starts[first:last].unsqueeze(1)
            ends = starts + width
            inside = (words >= starts) & (words < ends)
            if width == 1:
                comp = torch.where(inside, 0.0, self.table[first:last])
            else:
                splits = starts + torch.arange(1, width)
                left, right = self.number[starts, splits], self.number[splits, ends]
                possible = (left < self.size) & (right < self.size)
                left = left.masked_fill_(~possible, self.size)
                comp = self.table.new_empty(last - first, n)
                for block, chosen in _true_first(possible, n):
                    sums = self.table[left[block].gather(1, chosen)]
                    sums += self.table[right[block].gather(1, chosen)]
                    torch.amax(sums, 1, out=comp[block])
                comp.masked_fill_(~inside, -math.inf)
            if width == n:
                self.table[first] = comp[0] + self.either[first]
                break
            inner = starts + torch.arange(width)
            own = comp.gather(1, inner)
            candidate = own + highest[inner] >= (own + lowest[inner]).amax(1, keepdim=True)
            outside = torch.empty_like(comp)
            for block, chosen in _true_first(candidate, n):
                sums = self.arcs[inner[block].gather(1, chosen)]
                sums += own[block].gather(1, chosen).unsqueeze(-1)
                torch.amax(sums, 1, out=outside[block])
            value = self.either if width == 1 else self.constituent
            self.table[first:last] = torch.where(
                inside,
                comp + self.either[first:last].unsqueeze(1),
                outside + value[first:last].unsqueeze(1),
            )

    def best(self) -> tuple[float, list[int], list[int], list[int]]:
        """Walk down from the root: choices aren't kept, to find one again is O(n).

        Returns the score, the tree's spans, those of them that are constituents whatever they are
        worth, and the head of each word, 0 the root, k word k.
        """
        table, arcs, number = self.table.numpy(), self.arcs.numpy(), self.number.numpy()
        starts, ends = self.starts.tolist(), self.ends.tolist()
        heads = [0] * self.n
        tops = self.table[self.size - 1] + self.to_root
        top = int(tops.argmax())
        nodes, dependents = [], [self.size - 1]
        todo = [(self.size - 1, top)]
        while todo:
            node, head = todo.pop()
            nodes.append(node)
            start, end = starts[node], ends[node]
            if end - start == 1:
                continue
            left, right = number[start, start + 1 : end], number[start + 1 : end, end]
            # one of the two is -inf where it isn't kept
            split = int((table[left, head] + table[right, head]).argmax())
            child, other = int(left[split]), int(right[split])
            if head > start + split:
                child, other = other, child
            first, last = starts[other], ends[other]
            word = first + int((table[other, first:last] + arcs[first:last, head]).argmax())
            heads[word] = head + 1
            if last - first > 1:
                dependents.append(other)
            todo += [(child, head), (other, word)]
        return float(tops[top]), nodes, dependents, heads


def _true_first(mask: Tensor, n: int) -> Iterator[tuple[slice, Tensor]]:
    """For rows of a mask [rows, columns], a block at a time: the rows' slice, and columns
    [rows, most], at least one, those that are True first and in order."""
    most = max(1, int(mask.sum(1).max()))
    columns = mask.to(torch.uint8).sort(dim=1, descending=True, stable=True).indices[:, :most]
    step = max(1, BLOCK // (most * n))
    for first in range(0, len(mask), step):
        block = slice(first, first + step)
        yield block, columns[block]
