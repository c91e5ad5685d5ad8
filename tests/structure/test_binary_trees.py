"""The distribution over binary trees against a walk through all of them."""

import math

import pytest
import torch
from torch.autograd import gradcheck

from spacy_lal.structure.chart import best_tree, chart_size, packed_spans, span_position
from spacy_lal.structure.distributions import BinaryTrees

from .test_chart import SIZES, full, random_charts, tree_masks


def distribution(charts, n):
    return BinaryTrees(charts, full(charts, n))


def of_all_trees(charts, n):
    """[B, number of trees]: log-probabilities."""
    return (charts @ tree_masks(n).double().T).log_softmax(1)


# Against all trees


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("scale", [0.1, 2.0, 300.0])
def test_probabilities(n, scale):
    charts = random_charts(n, scale=scale)
    masks, log_probs = tree_masks(n), of_all_trees(charts, n)
    trees = distribution(charts, n)
    scores = charts @ masks.double().T
    torch.testing.assert_close(trees.log_partition, scores.logsumexp(1))
    expected = log_probs.exp() @ masks.double()
    torch.testing.assert_close(trees.marginals, expected, rtol=0, atol=1e-10)
    for which in range(0, len(masks), 7):
        tree = masks[which].expand(len(charts), -1)
        expected = log_probs[:, which]
        torch.testing.assert_close(trees.log_prob(tree), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_decoders(n):
    charts = random_charts(n)
    masks, log_probs = tree_masks(n), of_all_trees(charts, n)
    trees = distribution(charts, n)
    score, tree = trees.argmax()
    assert torch.equal(tree, masks[log_probs.argmax(1)])
    torch.testing.assert_close(score, (charts * tree).sum(1))
    right, tree = trees.mbr()
    # the expected number of spans in common with a random tree
    common = log_probs.exp() @ (masks.double() @ masks.double().T)
    assert torch.equal(tree, masks[common.argmax(1)])
    torch.testing.assert_close(right, common.max(1).values)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 40])
def test_uniform_trees(n):
    """The number of binary trees over n words is the Catalan number of n-1."""
    count = math.comb(2 * n - 2, n - 1) // n
    trees = distribution(torch.zeros(1, chart_size(n), dtype=torch.float64), n)
    assert float(trees.log_partition) == pytest.approx(math.log(count))
    _, tree = trees.argmax()
    assert float(trees.log_prob(tree)) == pytest.approx(-math.log(count))


# Derivatives


LENGTHS = torch.tensor([5, 4, 1])


def log_partition(charts):
    return BinaryTrees(charts, LENGTHS).log_partition


def log_prob(charts):
    _, tree = best_tree(random_charts(5, seed=1), LENGTHS)
    return BinaryTrees(charts, LENGTHS).log_prob(tree)


@pytest.mark.parametrize("function", [log_partition, log_prob])
def test_gradients(function):
    assert gradcheck(function, random_charts(5).requires_grad_())


def test_excluded_spans_leave_derivatives_finite():
    n = 5
    excluded = torch.zeros(chart_size(n), dtype=torch.bool)
    # (1, 4) is left without a split
    excluded[span_position(n, torch.tensor([1, 2]), torch.tensor([3, 4]))] = True
    masks = tree_masks(n)[~tree_masks(n)[:, excluded].any(1)].double()
    charts = random_charts(n)
    probabilities = (charts @ masks.T).softmax(1)
    charts = charts.masked_fill(excluded, -math.inf).requires_grad_()
    (gradient,) = torch.autograd.grad(distribution(charts, n).log_partition.sum(), charts)
    torch.testing.assert_close(gradient, probabilities @ masks)
    assert (gradient[:, excluded] == 0).all()


def test_sentences_without_any_tree():
    """Their gradients are finite, and others go undisturbed."""
    charts = random_charts(4, batch=2)
    charts[0, [4, 6, 7, 8]] = -math.inf
    alone = distribution(charts[1:], 4)
    charts.requires_grad_()
    trees = distribution(charts, 4)
    assert trees.log_partition[0] == -math.inf
    torch.testing.assert_close(trees.log_partition[1:], alone.log_partition)
    torch.testing.assert_close(trees.marginals[1:], alone.marginals)
    (gradient,) = torch.autograd.grad(trees.log_partition.sum(), charts)
    assert gradient.isfinite().all()
    _, best = trees.argmax()
    assert (best.sum(1) == 7).all()


def test_no_graph_without_gradients():
    wanted = random_charts(4).requires_grad_()
    with torch.no_grad():
        assert not distribution(wanted, 4).log_partition.requires_grad
    trees = distribution(wanted, 4)
    assert trees.log_partition.requires_grad
    assert not any(tensor.requires_grad for tensor in (trees.marginals, *trees.mbr()))


# Batches


@pytest.mark.parametrize("padding", [0.0, 50.0, -math.inf, math.inf, math.nan])
def test_a_padded_batch_equals_single_sentences(padding):
    longest, lengths = 7, torch.tensor([7, 1, 4, 6, 2])
    singles = [random_charts(n, seed=k, batch=1) for k, n in enumerate(lengths.tolist())]
    charts = torch.full((5, chart_size(longest)), padding, dtype=torch.float64)
    places = [span_position(longest, *packed_spans(n)) for n in lengths.tolist()]
    for row, (at, single) in enumerate(zip(places, singles, strict=True)):
        charts[row, at] = single[0]

    def everything(charts, lengths):
        charts = charts.clone().requires_grad_()
        trees = BinaryTrees(charts, lengths)
        gradient = torch.autograd.grad(trees.log_partition.sum(), charts)[0]
        _, best = trees.argmax()
        right, mbr = trees.mbr()
        log_prob = trees.log_prob(mbr)
        of_sentences = [trees.log_partition, right, log_prob]
        of_spans = [trees.marginals, gradient, best, mbr]
        return of_sentences, of_spans

    of_sentences, of_spans = everything(charts, lengths)
    for row, (at, single) in enumerate(zip(places, singles, strict=True)):
        alone_of_sentences, alone_of_spans = everything(single, lengths[row : row + 1])
        for batched, alone in zip(of_sentences, alone_of_sentences, strict=True):
            torch.testing.assert_close(batched[row], alone[0])
        outer = torch.ones(chart_size(longest), dtype=torch.bool)
        outer[at] = False
        for batched, alone in zip(of_spans, alone_of_spans, strict=True):
            torch.testing.assert_close(batched[row, at], alone[0])
            assert not batched[row, outer].any()


def test_empty_batch():
    trees = BinaryTrees(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long))
    assert trees.log_partition.shape == (0,)
    assert trees.log_prob(torch.zeros(0, 3, dtype=torch.bool)).shape == (0,)


# Numbers


@pytest.mark.parametrize("scale", [0.1, 10.0, 100.0])
def test_single_precision_of_long_sentences(scale):
    n = 200
    # the same numbers in both precisions
    charts = random_charts(n, batch=1, scale=scale).float()
    single, double = distribution(charts, n), distribution(charts.double(), n)
    for name in ("log_partition", "marginals"):
        found, exact = getattr(single, name), getattr(double, name)
        assert found.dtype == torch.float32
        assert float((found - exact).norm() / exact.norm()) < 2e-3
