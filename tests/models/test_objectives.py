"""Objectives and decoders against the enumeration of all labelled binary trees."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from spacy_lal.models.decoders import make_map_decoder, make_mbr_decoder
from spacy_lal.models.objectives import crf_loss, margin_loss
from spacy_lal.structure.chart import best_tree, chart_size, packed_spans

LABELS = 3
Node = tuple[int, int, int]


def binary_trees(start: int, end: int) -> Iterator[list[tuple[int, int]]]:
    if end - start == 1:
        yield [(start, end)]
        return
    for split in range(start + 1, end):
        for left, right in itertools.product(binary_trees(start, split), binary_trees(split, end)):
            yield [(start, end), *left, *right]


def labelled_trees(n: int) -> Iterator[frozenset[Node]]:
    for tree in binary_trees(0, n):
        for labels in itertools.product(range(LABELS), repeat=len(tree)):
            yield frozenset((*span, label) for span, label in zip(tree, labels, strict=True))


@pytest.fixture(params=[1, 2, 3, 4])
def case(request: pytest.FixtureRequest) -> tuple[int, Tensor, Tensor, dict[Node, float]]:
    """n, scores [1, S, L], gold [1, S] and the scores by node; gold is a flat tree for n = 4."""
    n = request.param
    generator = torch.Generator().manual_seed(n)
    scores = torch.randn(1, chart_size(n), LABELS, generator=generator, dtype=torch.float64)
    scores[..., 0] = 0
    starts, ends = (t.tolist() for t in packed_spans(n))
    gold = torch.zeros(1, chart_size(n), dtype=torch.long)
    for k, span in enumerate(zip(starts, ends, strict=True)):
        # a root of many children, one constituent inside it, one word that is a constituent
        gold[0, k] = {(0, n): 2, (1, 3): 1, (0, 1): 1}.get(span, 0)
    by_node = {
        (i, j, label): float(scores[0, k, label])
        for k, (i, j) in enumerate(zip(starts, ends, strict=True))
        for label in range(LABELS)
    }
    return n, scores, gold, by_node


def gold_nodes(n: int, gold: Tensor) -> set[Node]:
    starts, ends = (t.tolist() for t in packed_spans(n))
    return {(i, j, int(label)) for i, j, label in zip(starts, ends, gold[0], strict=True) if label}


def constituents(tree: frozenset[Node]) -> set[Node]:
    return {node for node in tree if node[2]}


def test_crf_sums_all_binarisations_of_the_gold_tree(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    of_all = {tree: sum(by_node[node] for node in tree) for tree in labelled_trees(n)}
    wanted = gold_nodes(n, gold)
    of_gold = [score for tree, score in of_all.items() if constituents(tree) == wanted]
    total = torch.logsumexp(torch.tensor(list(of_all.values()), dtype=torch.float64), 0)
    expected = total - torch.logsumexp(torch.tensor(of_gold, dtype=torch.float64), 0)
    torch.testing.assert_close(crf_loss(scores, gold, torch.tensor([n]))[0], expected)


def test_margin_is_the_worst_violation(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    wanted = {(i, j): label for i, j, label in gold_nodes(n, gold)}
    augmented = max(
        sum(by_node[node] + (wanted.get(node[:2], 0) != node[2]) for node in tree)
        for tree in labelled_trees(n)
    )
    expected = augmented - sum(by_node[node] for node in gold_nodes(n, gold))
    assert float(margin_loss(scores, gold, torch.tensor([n]))[0]) == pytest.approx(expected)


def test_map_decoder_finds_the_best_tree(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, _, by_node = case
    values = make_map_decoder(share=1.0).spans(scores, torch.tensor([n]), None)
    value, _ = best_tree(torch.maximum(values.constituent, values.empty), torch.tensor([n]))
    assert float(value) == pytest.approx(
        max(sum(by_node[node] for node in tree) for tree in labelled_trees(n))
    )
    assert values.probability is None


def test_mbr_decoder_finds_the_tree_of_highest_expected_gain(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, _, by_node = case
    threshold = 0.3
    weights = {
        tree: torch.exp(torch.tensor(sum(by_node[node] for node in tree), dtype=torch.float64))
        for tree in labelled_trees(n)
    }
    total = sum(weights.values())
    probability: dict[Node, float] = {}
    for tree, weight in weights.items():
        for node in tree:
            probability[node] = probability.get(node, 0.0) + float(weight / total)
    values, labels, empty, of_labels = make_mbr_decoder(threshold).spans(
        scores, torch.tensor([n]), None
    )
    assert not bool(empty.any())
    value, tree_mask = best_tree(values, torch.tensor([n]))
    assert float(value) == pytest.approx(
        max(sum(probability[node] - threshold for node in constituents(tree)) for tree in weights)
    )
    assert of_labels is not None
    starts, ends = (t.tolist() for t in packed_spans(n))
    for k, (i, j) in enumerate(zip(starts, ends, strict=True)):
        best = max(probability[i, j, label] for label in range(1, LABELS))
        assert float(of_labels[0, k]) == pytest.approx(best)
        assert bool(labels[0, k]) == (best > threshold)
    assert int(tree_mask.sum()) == 2 * n - 1


def test_threshold_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"got 1\.5"):
        make_mbr_decoder(1.5)
