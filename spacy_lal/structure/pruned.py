"""Joint decoding over few of a sentence's spans: the search of `lexicalised` for long sentences.

Coarse-to-fine pruning (Charniak et al. 2006) keeps the spans that a coarser model finds probable.
The table T of `lexicalised` is indexed by kept span and head; splits have two kept children.

T is two maxima a span. The maximum over splits adds two rows of the table for each split. That over
the words h' which may depend on a head h outside skips words that can't win for any h: comp[h'] +
max over h of A[h' <- h] is less than comp[h''] + min over h of A[h'' <- h] for another word h''.

Time is O(n (splits + words not skipped)), both summed over kept spans; memory is O(n spans).
"""

import numpy as np
import torch
from torch import Tensor

from .chart import best_tree, own_spans, packed_spans
from .lexicalised import Floats, Ints, JointTree, best_joint_tree

EXACT_WORDS = 100
"""Sentence length, in words, above which the search covers probable spans alone."""
SPANS_PER_WORD = 16
"""Most kept spans of a long sentence, per word."""
LEAST_PROBABILITY = 1e-5
"""Least probability of a kept span, under some label or none."""
BLOCK = 1 << 19
"""Numbers in the sums of one operation, unless one span has more."""


def best_joint(
    constituent: Tensor,
    empty: Tensor,
    arcs: Tensor,
    lengths: Tensor,
    probabilities: Tensor | None,
) -> JointTree:
    """Returns the best joint tree of each sentence, in long sentences of probable spans alone.

    The time of `best_joint_tree` grows with the fourth power of length. Over EXACT_WORDS words the
    search therefore covers only spans that are probable without heads. probabilities [B, S]: those
    of spans. Without them, or where they are nan, no span is left out.
    """
    long = lengths > EXACT_WORDS
    if probabilities is not None:
        long = long & ~probabilities.isnan().any(-1)
    if probabilities is None or not long.any():
        return best_joint_tree(constituent, empty, arcs, lengths)
    best = JointTree.none(constituent, arcs)
    if (short := ~long).any():
        found = best_joint_tree(constituent[short], empty[short], arcs[short], lengths[short])
        for field, of_short in zip(best, found, strict=True):
            field[short] = of_short
    for row in long.nonzero().flatten().tolist():
        n = int(lengths[row])
        at = own_spans(constituent, n)
        one, other, probability = (
            chart[row, at].cpu() for chart in (constituent, empty, probabilities)
        )
        found = _of_probable(one, other, arcs[row, :n, : n + 1].cpu(), probability)
        best.score[row], best.spans[row, at], best.labelled[row, at] = found[:3]
        best.heads[row, :n] = found.heads
    return best


def _of_probable(
    constituent: Tensor, empty: Tensor, arcs: Tensor, probability: Tensor
) -> JointTree:
    n = len(arcs)
    most = probability.topk(min(SPANS_PER_WORD * n, len(probability))).values[-1]
    # words and the whole sentence are certain
    keep = probability > most.clamp(LEAST_PROBABILITY, 0.5)
    found = best_joint_tree_within(keep, constituent, empty, arcs)
    if found.score == -torch.inf:
        # these spans make no tree: add that of the most probable spans
        keep |= best_tree(probability.unsqueeze(0), torch.tensor([n]))[1][0]
        found = best_joint_tree_within(keep, constituent, empty, arcs)
    return found


def best_joint_tree_within(
    keep: Tensor, constituent: Tensor, empty: Tensor, arcs: Tensor
) -> JointTree:
    """Returns the highest-scoring joint tree of one sentence with all nodes in `keep` [S].

    constituent, empty [S], arcs [n, n+1] and ties: as in `best_joint_tree`, without a batch and on
    the CPU. Words and the whole sentence are kept. Where the kept spans make no tree, the score is
    -inf.
    """
    none = JointTree.none(constituent.unsqueeze(0), arcs.unsqueeze(0))
    score, spans, labelled, heads = (field[0] for field in none)
    at = keep.nonzero().squeeze(1)
    charts = (*packed_spans(len(arcs)), constituent, empty)
    starts, ends, one, other = (chart[at].numpy() for chart in charts)
    table = _KeptChart(starts, ends, one, other, arcs.numpy())
    if table.score > -np.inf:
        nodes, certain, found = table.walk()
        spans[at[nodes]] = True
        labelled[at[nodes]] = (constituent > empty)[at[nodes]]
        labelled[at[certain]] = True
        heads = torch.tensor(found)
    return JointTree(score.fill_(table.score), spans, labelled, heads)


class _KeptChart:
    """The kept spans of one sentence, numbered by width, then start, and their table T [K, n].
    starts, ends, constituent, empty: [K], words first, the sentence last; arcs: [n, n+1]."""

    def __init__(
        self, starts: Ints, ends: Ints, constituent: Floats, empty: Floats, arcs: Floats
    ) -> None:
        n = len(arcs)
        self.starts, self.ends, self.arcs = starts, ends, np.ascontiguousarray(arcs[:, 1:])
        either = np.maximum(constituent, empty)
        either[-1] = constituent[-1]
        self.number = np.full((n + 1, n + 1), -1)
        self.number[starts, ends] = np.arange(len(starts))
        self.table = np.full((len(starts), n), -np.inf, arcs.dtype)
        words = np.arange(n)
        bounds = self.arcs.max(1), self.arcs.min(1)
        self.table[:n] = self.arcs + either[:n, None]
        self.table[words, words] = either[:n]

        is_kept = self.number >= 0
        parent, split = np.nonzero(is_kept[starts] & is_kept.T[ends])
        left, right = self.number[starts[parent], split], self.number[split, ends[parent]]
        # spans that have splits, with the first of them; those of one width are filled together
        spans, first, counts = np.unique(parent, return_index=True, return_counts=True)
        widths = (ends - starts)[spans]
        cuts = np.flatnonzero(np.diff(widths)) + 1
        for low, high in zip([0, *cuts], [*cuts, len(spans)], strict=True):
            most = int(counts[low:high].max()) if high > low else 1
            step = max(1, BLOCK // (most * n))
            for at in range(low, high, step):
                some = slice(at, min(at + step, high))
                which = _repeating_last(first[some], counts[some])
                comp = (self.table[left[which]] + self.table[right[which]]).max(1)
                own = spans[some]
                inside = (words >= starts[own, None]) & (words < ends[own, None])
                comp[~inside] = -np.inf
                outside = self._as_dependents(comp, *bounds) + constituent[own, None]
                self.table[own] = np.where(inside, comp + either[own, None], outside)
        self.tops = self.table[-1] + arcs[:, 0]
        self.score = float(self.tops.max())

    def _as_dependents(self, comp: Floats, highest: Floats, lowest: Floats) -> Floats:
        """Returns the best of comp[h'] + A[h' <- h] for each h [spans, n], from comp [spans, n].
        highest, lowest: of each row of A."""
        row, word = np.nonzero(comp + highest >= (comp + lowest).max(1, keepdims=True))
        counts = np.bincount(row, minlength=len(comp))
        which = _repeating_last(np.cumsum(counts) - counts, counts)
        best = np.empty_like(comp)
        step = max(1, BLOCK // (which.shape[1] * len(highest)))
        for at in range(0, len(comp), step):
            some = which[at : at + step]
            own = comp[row[some], word[some]]
            best[at : at + step] = (self.arcs[word[some]] + own[..., None]).max(1)
        return best

    def walk(self) -> tuple[list[int], list[int], list[int]]:
        """Returns the best tree's spans, those certain to be constituents, and its heads (0 the
        root). Finding a choice again is O(n), so the tables store none."""
        starts, ends = self.starts.tolist(), self.ends.tolist()
        root = len(starts) - 1
        heads = [0] * len(self.arcs)
        nodes, certain = [], [root]
        todo = [(root, int(self.tops.argmax()))]
        while todo:
            node, head = todo.pop()
            nodes.append(node)
            start, end = starts[node], ends[node]
            if end - start == 1:
                continue
            left, right = self.number[start, start + 1 : end], self.number[start + 1 : end, end]
            sums = self.table[left, head] + self.table[right, head]
            split = int(np.where((left < 0) | (right < 0), -np.inf, sums).argmax())
            child, other = int(left[split]), int(right[split])
            if head > start + split:
                child, other = other, child
            first, last = starts[other], ends[other]
            word = first + int(
                (self.table[other, first:last] + self.arcs[first:last, head]).argmax()
            )
            heads[word] = head + 1
            if last - first > 1:
                certain.append(other)
            todo += [(child, head), (other, word)]
        return nodes, certain, heads


def _repeating_last(first: Ints, counts: Ints) -> Ints:
    """Returns the numbers [N, most] of N runs from `first` on; short ones repeat their last."""
    return first[:, None] + np.minimum(np.arange(counts.max()), counts[:, None] - 1)
