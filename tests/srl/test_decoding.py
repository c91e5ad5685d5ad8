"""From scores to frames: against enumeration, and by hand."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from spacy_lal.batching.batches import ParserScores
from spacy_lal.batching.sentences import Sentence
from spacy_lal.srl.frame_decoding import (
    Given,
    LisaParse,
    RoleDecoder,
    decode_frames,
    with_one_predicate,
)
from spacy_lal.srl.network import LisaBatch, LisaScores, from_self_loops, to_self_loops
from spacy_lal.structure.arborescence import nonprojective
from spacy_lal.structure.sequence import bio_to_spans
from spacy_lal.trees.tree import LabelledSpan

from ..bio import spans_to_bio

LABELS = ["O", "B-A", "I-A", "B-V", "I-V", "B-C-V"]

# One predicate a frame


@pytest.mark.parametrize(
    ("spans", "predicate", "expected"),
    [
        # as it should be
        ([(0, 1, "A"), (1, 3, "V"), (4, 5, "C-V")], 2, None),
        # the predicate in the second part of a verb
        ([(0, 1, "V"), (1, 2, "A"), (2, 3, "C-V")], 2, None),
        # two verbs: the one at the predicate
        ([(0, 1, "V"), (2, 3, "V")], 2, [(0, 1, "C-V"), (2, 3, "V")]),
        ([(0, 1, "V"), (2, 3, "V")], 0, [(0, 1, "V"), (2, 3, "C-V")]),
        # two before the second part: the last
        (
            [(0, 1, "V"), (1, 2, "V"), (3, 4, "C-V"), (4, 5, "V")],
            3,
            [(0, 1, "C-V"), (1, 2, "V"), (3, 4, "C-V"), (4, 5, "C-V")],
        ),
        # none before the second part: that
        ([(1, 3, "C-V"), (3, 4, "A")], 2, [(1, 3, "V"), (3, 4, "A")]),
        ([(1, 3, "C-V"), (3, 4, "V")], 2, [(1, 3, "V"), (3, 4, "C-V")]),
        # nothing at the predicate
        ([], 1, [(1, 2, "V")]),
        ([(0, 1, "A"), (2, 3, "V"), (3, 4, "B")], 1, [(0, 1, "A"), (1, 2, "V"), (3, 4, "B")]),
        # something else there
        ([(0, 3, "A"), (3, 4, "B")], 1, [(1, 2, "V"), (3, 4, "B")]),
    ],
)
def test_one_predicate_by_hand(
    spans: list[LabelledSpan], predicate: int, expected: list[LabelledSpan] | None
) -> None:
    assert with_one_predicate(spans, predicate) == (spans if expected is None else expected)


@settings(max_examples=100, deadline=None)
@given(
    labels=st.lists(st.sampled_from(["O", "B-A", "I-A", "B-V", "I-V", "B-C-V", "B-B"]), min_size=1),
    where=st.integers(0, 1000),
)
def test_one_predicate_whatever_the_labels(labels: list[str], where: int) -> None:
    predicate = where % len(labels)
    before = bio_to_spans(labels)
    found = with_one_predicate(before, predicate)
    assert [label for _, _, label in found].count("V") == 1
    ends = [0, *(end for _, end, _ in found)]
    assert all(end <= start < stop for end, (start, stop, _) in zip(ends, found, strict=False))
    assert any(start <= predicate < end and label in ("V", "C-V") for start, end, label in found)
    arguments = [
        span
        for span in before
        if span[2] not in ("V", "C-V") and not span[0] <= predicate < span[1]
    ]
    assert [span for span in found if span[2] not in ("V", "C-V")] == arguments


# The best sequence


def total(
    scores: Tensor, sequence: Sequence[int], transitions: Tensor | None, start: Tensor | None
) -> float:
    of_words = sum(float(scores[i, k]) for i, k in enumerate(sequence))
    if transitions is None or start is None:
        return of_words
    return (
        of_words
        + float(start[sequence[0]])
        + sum(float(transitions[i, j]) for i, j in pairwise(sequence))
    )


def brute_force(
    scores: Tensor, predicate: int, transitions: Tensor | None, start: Tensor | None
) -> float:
    """The score of the best valid sequence in which the predicate is part of V or C-V."""
    best = -float("inf")
    for sequence in product(range(len(LABELS)), repeat=len(scores)):
        names = [LABELS[k] for k in sequence]
        if spans_to_bio(bio_to_spans(names), len(names)) != names:
            continue
        if not names[predicate].endswith("-V"):
            continue
        best = max(best, total(scores, sequence, transitions, start))
    return best


@pytest.mark.parametrize("with_transitions", [False, True])
def test_roles_are_the_best_that_are_valid(with_transitions: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    transitions = start = None
    decoder = RoleDecoder(LABELS)
    if with_transitions:
        transitions, start = (
            torch.log_softmax(2 * torch.randn(shape, generator=generator), -1)
            for shape in ((6, 6), (6,))
        )
        decoder = RoleDecoder(LABELS, transitions, start)
    scores = 3 * torch.randn(12, 4, 6, generator=generator)
    lengths = torch.tensor([1, 2, 3, 4] * 3)
    predicates = torch.tensor([0, 1, 0, 3, 0, 0, 1, 2, 0, 1, 2, 1])
    before = scores.clone()
    found = decoder(scores, predicates, lengths)
    assert torch.equal(scores, before)
    for k, (n, predicate) in enumerate(zip(lengths.tolist(), predicates.tolist(), strict=True)):
        sequence = found[k, :n].tolist()
        names = [LABELS[label] for label in sequence]
        assert spans_to_bio(bio_to_spans(names), n) == names
        assert names[predicate].endswith("-V")
        expected = brute_force(scores[k, :n], predicate, transitions, start)
        reached = total(scores[k], sequence, transitions, start)
        assert reached == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("unique", [False, True])
def test_arguments_that_are_no_constituents_lose(unique: bool) -> None:
    """Against all valid sequences, where an argument of that kind costs 3, and V nothing."""
    generator = torch.Generator().manual_seed(0)
    labels = ["O", "B-ARG0", "I-ARG0", "B-ARG1", "B-V", "I-V", "B-C-V"]
    decoder = RoleDecoder(labels, unique=unique, nonconstituent_penalty=3.0)
    scores = torch.randn(30, 4, 7, generator=generator)
    scores[..., 1:3] += 1  # so that there are arguments of several words
    lengths = torch.tensor([1, 2, 3, 4, 4, 4] * 5)
    predicates = torch.tensor([0, 1, 0, 3, 0, 1] * 5)
    whole = torch.rand(30, 4, 4, generator=generator) < 0.4
    whole |= torch.eye(4, dtype=torch.bool)

    def value(k: int, names: list[str]) -> float:
        spans = bio_to_spans(names)
        lost = sum(
            label in ("ARG0", "ARG1") and not whole[k, start, end - 1]
            for start, end, label in spans
        )
        return sum(float(scores[k, i, labels.index(x)]) for i, x in enumerate(names)) - 3 * lost

    def allowed(names: list[str], predicate: int) -> bool:
        once = not unique or max(names.count("B-ARG0"), names.count("B-ARG1")) < 2
        valid = spans_to_bio(bio_to_spans(names), len(names)) == names
        return once and valid and names[predicate].endswith("-V")

    found = decoder(scores, predicates, lengths, whole)
    changed = found != decoder(scores, predicates, lengths)
    assert changed.any(1).sum() > 2
    for k, (n, predicate) in enumerate(zip(lengths.tolist(), predicates.tolist(), strict=True)):
        names = [labels[label] for label in found[k, :n].tolist()]
        assert allowed(names, predicate)
        best = max(
            value(k, list(other))
            for other in product(labels, repeat=n)
            if allowed(list(other), predicate)
        )
        assert value(k, names) == pytest.approx(best, abs=1e-4)


def test_greedy_roles_are_the_best_of_each_word() -> None:
    scores = torch.randn(3, 4, 6, generator=torch.Generator().manual_seed(0))
    found = RoleDecoder(LABELS, greedy=True)(scores, torch.zeros(3).long(), torch.full((3,), 4))
    assert torch.equal(found, scores.argmax(-1))


def test_roles_without_v() -> None:
    """Labels that know no V, from data without: any word may have any role."""
    decoder = RoleDecoder(["O", "B-A", "I-A"])
    scores = torch.tensor([[[0.0, 1.0, 5.0], [0.0, 1.0, 5.0]]])
    assert decoder(scores, torch.tensor([1]), torch.tensor([2])).tolist() == [[1, 2]]


# Everything

JOINT = ["NN/False", "NN/True", "VB/False", "VB/True", "XX/True"]
TAGS = ["XX", "VB", "NN"]


def joint_scores(*probabilities: list[float]) -> Tensor:
    return torch.tensor(probabilities).log()


@pytest.fixture
def scores() -> ParserScores[LisaScores]:
    """Two sentences, of two and of three words; what is padding would be a predicate."""
    joint = torch.stack(
        [
            # of the second word VB/True is the best label, and NN the best tag
            joint_scores([0.5, 0.1, 0.2, 0.2, 0], [0.15, 0.3, 0, 0.35, 0.2], [0, 1, 0, 0, 0]),
            # VB/False is the best label of the second
            joint_scores([0.3, 0.25, 0.05, 0.4, 0], [0.3, 0.3, 0.4, 0, 0], [0, 0.4, 0, 0.6, 0]),
        ]
    )
    # the roles of word t for the predicate p are table[:, p, t]
    table = torch.randn(6, 4, 4, generator=torch.Generator().manual_seed(1))
    words = torch.eye(3).expand(2, 3, 3)
    arcs = torch.tensor(
        [
            [[0.0, 3.0, 9.0], [0.0, 2.0, 9.0], [0.0, 0.0, 0.0]],
            # each word would have the next, and the last its own head: a chain
            [[1.0, 5.0, 0.0], [0.0, 1.0, 5.0], [0.0, 0.0, 1.0]],
        ]
    )
    # relation 0 is best everywhere, then 2 for every word but the second, which has 1
    relations = torch.zeros(3, 4, 4)
    relations[:, 3, 3] = torch.tensor([2.0, 0.0, 1.0])
    relations[:, 1, 3] = torch.tensor([0.0, 1.5, 0.0])
    batch = LisaBatch(
        [1, 0],
        torch.tensor([2, 3]),
        LisaScores(joint, words, words, table, None, arcs, words, words, relations),
    )
    sentences = [Sentence(0, 0, 3, numpy.arange(3)), Sentence(1, 0, 2, numpy.arange(2))]
    return ParserScores(sentences, [batch])


def role_table(scores: ParserScores[LisaScores], predicate: int) -> Tensor:
    """Scores [3, L] of all words' roles, from what the fixture says."""
    (batch,) = scores.batches
    table = batch.scores.role_weight
    return (
        table[:, predicate, :3] + table[:, 3, :3] + table[:, [predicate], 3] + table[:, [3], 3]
    ).T


def test_tags_and_predicates_are_marginal(scores: ParserScores[LisaScores]) -> None:
    parses = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS))
    assert sorted(parses) == [0, 1]
    assert all(isinstance(parse, LisaParse) for parse in parses.values())
    assert [TAGS[k] for k in parses[1].tags] == ["NN", "NN"]
    assert [TAGS[k] for k in parses[0].tags] == ["NN", "NN", "VB"]
    assert [frame.predicate for frame in parses[1].frames] == [1]
    assert [frame.predicate for frame in parses[0].frames] == [0, 2]
    assert parses[0].heads is None
    assert parses[0].relations is None


def test_spans_have_the_probability_of_their_words(scores: ParserScores[LisaScores]) -> None:
    decoder = RoleDecoder(LABELS)
    parses = decode_frames(scores, JOINT, TAGS, decoder)
    certainty = {(1, 1): 0.85, (0, 0): 0.65, (0, 2): 1.0}
    for (member, predicate), sure in certainty.items():
        (frame,) = [each for each in parses[member].frames if each.predicate == predicate]
        n = 2 if member else 3
        table = role_table(scores, predicate)
        labels = decoder(table[None], torch.tensor([predicate]), torch.tensor([n]))[0].tolist()
        spans = with_one_predicate(bio_to_spans([LABELS[k] for k in labels[:n]]), predicate)
        assert frame.spans == spans
        probabilities = torch.softmax(table, -1)
        for (start, end, label), score in zip(spans, frame.scores, strict=True):
            of_words = [float(probabilities[i, labels[i]]) for i in range(start, end)]
            expected = sure if label == "V" else numpy.prod(of_words) ** (1 / len(of_words))
            assert score == pytest.approx(expected, abs=1e-5)


def test_predicates_can_be_given(scores: ParserScores[LisaScores]) -> None:
    given = [Given([1]), Given()]
    parses = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS), given)
    assert [frame.predicate for frame in parses[0].frames] == [1]
    assert [frame.predicate for frame in parses[1].frames] == [1]
    (frame,) = parses[0].frames
    assert [s for s, span in zip(frame.scores, frame.spans, strict=True) if span[2] == "V"] == [1.0]
    parses = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS), [Given([])] * 2)
    assert all(not parse.frames for parse in parses.values())
    assert [TAGS[k] for k in parses[0].tags] == ["NN", "NN", "VB"]


def test_heads_and_relations(scores: ParserScores[LisaScores]) -> None:
    parses = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS), heads=nonprojective, root=0)
    # 3 + 2, as the word that is not there is nobody's head
    assert parses[1].heads.tolist() == [2, 0]
    assert parses[0].heads.tolist() == [2, 3, 0]
    # relation 0 is the root's alone
    assert parses[1].relations.tolist() == [2, 0]
    assert parses[0].relations.tolist() == [2, 1, 0]
    free = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS), heads=nonprojective)
    assert free[0].relations.tolist() == [0, 0, 0]


def test_heads_of_another_parser_count(scores: ParserScores[LisaScores]) -> None:
    """Of two words, a tree of 3 + 2 against 0 + 0 and twice what earlier heads count."""

    def found(weight: float, *known: list[int]) -> list[list[int]]:
        given = [Given(), Given(None, *known)]
        decoding = {"heads": nonprojective, "heads_weight": weight, "root": 0}
        of = decode_frames(scores, JOINT, TAGS, RoleDecoder(LABELS), given, **decoding)
        assert of[0].heads.tolist() == [2, 3, 0]
        return [of[1].heads.tolist(), of[1].relations.tolist()]

    assert found(9.0) == [[2, 0], [2, 0]]
    assert found(2.4, [0, 1], [-1, -1]) == [[2, 0], [2, 0]]
    assert found(2.6, [0, 1], [-1, -1])[0] == [0, 1]
    # one head alone must outweigh 5
    assert found(4.9, [-1, 1], [-1, -1])[0] == [2, 0]
    assert found(5.1, [-1, 1], [-1, -1])[0] == [0, 1]
    # the first word's relation 1 is behind 2 by 1, and counts only under the head that it had
    assert found(0.9, [2, 0], [1, 0]) == [[2, 0], [2, 0]]
    assert found(1.1, [2, 0], [1, 0]) == [[2, 0], [1, 0]]
    assert found(1.1, [-1, 0], [1, 0]) == [[2, 0], [2, 0]]


def test_decoding_without_tags(scores: ParserScores[LisaScores]) -> None:
    (batch,) = scores.batches
    batch.scores = batch.scores._replace(joint=batch.scores.joint[..., 1:3])
    parses = decode_frames(scores, ["/False", "/True"], [], RoleDecoder(LABELS))
    assert [len(parses[k].tags) for k in (0, 1)] == [3, 2]
    assert [frame.predicate for frame in parses[0].frames] == [1]


def test_self_loops_become_arcs_of_the_root() -> None:
    arcs = torch.randn(2, 3, 3, generator=torch.Generator().manual_seed(0))
    found = from_self_loops(arcs)
    assert found.shape == (2, 3, 4)
    for row, dependent, head in product(range(2), range(3), range(4)):
        expected = float(arcs[row, dependent, head - 1 if head else dependent])
        if head == dependent + 1:
            expected = -float("inf")
        assert float(found[row, dependent, head]) == expected


def test_heads_become_self_loops() -> None:
    heads = torch.tensor([[2, 0, -1], [0, 3, 1]])
    assert to_self_loops(heads).tolist() == [[1, 1, -1], [0, 2, 0]]
