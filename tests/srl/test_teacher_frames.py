"""A teacher's frames as targets: against the losses of annotations that they are made of, and what
a teacher writes."""

from __future__ import annotations

from dataclasses import replace

import numpy
import pytest
import torch
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.frames import get_frames
from spacy_lal.batching.sentences import Sentence
from spacy_lal.parsing.teacher_marginals import Targets, get_targets, set_targets
from spacy_lal.silver.certainty import with_certainty
from spacy_lal.srl.component import LisaSRL
from spacy_lal.srl.gold_frames import GoldFrames, role_loss
from spacy_lal.srl.network import LisaInput, LisaScores
from spacy_lal.srl.teacher_frames import batch_targets, likely_heads, soft_role_loss
from tests.pipeline.toy_frames import bare, frames_doc, frames_examples, srl_pipeline, trained
from tests.silver.teacher import toy_teacher


def sure_targets(doc: Doc) -> Targets:
    """The annotation of a Doc of one sentence as probabilities of 1."""
    frames = get_frames(doc)
    verbs = {frame.predicate.i for frame in frames}
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names))

    roles = [
        (frame.predicate.i, i, number(f"{'I' if i > span.start else 'B'}-{span.label_}"))
        for frame in frames
        for span in frame.spans
        for i in range(span.start, span.end)
    ]
    places = {
        "tags": [(t.i, number(t.tag_)) for t in doc],
        "heads": [(t.i, 0 if t.head == t else t.head.i + 1) for t in doc],
        "relations": [(t.i, number(t.dep_)) for t in doc],
        "joint": [(t.i, number(f"{t.tag_}/{t.i in verbs}")) for t in doc],
        "roles": roles,
    }
    ones = {kind: numpy.ones(len(of), dtype="f") for kind, of in places.items()}
    columns = {kind: 3 if kind == "roles" else 2 for kind in places}
    arrays = {kind: numpy.array(of).reshape(-1, columns[kind]) for kind, of in places.items()}
    return Targets(arrays, ones, list(names))


@pytest.mark.parametrize("role_paths", [False, True])
def test_sure_targets_are_gold(role_paths: bool) -> None:
    """Losses and gradients; layers of a Doc with targets don't count, even if they are wrong."""
    nlp = trained(srl_pipeline({"role_paths": role_paths}), 3)
    pipe = nlp.get_pipe("lisa_srl")
    assert isinstance(pipe, LisaSRL)
    pipe.label_smoothing = pipe.predicted_path_rate = 0.0
    gold = frames_examples(nlp)
    taught = []
    for k, example in enumerate(gold):
        targets = sure_targets(example.reference)
        reference = frames_doc(nlp, k, frames=k % 2 == 0)
        for token in reference:
            token.tag_, token.dep_ = "NN", "det"
        set_targets(reference, targets)
        taught.append(Example(bare(nlp, reference), reference))
    scores = pipe.model.predict(LisaInput([example.predicted for example in gold]))
    scores = replace(scores, batches=list(scores.batches))
    mixed = [taught[k] if k % 2 else example for k, example in enumerate(gold)]
    expected, d_expected = pipe.get_loss(gold, scores)
    for examples in (taught, mixed):
        loss, d_scores = pipe.get_loss(examples, scores)
        assert loss == pytest.approx(expected, rel=1e-5)
        for one, other in zip(d_expected.batches, d_scores.batches, strict=True):
            for name, part in one.scores._asdict().items():
                if part is not None:
                    torch.testing.assert_close(getattr(other.scores, name), part, msg=name)


def test_roles_of_two_minds() -> None:
    """The loss of a mixture is the mixture of losses, times the predicate's probability."""
    torch.manual_seed(0)
    words = [Sentence(0, 0, 3, numpy.arange(3)), Sentence(1, 0, 2, numpy.arange(2))]
    joint = numpy.array([[0, 0], [1, 1], [1, 2]])
    names = ["NN/False", "VB/True", "VB/False", "B-V", "B-ARG0", "I-ARG0", "B-NEW"]
    roles = numpy.array([[1, 1, 3], [1, 0, 4], [1, 0, 6]])
    targets = Targets(
        {"joint": joint, "roles": roles, "heads": numpy.array([[0, 2], [1, 0]])}
        | dict.fromkeys(("tags", "relations"), numpy.zeros((0, 2), dtype=int)),
        {
            "joint": numpy.array([1, 0.8, 0.2], dtype="f"),
            "roles": numpy.array([1, 0.25, 0.5], dtype="f"),
            "heads": numpy.ones(2, dtype="f"),
        }
        | dict.fromkeys(("tags", "relations"), numpy.zeros(0, dtype="f")),
        names,
    )
    cfg = {
        "tags": ["NN", "VB"],
        "joint": ["NN/False", "VB/False", "VB/True"],
        "relations": ["nsubj", "ROOT"],
        "roles": ["O", "B-ARG0", "I-ARG0", "B-V"],
    }
    scores = LisaScores(
        torch.randn(2, 3, 3), torch.randn(2, 3, 4), torch.randn(2, 3, 2), torch.randn(4, 5, 3)
    )
    taught = batch_targets(words, [None, targets], scores.joint, cfg)
    assert taught is not None
    assert taught.rows.tolist() == taught.sentences.tolist() == taught.predicates.tolist() == [1]
    assert taught.heads.tolist() == [[[0, 1, 0], [0, 1, 0], [0, 0, 0]]]
    assert taught.joint[0, 1].tolist() == pytest.approx([0, 0.2, 0.8])
    at = torch.tensor([1])
    # nothing is learned from a role that the student lacks
    alternatives = [(0.25, [1, 3, -1]), (0.25, [0, 3, -1]), (0.5, [-1, 3, -1])]
    losses = [
        share * role_loss(scores, GoldFrames(at, at, torch.tensor([labels])), 0.0).item()
        for share, labels in alternatives
    ]
    found = soft_role_loss(scores, taught, None).item()
    assert found == pytest.approx(0.8 * sum(losses), rel=1e-5)


def test_likeliest_heads() -> None:
    places = numpy.array([[0, 2], [0, 3], [1, 0], [1, 3], [2, 2]])
    p = numpy.array([0.6, 0.4, 0.3, 0.7, 1.0], dtype="f")
    assert likely_heads(Targets({"heads": places}, {"heads": p}, [])).tolist() == [1, 2, 1]
    root = Targets({"heads": places[2:3]}, {"heads": p[2:3]}, [])
    assert likely_heads(root).tolist() == [0, 1]


@pytest.mark.parametrize("split", [False, True])
def test_targets_are_of_one_sentence_with_frames(split: bool) -> None:
    """Else the layers count, as in files that are older than targets of frames."""
    nlp = trained(srl_pipeline(), 3)
    pipe = nlp.get_pipe("lisa_srl")
    assert isinstance(pipe, LisaSRL)
    gold = frames_examples(nlp)
    for example in gold:
        if split:
            example.predicted[1].is_sent_start = True
    scores = pipe.model.predict(LisaInput([example.predicted for example in gold]))
    scores = replace(scores, batches=list(scores.batches))
    expected = pipe.get_loss(gold, scores)[0]
    for example in gold:
        targets = sure_targets(example.reference)
        if not split:
            targets.places.pop("roles")
        targets.places["heads"][:] = 0
        set_targets(example.reference, targets)
    assert pipe.get_loss(gold, scores)[0] == expected


def test_what_a_teacher_writes() -> None:
    teacher = toy_teacher(30)
    texts = ["The cat sat.", "She ate the fish that swam.", "The cat sat on the mat."]
    number_of_frames = 0
    for doc, _ in with_certainty(teacher, map(teacher.make_doc, texts), marginals=True):
        targets = get_targets(doc)
        assert targets is not None
        # beside other sentences as alone
        ((alone, _),) = with_certainty(teacher, [teacher.make_doc(doc.text)], marginals=True)
        own = get_targets(alone)
        assert own is not None
        assert own.names == targets.names
        for kind, places in own.places.items():
            assert places.tolist() == targets.places[kind].tolist()
            assert own.probabilities[kind] == pytest.approx(targets.probabilities[kind], abs=2e-3)
        of_joint = numpy.bincount(targets.places["joint"][:, 0], targets.probabilities["joint"])
        assert of_joint == pytest.approx(numpy.ones(len(doc)), abs=0.3)
        triples = map(tuple, targets.places["roles"].tolist())
        likely = dict(zip(triples, targets.probabilities["roles"].tolist(), strict=True))
        sums = numpy.zeros((len(doc), len(doc)))
        for (predicate, word, _), p in likely.items():
            sums[predicate, word] += p
        assert sums.max() <= 1.01
        for frame in get_frames(doc):
            number_of_frames += 1
            for span in frame.spans:
                begin = targets.names.index(f"B-{span.label_}")
                assert likely[frame.predicate.i, span.start, begin] > 0.5
    assert number_of_frames
