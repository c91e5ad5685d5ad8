"""LISA's losses against the probabilities they are made of, one word after another."""

from __future__ import annotations

import math
from itertools import product

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from spacy_lal.srl.gold_frames import (
    GoldFrames,
    allowed_joint_labels,
    joint_label,
    joint_loss,
    parse_loss,
    role_loss,
    split_joint_label,
)
from spacy_lal.srl.network import LisaScores

JOINT = ["NN/False", "NN/True", "VB/True", "VB/False", "a/b/False"]
TAGS = ["NN", "JJ", "VB", "a/b"]
LENGTHS = torch.tensor([4, 2])


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def random(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def scores(n_relations: int = 3) -> LisaScores:
    return LisaScores(
        joint=random(2, 4, len(JOINT)),
        predicate=random(2, 4, 3),
        role=random(2, 4, 2),
        role_weight=random(5, 4, 3),
        arcs=random(2, 4, 4),
        dependent=random(2, 4, 3),
        head=random(2, 4, 2),
        relation_weight=random(n_relations, 4, 3),
    )


def log_softmax(values: Tensor) -> list[float]:
    total = math.log(sum(math.exp(value) for value in values.tolist()))
    return [value - total for value in values.tolist()]


# Tags and predicates


def test_joint_labels_come_apart_again() -> None:
    for tag, is_predicate in product([*TAGS, "", "/"], (False, True)):
        assert split_joint_label(joint_label(tag, is_predicate)) == (tag, is_predicate)


def agrees(label: str, tag: int, predicate: int) -> bool:
    name, is_predicate = split_joint_label(label)
    return (tag < 0 or name == TAGS[tag]) and (predicate < 0 or is_predicate == bool(predicate))


def test_labels_that_agree_with_what_is_known() -> None:
    allowed = allowed_joint_labels(JOINT, TAGS)
    assert allowed.shape == (5, 3, 5)
    for tag, predicate in product(range(-1, 4), range(-1, 2)):
        expected = [agrees(label, tag, predicate) for label in JOINT]
        assert allowed[tag, predicate].tolist() == expected


def test_labels_without_tags() -> None:
    allowed = allowed_joint_labels(["/False", "/True"], [])
    assert allowed.tolist() == [[[True, False], [False, True], [True, True]]]


def test_joint_loss_sums_the_probabilities_that_agree() -> None:
    allowed = allowed_joint_labels(JOINT, TAGS)
    known = list(product(range(-1, 4), range(-1, 2)))
    joint = random(1, len(known), len(JOINT)).requires_grad_()
    loss = joint_loss(
        joint, torch.stack([allowed[tag, predicate] for tag, predicate in known])[None]
    )
    expected = 0.0
    counted = []
    for row, (tag, predicate) in zip(joint[0].detach(), known, strict=True):
        log_probs = log_softmax(row)
        right = [
            math.exp(log_prob)
            for log_prob, label in zip(log_probs, JOINT, strict=True)
            if agrees(label, tag, predicate)
        ]
        # nothing known (all agree), or a pair that was never seen (none does)
        counted.append(0 < len(right) < len(JOINT))
        if counted[-1]:
            expected -= math.log(sum(right))
    assert loss.item() == pytest.approx(expected, abs=1e-12)
    loss.backward()
    assert joint.grad is not None
    assert joint.grad.isfinite().all()
    assert [bool(row.any()) for row in joint.grad[0]] == counted
    assert sum(counted) == 15 - 1 - 3 - 1  # JJ three times, "a/b" as a predicate


def test_joint_loss_with_both_known_is_cross_entropy() -> None:
    joint, gold = random(2, 4, 5), torch.randint(5, (2, 4))
    loss = joint_loss(joint, F.one_hot(gold, 5).bool())
    expected = -sum(log_softmax(joint[b, i])[gold[b, i]] for b in range(2) for i in range(4))
    assert loss.item() == pytest.approx(expected, abs=1e-12)


def test_joint_loss_of_nothing_is_zero() -> None:
    joint = random(1, 3, 2).requires_grad_()
    loss = joint_loss(joint, torch.ones(1, 3, 2, dtype=torch.bool))
    assert loss.item() == 0.0
    loss.backward()


# Heads and relations


def test_parse_loss_word_by_word() -> None:
    given = scores()
    heads = torch.tensor([[1, 1, -1, 0], [0, 0, -1, -1]])
    labels = torch.tensor([[2, -1, 1, 0], [1, 2, -1, -1]])
    of_arcs, of_relations = parse_loss(given, heads, labels, LENGTHS)
    expected_arcs = expected_relations = 0.0
    for row, n in enumerate(LENGTHS.tolist()):
        for i in range(n):
            head, label = int(heads[row, i]), int(labels[row, i])
            if head < 0:
                continue
            expected_arcs -= log_softmax(given.arcs[row, i, :n])[head]
            if label < 0:
                continue
            dependent = F.pad(given.dependent[row, i], (0, 1), value=1.0)
            governor = F.pad(given.head[row, head], (0, 1), value=1.0)
            of_pair = torch.stack([dependent @ w @ governor for w in given.relation_weight])
            expected_relations -= log_softmax(of_pair)[label]
    assert of_arcs.item() == pytest.approx(expected_arcs, abs=1e-12)
    assert of_relations.item() == pytest.approx(expected_relations, abs=1e-12)


def test_parse_loss_without_gold_is_zero() -> None:
    given = scores()
    leaves = LisaScores._make(None if s is None else s.requires_grad_() for s in given)
    nothing = torch.full((2, 4), -1)
    of_arcs, of_relations = parse_loss(leaves, nothing, nothing, LENGTHS)
    assert of_arcs.item() == of_relations.item() == 0.0
    (of_arcs + of_relations).backward()
    assert not any(leaf.grad.any() for leaf in leaves if leaf is not None and leaf.grad is not None)


# Roles


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_role_loss_word_by_word(smoothing: float) -> None:
    given = scores()
    sentences, predicates = torch.tensor([1, 0, 0]), torch.tensor([0, 3, 1])
    roles = torch.tensor([[4, 2, -1, -1], [0, 1, -1, 3], [0, 0, 4, 0]])
    loss = role_loss(given, GoldFrames(sentences, predicates, roles), smoothing)
    expected = 0.0
    for k, (sentence, predicate) in enumerate(zip(sentences, predicates, strict=True)):
        of_predicate = F.pad(given.predicate[sentence, predicate], (0, 1), value=1.0)
        for i in range(4):
            label = int(roles[k, i])
            if label < 0:
                continue
            word = F.pad(given.role[sentence, i], (0, 1), value=1.0)
            of_labels = torch.stack([of_predicate @ w @ word for w in given.role_weight])
            log_probs = log_softmax(of_labels)
            # the gold distribution is mixed with the uniform one
            expected -= (1 - smoothing) * log_probs[label] + smoothing / 5 * sum(log_probs)
    assert loss.item() == pytest.approx(expected, abs=1e-12)


def test_role_loss_without_predicates_is_zero() -> None:
    none = torch.zeros(0, dtype=torch.long)
    assert role_loss(scores(), GoldFrames(none, none, none.view(0, 4)), 0.1).item() == 0.0
