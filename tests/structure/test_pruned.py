"""Joint decoding among kept spans against joint decoding where all others are excluded."""

import math

import pytest
import torch

from spacy_lal.structure import pruned
from spacy_lal.structure.chart import chart_size, own_spans, packed_spans, span_position
from spacy_lal.structure.lexicalised import JointTree, best_joint_tree
from spacy_lal.structure.pruned import best_joint_tree_within

from .test_lexicalised import exact_best, parts, random_scores, square


def random_tree(n, lengths, generator):
    """[B, S], True at the words, the sentence and the nodes of one random binary tree."""
    mask = torch.zeros(len(lengths), chart_size(n), dtype=torch.bool)
    for row, length in enumerate(lengths.tolist()):
        todo = [(0, length)]
        while todo:
            i, j = todo.pop()
            mask[row, span_position(n, torch.tensor(i), torch.tensor(j))] = True
            if j - i > 1:
                k = int(torch.randint(i + 1, j, (), generator=generator))
                todo += [(i, k), (k, j)]
    return mask


def within(keep, constituent, empty, arcs, lengths):
    """The trees of a padded batch, one sentence after another."""
    best = JointTree.none(constituent, arcs)
    for row, n in enumerate(lengths.tolist()):
        at = own_spans(keep, n)
        charts = (chart[row, at] for chart in (keep, constituent, empty))
        found = best_joint_tree_within(*charts, arcs[row, :n, : n + 1])
        best.score[row], best.spans[row, at], best.labelled[row, at] = found[:3]
        best.heads[row, :n] = found.heads
    return best


def assert_equal(one, other):
    torch.testing.assert_close(one.score, other.score)
    for field in ("spans", "labelled", "heads"):
        assert torch.equal(getattr(one, field), getattr(other, field)), field


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9, 14])
@pytest.mark.parametrize("block", [1, 1 << 19])
def test_all_spans_kept(n, block, monkeypatch):
    monkeypatch.setattr(pruned, "BLOCK", block)
    lengths = torch.tensor([n, max(1, n - 1), max(1, n // 2)])
    constituent, empty, arcs = random_scores(n, batch=3)
    keep = torch.ones_like(constituent, dtype=torch.bool)
    found = within(keep, constituent, empty, arcs, lengths)
    assert_equal(found, best_joint_tree(constituent, empty, arcs, lengths))
    for row, m in enumerate(lengths.tolist()):
        parts(found, row, m)


@pytest.mark.parametrize("n", [2, 6, 11])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_best_tree_of_the_kept_spans(n, share):
    generator = torch.Generator().manual_seed(n)
    lengths = torch.tensor([n, n, max(2, n - 2)])
    constituent, empty, arcs = random_scores(n, batch=3)
    others = torch.rand(constituent.shape, generator=generator) < share
    keep = random_tree(n, lengths, generator) | others
    one, other = (t.masked_fill(~keep, -math.inf) for t in (constituent, empty))
    found = within(keep, constituent, empty, arcs, lengths)
    assert_equal(found, best_joint_tree(one, other, arcs, lengths))
    assert not (found.spans & ~keep).any()
    for row, m in enumerate(lengths.tolist()):
        parts(found, row, m)


@pytest.mark.parametrize("n", [4, 7, 9])
def test_exact_if_the_best_tree_is_kept(n):
    """Against the algorithm of the paper, which knows nothing of kept spans."""
    generator = torch.Generator().manual_seed(n)
    lengths = torch.tensor([n])
    constituent, empty, arcs = random_scores(n)
    best = best_joint_tree(constituent, empty, arcs, lengths)
    keep = best.spans | random_tree(n, lengths, generator)
    found = within(keep, constituent, empty, arcs, lengths)
    exact = exact_best(*(square(t[0], n) for t in (constituent, empty)), arcs[0].tolist(), n)
    assert math.isclose(exact, float(found.score))
    assert torch.equal(found.heads, best.heads)


def test_excluded_heads():
    lengths = torch.tensor([8])
    constituent, empty, arcs = random_scores(8)
    arcs[0, 3, 1:] = -math.inf
    arcs[0, 5, 2] = -math.inf
    keep = torch.ones_like(constituent, dtype=torch.bool)
    found = within(keep, constituent, empty, arcs, lengths)
    assert_equal(found, best_joint_tree(constituent, empty, arcs, lengths))
    assert found.heads[0, 3] == 0


def test_ties():
    lengths = torch.tensor([7, 6])
    zeros, arcs = torch.zeros(2, chart_size(7)), torch.zeros(2, 7, 8)
    keep = torch.ones_like(zeros, dtype=torch.bool)
    found = within(keep, zeros, zeros, arcs, lengths)
    assert_equal(found, best_joint_tree(zeros, zeros, arcs, lengths))


def test_no_tree():
    """Two spans that cross, and neither has two children."""
    starts, ends = packed_spans(4)
    wanted = {(i, i + 1) for i in range(4)} | {(0, 4), (0, 2), (1, 3)}
    every = zip(starts.tolist(), ends.tolist(), strict=True)
    keep = torch.tensor([[span in wanted for span in every]])
    constituent, empty, arcs = random_scores(4)
    found = within(keep, constituent, empty, arcs, torch.tensor([4]))
    assert found.score.item() == -math.inf
    assert not found.spans.any()
