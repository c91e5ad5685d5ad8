"""The joint decoder against all joint trees, and against the O(n^5) algorithm of the paper."""

import itertools
import math
from functools import lru_cache

import pytest
import torch

from spacy_lal.structure import lexicalised
from spacy_lal.structure.chart import (
    chart_size,
    hamming_augment,
    packed_spans,
    span_position,
    unpack,
)
from spacy_lal.structure.lexicalised import JointTree, best_joint_tree, joint_values


@lru_cache
def joint_trees(start, end):
    """Every binary tree with heads over the words start+1..end.

    As (head, {word: its head}, spans that must be constituents, spans that may be empty); the
    head of the whole is in no dictionary.
    """
    if end - start == 1:
        return [(end, {}, frozenset(), frozenset({(start, end)}))]
    trees = []
    for split in range(start + 1, end):
        for left, right in itertools.product(joint_trees(start, split), joint_trees(split, end)):
            for (head, *of_head), (word, *of_word), span in (
                (left, right, (split, end)),
                (right, left, (start, split)),
            ):
                heads, must, may = (a | b for a, b in zip(of_head, of_word, strict=True))
                heads = heads | {word: head}
                if span[1] - span[0] > 1:
                    must, may = must | {span}, may - {span}
                trees.append((head, heads, must, may | {(start, end)}))
    return trees


def rooted_trees(n):
    """Joint trees of a sentence: its span is a constituent, its head depends on the root."""
    for head, heads, must, may in joint_trees(0, n):
        yield heads | {head: 0}, must | {(0, n)}, may - {(0, n)}


def labelled_trees(n):
    """(heads, constituents, empty nodes) of every joint tree and choice of empty nodes."""
    for heads, must, may in rooted_trees(n):
        for choice in itertools.product((True, False), repeat=len(may)):
            full = frozenset(itertools.compress(sorted(may), choice))
            yield heads, must | full, may - full


def random_scores(n, seed=0, batch=1, dtype=torch.float64, scale=2.0):
    generator = torch.Generator().manual_seed(1000 * n + seed)

    def normal(*shape):
        return scale * torch.randn(batch, *shape, generator=generator, dtype=dtype)

    return normal(chart_size(n)), normal(chart_size(n)), normal(n, n + 1)


def square(chart, n):
    """One sentence's chart as lists by fenceposts."""
    return unpack(chart.unsqueeze(0), n)[0].tolist()


def exact_best(constituent, empty, arcs, n):
    """The paper's algorithm for one sentence, from lists, as it is written: O(n^5)."""
    comp, one, multi = {}, {}, {}
    for width in range(1, n + 1):
        for i in range(n + 1 - width):
            j = i + width
            either = max(constituent[i][j], empty[i][j])
            for head in range(i + 1, j + 1):
                best = 0.0 if width == 1 else -math.inf
                for k in range(i + 1, j):
                    for left in range(i + 1, k + 1):
                        for right in range(k + 1, j + 1):
                            if head == left:
                                value = multi[i, k, left] + one[k, j, right]
                                best = max(best, value + arcs[right - 1][left])
                            if head == right:
                                value = one[i, k, left] + multi[k, j, right]
                                best = max(best, value + arcs[left - 1][right])
                comp[i, j, head] = best
                multi[i, j, head] = best + either
                one[i, j, head] = best + (either if width == 1 else constituent[i][j])
    tops = (comp[0, n, head] + arcs[head - 1][0] for head in range(1, n + 1))
    return max(tops) + constituent[0][n]


def parts(tree: JointTree, row, n):
    """A sentence's constituents, empty nodes and heads, after checks that they are a joint tree."""
    size = int((2 * tree.spans.shape[1]) ** 0.5)
    starts, ends = packed_spans(size)
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    nodes = set(itertools.compress(spans, tree.spans[row].tolist()))
    full = set(itertools.compress(spans, tree.labelled[row].tolist()))
    heads = dict(enumerate(tree.heads[row].tolist(), 1))
    assert not any(heads.pop(word) for word in range(n + 1, size + 1))
    assert full <= nodes
    assert len(nodes) == 2 * n - 1

    def walk(start, end, governor):
        """Check the node whose head's head is `governor`; returns that head."""
        (top,) = (word for word in range(start + 1, end + 1) if not start < heads[word] <= end)
        assert heads[top] == governor
        assert (start, end) in nodes
        if end - start > 1:
            (split,) = (k for k in range(start + 1, end) if {(start, k), (k, end)} <= nodes)
            with_head, other = (start, split), (split, end)
            if top > split:
                with_head, other = other, with_head
            walk(*with_head, governor)
            walk(*other, top)
            assert other in full or other[1] - other[0] == 1

    walk(0, n, 0)
    assert (0, n) in full
    return full, nodes - full, heads


def rescore(tree, row, n, constituent, empty, arcs):
    full, rest, heads = parts(tree, row, n)
    constituent, empty = square(constituent[row], n), square(empty[row], n)
    return (
        sum(constituent[i][j] for i, j in full)
        + sum(empty[i][j] for i, j in rest)
        + sum(float(arcs[row, word - 1, head]) for word, head in heads.items())
    )


# Against all trees


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_best_joint_tree(n):
    for seed in range(4):
        scores = random_scores(n, seed)
        tree = best_joint_tree(*scores, torch.tensor([n]))
        constituent, empty = (square(chart[0], n) for chart in scores[:2])
        arcs = scores[2][0].tolist()
        best = max(
            sum(constituent[i][j] for i, j in must)
            + sum(max(constituent[i][j], empty[i][j]) for i, j in may)
            + sum(arcs[word - 1][head] for word, head in heads.items())
            for heads, must, may in rooted_trees(n)
        )
        assert float(tree.score) == pytest.approx(best)
        assert rescore(tree, 0, n, *scores) == pytest.approx(best)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_best_constituents_and_heads(n):
    """The very tree, and the cost-augmented one."""
    generator = torch.Generator().manual_seed(n)
    labels = 2.0 * torch.randn(1, chart_size(n), 3, generator=generator, dtype=torch.float64)
    gold = torch.randint(3, (1, chart_size(n)), generator=generator)
    arcs = random_scores(n)[2]
    gold_heads = torch.randint(-1, n + 1, (1, n), generator=generator)
    trees = list(labelled_trees(n))
    gold_labels = unpack(gold, n)[0].tolist()
    for cost in (0.0, 0.7, 5.0):
        augmented = hamming_augment(labels, gold, cost)
        values = joint_values(augmented, torch.tensor([n]), None)
        wrong = torch.arange(n + 1) != gold_heads.unsqueeze(-1)
        costly = arcs + cost * (wrong & (gold_heads >= 0).unsqueeze(-1))
        found = best_joint_tree(values[0], values[2], costly, torch.tensor([n]))
        of_spans = unpack(labels, n)[0].tolist()

        def augmented_label(i, j, label, cost=cost, of_spans=of_spans):
            return of_spans[i][j][label] + cost * (label != gold_labels[i][j])

        def score(heads, full, rest, cost=cost, augmented_label=augmented_label):
            wrong = sum(gold_heads[0, word - 1] not in (-1, head) for word, head in heads.items())
            return (
                sum(max(augmented_label(i, j, label) for label in (1, 2)) for i, j in full)
                + sum(augmented_label(i, j, 0) for i, j in rest)
                + sum(float(arcs[0, word - 1, head]) for word, head in heads.items())
                + cost * wrong
            )

        expected = max(trees, key=lambda tree: score(*tree))
        assert float(found.score) == pytest.approx(score(*expected))
        full, rest, heads = parts(found, 0, n)
        assert (heads, full, rest) == expected


@pytest.mark.parametrize("n", [2, 7, 9, 12])
@pytest.mark.parametrize("scale", [0.1, 100.0])
def test_the_algorithm_of_the_paper(n, scale):
    scores = random_scores(n, scale=scale)
    tree = best_joint_tree(*scores, torch.tensor([n]))
    constituent, empty = (square(chart[0], n) for chart in scores[:2])
    expected = exact_best(constituent, empty, scores[2][0].tolist(), n)
    assert float(tree.score) == pytest.approx(expected)
    assert rescore(tree, 0, n, *scores) == pytest.approx(expected)


def test_excluded_spans_and_arcs():
    n = 5
    constituent, empty, arcs = random_scores(n)
    lengths = torch.tensor([n])
    starts, ends = packed_spans(n)
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
    full, _, heads = parts(best_joint_tree(constituent, empty, arcs, lengths), 0, n)
    for span in full - {(0, n)}:
        constituent[0, spans.index(span)] = -math.inf
    arcs[0, 0, heads[1]] = -math.inf
    tree = best_joint_tree(constituent, empty, arcs, lengths)
    charts = (square(chart[0], n) for chart in (constituent, empty))
    assert math.isfinite(float(tree.score))
    assert float(tree.score) == pytest.approx(exact_best(*charts, arcs[0].tolist(), n))
    assert rescore(tree, 0, n, constituent, empty, arcs) == pytest.approx(float(tree.score))


def test_one_word_is_a_constituent():
    """Even where nothing is worth more; score and tree agree."""
    charts, arcs = torch.tensor([[[-1.0]], [[0.0]]]), torch.tensor([[[0.25, 9.0]]])
    tree = best_joint_tree(*charts, arcs, torch.tensor([1]))
    assert tree.score.tolist() == [-0.75]
    assert tree.spans.tolist() == tree.labelled.tolist() == [[True]]
    assert tree.heads.tolist() == [[0]]


def test_a_word_may_be_no_constituent():
    """A dependent wider than a word may not."""
    n = 3
    constituent, empty = torch.full((1, 6), -1.0), torch.zeros(1, 6)
    arcs = torch.full((1, 3, 4), -100.0)
    arcs[0, 0, 0] = arcs[0, 1, 1] = arcs[0, 2, 2] = 0  # a chain to the right
    tree = best_joint_tree(constituent, empty, arcs, torch.tensor([n]))
    assert parts(tree, 0, n) == (
        {(0, 3), (1, 3)},
        {(0, 1), (1, 2), (2, 3)},
        {1: 0, 2: 1, 3: 2},
    )
    assert float(tree.score) == -2


def test_ties():
    """Nothing before a constituent, short left children, early heads."""
    n = 4
    zeros = torch.zeros(1, chart_size(n))
    tree = best_joint_tree(zeros, zeros, torch.zeros(1, n, n + 1), torch.tensor([n]))
    full, rest, heads = parts(tree, 0, n)
    assert heads == {1: 0, 2: 1, 3: 2, 4: 3}
    assert full == {(0, 4), (1, 4), (2, 4)}
    assert rest == {(0, 1), (1, 2), (2, 3), (3, 4)}


# Batches


@pytest.mark.parametrize("padding", [0.0, 50.0, -math.inf, math.inf, math.nan])
def test_a_padded_batch_equals_single_sentences(padding):
    """Whatever the padding holds."""
    longest, lengths = 32, torch.tensor([30, 1, 4, 26, 9, 2, 1, 17])
    batch = [torch.full_like(x, padding) for x in random_scores(longest, batch=len(lengths))]
    singles = []
    for row, n in enumerate(lengths.tolist()):
        single = random_scores(n, seed=row)
        singles.append(single)
        inner = span_position(longest, *packed_spans(n))
        for chart, scores in zip(batch[:2], single[:2], strict=True):
            chart[row, inner] = scores[0]
        batch[2][row, :n, : n + 1] = single[2][0]
    found = best_joint_tree(*batch, lengths)
    for row, (n, single) in enumerate(zip(lengths.tolist(), singles, strict=True)):
        alone = best_joint_tree(*single, torch.tensor([n]))
        torch.testing.assert_close(found.score[row], alone.score[0])
        assert parts(found, row, n) == parts(alone, 0, n)


def test_blocks_of_a_batch(monkeypatch):
    lengths = [3, 90, 14, 60, 59, 22, 23, 8]
    blocks = lexicalised._blocks(lengths)
    assert sorted(row for block in blocks for row in block) == list(range(8))
    assert [[lengths[row] for row in block] for block in blocks] == [
        [90, 60],
        [59],
        [23, 22, 14, 8, 3],
    ]
    scores = random_scores(20, batch=6)
    sizes = torch.tensor([20, 19, 20, 7, 12, 20])
    expected = best_joint_tree(*scores, sizes)
    monkeypatch.setattr(lexicalised, "TABLE", 4 * 20**3)
    monkeypatch.setattr(lexicalised, "BLOCK", 100)
    assert [len(block) for block in lexicalised._blocks(sizes.tolist())] == [2, 2, 2]
    for ours, theirs in zip(best_joint_tree(*scores, sizes), expected, strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("few", [0, 1 << 30])
def test_both_libraries_add_up_the_same(monkeypatch, few):
    """With arcs in another order of memory, too."""
    scores, sizes = random_scores(12, batch=3, dtype=torch.float32), torch.tensor([12, 7, 11])
    expected = best_joint_tree(*scores, sizes)
    monkeypatch.setattr(lexicalised, "FEW", few)
    turned = scores[2].transpose(1, 2).contiguous().transpose(1, 2)
    for arcs in (scores[2], turned):
        for ours, theirs in zip(best_joint_tree(*scores[:2], arcs, sizes), expected, strict=True):
            assert torch.equal(ours, theirs)


def test_empty_batch():
    tree = best_joint_tree(*random_scores(3, batch=0), torch.zeros(0, dtype=torch.long))
    assert [x.shape for x in tree] == [(0,), (0, 6), (0, 6), (0, 3)]


def test_inputs_are_left_alone():
    scores = random_scores(5, batch=2)
    before = [x.clone() for x in scores]
    best_joint_tree(*(x.requires_grad_() for x in scores), torch.tensor([5, 3]))
    assert all(torch.equal(x, y) for x, y in zip(scores, before, strict=True))


# Numbers


@pytest.mark.parametrize("scale", [0.1, 10.0])
def test_single_precision_of_long_sentences(scale):
    n = 60
    scores = random_scores(n, dtype=torch.float32, scale=scale)
    tree = best_joint_tree(*scores, torch.tensor([n]))
    assert tree.score.dtype == torch.float32
    exact = best_joint_tree(*(x.double() for x in scores), torch.tensor([n]))
    assert float(tree.score) == pytest.approx(float(exact.score), rel=1e-5)
    assert rescore(tree, 0, n, *scores) == pytest.approx(float(tree.score), rel=1e-5)


# Values of labels and arcs


def test_values_of_labels():
    lengths = torch.tensor([3, 1])
    scores = torch.zeros(2, 6, 4)
    scores[..., 2] = 2.0  # <H>
    scores[..., 3] = torch.tensor([1.0, -1.0])[:, None]
    before = scores.clone()
    constituent, labels, empty = joint_values(scores, lengths, sub_head=2)
    assert torch.equal(scores, before)
    assert torch.equal(empty, scores[..., 0])
    # words, then the spans of two, then the whole
    assert labels.tolist() == [[3, 3, 3, 2, 2, 3], [1, 1, 1, 2, 2, 2]]
    assert constituent.tolist() == [[1, 1, 1, 2, 2, 1], [0, 0, 0, 2, 2, 2]]
    constituent, labels, _ = joint_values(scores, lengths, sub_head=None)
    assert (labels == 2).all()
    assert (constituent == 2).all()


def test_values_without_another_label():
    lengths = torch.tensor([2])
    constituent, _, empty = joint_values(torch.ones(1, 3, 2), lengths, sub_head=1)
    assert constituent.tolist() == [[-math.inf] * 3]
    assert empty.tolist() == [[1, 1, 1]]
    constituent, _, _ = joint_values(torch.ones(1, 3, 1), lengths, sub_head=None)
    assert constituent.tolist() == [[-math.inf] * 3]
