"""The k best trees against a walk through all n-ary trees."""

import math
from functools import lru_cache
from itertools import pairwise, product

import pytest
import torch

from spacy_lal.structure.chart import best_tree, chart_size, packed_spans, span_position
from spacy_lal.structure.k_best_trees import k_best

from .test_chart import CATALAN, full, random_charts

LABELS = 2


@lru_cache
def nodes(start, end):
    """Every tree of one node: {(start, end, label)}, 0 for groups of first children."""
    if end - start == 1:
        return [frozenset({(start, end, label)}) for label in range(LABELS + 1)]
    return [
        children | {(start, end, label)}
        for children in forests(start, end)
        for label in range(1, LABELS + 1)
    ]


@lru_cache
def forests(start, end):
    """Every sequence of two or more nodes over the words start..end-1."""
    found = []
    for cuts in product([False, True], repeat=end - start - 1):
        fences = [start, *(start + k + 1 for k, cut in enumerate(cuts) if cut), end]
        if len(fences) == 2:
            continue
        groups = frozenset((start, fence, 0) for fence in fences[2:-1])
        choices = [nodes(*pair) for pair in pairwise(fences)]
        found += [groups.union(*each) for each in product(*choices)]
    return found


def all_trees(n):
    """Every labelled n-ary tree, the whole sentence a constituent or not."""
    whole = [tree | {(0, n, 0)} for tree in forests(0, n)] if n > 1 else []
    return nodes(0, n) + whole


def charts_of(n, batch=2, seed=0):
    """constituent [B, S, 2] and empty [B, S]."""
    values = random_charts(n, seed=seed, batch=3 * batch).view(batch, 3, -1)
    return values[:, 1:].transpose(1, 2), values[:, 0]


def found_trees(best, row, n):
    """[(score, spans with their labels)] of one sentence."""
    starts, ends = packed_spans(n)
    trees = []
    for score, mask, labels in zip(*(part[row] for part in best), strict=True):
        assert not labels[~mask].any()
        at = mask.nonzero().squeeze(1)
        spans = zip(starts[at].tolist(), ends[at].tolist(), labels[at].tolist(), strict=True)
        trees.append((float(score), frozenset(spans)))
    return trees


def ranked(constituent, empty, n):
    """What `found_trees` should find, for one sentence's charts."""
    values = torch.cat([empty.unsqueeze(-1), constituent], -1).tolist()
    spans = zip(*(fences.tolist() for fences in packed_spans(n)), strict=True)
    place = {span: k for k, span in enumerate(spans)}
    scores = [
        (sum(values[place[i, j]][label] for i, j, label in tree), tree) for tree in all_trees(n)
    ]
    return sorted((pair for pair in scores if pair[0] > -math.inf), key=lambda pair: -pair[0])


def same(found, expected):
    assert [score for score, _ in found] == pytest.approx([score for score, _ in expected])
    assert [tree for _, tree in found] == [tree for _, tree in expected]


def test_numbers_of_trees():
    """Three choices a word, two a wider node; three words are side by side or two in a node."""
    assert [len(nodes(0, n)) for n in (1, 2, 3)] == [3, 9 * 2, 27 * 2 * (1 + 2 * 2)]
    for n in (1, 2, 3, 4):
        trees = all_trees(n)
        assert len(set(trees)) == len(trees)
        assert {len(tree) for tree in trees} == {2 * n - 1}


@pytest.mark.parametrize("n", [1, 2, 3])
def test_all_trees(n):
    constituent, empty = charts_of(n)
    count = len(all_trees(n))
    best = k_best(constituent, empty, full(empty, n), count + 3)
    for row in range(2):
        found = found_trees(best, row, n)
        same(found[:count], ranked(constituent[row], empty[row], n))
        assert found[count:] == [(-math.inf, frozenset())] * 3


@pytest.mark.parametrize("k", [1, 2, 3, 7, 40])
def test_best_trees(k):
    constituent, empty = charts_of(4)
    best = k_best(constituent, empty, full(empty, 4), k)
    assert best.scores.shape == (2, k)
    for row in range(2):
        same(found_trees(best, row, 4), ranked(constituent[row], empty[row], 4)[:k])


@pytest.mark.parametrize("k", [5, 400])
def test_excluded_spans(k):
    """Words without labels, and no constituent (1, 3)."""
    n = 4
    constituent, empty = charts_of(n)
    constituent[:, :n] = -math.inf
    constituent[:, span_position(n, torch.tensor(1), torch.tensor(3))] = -math.inf
    best = k_best(constituent, empty, full(empty, n), k)
    for row in range(2):
        expected = ranked(constituent[row], empty[row], n)
        found = found_trees(best, row, n)
        same([pair for pair in found if pair[0] > -math.inf], expected[:k])
        assert all(not tree for score, tree in found if score == -math.inf)


@pytest.mark.parametrize("n", [1, 2, 5, 7])
@pytest.mark.parametrize("k", [1, 3, 200])
def test_binary_trees(n, k):
    """Without empty spans every label is a choice of its own."""
    constituent, _ = charts_of(n, batch=3)
    lengths = full(constituent, n)
    never = torch.full_like(constituent[..., 0], -math.inf)
    best = k_best(constituent, never, lengths, k)
    value, tree = best_tree(constituent.max(-1).values, lengths)
    torch.testing.assert_close(best.scores[:, 0], value)
    assert torch.equal(best.spans[:, 0], tree)
    assert torch.equal(best.labels[:, 0], (constituent.argmax(-1) + 1) * tree)
    there = best.scores > -math.inf
    count = min(k, CATALAN[n] * LABELS ** (2 * n - 1))
    assert (there.sum(1) == count).all()
    assert torch.equal(best.spans.sum(-1), (2 * n - 1) * there)
    assert torch.equal(best.labels > 0, best.spans)


def test_a_padded_batch_equals_single_sentences():
    longest, lengths, k = 6, torch.tensor([6, 1, 4, 2]), 5
    constituent = torch.full((4, chart_size(longest), 2), math.nan, dtype=torch.float64)
    empty = torch.full_like(constituent[..., 0], math.nan)
    places = [span_position(longest, *packed_spans(n)) for n in lengths.tolist()]
    singles = [charts_of(n, batch=1, seed=n) for n in lengths.tolist()]
    for row, (at, single) in enumerate(zip(places, singles, strict=True)):
        constituent[row, at], empty[row, at] = single[0][0], single[1][0]
    batch = k_best(constituent, empty, lengths, k)
    for row, (at, single) in enumerate(zip(places, singles, strict=True)):
        alone = k_best(*single, lengths[row : row + 1], k)
        torch.testing.assert_close(batch.scores[row], alone.scores[0])
        assert torch.equal(batch.spans[row][:, at], alone.spans[0])
        assert torch.equal(batch.labels[row][:, at], alone.labels[0])
        assert batch.spans[row].sum() == alone.spans.sum()


def test_long_sentences():
    """Scores are those of the trees; trees differ; fewer are the first of more."""
    n, k = 60, 12
    constituent, empty = charts_of(n)
    lengths = full(empty, n)
    best = k_best(constituent, empty, lengths, k)
    values = torch.cat([empty.unsqueeze(-1), constituent], -1).unsqueeze(1).expand(-1, k, -1, -1)
    of_spans = values.gather(-1, best.labels.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close((of_spans * best.spans).sum(-1), best.scores)
    assert (best.scores.diff(dim=1) <= 0).all()
    for row in range(2):
        found = found_trees(best, row, n)
        assert len({tree for _, tree in found}) == k
        # a group of several words is no right child: a wider span starts with it
        for _, tree in found:
            groups = {(i, j) for i, j, label in tree if not label and 1 < j - i < n}
            assert all(any(a == i and b > j for a, b, _ in tree) for i, j in groups)
    fewer = k_best(constituent, empty, lengths, 5)
    for few, many in zip(fewer, best, strict=True):
        torch.testing.assert_close(few, many[:, :5])


def test_empty_batch():
    best = k_best(torch.zeros(0, 6, 2), torch.zeros(0, 6), torch.zeros(0, dtype=torch.long), 4)
    assert [part.shape for part in best] == [(0, 4), (0, 4, 6), (0, 4, 6)]
