"""The decoders of dependency trees against a walk through all trees."""

import math
from functools import cache
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab
from torch import Tensor

from spacy_lal.structure.arborescence import (
    greedy,
    is_projective,
    is_tree,
    nonprojective,
    projective,
)

DECODERS = [projective, nonprojective, greedy]
SIZES = [1, 2, 3, 4, 5]
Heads = tuple[int, ...]


def reaches_root(heads: Heads) -> bool:
    for word in range(1, len(heads) + 1):
        seen = set()
        while word and word not in seen:
            seen.add(word)
            word = heads[word - 1]
        if word:
            return False
    return True


def crossing(heads: Heads) -> bool:
    arcs = [tuple(sorted(arc)) for arc in enumerate(heads, 1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def assignments(n: int) -> list[Heads]:
    return list(product(range(n + 1), repeat=n))


@cache
def all_trees(n: int, planar: bool = False) -> Tensor:
    """[number of trees, n]: every tree with one dependent of the root."""
    trees = [h for h in assignments(n) if h.count(0) == 1 and reaches_root(h)]
    return torch.tensor([h for h in trees if not (planar and crossing(h))])


def arc_scores(arcs: Tensor, heads: Tensor) -> Tensor:
    """[B, n] of one tree a sentence."""
    return arcs.gather(2, heads.unsqueeze(2)).squeeze(2)


def all_scores(arcs: Tensor, trees: Tensor) -> Tensor:
    """[B, number of trees, n]"""
    return arcs[:, torch.arange(trees.shape[1]), trees]


def score(arcs: Tensor, heads: Tensor) -> Tensor:
    return arc_scores(arcs, heads).sum(1)


def random_arcs(kind: str, n: int, batch: int = 200, seed: int = 0) -> Tensor:
    """Scores in float64; those of integers are sums without rounding, and full of ties."""
    generator = torch.Generator().manual_seed(1000 * n + seed)
    shape = (batch, n, n + 1)
    arcs = torch.randn(shape, generator=generator, dtype=torch.float64)
    if kind == "ties":
        arcs = torch.randint(0, 3, shape, generator=generator).double()
    elif kind == "negative":
        arcs = -torch.randint(1, 1000, shape, generator=generator).double()
    elif kind == "roots":  # every word would have the root
        arcs[..., 0] += 10
    elif kind == "no roots":  # cycles everywhere
        arcs[..., 0] -= 10
    elif kind == "cycles":  # pairs that choose each other, in pairs of pairs
        for d in range(n):
            arcs[:, d, min(d ^ 1, n - 1) + 1] += 6
            arcs[:, d, min(d ^ 2, n - 1) + 1] += 3
    return arcs


KINDS = ["normal", "ties", "negative", "roots", "no roots", "cycles"]


def full(arcs: Tensor) -> Tensor:
    return torch.full((len(arcs),), arcs.shape[1])


def assert_trees(heads: Tensor, lengths: Tensor) -> None:
    """By the definition of these tests, not by the module's."""
    assert heads.dtype == torch.int64
    for row, length in zip(heads.tolist(), lengths.tolist(), strict=True):
        tree = tuple(row[:length])
        assert tree.count(0) == 1
        assert max(tree) <= length
        assert reaches_root(tree)
        assert not any(row[length:])


# What a tree is


@pytest.mark.parametrize("n", SIZES)
def test_is_tree(n):
    heads = torch.tensor(assignments(n))
    expected = [h.count(0) == 1 and reaches_root(h) for h in assignments(n)]
    assert is_tree(heads, full(heads)).tolist() == expected
    assert len(all_trees(n)) == n ** (n - 1)  # Cayley


def test_is_tree_of_padded_sentences():
    heads = torch.tensor([[2, 0, 7, -3], [2, 0, 2, 3], [3, 0, 0, 0], [-1, 0, 1, 1], [9, 0, 1, 1]])
    assert is_tree(heads, torch.tensor([2, 4, 2, 4, 4])).tolist() == [True, True] + 3 * [False]


def test_is_tree_of_a_chain():
    n = 1000
    chain = torch.arange(n).unsqueeze(0)
    assert is_tree(chain, torch.tensor([n])).item()
    chain[0, 1] = n
    assert not is_tree(chain, torch.tensor([n])).item()


@pytest.mark.parametrize("n", SIZES)
def test_is_projective(n):
    for heads in all_trees(n).tolist():
        assert is_projective(heads) != crossing(tuple(heads))
    # the single-rooted projective trees, OEIS A006013
    assert len(all_trees(n, planar=True)) == [1, 2, 7, 30, 143][n - 1]


def test_an_arc_over_the_root_crosses():
    assert not is_projective([3, 0, 2])
    assert is_projective([2, 0, 2])
    assert is_projective([])


# Against all trees


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_tree(n, kind):
    arcs = random_arcs(kind, n)
    lengths = full(arcs)
    exact = kind in ("ties", "negative")
    for decode, planar in ((nonprojective, False), (projective, True)):
        trees = all_trees(n, planar)
        heads = decode(arcs, lengths)
        assert (heads.unsqueeze(1) == trees).all(2).any(1).all()
        best = all_scores(arcs, trees).sum(2).max(1).values
        tolerance = 0 if exact else 1e-12
        torch.testing.assert_close(score(arcs, heads), best, rtol=0, atol=tolerance)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_greedy(n, kind):
    """A tree, each word's best head where those are one, and never better than the best."""
    arcs = random_arcs(kind, n)
    heads = greedy(arcs, full(arcs))
    assert_trees(heads, full(arcs))
    loops = torch.eye(n, n + 1, dtype=torch.bool).roll(1, 1)
    best = arcs.masked_fill(loops, -math.inf).argmax(2)
    solved = is_tree(best, full(arcs))
    assert torch.equal(heads[solved], best[solved])
    exact = nonprojective(arcs, full(arcs))
    assert torch.equal(exact[solved], best[solved])
    assert (score(arcs, heads) <= score(arcs, exact) + 1e-9).all()


@pytest.mark.parametrize("n", [2, 3, 6, 11])
@pytest.mark.parametrize("kind", KINDS)
def test_the_repair_of_greedy(n, kind):
    arcs = random_arcs(kind, n, batch=40)
    loops = torch.eye(n, n + 1, dtype=torch.bool).roll(1, 1)
    best = arcs.masked_fill(loops, -math.inf).argmax(2)
    broken = ~is_tree(best, full(arcs))
    assert broken.any()
    repaired = projective(arcs[broken], full(arcs)[broken])
    assert torch.equal(greedy(arcs, full(arcs))[broken], repaired)


def lexicalised_best(at: list[list[float]]) -> float:
    """The score of the best projective tree by spans with a head: O(n^5), from the definition."""

    @cache
    def headed(i: int, j: int, head: int) -> float:
        if i == j:
            return 0.0
        values = []
        for k in range(i, j):
            own, other = ((i, k), (k + 1, j)) if head <= k else ((k + 1, j), (i, k))
            dependents = range(other[0], other[1] + 1)
            best = max(headed(*other, d) + at[d][head + 1] for d in dependents)
            values.append(headed(*own, head) + best)
        return max(values)

    return max(headed(0, len(at) - 1, root) + at[root][0] for root in range(len(at)))


@pytest.mark.parametrize("n", [7, 9])
@pytest.mark.parametrize("kind", ["ties", "negative"])
def test_projective_against_a_lexicalised_chart(n, kind):
    arcs = random_arcs(kind, n, batch=4)
    heads = projective(arcs, full(arcs))
    assert score(arcs, heads).tolist() == [lexicalised_best(one) for one in arcs.tolist()]
    assert all(is_projective(tree) for tree in heads.tolist())


# Forbidden arcs, and scores that must not be read


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_forbidden_arcs(n, share):
    arcs = random_arcs("negative", n)
    generator = torch.Generator().manual_seed(n)
    forbidden = torch.rand(arcs.shape, generator=generator) < share
    arcs = arcs.masked_fill(forbidden, -math.inf)
    lengths = full(arcs)

    def keys(scores: Tensor) -> Tensor:
        """Fewest forbidden arcs first, then the score of the others."""
        finite = scores.masked_fill(scores.isinf(), 0)
        return finite.sum(-1) - 1e6 * scores.isinf().sum(-1)

    best = keys(all_scores(arcs, all_trees(n))).max(1).values
    heads = nonprojective(arcs, lengths)
    assert_trees(heads, lengths)
    assert torch.equal(keys(arc_scores(arcs, heads)), best)

    heads = projective(arcs, lengths)
    assert_trees(heads, lengths)
    assert all(is_projective(tree) for tree in heads.tolist())
    best = all_scores(arcs, all_trees(n, planar=True)).sum(2).max(1).values
    assert torch.equal(score(arcs, heads), best)

    assert_trees(greedy(arcs, lengths), lengths)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_all_arcs_forbidden(decode, n):
    arcs = torch.full((3, n, n + 1), -math.inf)
    lengths = torch.tensor([n, max(1, n - 1), 1])
    assert_trees(decode(arcs, lengths), lengths)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_scores_that_are_nan(decode, share):
    """What a training that failed gives: a tree all the same."""
    arcs = random_arcs("normal", 5, batch=20)
    arcs[torch.rand(arcs.shape, generator=torch.Generator().manual_seed(0)) < share] = math.nan
    lengths = torch.full((20,), 5)
    assert_trees(decode(arcs, lengths), lengths)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("padding", [0.0, 1e9, -1e9, math.inf, -math.inf, math.nan])
@pytest.mark.parametrize("kind", ["normal", "ties", "roots", "cycles"])
def test_a_padded_batch_equals_single_sentences(decode, padding, kind):
    """Whatever the padding and the self-loops hold."""
    longest, lengths = 9, torch.tensor([9, 1, 4, 6, 9, 2, 7, 3])
    arcs = torch.full((len(lengths), longest, longest + 1), padding, dtype=torch.float64)
    singles = []
    for row, n in enumerate(lengths.tolist()):
        single = random_arcs(kind, n, batch=1, seed=row)
        singles.append(decode(single, torch.tensor([n]))[0])
        inside = arcs[row, :n, : n + 1]
        inside.copy_(single[0])
        inside.diagonal(1).fill_(padding)
    before = arcs.clone()
    heads = decode(arcs, lengths)
    assert torch.equal(arcs.nan_to_num(7.0), before.nan_to_num(7.0))
    assert_trees(heads, lengths)
    for row, (n, single) in enumerate(zip(lengths.tolist(), singles, strict=True)):
        assert torch.equal(heads[row, :n], single)


def test_large_finite_scores():
    """Arcs masked by -1e9, in the root's column and elsewhere: the small scores still count."""
    n = 5
    arcs = random_arcs("negative", n)
    masked = torch.rand(arcs.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    arcs = arcs.masked_fill(masked, -1e9)
    best = all_scores(arcs, all_trees(n)).sum(2).max(1).values
    assert torch.equal(score(arcs, nonprojective(arcs, full(arcs))), best)


# Longer sentences


@st.composite
def integer_arcs(draw) -> Tensor:
    n = draw(st.integers(2, 24))
    low, high = draw(st.sampled_from([(0, 1), (-3, 3), (-1000, 1000)]))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    arcs = torch.randint(low, high + 1, (1, n, n + 1), generator=generator).double()
    arcs[..., 0] += draw(st.sampled_from([0, 0, high, -high]))
    for d, h in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n)), max_size=n)):
        arcs[0, d, h] += high
    return arcs


def descendants(heads: list[int], word: int) -> set[int]:
    found = {word}
    while more := {d for d, h in enumerate(heads, 1) if h in found} - found:
        found |= more
    return found


@settings(max_examples=60, deadline=None)
@given(integer_arcs())
def test_no_local_change_is_better(arcs):
    n = arcs.shape[1]
    length = torch.tensor([n])
    values = {}
    for decode in DECODERS:
        heads = decode(arcs, length)
        assert_trees(heads, length)
        values[decode] = score(arcs, heads).item()
    assert values[nonprojective] >= max(values.values())
    assert is_projective(projective(arcs, length)[0].tolist())
    for decode in (projective, nonprojective):
        tree = decode(arcs, length)[0].tolist()
        root = tree.index(0) + 1
        changed = []
        for word in range(1, n + 1):
            below = descendants(tree, word)
            if word == root:  # the root changes places with each of its dependents
                for other in (d for d, h in enumerate(tree, 1) if h == root):
                    swapped = tree.copy()
                    swapped[root - 1], swapped[other - 1] = other, 0
                    changed.append(swapped)
            else:
                for head in set(range(1, n + 1)) - below:
                    changed.append([*tree[: word - 1], head, *tree[word:]])
        if decode is projective:
            changed = [other for other in changed if is_projective(other)]
        others = torch.tensor(changed).view(-1, n)
        assert is_tree(others, torch.full((len(others),), n)).all()
        assert (all_scores(arcs, others).sum(2) <= values[decode]).all()


@settings(max_examples=30, deadline=None)
@given(integer_arcs())
def test_the_best_tree_is_the_best_of_all_roots(arcs):
    """Each word forced to be the root, by forbidding the root to all others."""
    n = arcs.shape[1]
    forced = arcs.repeat(n, 1, 1)
    forced[..., 0] = forced[..., 0].where(torch.eye(n, dtype=torch.bool), -math.inf)
    for decode in (projective, nonprojective):
        heads = decode(forced, full(forced))
        assert torch.equal((heads == 0).nonzero(), torch.arange(n).unsqueeze(1).expand(-1, 2))
        best = score(arcs, decode(arcs, torch.tensor([n])))
        assert score(forced, heads).max() == best


def test_a_long_sentence():
    """Nested cycles without recursion: word k prefers k-1, word 1 the last one."""
    n = 300
    arcs = random_arcs("normal", n, batch=1).float()
    for d in range(n):
        arcs[0, d, d if d else n] += 50 + d
    length = torch.tensor([n])
    heads = {decode: decode(arcs, length) for decode in DECODERS}
    for found in heads.values():
        assert_trees(found, length)
    values = {decode: score(arcs.double(), found).item() for decode, found in heads.items()}
    assert values[nonprojective] >= max(values.values()) - 1e-6


# Types, shapes, and spaCy


@pytest.mark.parametrize("decode", DECODERS)
def test_types(decode):
    arcs = random_arcs("negative", 6).clamp(min=-200)  # whole numbers in bfloat16 too
    expected = score(arcs, decode(arcs, full(arcs)))
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64):
        heads = decode(arcs.to(dtype), full(arcs))
        torch.testing.assert_close(score(arcs, heads), expected, rtol=0, atol=0)
    heads = decode(arcs, full(arcs).int())
    assert torch.equal(heads, decode(arcs, full(arcs)))
    assert is_tree(heads.int(), full(arcs).int()).all()
    leaf = arcs.clone().requires_grad_()
    assert not decode(leaf, full(arcs)).requires_grad


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("n", [0, 3])
def test_empty_batch(decode, n):
    heads = decode(torch.zeros(0, n, n + 1), torch.zeros(0, dtype=torch.long))
    assert heads.shape == (0, n)
    assert is_tree(heads, torch.zeros(0, dtype=torch.long)).shape == (0,)


@pytest.mark.parametrize("decode", DECODERS)
@pytest.mark.parametrize("kind", KINDS)
def test_spacy_takes_the_heads(decode, kind):
    for n in (1, 2, 8, 40):
        arcs = random_arcs(kind, n, batch=5)
        for tree in decode(arcs, full(arcs)).tolist():
            heads = [h - 1 if h else i for i, h in enumerate(tree)]
            deps = ["dep" if h else "ROOT" for h in tree]
            doc = Doc(Vocab(), words=[f"w{i}" for i in range(n)], heads=heads, deps=deps)
            assert len(list(doc.sents)) == 1
            assert [token.head.i for token in doc] == heads
            assert next(doc.sents).root.i == tree.index(0)
