"""Trees without a search: where the best constituents and heads agree, and where they don't."""

import pytest
import torch

from spacy_lal.structure import agreed
from spacy_lal.structure.agreed import best_joint_of_gains
from spacy_lal.structure.chart import chart_size, packed_spans, span_position

from .test_lexicalised import rooted_trees


def spans_of(mask, n):
    starts, ends = packed_spans(n)
    return {(int(starts[k]), int(ends[k])) for k in mask.nonzero().flatten()}


def random_values(n, seed):
    """Gains of some spans and probabilities of heads, mostly those of a tree."""
    generator = torch.Generator().manual_seed(100 * n + seed)
    trees = list(rooted_trees(n))
    heads, must, may = trees[int(torch.randint(len(trees), (), generator=generator))]
    likely = torch.zeros(chart_size(n))
    for start, end in must | may:
        likely[span_position(n, torch.tensor(start), torch.tensor(end))] = 0.6
    noise = torch.rand(chart_size(n), generator=generator)
    gains = (torch.where(noise < 0.9, likely, 0.3) - 0.5 * noise).clamp(min=0)
    arcs = torch.rand(n, n + 1, generator=generator)
    for word, head in heads.items():
        arcs[word - 1, head] += 1 if seed % 3 else 0.5
    arcs[torch.arange(n), torch.arange(1, n + 1)] = 0
    return gains.unsqueeze(0), arcs.unsqueeze(0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_the_best_of_all_trees(monkeypatch, n):
    """Searched for only where no tree has all constituents with a gain and the best heads."""
    searched = []
    search = agreed.best_joint
    monkeypatch.setattr(
        agreed, "best_joint", lambda *values: searched.append(True) or search(*values)
    )
    trees, seen = list(rooted_trees(n)), set()
    for seed in range(40):
        gains, arcs = random_values(n, seed)
        searched.clear()
        constituents, heads = best_joint_of_gains(gains, arcs, torch.tensor([n]), None)
        gain = {
            span: float(gains[0, span_position(n, *map(torch.tensor, span))])
            for span in spans_of(gains[0] > 0, n)
        }
        wanted = dict(enumerate((arcs[0].argmax(-1)).tolist(), 1))
        agree = any(
            of_words == wanted and gain.keys() <= must | may for of_words, must, may in trees
        )
        seen.add(agree)
        assert not searched if agree else searched
        best = max(
            sum(gain.get(span, 0) for span in must | may)
            + sum(float(arcs[0, word - 1, head]) for word, head in of_words.items())
            for of_words, must, may in trees
        )
        found = spans_of(constituents[0], n)
        assert (0, n) in found
        assert found <= gain.keys() | {(0, n)}
        score = sum(gain.get(span, 0) for span in found)
        score += float(arcs[0, torch.arange(n), heads[0]].sum())
        assert score == pytest.approx(best, abs=1e-5)
    assert seen == {True, False} or n < 3


def test_scores_with_gradients_and_many_gains():
    """Found as without gradients; all spans have a gain, more than any tree has."""
    gains = torch.full((1, chart_size(60)), 0.1)
    chain = torch.zeros(1, 60, 61)
    chain[0, range(60), range(60)] = 1.0
    constituents, heads = best_joint_of_gains(
        gains.requires_grad_(), chain.requires_grad_(), torch.tensor([60]), None
    )
    assert heads[0].tolist() == [*range(60)]
    # words, too
    assert int(constituents.sum()) == 2 * 60 - 1


def test_sentences_of_a_batch_are_alone():
    """Padding has neither constituents nor heads, whoever finds the tree."""
    alone = {n: random_values(n, seed) for n, seed in ((3, 1), (6, 2), (1, 4), (5, 1), (4, 0))}
    longest = max(alone)
    gains = torch.zeros(len(alone), chart_size(longest))
    arcs = torch.zeros(len(alone), longest, longest + 1)
    for row, (n, (gain, arc)) in enumerate(alone.items()):
        starts, ends = packed_spans(n)
        gains[row, span_position(longest, starts, ends)] = gain[0]
        arcs[row, :n, : n + 1] = arc[0]
    constituents, heads = best_joint_of_gains(gains, arcs, torch.tensor([*alone]), None)
    for row, (n, values) in enumerate(alone.items()):
        own, own_heads = best_joint_of_gains(*values, torch.tensor([n]), None)
        assert spans_of(constituents[row], longest) == spans_of(own[0], n)
        assert heads[row].tolist() == own_heads[0].tolist() + [0] * (longest - n)
