"""What is done differently with long sentences gives what is done with all others."""

import random

import pytest
import torch

from spacy_lal.structure import pruned
from spacy_lal.structure.arborescence import mask_padding
from spacy_lal.structure.binarise import log_weight
from spacy_lal.structure.chart import chart_size, inside, packed_spans, span_position
from spacy_lal.structure.distributions import BinaryTrees
from spacy_lal.structure.lexicalised import best_joint_tree
from spacy_lal.structure.pruned import best_joint

LENGTHS = torch.tensor([4, 12, 9, 10])


def problem(scale=4.0, seed=0):
    """Values of constituents and of no constituents, values of arcs, and the probabilities of spans
    of four sentences; scores are as sure as `scale` is large."""
    generator = torch.Generator().manual_seed(seed)
    scores = scale * torch.randn(4, chart_size(12), 5, generator=generator)
    scores[..., 0] = 0
    total = torch.logsumexp(scores, -1)
    marginals = BinaryTrees(total, LENGTHS).marginals
    gain = (scores[..., 2:].amax(-1) - total).exp() * marginals - 0.45
    arcs = mask_padding(scale * torch.randn(4, 12, 13, generator=generator), LENGTHS).softmax(-1)
    return gain.clamp(min=0), torch.zeros_like(gain), arcs, LENGTHS, marginals


def same(one, other):
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_sure_sentences_lose_nothing(monkeypatch, seed):
    values = problem(seed=seed)
    exact = best_joint_tree(*values[:-1])
    assert same(best_joint(*values), exact)
    monkeypatch.setattr(pruned, "EXACT_WORDS", 9)
    monkeypatch.setattr(pruned, "LEAST_PROBABILITY", 0.0)
    found = best_joint(*values)
    torch.testing.assert_close(found.score, exact.score)
    assert same(found[1:], exact[1:])
    # without probabilities nothing is left out
    assert same(best_joint(*values[:-1], None), exact)


def test_of_a_batch_only_long_sentences_change(monkeypatch):
    values = problem(scale=0.5)
    exact = best_joint_tree(*values[:-1])
    monkeypatch.setattr(pruned, "EXACT_WORDS", 9)
    monkeypatch.setattr(pruned, "SPANS_PER_WORD", 3)
    found = best_joint(*values)
    for row in (0, 2):
        assert same([field[row] for field in found], [field[row] for field in exact])
    # a long one is the same alone and with others
    alone = best_joint(*(table[1:2] for table in values))
    assert same([field[1] for field in found], [field[0] for field in alone])
    assert (found.score <= exact.score + 1e-5).all()


def test_there_is_always_a_tree(monkeypatch):
    """Flat scores, and next to no spans: those of the most probable tree are added."""
    values = problem(scale=0.0)
    monkeypatch.setattr(pruned, "EXACT_WORDS", 3)
    monkeypatch.setattr(pruned, "SPANS_PER_WORD", 1)
    found = best_joint(*values)
    assert found.spans.sum(1).tolist() == [2 * n - 1 for n in LENGTHS.tolist()]
    for row, n in enumerate(LENGTHS.tolist()):
        assert sorted(found.heads[row, :n].tolist()).count(0) == 1


def test_scores_that_are_nan(monkeypatch):
    """Those of a training that failed: some tree, and the other sentences keep theirs."""
    values = problem()
    monkeypatch.setattr(pruned, "EXACT_WORDS", 8)
    expected = best_joint(*values)
    for table in values:
        if table.is_floating_point():
            table[1] = torch.nan
    found = best_joint(*values)
    assert found.spans[1].sum() == 2 * 12 - 1
    others = torch.tensor([0, 2, 3])
    assert same([field[others] for field in found], [field[others] for field in expected])


def random_labels(n, generator):
    """[S]: labels of the constituents of a random tree with any number of children."""
    labels = torch.zeros(chart_size(12), dtype=torch.long)
    todo = [(0, n)]
    while todo:
        start, end = todo.pop()
        if (start, end) != (0, n) or generator.random() < 0.5:
            at = span_position(12, torch.tensor(start), torch.tensor(end))
            labels[at] = generator.randint(1, 4)
        cuts = sorted(generator.sample(range(start + 1, end), min(3, end - start - 1)))
        for part in zip([start, *cuts], [*cuts, end], strict=True):
            if part != (start, end) and generator.random() < 0.7:
                todo.append(part)
    return labels


def weight_of_one(scores, labels, n, sub_head):
    """The log-sum over all binary trees of spans that cross no constituent."""
    starts, ends = packed_spans(n)
    here = span_position(12, starts, ends)
    scores, labels = scores[here], labels[here]
    empty = scores[:, 0]
    if sub_head is not None:
        empty = torch.logaddexp(empty, scores[:, sub_head])
    values = torch.where(labels > 0, scores.gather(1, labels[:, None])[:, 0], empty)
    for a, b in zip(starts[labels > 0].tolist(), ends[labels > 0].tolist(), strict=True):
        crosses = (starts < a) & (a < ends) & (ends < b) | (a < starts) & (starts < b) & (b < ends)
        values = values.masked_fill(crosses, -1e4)
    return inside(values[None], torch.tensor([n]))[0]


@pytest.mark.parametrize("sub_head", [None, 1])
@pytest.mark.parametrize("seed", range(5))
def test_weight_of_a_tree_by_nodes(sub_head, seed):
    generator = random.Random(seed)
    torch.manual_seed(seed)
    lengths = torch.tensor([12, 7, 1, 2])
    scores = torch.randn(4, chart_size(12), 5, dtype=torch.float64, requires_grad=True)
    labels = torch.stack([random_labels(n, generator) for n in lengths.tolist()])
    expected = torch.stack(
        [
            weight_of_one(*both, n, sub_head)
            for *both, n in zip(scores, labels, lengths.tolist(), strict=True)
        ]
    )
    found = log_weight(scores, labels, lengths, sub_head)
    torch.testing.assert_close(found, expected)
    gradients = [torch.autograd.grad(of.sum(), scores)[0] for of in (found, expected)]
    torch.testing.assert_close(*gradients)
