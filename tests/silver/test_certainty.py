"""How sure a pipeline is: against probabilities computed by hand from its scores."""

from __future__ import annotations

from dataclasses import replace

import numpy
import pytest
import torch
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.annotations.frames import get_frames
from spacy_lal.pipeline.writers import SentenceParse
from spacy_lal.silver.certainty import (
    LAYERS,
    calibrate,
    count_layers,
    only_layers,
    role_certainty,
    sure_layers,
    tree_certainty,
    with_certainty,
)
from spacy_lal.srl.frame_decoding import FoundFrame, LisaParse
from tests.pipeline.toy import dependency_pipeline, headed_examples, train_on

TEXT = "The cat sat on the mat. She ate the fish. Cats and dogs fight."


def test_sentences_are_those_of_the_pipeline(teacher: Language) -> None:
    """What is cut out of a paragraph is what the pipeline writes there, with every layer."""
    whole = teacher(TEXT)
    found = list(with_certainty(teacher, [teacher.make_doc(TEXT)]))
    assert [doc.text.strip() for doc, _ in found] == [sentence.text for sentence in whole.sents]
    phrases, frames, tokens = [], [], []
    offset = 0
    for doc, certainty in found:
        assert set(certainty) == set(LAYERS)
        assert all(0 <= value <= 1 for value in certainty.values())
        phrases += [(s + offset, e + offset, label) for s, e, label in get_constituents(doc)]
        frames += [frame.predicate.i + offset for frame in get_frames(doc)]
        tokens += [(t.tag_, t.head.i + offset, t.dep_) for t in doc]
        offset += len(doc)
    assert phrases == get_constituents(whole)
    assert frames == [frame.predicate.i for frame in get_frames(whole)]
    assert tokens == [(t.tag_, t.head.i, t.dep_) for t in whole]


def test_heads_and_tags_by_hand(teacher: Language) -> None:
    """Softmax over heads, times softmax over relations at the head that was chosen."""
    doc = Doc(
        teacher.vocab,
        words=["She", "ate", "the", "fish", "."],
        sent_starts=[True, False, False, False, False],
    )
    pipe = teacher.get_pipe("lal_constituency")
    (_, parses) = pipe.predict([doc])
    scores = next(iter(pipe.model.predict([doc]).batches)).scores
    parse = parses[0]
    relations = scores.relations_of(torch.from_numpy(parse.heads).unsqueeze(0))
    for i in range(5):
        head, relation = int(parse.heads[i]), int(parse.relations[i])
        arcs = torch.exp(scores.arcs[0, i]) / torch.exp(scores.arcs[0, i]).sum()
        names = relations[0, i]
        expected = arcs[head] * torch.exp(names[relation]) / torch.exp(names).sum()
        assert parse.head_probabilities[i] == pytest.approx(float(expected), rel=1e-4)
        tags = torch.exp(scores.tags[0, i])
        assert parse.tag_probabilities[i] == pytest.approx(float(tags.max() / tags.sum()), rel=1e-4)
    ((_, certainty),) = with_certainty(teacher, [doc.copy()])
    assert certainty["heads"] == pytest.approx(float(parse.head_probabilities.mean()))


def test_a_parser_of_heads_alone() -> None:
    nlp = dependency_pipeline()
    train_on(nlp, headed_examples(nlp), 3)
    ((doc, certainty),) = with_certainty(nlp, [nlp.make_doc("She ate the fish.")])
    assert set(certainty) == {"heads", "tags"}
    assert doc.has_annotation("DEP")


def test_annotations_of_others_are_not_its_own(teacher: Language) -> None:
    doc = Doc(teacher.vocab, words=["Go", "on"], tags=["X", "X"], heads=[0, 0], deps=["ROOT", "a"])
    ((found, certainty),) = with_certainty(teacher, [doc])
    assert set(certainty) == {"trees", "roles"}
    assert [token.dep_ for token in found] == ["ROOT", "a"]


def test_of_a_tree() -> None:
    parse = SentenceParse(
        numpy.zeros(4), probabilities=numpy.array([0.9, 0.5]), log_prob=4 * numpy.log(0.8)
    )
    assert tree_certainty(parse) == pytest.approx((0.8 + 0.7) / 2)
    bare = SentenceParse(numpy.zeros(2), log_prob=2 * numpy.log(0.5))
    assert tree_certainty(bare) == pytest.approx(0.5)


def test_of_roles() -> None:
    frame = FoundFrame(1, [(0, 1, "ARG0"), (1, 2, "V")], [0.8, 0.9])
    sure = numpy.array([0.1, 0.9, 0.3])
    parse = LisaParse(numpy.zeros(3), frames=[frame], predicate_probabilities=sure)
    assert role_certainty(parse) == pytest.approx(0.85)
    nothing = LisaParse(numpy.zeros(2), predicate_probabilities=numpy.array([0.1, 0.05]))
    assert role_certainty(nothing) == pytest.approx(0.9)


def test_layers_left_open(teacher: Language) -> None:
    ((doc, _),) = with_certainty(teacher, [teacher.make_doc("She ate the fish.")])
    for layer in LAYERS:
        assert dict(count_layers([only_layers(doc, {layer})])) == {layer: 5}
    both = only_layers(doc, {"trees", "heads"})
    assert get_constituents(both) == get_constituents(doc)
    assert [token.head.i for token in both] == [token.head.i for token in doc]
    assert both.text == doc.text
    assert sure_layers({"trees": 0.9, "tags": 0.5}, {"trees": 0.9, "tags": 0.6}) == {"trees"}
    assert sure_layers({}, {"trees": 0.0}) == set()


def test_calibration(teacher: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """Less is kept as thresholds rise, and all of it at 0."""
    examples = headed_examples(teacher)
    rows = calibrate(teacher, examples, (0.0, 0.5, 1.1))
    assert {row["layer"] for row in rows} == {"tags", "trees", "heads"}
    for layer in ("tags", "trees", "heads"):
        shares = [row["words"] for row in rows if row["layer"] == layer]
        assert shares[0] == 1
        assert shares == sorted(shares, reverse=True)
        assert shares[2] == 0
    all_of_it = next(row for row in rows if row["layer"] == "tags")
    docs = list(teacher.pipe(example.predicted.copy() for example in headed_examples(teacher)))
    right = [
        t.tag_ == g.tag_
        for d, e in zip(docs, examples, strict=True)
        for t, g in zip(d, e.reference, strict=True)
    ]
    assert all_of_it["score"] == pytest.approx(sum(right) / len(right))
    # what is parsed in pieces is never sure, but it is there
    for _, pipe in teacher.pipeline:
        reading = replace(pipe.model.attrs["reading"], max_sentence_length=5)
        monkeypatch.setitem(pipe.model.attrs, "reading", reading)
    lengths = [len(example.reference) for example in examples]
    found = calibrate(teacher, headed_examples(teacher), (0.0,))
    short = sum(n for n in lengths if n <= 5) / sum(lengths)
    assert 0 < short < 1
    assert [row["words"] for row in found if row["layer"] == "trees"] == [pytest.approx(short)]
