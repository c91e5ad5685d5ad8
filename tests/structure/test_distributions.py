"""Trees with labels, objectives and decoders against the enumeration of all labelled trees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck

from spacy_lal.layers.biaffine import LabelFactors, label_scores
from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.gold_trees import gold_labels
from spacy_lal.parsing.objectives import CRFObjective, MarginObjective, make_margin_objective_v2
from spacy_lal.structure.binarise import left_binarisation, log_weight
from spacy_lal.structure.chart import chart_size, packed_spans, span_position
from spacy_lal.structure.distributions import LabelledTrees, TwoStageTrees
from tests.all_trees import binary_trees

LABELS = 3
Node = tuple[int, int, int]


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
    trees = LabelledTrees(scores, torch.tensor([n]))
    torch.testing.assert_close(CRFObjective()(trees, gold)[0], expected)


def stands_for(tree: frozenset[Node], wanted: set[Node], sub_head: int | None) -> bool:
    """Whether a tree has all these constituents, and no labels but 0 and `sub_head` elsewhere."""
    return wanted <= tree and all(label in (0, sub_head) for *_, label in tree - wanted)


# an empty score that is not 0 shows when one is missing; parsers have 0
@pytest.mark.parametrize(("sub_head", "empty"), [(None, -0.5), (1, -0.5), (2, -0.5), (None, 0.0)])
def test_log_weight_sums_the_trees_that_stand_for_one(case, sub_head, empty) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    by_node = {node: score if node[2] else empty for node, score in by_node.items()}
    scores[..., 0] = empty
    wanted = gold_nodes(n, gold)
    expected = torch.logsumexp(
        torch.tensor(
            [
                sum(by_node[node] for node in tree)
                for tree in labelled_trees(n)
                if stands_for(tree, wanted, sub_head)
            ],
            dtype=torch.float64,
        ),
        0,
    )
    for longest in (n, n + 2):
        at = span_position(longest, *packed_spans(n))
        padded = torch.full((1, chart_size(longest), LABELS), 3.0, dtype=torch.float64)
        padded[..., 0] = empty
        padded[:, at] = scores
        of_gold = torch.zeros(1, chart_size(longest), dtype=torch.long)
        of_gold[:, at] = gold
        with torch.no_grad():
            found = log_weight(padded, of_gold, torch.tensor([n]), sub_head)
        torch.testing.assert_close(found[0], expected)


def test_a_label_that_nobody_knows_of_is_summed_out(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    gold = gold.clamp(max=1)
    wanted = gold_nodes(n, gold)
    of_all = {tree: sum(by_node[node] for node in tree) for tree in labelled_trees(n)}
    of_gold = [score for tree, score in of_all.items() if stands_for(tree, wanted, 2)]
    total = torch.logsumexp(torch.tensor(list(of_all.values()), dtype=torch.float64), 0)
    expected = total - torch.logsumexp(torch.tensor(of_gold, dtype=torch.float64), 0)
    rows = torch.tensor([True, False])
    both = LabelledTrees(torch.cat([scores] * 2), torch.tensor([n, n]), group=2)
    losses = -both.with_gold_groups(rows).log_prob(torch.cat([gold] * 2))
    torch.testing.assert_close(losses[0], expected)
    known = LabelledTrees(scores, torch.tensor([n])).log_prob(gold)[0]
    torch.testing.assert_close(losses[1], -known)
    # as `log_prob` has it in all sentences whose groups are not among the labels
    torch.testing.assert_close(losses[0], -both.log_prob(torch.cat([gold] * 2))[0])


def test_a_label_that_nobody_knows_of_has_no_margin(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, _ = case
    gold = gold.clamp(max=1)
    lengths = torch.tensor([n])
    leaf = scores.clone().requires_grad_()
    trees = LabelledTrees(leaf, lengths, group=2, probabilistic=False)
    loss = trees.with_gold_groups(torch.tensor([True])).margin(gold)
    torch.testing.assert_close(loss, LabelledTrees(scores[..., :2], lengths).margin(gold))
    loss.sum().backward()
    assert torch.equal(leaf.grad[..., 2], torch.zeros_like(leaf[..., 2]))


def test_margin_is_the_worst_violation(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    wanted = {(i, j): label for i, j, label in gold_nodes(n, gold)}
    augmented = max(
        sum(by_node[node] + (wanted.get(node[:2], 0) != node[2]) for node in tree)
        for tree in labelled_trees(n)
    )
    expected = augmented - sum(by_node[node] for node in gold_nodes(n, gold))
    trees = LabelledTrees(scores, torch.tensor([n]), probabilistic=False)
    assert float(MarginObjective()(trees, gold)[0]) == pytest.approx(expected)


@pytest.mark.parametrize("root", [0, 2])
def test_margin_over_trees_whose_root_is_a_constituent(case, root) -> None:  # type: ignore[no-untyped-def]
    n, scores, gold, by_node = case
    gold[0, -1] = root  # a gold tree whose root is none has no part in the search
    # the first finds a root without label best, the second none of the trees good
    for of_empty_root, of_labels in ((5.0, 0.0), (0.0, -20.0)):
        changed = scores.clone()
        changed[0, -1, 0] += of_empty_root
        changed[0, -1, 1:] += of_labels
        nodes = by_node | {(0, n, label): float(changed[0, -1, label]) for label in range(LABELS)}
        wanted = {(i, j): label for i, j, label in gold_nodes(n, gold)}
        augmented = max(
            sum(nodes[node] + (wanted.get(node[:2], 0) != node[2]) for node in tree)
            for tree in labelled_trees(n)
            if (0, n, 0) not in tree
        )
        expected = max(0, augmented - sum(nodes[node] for node in gold_nodes(n, gold)))
        assert (expected == 0) == (root == 0 and of_labels < 0)
        # a batch whose other sentence is longer
        padded = torch.full((2, chart_size(n + 1), LABELS), 3.0, dtype=torch.float64)
        of_gold = torch.zeros(2, chart_size(n + 1), dtype=torch.long)
        at = span_position(n + 1, *packed_spans(n))
        padded[0, at], of_gold[0, at] = changed[0], gold[0]
        trees = LabelledTrees(padded, torch.tensor([n, n + 1]), probabilistic=False, rooted=True)
        loss = make_margin_objective_v2()(trees, of_gold)
        assert float(loss[0]) == pytest.approx(expected)


def test_what_objectives_say_of_scores_and_trees() -> None:
    said = [
        (objective.probabilistic, objective.labels_root)
        for objective in (
            CRFObjective(),
            MarginObjective(),
            make_margin_objective_v2(),
        )
    ]
    assert said == [(True, False), (False, False), (False, True)]


@pytest.mark.parametrize("labels_root", [False, True])
def test_a_tree_whose_root_is_a_constituent(case, labels_root) -> None:  # type: ignore[no-untyped-def]
    n, scores, _, by_node = case
    scores[0, -1, 0] += 4
    by_node[0, n, 0] += 4
    trees = LabelledTrees(scores, torch.tensor([n]), probabilistic=False, rooted=labels_root)
    found = MaximumAPosteriori(share=1.0)(trees)
    assert found.probabilities is None
    assert found.log_prob is None
    best = max(
        (tree for tree in labelled_trees(n) if not (labels_root and (0, n, 0) in tree)),
        key=lambda tree: sum(by_node[node] for node in tree),
    )
    assert gold_nodes(n, found.labels) == constituents(best)
    assert any((start, end) == (0, n) for start, end, _ in constituents(best)) == labels_root


def node_probabilities(n: int, by_node: dict[Node, float]) -> dict[Node, float]:
    weights = {tree: math.exp(sum(by_node[node] for node in tree)) for tree in labelled_trees(n)}
    total = sum(weights.values())
    probability: dict[Node, float] = {}
    for tree, weight in weights.items():
        for node in tree:
            probability[node] = probability.get(node, 0.0) + weight / total
    return probability


def test_mbr_decoder_finds_the_tree_of_highest_expected_gain(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, _, by_node = case
    threshold = 0.3
    probability = node_probabilities(n, by_node)
    trees = LabelledTrees(scores, torch.tensor([n]))
    found = MinimumBayesRisk(threshold)(trees)
    nodes = gold_nodes(n, found.labels)
    gain = sum(probability[node] - threshold for node in nodes)
    assert gain == pytest.approx(
        max(
            sum(probability[node] - threshold for node in constituents(tree))
            for tree in labelled_trees(n)
        )
    )
    assert all(probability[node] > threshold for node in nodes)
    of_all, best = trees.span_labels()
    starts, ends = (t.tolist() for t in packed_spans(n))
    for k, (i, j) in enumerate(zip(starts, ends, strict=True)):
        of_labels = [probability[i, j, label] for label in range(1, LABELS)]
        assert float(of_all[0, k]) == pytest.approx(sum(of_labels))
        assert int(best[0, k]) == 1 + of_labels.index(max(of_labels))
        if (label := int(found.labels[0, k])) > 0:
            assert float(found.probabilities[0, k]) == pytest.approx(of_labels[label - 1])


def test_a_tree_with_heads_takes_constituents_of_several_heads_that_fit_in(case) -> None:  # type: ignore[no-untyped-def]
    n, scores, _, by_node = case
    threshold = 0.15
    probability = node_probabilities(n, by_node)
    more = 0
    for seed in range(8):
        arcs = torch.randn(1, n, n + 1, generator=torch.Generator().manual_seed(seed)).double()
        trees = LabelledTrees(scores, torch.tensor([n]), arcs=arcs)
        of_one, of_several = (
            MinimumBayesRisk(threshold, 10.0, several)(trees) for several in (None, 0.2)
        )
        assert of_one.heads is not None
        assert of_several.heads is not None
        assert torch.equal(of_one.heads, of_several.heads)
        kept, found = (gold_nodes(n, of.labels) for of in (of_one, of_several))
        assert kept <= found
        assert all(probability[node] > 0.2 for node in found - kept)
        more += len(found) - len(kept)
        assert sum(probability[node] - threshold for node in found - kept) == pytest.approx(
            max(
                sum(
                    probability[node] - threshold
                    for node in constituents(tree) - kept
                    if probability[node] > 0.2
                )
                for tree in labelled_trees(n)
                if kept <= constituents(tree)
            )
        )
    assert more or n < 4


def test_labels_far_below_the_best_one_count_for_nothing() -> None:
    """Sums over labels whose shares are too small for float32; a span that no label allows."""
    scores = 60 * torch.randn(2, chart_size(4), 40, generator=torch.Generator().manual_seed(5))
    scores[0, 6] = -torch.inf
    found = LabelledTrees(scores, torch.tensor([4, 4])).nodes.scores
    torch.testing.assert_close(found, torch.logsumexp(scores.double(), -1).float())


def test_threshold_is_a_probability() -> None:
    with pytest.raises(ValueError, match=r"threshold .* got 1\.5"):
        MinimumBayesRisk(1.5)
    with pytest.raises(ValueError, match=r"several_heads .* got 1\.5"):
        MinimumBayesRisk(several_heads=1.5)


@pytest.mark.parametrize("rank", [None, 2])
def test_two_stages_choose_a_tree_then_its_labels(rank: int | None) -> None:
    """MAP: the most probable tree. MBR without a threshold: that of highest expected count."""
    differ = 0
    for seed in range(6):
        scores = random_scores(rank, seed=seed)
        found = {
            name: decoder(two_stages(scores)).labels
            for name, decoder in (("map", MaximumAPosteriori()), ("mbr", MinimumBayesRisk(None)))
        }
        for row, n in enumerate(LENGTHS):
            trees = list(binary_trees(0, n))
            values = [sum(float(scores.spans[row, _at(span)]) for span in tree) for tree in trees]
            weights = torch.tensor(values, dtype=torch.float64).softmax(0).tolist()
            counts: dict[tuple[int, int], float] = {}
            for tree, weight in zip(trees, weights, strict=True):
                for span in tree:
                    counts[span] = counts.get(span, 0.0) + weight
            gains = [sum(counts[span] for span in tree) for tree in trees]
            best = {
                "map": trees[max(range(len(trees)), key=values.__getitem__)],
                "mbr": trees[max(range(len(trees)), key=gains.__getitem__)],
            }
            differ += set(best["map"]) != set(best["mbr"])
            for name, tree in best.items():
                labels = {span: int(label_logits(scores, row, *span).argmax()) for span in tree}
                assert gold_nodes(max(LENGTHS), found[name][row : row + 1]) == {
                    (*span, label) for span, label in labels.items() if label
                }, (seed, name, row)
    assert differ


def _at(span: tuple[int, int]) -> int:
    return int(span_position(max(LENGTHS), *torch.tensor(span).unbind()))


LENGTHS = [3, 1, 4, 5]
# a tree of each of them, some of whose nodes have a label
TREES: list[list[Node]] = [
    [(0, 3, 2), (0, 2, 0), (0, 1, 1), (1, 2, 0), (2, 3, 0)],
    [(0, 1, 1)],
    [(0, 4, 0), (0, 1, 0), (1, 4, 2), (1, 3, 1), (1, 2, 0), (2, 3, 2), (3, 4, 0)],
    [
        *[(0, 5, 1), (0, 2, 0), (0, 1, 0), (1, 2, 1), (2, 5, 2), (2, 4, 0)],
        *[(2, 3, 0), (3, 4, 0), (4, 5, 1)],
    ],
]


def as_gold(trees: list[list[Node]]) -> Tensor:
    """Charts of labels, of trees that are left binarisations."""
    gold = torch.zeros(len(trees), chart_size(max(LENGTHS)), dtype=torch.long)
    for row, tree in enumerate(trees):
        for start, end, label in tree:
            gold[row, _at((start, end))] = label
    return gold


class TwoStageScores(NamedTuple):
    spans: Tensor
    left: Tensor
    right: Tensor
    weight: Tensor


def two_stages(scores: TwoStageScores) -> TwoStageTrees:
    factors = LabelFactors(*scores[1:])
    return TwoStageTrees(scores.spans, partial(label_scores, factors), torch.tensor(LENGTHS))


def random_scores(
    rank: int | None, dtype: torch.dtype = torch.float64, seed: int = 0
) -> TwoStageScores:
    """Scores of a padded batch, with full matrices of labels or factorised ones."""
    n, generator = max(LENGTHS), torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(dtype)

    return TwoStageScores(
        spans=2 * normal(len(LENGTHS), chart_size(n)),
        left=normal(len(LENGTHS), n + 1, rank or 2),
        right=normal(len(LENGTHS), n + 1, rank or 3),
        weight=normal(LABELS, 3, 4) if rank is None else normal(LABELS, rank + 1),
    )


def label_logits(scores: TwoStageScores, row: int, start: int, end: int) -> Tensor:
    """The scores of one node's labels, from the definition of the product."""
    x, y = scores.left[row, start], scores.right[row, end]
    if scores.weight.dim() == 2:
        return scores.weight[:, :-1] @ (x * y) + scores.weight[:, -1]
    one = x.new_ones(1)
    return torch.stack([torch.cat([x, one]) @ w @ torch.cat([y, one]) for w in scores.weight])


def losses_by_enumeration(scores: TwoStageScores) -> tuple[list[float], list[list[float]]]:
    """-log p of every tree, and the cross-entropy of every one of its nodes."""
    surprises, entropies = [], []
    for row, (n, tree) in enumerate(zip(LENGTHS, TREES, strict=True)):
        chart = scores.spans[row]

        def score(spans: list[tuple[int, int]], chart: Tensor = chart) -> Tensor:
            starts, ends = torch.tensor(spans).T
            return chart[span_position(max(LENGTHS), starts, ends)].sum()

        of_all = torch.stack([score(spans) for spans in binary_trees(0, n)])
        gold = score([node[:2] for node in tree])
        surprises.append(float(of_all.logsumexp(0) - gold))
        entropies.append(
            [
                -float(label_logits(scores, row, start, end).log_softmax(0)[label])
                for start, end, label in tree
            ]
        )
    return surprises, entropies


@pytest.mark.parametrize("rank", [None, 2])
def test_two_stage_loss_by_enumeration(rank: int | None) -> None:
    scores = random_scores(rank)
    surprises, entropies = losses_by_enumeration(scores)
    losses = two_stages(scores).cross_entropy(as_gold(TREES))
    # so much for a node that the mean over nodes appears among means over words
    for_a_node = sum(LENGTHS) / sum(len(tree) for tree in TREES)
    expected = [
        surprise + for_a_node * sum(of_nodes)
        for surprise, of_nodes in zip(surprises, entropies, strict=True)
    ]
    assert losses.tolist() == pytest.approx(expected, rel=1e-12)
    log_probs = [-a - sum(b) for a, b in zip(surprises, entropies, strict=True)]
    assert two_stages(scores).log_prob(as_gold(TREES)).tolist() == pytest.approx(log_probs)
    all_nodes = [entropy for of_nodes in entropies for entropy in of_nodes]
    assert float(losses.sum()) / sum(LENGTHS) == pytest.approx(
        sum(surprises) / sum(LENGTHS) + sum(all_nodes) / len(all_nodes), rel=1e-12
    )


def test_two_stage_loss_in_single_precision() -> None:
    gold = as_gold(TREES)
    losses = two_stages(random_scores(None, torch.float32)).cross_entropy(gold)
    assert losses.dtype == torch.float32
    expected = two_stages(random_scores(None)).cross_entropy(gold)
    torch.testing.assert_close(losses.double(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rank", [None, 2])
def test_gradients_of_the_two_stage_loss(rank: int | None) -> None:
    gold = as_gold(TREES)
    inputs = tuple(values.requires_grad_() for values in random_scores(rank))

    def losses(*values: Tensor) -> Tensor:
        return two_stages(TwoStageScores(*values)).cross_entropy(gold)

    assert gradcheck(losses, inputs)


def test_gold_by_hand() -> None:
    index = {"S": 1, "NP": 2, "VP": 3, "NP::QP": 4}
    trees = [
        # a flat NP of three words, a chain over the last word
        [(0, 5, "S"), (0, 3, "NP"), (3, 5, "VP"), (4, 5, "NP"), (4, 5, "QP")],
        [],
        # two trees side by side, the second of a label that is not known
        [(0, 1, "NP"), (1, 3, "X")],
        # four children
        [(0, 4, "S"), (2, 3, "NP")],
        [(0, 6, "S"), (1, 5, "VP"), (2, 3, "NP")],
    ]
    labels = gold_labels(trees, 6, index)
    assert gold_nodes(6, labels[:1]) == {(0, 5, 1), (0, 3, 2), (3, 5, 3), (4, 5, 4)}
    assert gold_nodes(6, labels[2:3]) == {(0, 1, 2)}
    new = [{(0, 2)}, set(), {(0, 2)}, {(0, 3), (0, 2)}, {(0, 5), (1, 3), (1, 4)}]
    starts, ends = packed_spans(6)
    nodes = left_binarisation(labels, torch.tensor([5, 1, 3, 4, 6]))
    for row, (tree, n) in enumerate(zip(trees, [5, 1, 3, 4, 6], strict=True)):
        spans = {(i, j) for i, j, label in tree if label != "X"} | {(0, n)}
        spans |= {(k, k + 1) for k in range(n)}
        found = nodes[row]
        assert {*zip(starts[found].tolist(), ends[found].tolist(), strict=True)} == spans | new[row]
