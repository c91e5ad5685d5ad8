"""The distribution over binary trees against a walk through all of them."""

import math

import pytest
import torch
from torch.autograd import gradcheck, gradgradcheck

from spacy_lal.structure.chart import best_tree, chart_size, packed_spans, span_position
from spacy_lal.structure.tree_distribution import TreeDistribution

from .test_chart import CATALAN, SIZES, full, random_charts, tree_masks


def distribution(charts, n):
    return TreeDistribution(charts, full(charts, n))


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
    entropy = torch.special.entr(log_probs.exp()).sum(1)
    torch.testing.assert_close(trees.entropy, entropy, rtol=1e-9, atol=1e-12)
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


@pytest.mark.parametrize("n", SIZES)
def test_all_trees_in_order(n):
    charts = random_charts(n)
    k = CATALAN[n] + 2
    scores, trees = distribution(charts, n).kmax(k)
    expected, order = (charts @ tree_masks(n).double().T).sort(1, descending=True)
    torch.testing.assert_close(scores[:, :-2], expected)
    assert torch.equal(trees[:, :-2], tree_masks(n)[order])
    assert (scores[:, -2:] == -math.inf).all()
    assert not trees[:, -2:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 7, 12, 40])
def test_uniform_trees(n):
    """The number of binary trees over n words is the Catalan number of n-1."""
    count = math.comb(2 * n - 2, n - 1) // n
    trees = distribution(torch.zeros(1, chart_size(n), dtype=torch.float64), n)
    assert float(trees.log_partition) == pytest.approx(math.log(count))
    assert float(trees.entropy) == pytest.approx(math.log(count))
    _, tree = trees.argmax()
    assert float(trees.log_prob(tree)) == pytest.approx(-math.log(count))


def test_what_is_no_tree_is_refused():
    charts, lengths = random_charts(4, batch=2), torch.tensor([4, 3])
    trees = TreeDistribution(charts, lengths)
    _, right = trees.argmax()
    trees.log_prob(right)
    for row, at in ((0, right[0].nonzero()[-1]), (1, right[1].nonzero()[0])):
        less = right.clone()
        less[row, at] = False
        with pytest.raises(ValueError, match=rf"not {6 - 2 * row} inside .* \(row {row}\)"):
            trees.log_prob(less)
    # a span of four words, in a sentence of three
    for extra in (right[1], right[1] & (torch.arange(10) > 0)):
        padded = torch.stack([right[0], extra])
        padded[1, 9] = True
        with pytest.raises(ValueError, match=r"inside and 1 outside \(row 1\)"):
            trees.log_prob(padded)
    with pytest.raises(ValueError, match=r"must be from 1 to 4"):
        TreeDistribution(charts, torch.tensor([4, 5]))


# Derivatives


LENGTHS = torch.tensor([5, 4, 1])


def log_partition(charts):
    return TreeDistribution(charts, LENGTHS).log_partition


def log_prob(charts):
    _, tree = best_tree(random_charts(5, seed=1), LENGTHS)
    return TreeDistribution(charts, LENGTHS).log_prob(tree)


def entropy(charts):
    return TreeDistribution(charts, LENGTHS).entropy


def all_marginals(charts):
    return TreeDistribution(charts, LENGTHS).marginals


@pytest.mark.parametrize("function", [log_partition, log_prob, entropy, all_marginals])
def test_gradients(function):
    assert gradcheck(function, random_charts(5).requires_grad_())


@pytest.mark.parametrize("function", [log_partition, log_prob])
def test_second_gradients(function):
    assert gradgradcheck(function, random_charts(5).requires_grad_())


@pytest.mark.parametrize("n", SIZES)
def test_gradients_are_covariances(n):
    charts = random_charts(n).requires_grad_()
    trees, masks = distribution(charts, n), tree_masks(n).double()
    direction = random_charts(n, seed=1)
    probabilities = of_all_trees(charts, n).detach().exp()

    def covariance(values):
        """[B, S] with "the span is in the tree", of values [B, number of trees]."""
        mean = (probabilities * values).sum(1, keepdim=True)
        return (probabilities * (values - mean)) @ masks

    (product,) = torch.autograd.grad((trees.marginals * direction).sum(), charts)
    torch.testing.assert_close(product, covariance(direction @ masks.T))
    (of_entropy,) = torch.autograd.grad(trees.entropy.sum(), charts)
    torch.testing.assert_close(of_entropy, -covariance(charts.detach() @ masks.T))


def test_excluded_spans_leave_derivatives_finite():
    n = 5
    excluded = torch.zeros(chart_size(n), dtype=torch.bool)
    # (1, 4) is left without a split
    excluded[span_position(n, torch.tensor([1, 2]), torch.tensor([3, 4]))] = True
    masks = tree_masks(n)[~tree_masks(n)[:, excluded].any(1)].double()
    charts = random_charts(n)
    probabilities = (charts @ masks.T).softmax(1)
    charts = charts.masked_fill(excluded, -math.inf).requires_grad_()
    trees = distribution(charts, n)
    torch.testing.assert_close(trees.entropy, torch.special.entr(probabilities).sum(1))
    direction = random_charts(n, seed=1)
    surprise = -probabilities.log()
    for value, of_trees in (
        ((trees.marginals * direction).sum(), direction @ masks.T),
        (trees.entropy.sum(), surprise),
    ):
        (gradient,) = torch.autograd.grad(value, charts)
        mean = (probabilities * of_trees).sum(1, keepdim=True)
        torch.testing.assert_close(gradient, (probabilities * (of_trees - mean)) @ masks)
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
    charts = random_charts(4)
    wanted = charts.clone().requires_grad_()
    plain = distribution(charts, 4)
    with torch.no_grad():
        silent = distribution(wanted, 4)
        values = [silent.log_partition, silent.marginals, silent.entropy]
    values += [plain.log_partition, plain.marginals, plain.entropy]
    assert not any(value.requires_grad for value in values)
    assert distribution(wanted, 4).marginals.requires_grad
    assert not any(tensor.requires_grad for tensor in distribution(wanted, 4).mbr())


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
        trees = TreeDistribution(charts, lengths)
        of_marginals = torch.autograd.grad(trees.marginals.square().sum(), charts)[0]
        of_entropy = torch.autograd.grad(trees.entropy.sum(), charts)[0]
        kmax, masks = trees.kmax(4)
        _, best = trees.argmax()
        right, mbr = trees.mbr()
        log_prob = trees.log_prob(mbr)
        of_sentences = [trees.log_partition, trees.entropy, right, kmax, log_prob]
        of_spans = [trees.marginals, of_marginals, of_entropy, best, mbr, *masks.unbind(1)]
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
    trees = TreeDistribution(torch.zeros(0, 3), torch.zeros(0, dtype=torch.long))
    assert trees.entropy.shape == (0,)
    assert trees.log_prob(torch.zeros(0, 3, dtype=torch.bool)).shape == (0,)
    assert [t.shape for t in trees.kmax(2)] == [(0, 2), (0, 2, 3)]


# Numbers


@pytest.mark.parametrize("scale", [0.1, 10.0, 100.0])
def test_single_precision_of_long_sentences(scale):
    n = 200
    exact = random_charts(n, batch=1, scale=scale)
    direction = random_charts(n, seed=1, batch=1, scale=1.0)
    results = []
    for dtype in (torch.float32, torch.float64):
        # the same numbers in both precisions
        charts = exact.float().to(dtype).requires_grad_()
        trees = distribution(charts, n)
        product = torch.autograd.grad((trees.marginals * direction.to(dtype)).sum(), charts)[0]
        of_entropy = torch.autograd.grad(trees.entropy.sum(), charts)[0]
        results.append([trees.log_partition, trees.entropy, trees.marginals, product, of_entropy])
    for single, double in zip(*results, strict=True):
        assert single.dtype == torch.float32
        assert float((single - double).detach().norm() / double.detach().norm()) < 2e-3
