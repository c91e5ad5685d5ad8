"""Two-stage parsers, a CRF over binary trees and then labels, as components of a pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy
import pytest
import safetensors.torch
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_lal.annotations.constituents import get_constituents, set_constituents
from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.bridge.shim import torch_shim, torch_shims
from spacy_lal.bridge.weights import WEIGHTS
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.parsing.network import TwoStageScores
from spacy_lal.structure.chart import unpack
from spacy_lal.structure.distributions import BinaryTrees

from .toy import (
    TINY,
    TRANSFORMER_SPANS,
    TREES,
    TWO_STAGE,
    examples,
    gold_doc,
    predicted,
    tiny_pipeline,
    train,
)

TEXT = "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello"
LONG = ["The", "cat", "sat", ",", "the", "dog", "ate", ",", "she", "ate", "the", "fish", "."]

BRANCHES = {
    **TWO_STAGE,
    "input_encoder": {
        "@misc": "spacy-lal.BranchRows.v1",
        "width": 16,
        "max_length": 160,
        "bilstm": TINY["input_encoder"],
    },
    "encoder": {
        **TINY["encoder"],
        "self_attention_layers": 1,
        "self_attention_heads": 2,
        "self_attention_key_width": 8,
        "feed_forward_width": 32,
        "partition_width": 8,
    },
}
FACTORISED = {**TWO_STAGE["spans"], "label_rank": 6}

# The component and its model
ARRANGEMENTS = {
    "biaffine": ("lal_constituency", TWO_STAGE),
    "branches, halved heads": ("lal_constituency", BRANCHES),
    "branches, half of the heads": (
        "lal_constituency",
        {
            **BRANCHES,
            "encoder": {**BRANCHES["encoder"], "halves": "whole"},
            "spans": FACTORISED,
        },
    ),
    "branches that read words": (
        "lal_constituency",
        {
            **BRANCHES,
            "input_encoder": {**BRANCHES["input_encoder"], "content": "word"},
            "encoder": {**BRANCHES["encoder"], "arrangement": "stack"},
        },
    ),
    "spanformer": ("spanformer", {**TWO_STAGE, "spans": TRANSFORMER_SPANS}),
}


def pipeline(arrangement: str = "biaffine", **config: object) -> Language:
    factory, model = ARRANGEMENTS[arrangement]
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config={"model": model, **config})
    return nlp


@cache
def trained(arrangement: str) -> Language:
    spacy.util.fix_random_seed(0)
    return train(pipeline(arrangement), steps=80)


@pytest.fixture(scope="module", params=ARRANGEMENTS)
def nlp(request: pytest.FixtureRequest) -> Language:
    return trained(request.param)


@pytest.fixture(scope="module")
def biaffine() -> Language:
    return trained("biaffine")


def parser(nlp: Language) -> ConstituencyPipe:
    return nlp.get_pipe(nlp.pipe_names[-1])


def pretokenised(nlp: Language, words: list[str]) -> Doc:
    return Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(len(words))])


def predict(nlp: Language, docs: list[Doc]) -> ParserScores:
    scores = parser(nlp).model.predict(docs)
    return ParserScores(scores.sentences, list(scores.batches))


def rows_of(scores: ParserScores) -> Iterator[tuple[int, SentenceBatch, int]]:
    """The Doc of every sentence, its batch and its row there."""
    for batch in scores.batches:
        for row, member in enumerate(batch.members):
            yield scores.sentences[member].doc, batch, row


def same_results(found: Doc, expected: Doc) -> None:
    """The same trees, as probable, of constituents as probable.

    A tree's log-probability is the difference of two sums that may be large.
    """
    assert get_constituents(found) == get_constituents(expected)
    assert [str(tree) for tree in found._.trees] == [str(tree) for tree in expected._.trees]
    for mine, theirs in zip(found._.trees, expected._.trees, strict=True):
        assert mine.log_prob == pytest.approx(theirs.log_prob, abs=2e-3)
    scores = expected.spans["constituents"].attrs["scores"]
    assert found.spans["constituents"].attrs["scores"] == pytest.approx(scores, abs=1e-3)


def well_formed(doc: Doc) -> None:
    """Every tree holds its sentence's words, and has a probability if there are any."""
    assert [word for tree in doc._.trees for word in tree.leaves] == [
        token.text for token in doc if not token.is_space
    ]
    for tree in doc._.trees:
        assert (tree.log_prob is not None) == bool(tree.leaves)
        assert tree.log_prob is None or tree.log_prob <= 0
    scores = doc.spans["constituents"].attrs["scores"]
    assert len(scores) == len(doc.spans["constituents"])
    assert all(0 <= score < 1.0001 for score in scores)


# What they learn


@pytest.mark.parametrize(
    "decoder",
    [MinimumBayesRisk(), MinimumBayesRisk(threshold=None), MaximumAPosteriori()],
    ids=["mbr", "mbr without threshold", "map"],
)
def test_learns_its_training_trees(
    nlp: Language, decoder: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parser(nlp), "decoder", decoder)
    assert [predicted(nlp, tree) for tree in TREES] == TREES
    scores = nlp.evaluate(examples(nlp))
    for name in ("const_evalb_f", "spans_constituents_f", "tag_acc"):
        assert scores[name] == 1.0, name


def test_the_default_spanformer_is_trainable() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("spanformer")
    of_training = examples(nlp)[1:4]
    optimizer = nlp.initialize(lambda: of_training)
    losses = [nlp.update(of_training, sgd=optimizer, drop=0.1)["spanformer"] for _ in range(3)]
    assert losses[-1] < losses[0]
    well_formed(nlp("Hello there"))


# Any text


def test_text_that_is_no_sentence(nlp: Language) -> None:
    assert nlp("")._.trees == []
    assert str(nlp("Hello")._.trees[0]) == TREES[3]
    for text in (" ", "\n\n", "\t \n"):
        doc = nlp(text)
        assert list(doc.spans["constituents"]) == []
        well_formed(doc)


def test_whitespace_makes_no_difference(nlp: Language) -> None:
    (plain,) = nlp(pretokenised(nlp, ["She", "ate", "the", "fish", "."]))._.trees
    doc = nlp(pretokenised(nlp, ["\n", "She", " ", "ate", "\n", "the", "fish", ".", " "]))
    (spaced,) = doc._.trees
    assert spaced == plain
    assert spaced.log_prob == pytest.approx(plain.log_prob, abs=2e-3)


@pytest.mark.parametrize(
    "words",
    [
        ["Don't", "😀😀", "http://x.y/(z)", "(", "-LRB-", "\u00a0", "''"],
        [*["cat", "dog", "the"] * 50],
    ],
    ids=["odd", "150 words"],
)
def test_sentences_unlike_the_treebank(nlp: Language, words: list[str]) -> None:
    doc = nlp(pretokenised(nlp, words))
    assert len(doc._.trees) == 1
    well_formed(doc)


def test_a_sentence_that_is_too_long(biaffine: Language, tmp_path: Path) -> None:
    biaffine.to_disk(tmp_path)

    def limited(policy: str) -> Language:
        settings = {"max_sentence_length": 10, "long_sentences": policy}
        return spacy.load(tmp_path, config={"components": {"lal_constituency": settings}})

    split = limited("split")
    doc = split(pretokenised(split, LONG))
    well_formed(doc)
    assert len(doc._.trees) == 1
    assert all(end - start <= 10 for start, end, _ in get_constituents(doc))
    flat = limited("flat")
    doc = flat(pretokenised(flat, LONG))
    assert get_constituents(doc) == []
    (tree,) = doc._.trees
    assert (tree.leaves, tree.log_prob) == (LONG, None)
    strict = limited("error")
    with pytest.raises(ValueError, match="13 words, but max_sentence_length is 10"):
        strict(pretokenised(strict, LONG))


# Batches


BATCH = [
    ["She", "ate", "the", "fish", "."],
    [],
    ["Hello"],
    ["\n"],
    ["zebra", "\n", "zebra", "on"],
    LONG,
    ["Hello"],
]


def test_a_doc_does_not_depend_on_its_batch(nlp: Language) -> None:
    docs = [pretokenised(nlp, words) for words in BATCH]
    together = predict(nlp, docs)
    assert len(together.batches) == 1
    seen = set()
    for d, batch, row in rows_of(together):
        seen.add(d)
        n = int(batch.lengths[row])
        ((_, alone, only),) = rows_of(predict(nlp, [docs[d]]))
        ours, theirs = batch.scores, alone.scores
        chart = unpack(ours.spans, ours.tags.shape[1])[row, : n + 1, : n + 1]
        for mine, expected in (
            (ours.tags[row, :n], theirs.tags[only]),
            (ours.left[row, : n + 1], theirs.left[only]),
            (ours.right[row, : n + 1], theirs.right[only]),
            (chart, unpack(theirs.spans, n)[only]),
            (
                BinaryTrees(ours.spans, batch.lengths).log_partition[row],
                BinaryTrees(theirs.spans, alone.lengths).log_partition[only],
            ),
        ):
            torch.testing.assert_close(mine, expected, atol=1e-4, rtol=1e-4)
    assert seen == {0, 2, 4, 5, 6}


def test_small_batches_give_the_same(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [TEXT, "", "Hello", "Go home!", "A dog with a bone"]
    expected = list(nlp.pipe(texts))
    monkeypatch.setitem(parser(nlp).model.attrs, "max_batch_spans", 1)
    assert len(predict(nlp, expected).batches) == 7
    for doc, other in zip(nlp.pipe(texts), expected, strict=True):
        same_results(doc, other)


def test_pipe_is_repeated_call(nlp: Language) -> None:
    texts = [TEXT, "", "Hello", "Go home!", " ", "A dog with a bone"] * 2
    for text, doc in zip(texts, nlp.pipe(texts, batch_size=5), strict=True):
        same_results(doc, nlp(text))


# Storage


def from_disk(nlp: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    tensors = safetensors.torch.load_file(folder / nlp.pipe_names[-1] / WEIGHTS)
    modules = [shim.module for _, shim in torch_shims(parser(nlp).model)]
    assert len(tensors) == sum(len(module.state_dict()) for module in modules)
    return spacy.load(folder)


def from_bytes(nlp: Language, folder: Path) -> Language:
    return spacy.blank("en").from_config(nlp.config).from_bytes(nlp.to_bytes())


@pytest.mark.parametrize("stored", [from_disk, from_bytes])
def test_stored_and_read_again(nlp: Language, tmp_path: Path, stored: Callable) -> None:
    other = stored(nlp, tmp_path)
    assert parser(other).label_data == parser(nlp).label_data
    same_results(other(TEXT), nlp(TEXT))


def test_docbin_round_trip(nlp: Language) -> None:
    docs = list(nlp.pipe([TEXT, "Go home!", "\n She ate \n"]))
    data = DocBin(docs=docs).to_bytes()
    again = DocBin().from_bytes(data).get_docs(spacy.blank("en").vocab)
    for doc, other in zip(again, docs, strict=True):
        same_results(doc, other)
        same_results(Doc(nlp.vocab).from_bytes(other.to_bytes()), other)


# Training


def test_missing_gold_trains_the_rest() -> None:
    """Doc 0 has no tree, doc 1 a label of its own, doc 3 a tree of words alone."""
    nlp = train(pipeline(), steps=1)
    of_training = examples(nlp)
    del of_training[0].reference.spans["constituents"]
    set_constituents(of_training[1].reference, [(0, 5, "S"), (0, 1, "NEW"), (2, 4, "NP")])
    set_constituents(of_training[3].reference, [])
    pipe = parser(nlp)
    scores, _ = pipe.model.begin_update([eg.predicted for eg in of_training])
    loss, d_scores = pipe.get_loss(of_training, scores)
    assert numpy.isfinite(loss)
    seen = set()
    for d, batch, row in rows_of(d_scores):
        seen.add(d)
        of, n = batch.scores, int(batch.lengths[row])
        for gradient in (of.spans, of.left, of.right):
            # there is one binary tree of up to two words, whatever its score
            counts = d > 1 and (n > 2 or gradient is not of.spans)
            assert bool(gradient[row].any()) == counts, d
        assert bool(of.tags[row, :n].any(-1).all())
        # nothing of a sentence's gradient goes beyond it
        assert not unpack(of.spans, of.tags.shape[1])[row, :, n + 1 :].any()
        assert not of.left[row, n + 1 :].any()
        assert not of.right[row, n + 1 :].any()
    assert seen == set(range(len(TREES)))
    assert numpy.isfinite(nlp.update(of_training)["lal_constituency"])


def test_without_any_tree_only_tags_train() -> None:
    nlp = pipeline()
    train(nlp, steps=1)
    of_training = examples(nlp)
    for example in of_training:
        del example.reference.spans["constituents"]
    pipe = parser(nlp)
    scores, _ = pipe.model.begin_update([eg.predicted for eg in of_training])
    _, d_scores = pipe.get_loss(of_training, scores)
    for batch in d_scores.batches:
        of = batch.scores
        assert bool(of.tags.any())
        assert not any(bool(d.any()) for d in (of.spans, of.left, of.right, of.weight))


def test_training_data_without_trees_say_so() -> None:
    nlp = pipeline("spanformer")
    of_training = examples(nlp)
    for example in of_training:
        del example.reference.spans["constituents"]
    with pytest.raises(ValueError, match=r"spacy-lal\.Corpus\.v1"):
        nlp.initialize(lambda: of_training)


@pytest.mark.parametrize("spans", [TWO_STAGE["spans"], FACTORISED], ids=["full", "factorised"])
def test_gradient_of_the_loss_by_finite_differences(spans: dict) -> None:
    # small batches: the labels' weight is among the scores of each
    model = {**TWO_STAGE, "spans": spans, "max_batch_spans": 40}
    nlp = train(pipeline(model=model, constituency_weight=0.7, tag_weight=1.3), steps=5)
    of_training = examples(nlp)
    del of_training[0].reference.spans["constituents"]
    pipe = parser(nlp)
    scores = predict(nlp, [eg.predicted for eg in of_training])
    assert len(scores.batches) > 2
    for batch in scores.batches:
        batch.scores = TwoStageScores(*(None if s is None else s.double() for s in batch.scores))
    _, d_scores = pipe.get_loss(of_training, scores)
    generator = torch.Generator().manual_seed(0)
    step = 1e-5
    for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
        checked = set()
        for name, values in batch.scores._asdict().items():
            if values is None:
                continue
            checked.add(name)
            gradient = getattr(d_batch.scores, name)
            direction = torch.randn(values.shape, generator=generator, dtype=values.dtype)
            values += step * direction
            above, _ = pipe.get_loss(of_training, scores)
            values -= 2 * step * direction
            below, _ = pipe.get_loss(of_training, scores)
            values += step * direction
            expected = (above - below) / (2 * step)
            assert float((gradient * direction).sum()) == pytest.approx(expected, abs=1e-6)
        assert checked == {"tags", "spans", "left", "right", "weight"}


@pytest.mark.parametrize("arrangement", ["biaffine", "spanformer"])
def test_begins_with_the_encoder_of_a_one_stage_parser(arrangement: str, tmp_path: Path) -> None:
    spacy.util.fix_random_seed(0)
    model = {**TINY, "encoder": TWO_STAGE["encoder"]}
    source = train(tiny_pipeline(model=model), steps=20)
    source.to_disk(tmp_path)
    nlp = pipeline(arrangement)
    nlp.config["initialize"]["components"] = {nlp.pipe_names[-1]: {"warm_start": str(tmp_path)}}
    nlp.initialize(lambda: examples(nlp))
    mine, theirs = (torch_shims(parser(each).model) for each in (nlp, source))
    taken = 0
    for (_, shim), (_, other) in zip(mine, theirs, strict=True):
        given = other.tensors()
        for name, value in shim.tensors().items():
            if not name.startswith(("spans.", "labels.")):
                torch.testing.assert_close(value, given[name], rtol=0, atol=0)
                taken += 1
    assert taken > 20
    # tags come from what was taken over
    doc = nlp(pretokenised(nlp, ["She", "ate", "the", "fish", "."]))
    gold = gold_doc(source, TREES[1])
    expected = source(pretokenised(source, ["She", "ate", "the", "fish", "."]))
    assert [t.tag_ for t in doc] == [t.tag_ for t in expected] == [t.tag_ for t in gold]


# Without tags


@pytest.fixture(scope="module")
def untagged() -> Language:
    """A parser that predicts no tags, trained on Docs that have them."""
    spacy.util.fix_random_seed(0)
    rows = {**TINY["input_encoder"], "tag_depth": 0}
    return train(pipeline(model={**TWO_STAGE, "input_encoder": rows}), steps=80)


def test_a_parser_without_tags_learns_trees_and_writes_no_tags(untagged: Language) -> None:
    pipe = parser(untagged)
    assert pipe.tags == ()
    assert pipe.label_data["tags"] == []
    assert not any("tag" in name for name in torch_shim(pipe.model).tensors())
    scores = untagged.evaluate(examples(untagged))
    assert scores["const_evalb_f"] == scores["spans_constituents_f"] == 1.0
    doc = untagged(TEXT)
    well_formed(doc)
    assert not doc.has_annotation("TAG")
    assert doc.has_annotation("SENT_START")
    assert {tag for tree in doc._.trees for _, tag in tree.tagged} == {"XX"}
    # a tree's leaves have the tags that another component wrote
    tagged = gold_doc(untagged, TREES[1])
    del tagged.spans["constituents"]
    assert str(untagged(tagged)._.trees[0]) == TREES[1]
    best = pipe.kbest(pretokenised(untagged, ["Go", "home", "!"]), 2)[0]
    assert [tag for _, tag in best[0].tagged] == ["XX"] * 3


@pytest.mark.parametrize("stored", [from_disk, from_bytes])
def test_a_parser_without_tags_is_stored(
    untagged: Language, tmp_path: Path, stored: Callable
) -> None:
    other = stored(untagged, tmp_path)
    assert parser(other).label_data == parser(untagged).label_data
    same_results(other(TEXT), untagged(TEXT))


def test_a_parser_without_tags_leaves_tags_out_of_given_labels(
    biaffine: Language, untagged: Language
) -> None:
    nlp = pipeline(model=untagged.get_pipe_config("lal_constituency")["model"])
    labels = parser(biaffine).label_data
    assert labels["tags"]
    parser(nlp).initialize(lambda: examples(nlp), labels=labels)
    assert parser(nlp).label_data == {**labels, "tags": []}


# What is refused


def test_margins_are_refused() -> None:
    with pytest.raises(ValueError, match="two-stage parser is trained as a CRF"):
        pipeline(
            objective={"@misc": "spacy-lal.margin_objective.v1"},
            decoder={"@misc": "spacy-lal.map_decoder.v1"},
        )


@pytest.mark.parametrize(
    "model",
    [TWO_STAGE, {**TINY, "@architectures": "spacy-lal.LabelAttentionParser.v1"}],
    ids=["biaffine", "one stage"],
)
def test_spanformer_needs_spans_that_attend(model: dict) -> None:
    with pytest.raises(ValueError, match=r"'spanformer' needs .*spacy-lal\.TransformerSpans\.v1"):
        spacy.blank("en").add_pipe("spanformer", config={"model": model})


def test_settings_without_meaning_are_refused() -> None:
    rows = {**BRANCHES["input_encoder"], "content": "tags"}
    with pytest.raises(ValueError, match=r"content\W.*'tags' is not"):
        pipeline(model={**BRANCHES, "input_encoder": rows})
    with pytest.raises(ValueError, match="layers must not be negative"):
        pipeline("spanformer", model={**TWO_STAGE, "spans": {**TRANSFORMER_SPANS, "layers": -1}})
