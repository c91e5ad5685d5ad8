"""The programs over binary trees against a walk through all of them."""

import math
from functools import lru_cache

import pytest
import torch
from torch import Tensor

from spacy_lal.structure.chart import (
    best_tree,
    chart_size,
    hamming_augment,
    inside,
    pack,
    packed_spans,
    span_position,
    unpack,
    width_offset,
)
from spacy_lal.structure.distributions import BinaryTrees

CATALAN = {1: 1, 2: 1, 3: 2, 4: 5, 5: 14, 6: 42, 7: 132}


def marginals(scores: Tensor, lengths: Tensor) -> Tensor:
    return BinaryTrees(scores, lengths).marginals


def all_trees(start: int, end: int) -> list[frozenset[tuple[int, int]]]:
    """Every binary tree over the words start..end-1, as the set of its spans."""
    top = frozenset({(start, end)})
    if end - start == 1:
        return [top]
    return [
        top | left | right
        for split in range(start + 1, end)
        for left in all_trees(start, split)
        for right in all_trees(split, end)
    ]


@lru_cache
def tree_masks(n: int) -> Tensor:
    """[number of trees, S]: which spans of the packed chart each tree has."""
    starts, ends = packed_spans(n)
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    return torch.tensor([[span in tree for span in spans] for tree in all_trees(0, n)])


def random_charts(n: int, seed: int = 0, batch: int = 3, scale: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(1000 * n + seed)
    return scale * torch.randn(batch, chart_size(n), generator=generator, dtype=torch.float64)


def full(charts: Tensor, n: int) -> Tensor:
    return torch.full((len(charts),), n)


SIZES = sorted(CATALAN)


# The packed layout


@pytest.mark.parametrize("n", SIZES)
def test_spans_are_ordered_by_width_and_start(n):
    starts, ends = packed_spans(n)
    expected = [(i, i + w) for w in range(1, n + 1) for i in range(n + 1 - w)]
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == expected
    assert span_position(n, starts, ends).tolist() == list(range(chart_size(n)))
    assert [width_offset(n, w) for w in range(1, n + 1)] == [
        expected.index((0, w)) for w in range(1, n + 1)
    ]
    assert len(tree_masks(n)) == CATALAN[n]


def test_pack_and_unpack():
    square = torch.arange(2 * 5 * 5 * 3.0).view(2, 5, 5, 3)
    packed = pack(square)
    starts, ends = packed_spans(4)
    assert packed.shape == (2, 10, 3)
    assert torch.equal(packed[1, 7], square[1, starts[7], ends[7]])
    back = unpack(packed, 4, fill=-1.0)
    upper = torch.ones(5, 5).triu(1).bool()
    assert torch.equal(back[:, upper], square[:, upper])
    assert (back[:, ~upper] == -1).all()


def test_wrong_sizes_are_refused():
    with pytest.raises(ValueError, match=r"n\(n\+1\)/2 spans .* not 7"):
        inside(torch.zeros(1, 7), torch.tensor([3]))


# Against all trees


@pytest.mark.parametrize("n", SIZES)
def test_best_tree(n):
    charts = random_charts(n)
    value, tree = best_tree(charts, full(charts, n))
    scores = charts @ tree_masks(n).double().T
    best, which = scores.max(1)
    torch.testing.assert_close(value, best)
    assert torch.equal(tree, tree_masks(n)[which])
    assert (tree.sum(1) == 2 * n - 1).all()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("scale", [0.1, 2.0, 300.0])
def test_partition_and_marginals(n, scale):
    charts = random_charts(n, scale=scale)
    masks = tree_masks(n).double()
    scores = charts @ masks.T
    torch.testing.assert_close(inside(charts, full(charts, n)), scores.logsumexp(1))
    expected = scores.softmax(1) @ masks
    torch.testing.assert_close(marginals(charts, full(charts, n)), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", SIZES)
def test_augmented_best_tree(n):
    generator = torch.Generator().manual_seed(n)
    scores = torch.randn(2, chart_size(n), 4, generator=generator, dtype=torch.float64)
    gold = torch.randint(4, (2, chart_size(n)), generator=generator)
    before = scores.clone()
    augmented = hamming_augment(scores, gold, cost=0.7)
    assert torch.equal(scores, before)
    best, labels = augmented.max(-1)
    value, tree = best_tree(best, full(best, n))
    # the best labelling of each tree: every span chooses for itself
    cost = 0.7 * (torch.arange(4) != gold.unsqueeze(-1))
    each = (scores + cost).max(-1).values @ tree_masks(n).double().T
    torch.testing.assert_close(value, each.max(1).values)
    found = (scores.gather(-1, labels.unsqueeze(-1)).squeeze(-1) * tree).sum(1)
    torch.testing.assert_close(value, found + 0.7 * (tree & (labels != gold)).sum(1))


def test_partition_of_labelled_trees():
    n, labels = 4, 3
    scores = random_charts(n, batch=labels).T.unsqueeze(0)
    masks = tree_masks(n)
    total = 0.0
    for mask in masks:
        total += float(scores[0, mask].exp().sum(-1).prod())
    log_z = inside(torch.logsumexp(scores, -1), torch.tensor([n]))
    assert float(log_z) == pytest.approx(math.log(total))


def test_ties_go_to_the_first_split():
    n = 5
    value, tree = best_tree(torch.zeros(1, chart_size(n)), torch.tensor([n]))
    starts, ends = packed_spans(n)
    wider = tree[0] & (ends - starts > 1)
    assert value.item() == 0
    assert list(zip(starts[wider].tolist(), ends[wider].tolist(), strict=True)) == [
        (i, n) for i in range(n - 2, -1, -1)
    ]


# Gradients


@pytest.mark.parametrize("n", [1, 2, 5])
def test_partition_gradient(n):
    charts = random_charts(n).requires_grad_()
    lengths = torch.tensor([n, max(1, n - 1), max(1, n - 2)])
    assert torch.autograd.gradcheck(lambda scores: inside(scores, lengths), charts)
    weights = torch.tensor([0.5, -2.0, 3.0], dtype=torch.float64)
    (gradient,) = torch.autograd.grad((weights * inside(charts, lengths)).sum(), charts)
    torch.testing.assert_close(gradient, weights.unsqueeze(1) * marginals(charts, lengths))


def test_a_padded_batch_equals_single_sentences():
    """Whatever the padding holds."""
    longest, lengths = 9, torch.tensor([9, 1, 4, 6, 9, 2])
    singles = [random_charts(n, seed=k, batch=1) for k, n in enumerate(lengths.tolist())]
    for padding in (0.0, 50.0, -1e9, -math.inf, math.inf, math.nan):
        squares = torch.full((6, longest + 1, longest + 1), padding, dtype=torch.float64)
        for row, (n, single) in enumerate(zip(lengths.tolist(), singles, strict=True)):
            squares[row, : n + 1, : n + 1] = unpack(single, n)[0]
        charts = pack(squares)
        log_z, probabilities = inside(charts, lengths), marginals(charts, lengths)
        value, tree = best_tree(charts, lengths)
        for row, (n, single) in enumerate(zip(lengths.tolist(), singles, strict=True)):
            length = torch.tensor([n])
            inner = span_position(longest, *packed_spans(n))
            outer = torch.ones(chart_size(longest), dtype=torch.bool)
            outer[inner] = False
            torch.testing.assert_close(log_z[row], inside(single, length)[0])
            torch.testing.assert_close(probabilities[row, inner], marginals(single, length)[0])
            best, mask = best_tree(single, length)
            torch.testing.assert_close(value[row], best[0])
            assert torch.equal(tree[row, inner], mask[0])
            assert not tree[row, outer].any()
            assert (probabilities[row, outer] == 0).all()


@pytest.mark.parametrize("forbidden", [[(1, 3)], [(1, 3), (2, 4)]])
def test_forbidden_spans(forbidden):
    """-inf excludes spans, and with them those left without a split; the rest is as it was."""
    n = 5
    charts = random_charts(n)
    starts, ends = packed_spans(n)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    excluded = torch.tensor([span in forbidden for span in spans])
    masks = tree_masks(n)[~tree_masks(n)[:, excluded].any(1)].double()
    scores = charts @ masks.T
    charts = charts.masked_fill(excluded, -math.inf)
    lengths = full(charts, n)
    torch.testing.assert_close(inside(charts, lengths), scores.logsumexp(1))
    torch.testing.assert_close(marginals(charts, lengths), scores.softmax(1) @ masks)
    value, tree = best_tree(charts, lengths)
    torch.testing.assert_close(value, scores.max(1).values)
    assert not tree[:, excluded].any()


def test_empty_batch():
    empty, lengths = torch.zeros(0, 3), torch.zeros(0, dtype=torch.long)
    assert inside(empty, lengths).shape == (0,)
    assert marginals(empty, lengths).shape == (0, 3)
    assert best_tree(empty, lengths)[1].shape == (0, 3)


# Numbers


def test_single_precision_of_long_sentences():
    n = 200
    charts = torch.cat([random_charts(n, batch=1, scale=scale) for scale in (0.1, 10.0)]).float()
    lengths = full(charts, n)
    exact = charts.double()
    log_z, probabilities = inside(charts, lengths), marginals(charts, lengths)
    torch.testing.assert_close(log_z.double(), inside(exact, lengths), rtol=1e-5, atol=1e-3)
    assert probabilities.dtype == torch.float32
    reference = marginals(exact, lengths)
    torch.testing.assert_close(probabilities.double(), reference, rtol=0, atol=5e-3)
    assert ((probabilities >= 0) & (probabilities <= 1 + 1e-3)).all()
    sizes = torch.tensor([2.0 * n - 1] * 2)
    torch.testing.assert_close(probabilities.sum(1), sizes, rtol=1e-3, atol=0)
    value, tree = best_tree(charts, lengths)
    assert tree.sum(1).tolist() == sizes.tolist()
    torch.testing.assert_close((charts * tree).sum(1), value, rtol=1e-5, atol=0)
    torch.testing.assert_close(best_tree(exact, lengths)[0], value.double(), rtol=1e-5, atol=0)


def test_excluded_sentences_get_a_tree():
    """However bad all splits are."""
    value, tree = best_tree(torch.full((1, 15), -math.inf), torch.tensor([5]))
    assert value == -math.inf
    assert tree.sum() == 9
