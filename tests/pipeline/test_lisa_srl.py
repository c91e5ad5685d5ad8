"""`lisa_srl`, as its users meet it."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example
from thinc.api import Config
from torch import Tensor

from spacy_lal.annotations import FrameSpans, get_frames, set_frames
from spacy_lal.batching.batches import ParserScores
from spacy_lal.batching.sentences import Reading
from spacy_lal.bridge.shim import torch_shim
from spacy_lal.srl.component import LisaSRL, use_heads_of_docs
from spacy_lal.srl.frame_decoding import RoleDecoder
from spacy_lal.srl.gold_frames import gold_frames, role_labels
from spacy_lal.srl.network import LisaInput, LisaScores
from spacy_lal.structure.sequence import bio_to_spans

from ..bio import spans_to_bio
from .contract import copy_of
from .toy import TINY, check_heads
from .toy_frames import (
    SENTENCES,
    SMALL,
    bare,
    frames_doc,
    frames_examples,
    spans_of,
    srl_pipeline,
    trained,
)

TEXT = "The cat sat on the mat. She ate the fish that swam.\n\nGive the dog up! Hello"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return copy_of("lisa")


@pytest.fixture(scope="module")
def saved(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lisa")
    nlp.to_disk(path)
    return path


def pipe_of(nlp: Language) -> LisaSRL:
    return nlp.get_pipe("lisa_srl")


def loaded(saved: Path, **config: Any) -> Language:
    return spacy.load(saved, config={"components": {"lisa_srl": config}})


def heads(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


def results(doc: Doc) -> tuple[Any, ...]:
    starts = [sentence.start for sentence in doc.sents] if len(doc) else []
    return spans_of(doc), heads(doc), starts, [token.tag_ for token in doc]


def scores_of(doc: Doc) -> list[float]:
    return list(doc.spans["srl"].attrs["scores"])


def same(found: Doc, expected: Doc) -> None:
    assert results(found) == results(expected)
    assert scores_of(found) == pytest.approx(scores_of(expected), abs=1e-4)


def one_sentence(nlp: Language, words: list[str], **what: Any) -> Doc:
    if "heads" not in what:
        what["sent_starts"] = [k == 0 for k in range(len(words))]
    return Doc(nlp.vocab, words=words, **what)


# What it learns


def test_learns_frames_heads_and_tags(nlp: Language) -> None:
    for example in frames_examples(nlp):
        doc = nlp(example.predicted)
        assert results(doc) == results(example.reference)
        check_heads(doc)
        assert all(0 < score <= 1 for score in scores_of(doc))


def test_scores_of_gold_are_perfect(nlp: Language) -> None:
    scores = nlp.evaluate(frames_examples(nlp))
    for name in ("srl_p", "srl_r", "srl_f", "srl_pred_f", "tag_acc", "dep_uas", "dep_las"):
        assert scores[name] == 1.0, name
    assert set(scores["srl_per_type"]) == {"ARG0", "ARG1", "ARG2", "R-ARG0"}


def test_labels_are_roles(nlp: Language) -> None:
    assert pipe_of(nlp).labels == ("ARG0", "ARG1", "ARG2", "C-V", "R-ARG0")
    assert pipe_of(nlp).cfg["roles"][0] == "O"


@pytest.mark.parametrize(
    "model",
    [
        {"input_encoder": TINY["input_encoder"]},
        {"input_encoder": {**TINY["input_encoder"], "tag_depth": 0}},
        {"syntactic_head": "copied"},
        {"role_rank": 6, "layer_dropout": 0.0},
        {"tag_layer": 3, "syntax_layer": 1},
        {"role_paths": True},
        {"role_paths": True, "syntactic_head": "copied", "role_rank": 6},
    ],
    ids=[
        "rows",
        "rows without tags",
        "copied",
        "rank",
        "syntax first",
        "paths",
        "paths, copied, rank",
    ],
)
def test_arrangements_train(model: dict[str, Any]) -> None:
    nlp = srl_pipeline(model)
    spacy.util.fix_random_seed(0)
    examples = frames_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    losses = [nlp.update(examples, sgd=optimizer, drop=0.1)["lisa_srl"] for _ in range(25)]
    assert losses[-1] < 0.7 * losses[0]
    check_heads(nlp(TEXT))


def test_without_syntax() -> None:
    nlp = trained(srl_pipeline({"syntax_layer": None}), steps=40)
    for example in frames_examples(nlp):
        doc = nlp(example.predicted)
        assert spans_of(doc) == spans_of(example.reference)
        assert not doc.has_annotation("DEP")
    assert pipe_of(nlp).relations == ()
    # labels of a model with syntax do no harm
    data = {**pipe_of(nlp).label_data, "relations": ["ROOT", "nsubj"]}
    pipe_of(nlp).initialize(lambda: frames_examples(nlp), nlp=nlp, labels=data)
    assert pipe_of(nlp).relations == ()
    assert not nlp("The cat sat.").has_annotation("DEP")
    assert "dep_uas" not in nlp.evaluate(frames_examples(nlp))


def test_default_component_is_trainable() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("lisa_srl", config={"model": {"feed_forward_width": 40}})
    examples = frames_examples(nlp)[:1]
    optimizer = nlp.initialize(lambda: examples)
    assert numpy.isfinite(nlp.update(examples, sgd=optimizer, drop=0.1)["lisa_srl"])
    check_heads(nlp("Hello there"))


def test_with_a_listener() -> None:
    nlp = spacy.blank("en")
    upstream = {
        "@architectures": "spacy.HashEmbedCNN.v2",
        "pretrained_vectors": None,
        "width": 16,
        "depth": 1,
        "embed_size": 50,
        "window_size": 1,
        "maxout_pieces": 2,
        "subword_features": True,
    }
    nlp.add_pipe("tok2vec", config={"model": upstream})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    nlp.add_pipe("lisa_srl", config={"model": {**SMALL, "tok2vec": listener}})
    examples = frames_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    tok2vec = nlp.get_pipe("tok2vec").model
    before = tok2vec.predict([examples[0].predicted])[0].copy()
    losses = [nlp.update(examples, sgd=optimizer)["lisa_srl"] for _ in range(6)]
    assert losses[-1] < losses[0]
    assert not numpy.allclose(before, tok2vec.predict([examples[0].predicted])[0])
    check_heads(nlp(TEXT))


# Texts


def test_empty_doc_and_one_token(nlp: Language) -> None:
    empty = nlp("")
    assert len(empty) == 0
    assert get_frames(empty) == []
    assert "srl" in empty.spans
    assert heads(nlp("Hello")) == [(0, "ROOT")]
    assert list(nlp.pipe([])) == []
    assert [len(doc) for doc in nlp.pipe(["", "Hello", ""])] == [0, 1, 0]


def test_whitespace_does_not_count(nlp: Language) -> None:
    plain = nlp(one_sentence(nlp, ["She", "ate", "the", "fish", "that", "swam", "."]))
    words = ["\n", "She", "  ", "ate", "the", "\n", "fish", "that", "swam", " ", ".", " "]
    spaced = nlp(one_sentence(nlp, words))
    check_heads(spaced)
    place = [i for i, token in enumerate(spaced) if not token.is_space]
    # a span covers what is between its first and its last word
    assert spans_of(spaced) == [
        (place[at], [(place[i], place[j - 1] + 1, label) for i, j, label in spans])
        for at, spans in spans_of(plain)
    ]
    assert scores_of(spaced) == pytest.approx(scores_of(plain), abs=1e-5)


@pytest.mark.parametrize(
    "text", ["🎉👍🏽 cats ate 🐟🐟!", "😀", "«Ça» — naïve… 猫が座った。", "\u200b a\u0301"]
)
def test_any_text(nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    check_heads(doc)
    for frame in get_frames(doc):
        assert frame.verb.start <= frame.predicate.i < frame.verb.end or any(
            span.label_ == "C-V" and span.start <= frame.predicate.i < span.end
            for span in frame.arguments
        )


def test_sentences_are_found_and_kept(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert [sentence.text.strip() for sentence in doc.sents] == [
        "The cat sat on the mat.",
        "She ate the fish that swam.",
        "Give the dog up!",
        "Hello",
    ]
    check_heads(doc)
    assert [str(frame) for frame in get_frames(doc)] == [
        "[ARG1: The cat] [V: sat] [ARG2: on the mat] .",
        "[ARG0: She] [V: ate] [ARG1: the fish that swam] .",
        "She ate [ARG0: the fish] [R-ARG0: that] [V: swam] .",
        "[V: Give] [ARG1: the dog] [C-V: up] !",
    ]
    words = ["Give", "the", "dog", "up", "!", "Dogs", "eat"]
    for starts in ({0}, {0, 5}, {0, 2, 5}):
        doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[k in starts for k in range(7)]))
        assert {sentence.start for sentence in doc.sents} == starts
        for frame in get_frames(doc):
            assert all(span.sent == frame.predicate.sent for span in frame.spans)


@pytest.mark.parametrize("policy", ["split", "flat"])
@pytest.mark.parametrize("source", ["model", "doc"])
def test_too_long_a_sentence(saved: Path, policy: str, source: str) -> None:
    short = loaded(saved, max_sentence_length=4, long_sentences=policy, parse_source=source)
    doc = frames_doc(short, 0, frames=False, heads=source == "doc")
    before = heads(doc)
    doc = short(doc)
    check_heads(doc)
    assert len(list(doc.sents)) == 1
    assert policy == "split" or spans_of(doc) == []
    assert source == "model" or heads(doc) == before


def test_existing_tags_are_kept(nlp: Language) -> None:
    doc = nlp(one_sentence(nlp, ["Hello", "."], tags=["X", ""]))
    assert [token.tag_ for token in doc] == ["X", "."]


@pytest.mark.parametrize("overwrite", [False, True])
def test_heads_are_written_where_there_are_none(saved: Path, overwrite: bool) -> None:
    other = loaded(saved, overwrite_heads=overwrite)
    gold = frames_doc(other, 0)
    words = [token.text for token in gold]
    wrong = Doc(other.vocab, words=words, heads=[6] * 7, deps=["x"] * 6 + ["ROOT"])
    kept = heads(wrong)
    both = list(other.pipe([wrong, bare(other, gold)]))
    assert heads(both[0]) == (heads(gold) if overwrite else kept)
    assert heads(both[1]) == heads(gold)
    assert spans_of(both[0]) == spans_of(both[1]) == spans_of(gold)


def test_arguments_that_are_constituents(saved: Path) -> None:
    other = loaded(saved, nonconstituent_penalty=1e6)
    gold = frames_doc(other, 0)
    words = [token.text for token in gold]
    without = loaded(saved)(Doc(other.vocab, words))
    assert max(len(span) for span in without.spans["srl"]) > 1
    # nothing is known of constituents
    assert spans_of(other(Doc(other.vocab, words))) == spans_of(without)
    doc = Doc(other.vocab, words)
    doc.spans["constituents"] = SpanGroup(doc)
    assert all(len(span) == 1 for span in other(doc).spans["srl"] if span.label_ != "V")
    doc = Doc(other.vocab, words)
    doc.spans["constituents"] = [doc[span.start : span.end] for span in without.spans["srl"]]
    assert spans_of(other(doc)) == spans_of(without)
    with pytest.raises(ValueError, match="nonconstituent_penalty must be from 0 to 1e"):
        loaded(saved, nonconstituent_penalty=-1.0)


@pytest.mark.parametrize("source", ["model", "doc"])
def test_lisa_may_have_the_last_word(saved: Path, source: str) -> None:
    """On what a parser of ours wrote, not on what was there before. Heads may count next to
    nothing, or so much that all stay that the model knows."""
    for weight in (1e-6, 1e6):
        other = loaded(saved, overwrite_parser=weight, parse_source=source)
        gold = frames_doc(other, 0)
        words = [token.text for token in gold]
        heads_of = [1, 2, 3, 4, 5, 6, 6], ["det"] * 6 + ["ROOT"]
        for wrote in ([], ["tags"], ["tags", "heads"], None):
            doc = Doc(other.vocab, words, heads=heads_of[0], deps=heads_of[1], tags=["X"] * 7)
            kept = heads(doc)
            if wrote is not None:
                doc.spans["constituents"] = SpanGroup(doc, attrs={"wrote": wrote})
                doc = Doc(other.vocab).from_bytes(doc.to_bytes())
            found = other(doc)
            check_heads(found)
            again = wrote and "heads" in wrote and weight < 1
            assert heads(found) == (heads(gold) if again else kept)
            assert ([token.tag_ for token in found[1:]] == ["X"] * 6) != bool(wrote)
            assert all("wrote" not in group.attrs for group in found.spans.values())
    with pytest.raises(ValueError, match=r"overwrite_parser must be from 0 to .*, got -1"):
        loaded(saved, overwrite_parser=-1.0)


def test_a_sentence_that_is_not_parsed_keeps_its_heads(saved: Path) -> None:
    other = loaded(saved, overwrite_heads=True, max_sentence_length=4, long_sentences="flat")
    doc = frames_doc(other, 0, frames=False)
    before = heads(doc)
    assert heads(other(doc)) == before


some_words = st.lists(st.sampled_from(["the", "cat", "sat", ".", "ate", "zebra", "up"]), max_size=9)


@settings(max_examples=10, deadline=None)
@given(batch=st.lists(some_words, min_size=1, max_size=5), with_heads=st.booleans())
def test_a_doc_does_not_depend_on_its_batch(
    nlp: Language, batch: list[list[str]], with_heads: bool
) -> None:
    model = pipe_of(nlp).model

    def scores(texts: list[list[str]]) -> dict[int, list[Tensor]]:
        docs = [one_sentence(nlp, words) for words in texts]
        # every other word's head is known, in every Doc or in none
        known = [numpy.array([0 if k % 2 else -1 for k in range(len(doc))], int) for doc in docs]
        predicted = model.predict(LisaInput(docs, known if with_heads else None))
        return {
            predicted.sentences[k].doc: [
                of.joint[row, :n],
                of.predicate[row, :n],
                of.role[row, :n],
                of.arcs[row, :n, :n],
                of.dependent[row, :n],
                of.head[row, :n],
            ]
            for group in predicted.batches
            for of in [group.scores]
            for row, (k, n) in enumerate(zip(group.members, group.lengths.tolist(), strict=True))
        }

    together = scores(batch)
    for d, words in enumerate(batch):
        alone = scores([words])
        assert (d in together) == (0 in alone)
        if alone:
            torch.testing.assert_close(together[d], alone[0], atol=1e-4, rtol=1e-4)


# Parses of others

WRONG = [3, 2, 2, 2, 0, 4, 2]


def wrong_doc(nlp: Language, *, spaced: bool = False) -> Doc:
    """ "The cat sat on the mat ." with heads that nobody would give it."""
    doc = frames_doc(nlp, 0, frames=False)
    words, place = [token.text for token in doc], list(range(7))
    of_words = WRONG
    if spaced:
        words = [w for word in words for w in (word, " ")]
        place = [2 * i for i in place]
        of_words = [h for i, head in enumerate(WRONG) for h in (2 * head, 2 * i)]
    return Doc(
        nlp.vocab,
        words=words,
        heads=of_words,
        deps=["ROOT" if i == head else "x" for i, head in enumerate(of_words)],
    )


def test_heads_of_the_doc_are_attended_to(nlp: Language, saved: Path) -> None:
    by_doc = loaded(saved, parse_source="doc")
    assert pipe_of(by_doc).parse_source == "doc"
    by_model = nlp(wrong_doc(nlp))
    doc = by_doc(wrong_doc(by_doc))
    assert [token.head.i for token in doc] == WRONG
    assert scores_of(doc) != pytest.approx(scores_of(by_model), abs=1e-4)
    # the same heads, given as a tensor of one-hot attention would be
    (batch,) = pipe_of(nlp).model.predict(LisaInput([bare(nlp, doc)], [numpy.array(WRONG)])).batches
    (mine,) = pipe_of(by_doc).model.predict(LisaInput([doc], [numpy.array(WRONG)])).batches
    torch.testing.assert_close(mine.scores.role, batch.scores.role)
    # in words, not in tokens
    spaced = by_doc(wrong_doc(by_doc, spaced=True))
    assert scores_of(spaced) == pytest.approx(scores_of(doc), abs=1e-5)
    # of each sentence by itself
    two = by_doc(Doc.from_docs([frames_doc(by_doc, 1, frames=False), wrong_doc(by_doc)]))
    first = by_doc(frames_doc(by_doc, 1, frames=False))
    assert scores_of(two) == pytest.approx([*scores_of(first), *scores_of(doc)], abs=1e-5)


def test_docs_without_heads_have_the_models(nlp: Language, saved: Path) -> None:
    by_doc = loaded(saved, parse_source="doc")
    texts = [TEXT, "", "Hello"]
    mixed = [by_doc.make_doc(text) for text in texts] + [wrong_doc(by_doc)]
    for doc, text in zip(by_doc.pipe(mixed), texts, strict=False):
        same(doc, nlp(text))


def test_gold_heads_of_a_trained_model_change_little(nlp: Language, saved: Path) -> None:
    by_doc = loaded(saved, parse_source="doc")
    for k in range(len(SENTENCES)):
        doc = by_doc(frames_doc(by_doc, k, frames=False))
        assert spans_of(doc) == spans_of(frames_doc(by_doc, k))


def test_the_source_can_be_changed_on_a_trained_component(nlp: Language, saved: Path) -> None:
    other = spacy.load(saved)
    before = other(wrong_doc(other))
    pipe_of(other).parse_source = "doc"
    after = other(wrong_doc(other))
    assert scores_of(before) == pytest.approx(scores_of(nlp(wrong_doc(nlp))), abs=1e-5)
    assert scores_of(after) != pytest.approx(scores_of(before), abs=1e-4)


def test_a_pipeline_is_told_to_use_heads_of_docs(
    nlp: Language, saved: Path, tmp_path: Path
) -> None:
    told = spacy.load(saved)
    # as `spacy assemble` has it while it initializes
    with told.select_pipes(disable=["lisa_srl"]):
        use_heads_of_docs(told)
    told.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    other = spacy.blank("en")
    other.add_pipe("lisa_srl", source=spacy.load(tmp_path))
    by_doc = loaded(saved, parse_source="doc")
    for each in (told, again, other):
        assert pipe_of(each).parse_source == "doc"
        assert each.config["components"]["lisa_srl"]["parse_source"] == "doc"
        same(each(wrong_doc(each)), by_doc(wrong_doc(by_doc)))
        same(each(TEXT), nlp(TEXT))
    assert pipe_of(loaded(tmp_path, parse_source="model")).parse_source == "model"
    without = spacy.blank("en")
    assert use_heads_of_docs(without) is without


# Paths


@pytest.fixture(scope="module")
def with_paths() -> Language:
    return trained(srl_pipeline({"role_paths": True}), steps=60)


@contextmanager
def by_heads_of_docs(nlp: Language) -> Iterator[None]:
    pipe_of(nlp).parse_source = "doc"
    try:
        yield
    finally:
        pipe_of(nlp).parse_source = "model"


@pytest.mark.parametrize("fixture", ["nlp", "with_paths"])
def test_heads_of_the_doc_are_as_own_heads_that_are_sure(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    nlp: Language = request.getfixturevalue(fixture)

    def sure(module: Any, inputs: Any, outputs: Any) -> Any:
        chosen = torch.nn.functional.one_hot(torch.tensor(WRONG), 7)
        return (1e4 * chosen.float()).expand_as(outputs[0]), *outputs[1:]

    parser: Any = torch_shim(pipe_of(nlp).model).module.encoder.parser
    hook = parser.register_forward_hook(sure)
    try:
        expected = nlp(bare(nlp, wrong_doc(nlp)))
    finally:
        hook.remove()
    assert [token.head.i for token in expected] == WRONG
    with by_heads_of_docs(nlp):
        found = nlp(wrong_doc(nlp))
    assert spans_of(found) == spans_of(expected)
    assert scores_of(found) == pytest.approx(scores_of(expected), abs=1e-5)


@pytest.mark.parametrize("fixture", ["nlp", "with_paths"])
def test_sentences_without_heads_have_the_models(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    """Beside a sentence of the same Doc that has heads."""
    nlp: Language = request.getfixturevalue(fixture)
    parts = [frames_doc(nlp, k, heads=False, frames=False) for k in (1, 0, 4)]
    words = [token.text for part in parts for token in part]
    doc = Doc(nlp.vocab, words, sent_starts=[t.i == 0 for part in parts for t in part])
    for token, head in zip(doc[7:14], WRONG, strict=True):
        token.head, token.dep_ = doc[7 + head], "x"
    first, last = (nlp(bare(nlp, part)) for part in parts[::2])
    with by_heads_of_docs(nlp):
        second = nlp(wrong_doc(nlp))
        doc = nlp(doc)
    assert [sentence.start for sentence in doc.sents] == [0, 7, 14]
    assert spans_of(doc) == [
        (start + i, [(start + a, start + z, label) for a, z, label in spans])
        for start, part in zip((0, 7, 14), (first, second, last), strict=True)
        for i, spans in spans_of(part)
    ]
    expected = [score for part in (first, second, last) for score in scores_of(part)]
    assert scores_of(doc) == pytest.approx(expected, abs=1e-5)


def test_frames_by_paths(with_paths: Language) -> None:
    nlp = with_paths
    for k, example in enumerate(frames_examples(nlp)):
        assert spans_of(nlp(example.predicted)) == spans_of(frames_doc(nlp, k))


def test_paths_go_by_the_heads_of_the_doc(with_paths: Language) -> None:
    nlp = with_paths
    doc = wrong_doc(nlp)
    source = LisaInput([doc], [numpy.array(WRONG)])
    (batch,) = pipe_of(nlp).model.predict(source).batches
    sentence, predicate = torch.tensor([0]), torch.tensor([1])
    by_doc = batch.scores.roles_of(sentence, predicate, torch.tensor([WRONG]))
    own = batch.scores.likely_heads(batch.lengths)
    assert own.tolist() != [WRONG]
    assert not torch.allclose(by_doc, batch.scores.roles_of(sentence, predicate, own))
    pipe_of(nlp).predicate_source = pipe_of(nlp).parse_source = "doc"
    try:
        set_frames(doc, [FrameSpans(1, "", [(1, 2, "V")])])
        (frame,) = get_frames(nlp(doc))
    finally:
        pipe_of(nlp).predicate_source = pipe_of(nlp).parse_source = "model"
    roles = pipe_of(nlp).cfg["roles"]
    best = torch.log_softmax(by_doc[0].detach(), -1)
    arguments = [
        (span, score)
        for span, score in zip(frame.arguments, frame.scores, strict=True)
        if span.label_ != "C-V"  # which a second V may have become
    ]
    assert arguments
    for span, score in arguments:
        first = roles.index(f"B-{span.label_}")
        rest = [roles.index(f"I-{span.label_}") for _ in span[1:]]
        of_words = [best[i, label] for i, label in enumerate([first, *rest], span.start)]
        assert score == pytest.approx(math.exp(torch.stack(of_words).mean()), abs=1e-5)


def test_paths_of_training_go_by_gold_or_own_heads(with_paths: Language) -> None:
    nlp, pipe = with_paths, pipe_of(with_paths)
    examples = frames_examples(nlp)
    scores = predictions(pipe, examples)
    before = pipe.predicted_path_rate, pipe.joint_weight, pipe.arc_weight, pipe.relation_weight
    pipe.joint_weight = pipe.arc_weight = pipe.relation_weight = 0.0
    # other heads than the model's own are gold, then
    golds = [wrong_doc(nlp), *(example.reference for example in examples[1:])]
    golds[0] = frames_doc(nlp, 0)
    for token in golds[0]:
        token.head = golds[0][0]
    wrong = [Example(x.predicted, gold) for x, gold in zip(examples, golds, strict=True)]
    try:
        found = {}
        for rate in (0.0, 1.0):
            pipe.predicted_path_rate = rate
            found[rate] = [pipe.get_loss(those, scores)[0] for those in (examples, wrong)]
    finally:
        pipe.predicted_path_rate, pipe.joint_weight, pipe.arc_weight, pipe.relation_weight = before
    assert found[1.0][0] == pytest.approx(found[1.0][1], abs=1e-6)
    assert found[0.0][1] > found[0.0][0] + 1e-3


# Predicates of others


def test_given_predicates_keep_their_rolesets(nlp: Language, saved: Path) -> None:
    other = loaded(saved, predicate_source="doc")
    doc = bare(other, frames_doc(other, 1))
    # one of the two, and a noun that is none
    set_frames(
        doc, [FrameSpans(5, "swim.01", [(5, 6, "V")]), FrameSpans(3, "fish.02", [(3, 4, "V")])]
    )
    without = bare(other, frames_doc(other, 0))
    nothing = bare(other, frames_doc(other, 4))
    set_frames(nothing, [])
    docs = list(other.pipe([doc, without, nothing]))
    found = {frame.predicate.i: frame for frame in get_frames(docs[0])}
    assert {i: frame.roleset for i, frame in found.items()} == {3: "fish.02", 5: "swim.01"}
    assert found[3].verb_score == 1.0
    assert spans_of(docs[0])[1] == spans_of(frames_doc(other, 1))[1]
    same(docs[1], nlp(bare(nlp, docs[1])))
    assert spans_of(docs[2]) == []
    assert "srl" in docs[2].spans


def test_given_predicates_of_all_sentences(saved: Path) -> None:
    other = loaded(saved, predicate_source="doc", parse_source="doc")
    doc = Doc.from_docs([frames_doc(other, k) for k in range(len(SENTENCES))])
    before = [(frame.predicate.i, frame.roleset) for frame in get_frames(doc)]
    gold = spans_of(doc)
    doc = other(doc)
    assert spans_of(doc) == gold
    assert [(frame.predicate.i, frame.roleset) for frame in get_frames(doc)] == before


def test_frames_in_the_way_are_replaced(nlp: Language) -> None:
    doc = bare(nlp, frames_doc(nlp, 0))
    set_frames(doc, [FrameSpans(0, "the.01", [(0, 1, "V")])])
    assert spans_of(nlp(doc)) == spans_of(frames_doc(nlp, 0))
    assert get_frames(doc)[0].roleset == ""


# One encoding per predicate


@pytest.fixture(scope="module")
def by_predicate() -> Language:
    return trained(srl_pipeline({"indicator_width": 4}, predicate_source="doc"), steps=60)


def asked(nlp: Language, k: int, *predicates: int) -> Doc:
    """The k-th sentence with these predicates, or with its own."""
    doc = frames_doc(nlp, k)
    at = predicates or [frame.predicate.i for frame in get_frames(doc)]
    doc = bare(nlp, doc)
    set_frames(doc, [FrameSpans(i, f"x.{i:02}", [(i, i + 1, "V")]) for i in at])
    return doc


def test_roles_of_given_predicates_are_learned(by_predicate: Language) -> None:
    ks = range(len(SENTENCES))
    for k, doc in zip(ks, by_predicate.pipe([asked(by_predicate, k) for k in ks]), strict=True):
        gold = frames_doc(by_predicate, k)
        assert results(doc) == results(gold)
        assert [f.roleset for f in get_frames(doc)] == [f"x.{i:02}" for i, _ in spans_of(gold)]
    # nobody gives it any
    assert spans_of(by_predicate(TEXT)) == []
    check_heads(by_predicate(TEXT))


def test_a_row_for_each_predicate(by_predicate: Language) -> None:
    model = pipe_of(by_predicate).model
    docs = [bare(by_predicate, frames_doc(by_predicate, k)) for k in (1, 0)]

    def rows(docs: list[Doc], predicates: list[set[int]]) -> dict[tuple[int, int], Tensor]:
        scores = model.predict(LisaInput(docs, None, predicates))
        return {
            (member, int(predicate)): batch.scores.role[row]
            for batch in scores.batches
            for row, (member, predicate) in enumerate(
                zip(batch.members, batch.predicates, strict=True)
            )
        }

    found = rows(docs, [{5, 1}, set()])
    assert set(found) == {(0, 1), (0, 5), (1, -1)}
    assert not torch.allclose(found[0, 1], found[0, 5], atol=1e-2)
    for predicate in (1, 5):
        alone = rows(docs[:1], [{predicate}])[0, predicate]
        torch.testing.assert_close(found[0, predicate], alone, atol=1e-5, rtol=1e-5)


def test_each_row_is_trained_for_its_own_predicate(by_predicate: Language) -> None:
    pipe = pipe_of(by_predicate)
    (example,) = frames_examples(by_predicate)[1:2]
    given = LisaInput([example.predicted], None, [{1, 5}])
    scores = pipe.model.predict(given)
    scores = ParserScores(scores.sentences, list(scores.batches))
    _, d_scores = pipe.get_loss([example], scores)
    (batch,) = d_scores.batches
    moved = batch.scores.predicate.any(-1).nonzero().tolist()
    assert moved == [[0, 1], [1, 5]]


def test_predicates_must_be_given_to_a_model_that_finds_none(by_predicate: Language) -> None:
    with pytest.raises(ValueError, match='set predicate_source = "doc"'):
        srl_pipeline({"indicator_width": 4})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipe_of(by_predicate), "predicate_source", "model")
        with pytest.raises(ValueError, match='set predicate_source = "doc"'):
            by_predicate("Hello")


# Decoders


def test_transitions_are_those_of_the_training_data(saved: Path) -> None:
    pipe = pipe_of(loaded(saved, decoder="viterbi"))
    roles = pipe.cfg["roles"]
    counts: Counter[tuple[str, str]] = Counter()
    for words, _, _, _, frames in SENTENCES:
        for frame in frames:
            labels = spans_to_bio(frame.spans, len(words.split()))
            counts.update(pairwise(["", *labels]))
    named = {
        (roles[before] if before >= 0 else "", roles[after]): count
        for before, after, count in pipe.cfg["transitions"]
    }
    assert named == counts
    decoder = pipe._role_decoder()
    for before in ["", *roles]:
        seen = sum(count for (first, _), count in counts.items() if first == before)
        for after in roles:
            probability = (counts[before, after] + 0.1) / (seen + 0.1 * len(roles))
            expected = math.log(probability)
            if after.startswith("I-") and before[2:] != after[2:]:
                expected = -math.inf
            j = roles.index(after)
            value = decoder.transitions[roles.index(before), j] if before else decoder.start[j]
            assert float(value) == pytest.approx(expected, abs=1e-5)


def test_transitions_decide(saved: Path) -> None:
    """With counts that say so, nothing but O may follow a verb."""
    other = loaded(saved, decoder="viterbi")
    pipe = pipe_of(other)
    roles = pipe.cfg["roles"]
    pipe.cfg["transitions"] = [[roles.index(verb), 0, 10**18] for verb in ("B-V", "B-C-V")]
    (frame,) = get_frames(other(frames_doc(other, 0, heads=False, frames=False)))
    assert (frame.verb.start, frame.verb.end) == (2, 3)
    assert not any(span.start <= 3 < span.end for span in frame.arguments)


def test_probabilities_are_added_as_they_are(saved: Path) -> None:
    """As the paper's program does, with nothing for the first word; but only valid BIO."""
    pipe = pipe_of(loaded(saved, decoder="probabilities"))
    roles = pipe.cfg["roles"]
    seen = {(roles[i], roles[j]): count for i, j, count in pipe.cfg["transitions"] if i >= 0}
    decoder = pipe._role_decoder()
    for i, before in enumerate(roles):
        total = sum(count for (first, _), count in seen.items() if first == before)
        for j, after in enumerate(roles):
            expected = seen.get((before, after), 0) / (total or 1)
            if after.startswith("I-") and before[2:] != after[2:]:
                expected = -math.inf
            assert float(decoder.transitions[i, j]) == pytest.approx(expected)
    inside = [label.startswith("I-") for label in roles]
    assert decoder.start.tolist() == [-math.inf if later else 0.0 for later in inside]


DECODERS = ["probabilities", "viterbi", "valid", "greedy"]


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_by_config(saved: Path, decoder: str) -> None:
    other = loaded(saved, decoder=decoder)
    assert pipe_of(other).decoder == decoder
    for example in frames_examples(other):
        assert spans_of(other(example.predicted)) == spans_of(example.reference)


def test_core_roles_are_unique_unless_the_config_says_otherwise(saved: Path) -> None:
    """Also where a stored config knows nothing of it."""
    path = saved / "config.cfg"
    stored = Config().from_disk(path)
    assert stored["components"]["lisa_srl"].pop("unique_core_roles") is True
    older = spacy.util.load_model_from_config(stored).from_disk(saved, exclude=["config"])
    assert pipe_of(older).unique_core_roles is True
    words = ["eat", "the", "cat", "the", "dog", "eat"]
    scores = torch.zeros(1, len(words), len(pipe_of(older).cfg["roles"]))
    roles = pipe_of(older).cfg["roles"]
    for k, label in enumerate(["B-ARG0", "O", "B-V", "B-R-ARG0", "B-ARG0", "B-R-ARG0"]):
        scores[0, k, roles.index(label)] = 5.0 - k / 10

    def found(unique: bool) -> list[str]:
        pipe = pipe_of(loaded(saved, unique_core_roles=unique))
        (labels,) = pipe._role_decoder()(scores, torch.tensor([2]), torch.tensor([6]))
        return [roles[label] for label in labels.tolist()]

    repeated = ["B-ARG0", "O", "B-V", "B-R-ARG0", "B-ARG0", "B-R-ARG0"]
    assert found(False) == repeated
    assert found(True) == [*repeated[:4], "O", "B-R-ARG0"]


@pytest.mark.parametrize("decoder", DECODERS[:3])
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_no_core_role_twice_whatever_the_scores(saved: Path, decoder: str, seed: int) -> None:
    pipe = pipe_of(loaded(saved, decoder=decoder))
    roles = pipe.cfg["roles"]
    generator = torch.Generator().manual_seed(seed)
    scores = 4 * torch.randn(6, 12, len(roles), generator=generator)
    predicates, lengths = torch.tensor([0, 1, 2, 3, 4, 5]), torch.tensor([12, 11, 10, 9, 8, 7])
    labels = pipe._role_decoder()(scores, predicates, lengths)
    for row, n in zip(labels.tolist(), lengths.tolist(), strict=True):
        names = [roles[label] for label in row[:n]]
        assert spans_to_bio(bio_to_spans(names), n) == names
        assert all(names.count(f"B-ARG{k}") < 2 for k in range(3))


def test_what_is_a_core_role() -> None:
    core = [f"{name}{k}" for name in ("ARG", "A") for k in "012345A"]
    other = ["V", "C-ARG1", "R-A0", "ARGM-TMP", "AM-LOC", "ARG1-DSP", "ARG6", "C-V"]
    labels = ["O", *(f"B-{name}" for name in [*core, *other]), "I-ARG0"]
    assert [labels[k] for k in RoleDecoder(labels, unique=True).unique] == labels[1:15]
    assert not len(RoleDecoder(labels).unique)


@pytest.mark.parametrize("decoder", DECODERS)
def test_frames_have_one_verb_whatever_the_weights(decoder: str) -> None:
    nlp = srl_pipeline(decoder=decoder)
    trained(nlp, steps=0)
    # whatever is asked for is a predicate
    doc = frames_doc(nlp, 1, heads=False, frames=False)
    set_frames(doc, [FrameSpans(i, "", [(i, i + 1, "V")]) for i in range(7)])
    pipe_of(nlp).predicate_source = "doc"
    frames = get_frames(nlp(doc))
    assert [frame.predicate.i for frame in frames] == list(range(7))
    for frame in frames:
        ends = [0, *(span.end for span in frame.spans)]
        assert all(end <= span.start for end, span in zip(ends, frame.spans, strict=False))
        at = [span.label_ for span in frame.spans if span.start <= frame.predicate.i < span.end]
        assert at in (["V"], ["C-V"])


# Training


def predictions(pipe: LisaSRL, examples: list[Example]) -> ParserScores[LisaScores]:
    docs = [example.predicted for example in examples]
    scores = pipe.model.predict(LisaInput(docs))
    return ParserScores(scores.sentences, list(scores.batches))


@pytest.mark.parametrize(("paths", "own"), [(False, 0.5), (True, 0.0)])
def test_gradient_of_the_loss_by_finite_differences(paths: bool, own: float) -> None:
    nlp = srl_pipeline(
        {"input_encoder": TINY["input_encoder"], "role_paths": paths},
        predicted_path_rate=own,
        joint_weight=0.7,
        arc_weight=0.3,
        relation_weight=1.3,
        role_weight=0.9,
        tag_weight=0.6,
    )
    examples = frames_examples(nlp)
    nlp.initialize(lambda: examples)
    pipe = pipe_of(nlp)
    scores = predictions(pipe, examples)
    for batch in scores.batches:
        batch.scores = LisaScores._make(None if s is None else s.double() for s in batch.scores)
    _, d_scores = pipe.get_loss(examples, scores)
    generator = torch.Generator().manual_seed(0)
    for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
        for values, gradient in zip(batch.scores, d_batch.scores, strict=True):
            if values is None:
                assert not paths
                continue
            direction = torch.randn(values.shape, generator=generator, dtype=values.dtype)
            step = 1e-5
            values += step * direction
            above, _ = pipe.get_loss(examples, scores)
            values -= 2 * step * direction
            below, _ = pipe.get_loss(examples, scores)
            values += step * direction
            expected = (above - below) / (2 * step)
            assert float((gradient * direction).sum()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    "weight", ["joint_weight", "arc_weight", "relation_weight", "role_weight", "tag_weight"]
)
def test_weights_are_of_their_own_loss(nlp: Language, weight: str) -> None:
    """The loss is linear in each weight, and its part for roles that of the scores alone."""
    fields = {
        "joint_weight": {"joint"},
        "arc_weight": {"arcs"},
        "relation_weight": {"dependent", "head", "relation_weight"},
        "role_weight": {"predicate", "role", "role_weight"},
        "tag_weight": {"tags"},
    }
    pipe = pipe_of(nlp)
    examples = frames_examples(nlp)
    scores = predictions(pipe, examples)
    if weight == "tag_weight":
        for batch in scores.batches:
            shape = (*batch.scores.joint.shape[:2], len(pipe.tags))
            batch.scores = batch.scores._replace(tags=torch.zeros(shape))
    with pytest.MonkeyPatch.context() as patch:
        for name in fields:
            patch.setattr(pipe, name, float(name == weight))
        loss, d_scores = pipe.get_loss(examples, scores)
        patch.setattr(pipe, weight, 2.0)
        twice, _ = pipe.get_loss(examples, scores)
    assert loss > 0
    assert twice == pytest.approx(2 * loss, rel=1e-5)
    moved = {
        name
        for batch in d_scores.batches
        for name, gradient in batch.scores._asdict().items()
        if gradient is not None and gradient.any()
    }
    assert moved == fields[weight]


def words_of(scores: ParserScores[LisaScores]) -> Iterator[tuple[int, LisaScores, int, int]]:
    """The Doc of every sentence, its batch's scores, its row there and its length."""
    for batch in scores.batches:
        for row, (member, n) in enumerate(zip(batch.members, batch.lengths.tolist(), strict=True)):
            yield scores.sentences[member].doc, batch.scores, row, n


def test_partial_gold_trains_what_it_can(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO, "spacy")
    nlp = srl_pipeline({"input_encoder": TINY["input_encoder"]})
    examples = frames_examples(nlp)
    references = [example.reference for example in examples]
    del references[0].spans["srl"]
    for token in references[1]:
        token.tag_ = ""
    for token in references[2]:
        token.dep_ = ""
    references[4][0].dep_ = "unheard-of"
    references[4][3].tag_ = "UNHEARD-OF"
    nlp.initialize(lambda: examples)
    assert "1 of 5 training Docs have no frames" in caplog.text
    assert "1 of 5 training Docs have no heads" in caplog.text
    pipe = pipe_of(nlp)
    # as if they were not there when the labels were collected
    pipe.cfg["relations"].remove("unheard-of")
    pipe.cfg["tags"].remove("UNHEARD-OF")
    pipe.cfg["roles"][pipe.cfg["roles"].index("B-ARG1")] = "B-X"
    _, d_scores = pipe.get_loss(examples, predictions(pipe, examples))
    joint = pipe.cfg["joint"]
    assert "NN/False" in joint
    assert "IN/False" not in joint
    for d, of, row, n in words_of(d_scores):
        assert bool(of.predicate[row].any()) == bool(of.role[row].any()) == (d in (1, 2, 4))
        assert not of.joint[row, n:].any()
        for i in range(n):
            assert bool(of.tags[row, i].any()) == (d != 1 and (d, i) != (4, 3))
            # a tag of a Doc without frames need not be in any joint label
            known = d > 0 or any(label.startswith(f"{references[0][i].tag_}/") for label in joint)
            assert bool(of.joint[row, i].any()) == known
            assert bool(of.arcs[row, i].any()) == (d != 2)
            assert bool(of.dependent[row, i].any()) == (d != 2 and (d, i) != (4, 0))
    _, without = pipe.get_loss(examples[:1], predictions(pipe, examples[:1]))
    for _, of, _, _ in words_of(without):
        assert not of.role_weight.any()
    assert numpy.isfinite(nlp.update(examples)["lisa_srl"])


def test_no_predicates_is_told_from_no_frames() -> None:
    """Doc 0 is annotated and has no predicate, doc 1 is not annotated: its predicates are free."""
    nlp = trained(srl_pipeline(), steps=1)
    pipe = pipe_of(nlp)
    examples = frames_examples(nlp)[:2]
    set_frames(examples[0].reference, [])
    del examples[1].reference.spans["srl"]
    for example in examples:
        example.reference = Doc(nlp.vocab).from_bytes(example.reference.to_bytes())
    _, d_scores = pipe.get_loss(examples, predictions(pipe, examples))
    is_predicate = torch.tensor([label.endswith("/True") for label in pipe.cfg["joint"]])
    tag_of = [label.rpartition("/")[0] for label in pipe.cfg["joint"]]
    for d, of, row, n in words_of(d_scores):
        assert not of.role[row].any()
        assert not of.predicate[row].any()
        for i in range(n):
            gradient = of.joint[row, i]
            own = torch.tensor([tag == examples[d].reference[i].tag_ for tag in tag_of])
            right = own & ~is_predicate if d == 0 else own  # doc 1: the tag, either way
            assert bool((gradient[~right] > 0).all()) == bool(right.any())
            assert bool((gradient[right] < 0).all())


def test_unknown_roles_are_no_gold(nlp: Language) -> None:
    doc = frames_doc(nlp, 0)
    index = {"O": 0, "B-V": 1, "B-ARG2": 2, "I-ARG1": 3}
    (frame,) = gold_frames(Example(bare(nlp, doc), doc), "srl")
    (sentence,) = Reading().split([doc])
    assert role_labels(frame, sentence, index) == [-1, 3, 1, 2, -1, -1, 0]


def test_training_without_heads() -> None:
    nlp = trained(srl_pipeline(), steps=2, heads=False)
    assert pipe_of(nlp).relations == ()
    doc = nlp("The cat sat.")
    assert not doc.has_annotation("DEP")
    assert nlp.evaluate(frames_examples(nlp))["srl_f"] is not None


def test_training_without_tags() -> None:
    nlp = srl_pipeline()
    examples = frames_examples(nlp)
    for example in examples:
        for token in example.reference:
            token.tag_ = ""
    spacy.util.fix_random_seed(0)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(40):
        nlp.update(examples, sgd=optimizer)
    assert pipe_of(nlp).cfg["joint"] == ["/False", "/True"]
    for example in examples:
        doc = nlp(example.predicted)
        assert spans_of(doc) == spans_of(example.reference)
        assert not doc.has_annotation("TAG")


def test_tags_and_frames_of_different_docs() -> None:
    nlp = srl_pipeline()
    examples = frames_examples(nlp)
    for example in examples[:2]:
        del example.reference.spans["srl"]
    for example in examples[2:]:
        for token in example.reference:
            token.tag_ = ""
    nlp.initialize(lambda: examples)
    pipe = pipe_of(nlp)
    assert len(pipe.tags) == 7
    assert set(pipe.cfg["joint"]) == {f"{tag}/{p}" for tag in pipe.tags for p in (False, True)}
    _, d_scores = pipe.get_loss(examples, predictions(pipe, examples))
    assert all(of.joint[row, :n].any(-1).all() for _, of, row, n in words_of(d_scores))


def test_frames_of_mismatched_tokens() -> None:
    nlp = srl_pipeline()
    reference = frames_doc(nlp, 1)  # She ate the fish that swam .
    predicted = Doc(
        nlp.vocab,
        words=["She", "\n", "at", "e", "the", "fish that", "swam", "."],
        spaces=[True, False, False, True, True, True, False, False],
        sent_starts=[True] + [False] * 7,
    )
    example = Example(predicted, reference)
    nlp.initialize(lambda: [example])
    index = {name: k for k, name in enumerate(pipe_of(nlp).cfg["roles"])}
    (sentence,) = Reading().split([predicted])
    # "ate" is two tokens, both of them V; "fish that" ends ARG0 and R-ARG0 where no token ends
    ate, swam = gold_frames(example, "srl")
    assert (ate.predicate, swam.predicate) == (2, 6)
    found = role_labels(ate, sentence, index)
    assert found == [
        index["B-ARG0"],
        index["B-V"],
        -1,  # I-V: no such label in the data
        index["B-ARG1"],
        index["I-ARG1"],
        index["I-ARG1"],
        0,
    ]
    assert role_labels(swam, sentence, index) == [0, 0, 0, -1, -1, index["B-V"], 0]
    assert numpy.isfinite(nlp.update([example])["lisa_srl"])
    assert nlp.evaluate([example])["srl_f"] is not None


def test_labels_can_be_given(nlp: Language) -> None:
    """`label_data` is what `initialize` takes; transitions are those of what it sees."""
    data = pipe_of(nlp).label_data
    assert set(data) == {"joint", "relations", "roles", "tags"}
    other = srl_pipeline()
    other.config["initialize"]["components"] = {"lisa_srl": {"labels": data}}
    assert pipe_of(other).cfg["transitions"] == []
    other.initialize(lambda: frames_examples(other))
    assert pipe_of(other).label_data == data
    assert pipe_of(other).cfg["transitions"] == pipe_of(nlp).cfg["transitions"]
    # of what is there: of this sentence "O O"
    other.initialize(lambda: frames_examples(other)[2:3])
    assert pipe_of(other).label_data == data
    roles = data["roles"]
    named = {
        (roles[before] if before >= 0 else "", roles[after]): count
        for before, after, count in pipe_of(other).cfg["transitions"]
    }
    assert named == dict.fromkeys(pairwise(["", "B-V", "B-ARG1", "I-ARG1", "B-C-V", "O"]), 1)


def test_joint_labels_need_not_be_given(nlp: Language) -> None:
    other = srl_pipeline()
    given = {"roles": pipe_of(nlp).cfg["roles"], "tags": ["NN", "VB"]}
    other.config["initialize"]["components"] = {"lisa_srl": {"labels": given}}
    other.initialize(lambda: frames_examples(other))
    joint = ["NN/False", "NN/True", "VB/False", "VB/True"]
    assert pipe_of(other).label_data == {**given, "joint": joint, "relations": []}
    assert {token.tag_ for token in other(TEXT)} <= {"NN", "VB", ""}


# What is refused


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"roles": []}, "the labels given to 'lisa_srl' have no roles"),
        ({"tags": ["NN"]}, "the labels given to 'lisa_srl' have no roles"),
        ({"roles": ["O"], "joint": ["NN/False"]}, "none of the joint labels .* is of a predicate"),
    ],
)
def test_useless_labels_are_refused(labels: dict[str, list[str]], message: str) -> None:
    nlp = srl_pipeline()
    nlp.config["initialize"]["components"] = {"lisa_srl": {"labels": labels}}
    with pytest.raises(ValueError, match=message):
        nlp.initialize(lambda: frames_examples(nlp))


def test_training_data_without_frames_say_so() -> None:
    nlp = srl_pipeline()
    with pytest.raises(ValueError, match=r"none of the 5 training Docs has frames in .*'srl'"):
        nlp.initialize(lambda: frames_examples(nlp, frames=False))
    empty = frames_examples(nlp, frames=False)
    for example in empty:
        set_frames(example.reference, [])
    with pytest.raises(ValueError, match="none of the 5 training Docs has frames"):
        nlp.initialize(lambda: empty)


@pytest.mark.parametrize("setting", ["parse_source", "predicate_source", "decoder"])
def test_unknown_choices_are_named(nlp: Language, setting: str) -> None:
    with pytest.raises(ValueError, match=rf"{setting}\W.*'gold' is not"):
        srl_pipeline(**{setting: "gold"})
    with pytest.raises(ValueError, match=rf"{setting} must be one of \('.*'\), not 'gold'"):
        LisaSRL(nlp, "lisa_srl", pipe_of(nlp).model, **{setting: "gold"}, scorer=None)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"label_smoothing": 1.0}, r"label_smoothing must be at least 0 and below 1, got 1"),
        ({"label_smoothing": -0.1}, r"label_smoothing must be at least 0 and below 1, got -0\.1"),
        ({"predicted_path_rate": 1.01}, r"predicted_path_rate must be from 0 to 1, got 1\.01"),
        ({"model": {"syntax_layer": None, "role_paths": True}}, "needs a syntax_layer"),
        ({"max_sentence_length": 0}, "max_sentence_length must be at least 1"),
        ({"model": {"tag_layer": 0}}, r"tag_layer must be from 1 to 3, got 0"),
        ({"model": {"tag_layer": 4}}, r"tag_layer must be from 1 to 3, got 4"),
        ({"model": {"syntax_layer": 0}}, r"syntax_layer must be from 1 to 3, got 0"),
        ({"model": {"syntax_layer": 4}}, r"syntax_layer must be from 1 to 3, got 4"),
        ({"model": {"syntactic_head": "soft"}}, r"syntactic_head\W.*'soft' is not"),
        (
            {"model": {"syntactic_head": "copied", "syntax_layer": 1}},
            "with syntactic_head = 'copied' syntax_layer must be at least 2",
        ),
    ],
)
def test_settings_without_meaning_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        srl_pipeline(**config)


def test_another_spans_key_is_scored(nlp: Language) -> None:
    other = srl_pipeline(spans_key="roles")
    assert pipe_of(other).cfg["spans_key"] == "roles"
    reference = frames_doc(other, 0, frames=False)
    set_frames(reference, SENTENCES[0][4], key="roles")
    predicted = bare(other, reference)
    set_frames(predicted, SENTENCES[0][4], key="roles")
    assert pipe_of(other).score([Example(predicted, reference)])["srl_f"] == 1.0


def test_settings_are_checked_whenever_they_are_set(nlp: Language) -> None:
    for setting in ("parse_source", "predicate_source", "decoder"):
        with pytest.raises(ValueError, match=f"{setting} must be one of"):
            setattr(pipe_of(nlp), setting, "gold")


def test_an_argument_that_a_sentence_boundary_cuts_is_not_known() -> None:
    nlp = spacy.blank("en")
    reference = frames_doc(nlp, 0)
    predicted = Doc(
        nlp.vocab,
        words=[t.text for t in reference],
        sent_starts=[True, False, False, False, True, False, False],
    )
    (frame,) = gold_frames(Example(predicted, reference), "srl") or []
    labels = {
        name: k for k, name in enumerate(["O", "B-ARG1", "I-ARG1", "B-V", "B-ARG2", "I-ARG2"])
    }
    first, second = Reading("existing").split([predicted])
    assert role_labels(frame, first, labels) == [1, 2, 3, -1]
    assert role_labels(frame, second, labels) == [-1, -1, 0]
