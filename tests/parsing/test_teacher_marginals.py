"""A teacher's marginals as targets: against the cross-entropy of two distributions over all trees,
the chain from teacher to student, and partial names."""

from __future__ import annotations

import itertools

import numpy
import pytest
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.batching.sentences import Sentence
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.parsing.teacher_marginals import (
    TEACHER_KEY,
    Targets,
    batch_targets,
    get_targets,
    set_targets,
    soft_tree_loss,
    soft_word_loss,
)
from spacy_lal.silver.certainty import with_certainty
from spacy_lal.structure.chart import chart_size, packed_spans
from spacy_lal.structure.distributions import LabelledTrees
from tests.all_trees import binary_trees
from tests.pipeline.toy import headed_examples, joint_pipeline, train_on
from tests.silver.teacher import toy_teacher

LABELS = 3
NAMES = {"tags": ["DT", "NN"], "labels": ["NP", "VP"], "relations": ["det", "ROOT"]}


def all_scores(chart: torch.Tensor, n: int) -> torch.Tensor:
    """The score of every labelled binary tree; the order depends only on n."""
    starts, ends = (t.tolist() for t in packed_spans(n))
    at = {span: k for k, span in enumerate(zip(starts, ends, strict=True))}
    return torch.stack(
        [
            torch.stack([chart[at[s], label] for s, label in zip(tree, labels, strict=True)]).sum()
            for tree in binary_trees(0, n)
            for labels in itertools.product(range(LABELS), repeat=len(tree))
        ]
    )


def exact_targets(chart: torch.Tensor, n: int) -> Targets:
    """The marginals of labelled spans, summed over all trees."""
    p = torch.softmax(all_scores(chart, n), 0).tolist()
    starts, ends = (t.tolist() for t in packed_spans(n))
    totals = dict.fromkeys(itertools.product(zip(starts, ends, strict=True), range(LABELS)), 0.0)
    nodes = (
        zip(tree, labels, strict=True)
        for tree in binary_trees(0, n)
        for labels in itertools.product(range(LABELS), repeat=len(tree))
    )
    for weight, of_tree in zip(p, nodes, strict=True):
        for node in of_tree:
            totals[node] += weight
    places = numpy.array([(*span, label) for span, label in totals])
    empty = {kind: numpy.zeros((0, 2), dtype=int) for kind in ("tags", "heads", "relations")}
    none = {kind: numpy.zeros(0, dtype="f") for kind in empty}
    values = numpy.array(list(totals.values()), dtype="f")
    return Targets(empty | {"labels": places}, none | {"labels": values}, ["", "NP", "VP"])


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_cross_entropy_over_all_trees(n: int) -> None:
    """Beside a sentence without targets, in a longer batch."""
    torch.manual_seed(n)
    teacher, student = torch.randn(2, chart_size(n), LABELS, dtype=torch.float64)
    p = torch.softmax(all_scores(teacher, n), 0)
    student.requires_grad_()
    expected = -(p * torch.log_softmax(all_scores(student, n), 0)).sum()
    (gradient,) = torch.autograd.grad(expected, student)

    longer = n + 2
    _, ends = packed_spans(longer)
    chart = torch.zeros(1, chart_size(longer), LABELS, dtype=torch.float64)
    chart[0, ends <= n] = student.detach()
    chart.requires_grad_()
    words = [Sentence(d, 0, m, numpy.arange(m)) for d, m in enumerate((longer, n))]
    scores = OneStageScores(torch.zeros(2, longer, 2), chart.expand(2, -1, -1))
    taught = batch_targets(words, [None, exact_targets(teacher, n)], scores, NAMES)
    assert taught is not None
    assert (taught.rows.tolist(), taught.others.tolist()) == ([1], [0])
    loss = soft_tree_loss(LabelledTrees(chart, torch.tensor([n])), taught)
    assert loss.item() == pytest.approx(expected.item(), abs=1e-6)
    (found,) = torch.autograd.grad(loss, chart)
    torch.testing.assert_close(found[0, ends <= n], gradient, atol=1e-6, rtol=0)
    assert not found[0, ends > n].any()


def test_soft_word_loss_by_hand() -> None:
    """Heads of padding have no score and no target."""
    scores = torch.tensor([[[0.0, 0.0, -torch.inf]]], requires_grad=True)
    loss = soft_word_loss(scores, torch.tensor([[[0.75, 0.25, 0.0]]]))
    assert loss.item() == pytest.approx(numpy.log(2))
    loss.backward()
    assert scores.grad is not None
    assert scores.grad.flatten().tolist() == pytest.approx([-0.25, 0.25, 0.0])


def test_names_that_the_student_lacks_have_no_target() -> None:
    places = {
        "tags": numpy.array([[0, 0], [0, 1]]),
        "labels": numpy.array([[0, 1, 2], [0, 1, 3]]),
        "heads": numpy.array([[0, 0]]),
        "relations": numpy.array([[0, 4]]),
    }
    p = {kind: numpy.linspace(0.5, 0.25, len(at), dtype="f") for kind, at in places.items()}
    targets = Targets(places, p, ["NN", "XX", "VP", "QP", "ROOT"])
    scores = OneStageScores(torch.zeros(1, 1, 2))
    taught = batch_targets([Sentence(0, 0, 1, numpy.arange(1))], [targets], scores, NAMES)
    assert taught is not None
    assert taught.tags.tolist() == [[[0.0, 0.5]]]
    assert taught.heads.tolist() == [[[0.5, 0.0]]]
    assert taught.relations.tolist() == [[[0.0, 0.5]]]
    assert [column.tolist() for column in taught.labels] == [[0], [0], [2], [0.5]]


@pytest.fixture(scope="module")
def taught_docs() -> list[Doc]:
    teacher: Language = toy_teacher(30)
    docs = [teacher.make_doc("The cat sat on the mat."), teacher.make_doc("Cats and dogs fight.")]
    return [doc for doc, _ in with_certainty(teacher, docs, marginals=True)]


def test_targets_are_the_marginals_and_the_final_annotation(taught_docs: list[Doc]) -> None:
    for doc in taught_docs:
        targets = get_targets(doc)
        assert targets is not None
        for kind in ("tags", "heads", "relations"):
            word = targets.places[kind][:, 0]
            sums = numpy.bincount(word, targets.probabilities[kind])
            assert sums == pytest.approx(numpy.ones(len(doc)), abs=0.2)
        likely = {tuple(at): p for at, p in zip(*_of(targets, "tags"), strict=True)}
        assert all(likely[token.i, targets.names.index(token.tag_)] > 0.5 for token in doc)
        heads = {tuple(at): p for at, p in zip(*_of(targets, "heads"), strict=True)}
        assert all(heads[t.i, 0 if t.head == t else t.head.i + 1] > 0.5 for t in doc)
        # a binary tree has 2n - 1 spans
        assert targets.probabilities["labels"].sum() == pytest.approx(2 * len(doc) - 1, rel=0.2)


def _of(targets: Targets, kind: str) -> tuple[list[list[int]], list[float]]:
    return targets.places[kind].tolist(), targets.probabilities[kind].tolist()


def test_targets_survive_storage(taught_docs: list[Doc]) -> None:
    (doc, *_) = taught_docs
    stored = next(iter(DocBin(docs=[doc]).get_docs(doc.vocab)))
    first, second = get_targets(doc), get_targets(stored)
    assert first is not None
    assert second is not None
    assert first.names == second.names
    for kind, places in first.places.items():
        assert (places == second.places[kind]).all()
        assert (first.probabilities[kind] == second.probabilities[kind]).all()


def test_a_student_learns_them_and_nothing_else(taught_docs: list[Doc]) -> None:
    """Layers of a Doc with targets don't count, even if they are wrong."""
    student = joint_pipeline()
    train_on(student, headed_examples(student), 0)
    pipe = student.get_pipe("lal_constituency")
    losses = []
    for wrong in (False, True):
        examples = []
        for doc in taught_docs:
            reference = Doc(student.vocab, words=[token.text for token in doc])
            targets = get_targets(doc)
            assert targets is not None
            set_targets(reference, targets)
            if wrong:
                for token in reference:
                    token.tag_, token.dep_, token.head = "NN", "det", reference[0]
                reference.spans["constituents"] = []
            predicted = Doc(student.vocab, words=[token.text for token in doc])
            examples.append(Example(predicted, reference))
        scores = pipe.model.predict([example.predicted for example in examples])
        losses.append(pipe.get_loss(examples, scores)[0])
    assert losses[0] == pytest.approx(losses[1])
    assert losses[0] > 0
    optimizer = student.resume_training()
    for _ in range(40):
        found: dict[str, float] = {}
        pipe.update(examples, sgd=optimizer, losses=found)
    assert found["lal_constituency"] < losses[0] / 2
    assert all(TEACHER_KEY not in doc.spans for doc in student.pipe(["The cat sat on the mat."]))
