"""`lal_dependency`, as its users meet it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.parsing.gold_trees import gold_heads
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.structure.arborescence import is_projective

from .toy import (
    bare_doc,
    check_heads,
    dependency_pipeline,
    headed_doc,
    headed_examples,
    offsets,
    tiny_pipeline,
    train_on,
)

TEXT = "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello"
DECODERS = ["projective", "nonprojective", "greedy"]


def crossing_doc(nlp: Language) -> Doc:
    """ "on the issue" hangs on "hearing", across the verb."""
    return Doc(
        nlp.vocab,
        words=["A", "hearing", "is", "scheduled", "on", "the", "issue", "today", "."],
        tags=["DT", "NN", "VBZ", "VBN", "IN", "DT", "NN", "NN", "."],
        heads=offsets([2, 4, 4, 0, 7, 7, 2, 4, 4]),
        deps=["det", "nsubj", "aux", "ROOT", "case", "det", "nmod", "obl", "punct"],
    )


def dependency_examples(nlp: Language) -> list[Example]:
    crossing = crossing_doc(nlp)
    return [*headed_examples(nlp), Example(bare_doc(nlp, crossing), crossing)]


@pytest.fixture(scope="module")
def nlp() -> Language:
    spacy.util.fix_random_seed(0)
    nlp = dependency_pipeline()
    return train_on(nlp, dependency_examples(nlp), steps=80)


def heads(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


def results(doc: Doc) -> tuple[list[tuple[int, str]], list[int], list[str]]:
    starts = [sentence.start for sentence in doc.sents] if len(doc) else []
    return heads(doc), starts, [token.tag_ for token in doc]


def test_learns_heads_relations_and_tags(nlp: Language) -> None:
    for example in dependency_examples(nlp):
        doc = nlp(example.predicted)
        assert results(doc) == results(example.reference)
        check_heads(doc)
    assert "constituents" not in doc.spans


def test_scores_of_gold_are_perfect(nlp: Language) -> None:
    scores = nlp.evaluate(dependency_examples(nlp))
    for name in ("dep_uas", "dep_las", "conll18_las", "ptb_uas", "ptb_las", "tag_acc", "sents_f"):
        assert scores[name] == 1.0, name
    assert scores["dep_nonproj"] == scores["dep_nonproj_pred"] == 1


# Decoders


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_by_config(nlp: Language, tmp_path: Path, decoder: str) -> None:
    nlp.to_disk(tmp_path)
    other = spacy.load(tmp_path, config={"components": {"lal_dependency": {"decoder": decoder}}})
    assert other.get_pipe("lal_dependency").decoder == decoder
    projective = [
        is_projective([0 if h == i else h + 1 for i, (h, _) in enumerate(heads(doc))])
        for doc in (other(example.predicted) for example in dependency_examples(other))
    ]
    assert projective == [True] * 8 + [decoder == "projective"]
    check_heads(other(TEXT))


def test_an_unknown_decoder_is_named() -> None:
    with pytest.raises(ValueError, match=r"(?s)decoder.*'nonprojective'"):
        dependency_pipeline(decoder="mst")


@pytest.mark.parametrize("decoder", DECODERS)
@settings(max_examples=10, deadline=None)
@given(
    words=st.lists(st.sampled_from(["a", "cat", "sat", ".", "\n", " "]), min_size=1, max_size=30),
    starts=st.sets(st.integers(1, 29), max_size=4),
    seed=st.integers(0, 3),
)
def test_sentences_are_trees_whatever_the_scores(
    nlp: Language, decoder: str, words: list[str], starts: set[int], seed: int
) -> None:
    doc = Doc(
        nlp.vocab, words=words, sent_starts=[k == 0 or k in starts for k in range(len(words))]
    )
    before = [bool(token.is_sent_start) for token in doc]
    annotate(nlp, doc, decoder, seed)
    assert [bool(token.is_sent_start) for token in doc] == before
    check_heads(doc)


def annotate(nlp: Language, doc: Doc, decoder: str, seed: int) -> None:
    """As the component does, with random arcs of wild sizes in place of the model's."""
    generator = torch.Generator().manual_seed(seed)

    def wild(batch: SentenceBatch) -> torch.Tensor:
        return 30 * torch.randn(batch.scores.arcs.shape, generator=generator)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nlp.get_pipe("lal_dependency"), "decoder", decoder)
        annotate_with(nlp, doc, wild)


def annotate_with(
    nlp: Language, doc: Doc, arcs_of: Callable[[SentenceBatch], torch.Tensor]
) -> None:
    pipe = nlp.get_pipe("lal_dependency")
    predicted = pipe.model.predict([doc])
    batches = list(predicted.batches)
    for batch in batches:
        batch.scores = batch.scores._replace(arcs=arcs_of(batch))
    scores = ParserScores(predicted.sentences, batches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipe.model, "_func", lambda *_, **__: (scores, None))
        parses = pipe.predict([doc])
    pipe.set_annotations([doc], parses)


def test_sentences_stay_where_spacy_loses_sight_of_them(nlp: Language) -> None:
    """A chain that jumps to and fro over 80 words: spaCy stops looking for its left edge."""
    n = 80
    order = numpy.random.default_rng(1).permutation(n).tolist()
    chain = dict(zip(order, [order[0], *order], strict=False))
    heads_of_chain = [chain[word] for word in range(n)]
    plain = Doc(nlp.vocab, words=["cat"] * n, heads=heads_of_chain, deps=["dep"] * n)
    assert len(list(plain.sents)) > 1  # else spaCy has mended it, and we need not

    def chained(batch: SentenceBatch) -> torch.Tensor:
        arcs = torch.zeros_like(batch.scores.arcs)
        for row in (batch.lengths == n).nonzero().flatten().tolist():
            for word, head in enumerate(heads_of_chain):
                arcs[row, word, 0 if head == word else head + 1] = 9.0
        return arcs

    starts = [k in (0, 1) for k in range(n + 1)]
    doc = Doc(nlp.vocab, words=["Hello"] + ["cat"] * n, sent_starts=starts)
    annotate_with(nlp, doc, chained)
    (read,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(nlp.vocab)
    for each in (doc, read, Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        assert [sentence.start for sentence in each.sents] == [0, 1]
        check_heads(each)
        found = [token.head.i - 1 for token in each[1:]]
        # the first word hangs on the root, all others where the decoder put them
        assert found == [order[0], *heads_of_chain[1:]]


def test_a_long_sentence_of_an_untrained_model() -> None:
    spacy.util.fix_random_seed(3)
    untrained = dependency_pipeline(decoder="nonprojective")
    train_on(untrained, dependency_examples(untrained), steps=0)
    words = [f"{chr(97 + k % 26)}{k}" for k in range(150)]
    doc = untrained(Doc(untrained.vocab, words=words, sent_starts=[k == 0 for k in range(150)]))
    assert len(list(doc.sents)) == 1
    check_heads(doc)


# Texts


def test_whitespace_hangs_on_its_neighbours(nlp: Language) -> None:
    plain = nlp(Doc(nlp.vocab, words=["She", "ate", "the", "fish", "."]))
    spaced = nlp(Doc(nlp.vocab, words=["\n", "She", "  ", "ate", "the", "\n", "fish", ".", " "]))
    check_heads(spaced)
    words = [token for token in spaced if not token.is_space]
    assert [(words.index(t.head), t.dep_) for t in words] == heads(plain)
    assert [spaced[i].head.i for i in (0, 2, 5, 8)] == [1, 1, 4, 7]


def test_sentences_of_the_doc_stay(nlp: Language) -> None:
    words = ["Go", "home", "!", "Hello", "The", "cat", "sat", "."]
    for starts in ({0}, {0, 3}, {0, 2, 3, 7}, set(range(8))):
        doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[k in starts for k in range(8)]))
        assert {sentence.start for sentence in doc.sents} == starts
        check_heads(doc)


def test_sentences_are_found_where_there_are_none(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert [sentence.text.strip() for sentence in doc.sents] == [
        "The cat sat on the mat.",
        "She ate the fish.",
        "Cats and dogs fight.",
        "Hello",
    ]
    check_heads(doc)


def test_sentences_of_a_sentencizer_are_respected(nlp: Language) -> None:
    other = spacy.blank("en")
    other.add_pipe("sentencizer", config={"punct_chars": [";"]})
    other.add_pipe("lal_dependency", source=nlp)
    doc = other("Go home; She ate. Hello\n")
    assert [sentence.text.strip() for sentence in doc.sents] == ["Go home;", "She ate. Hello"]
    check_heads(doc)


def test_reads_the_doc_as_one_sentence(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    config = {"components": {"lal_dependency": {"sentences": "doc"}}}
    whole = spacy.load(tmp_path, config=config)
    for doc in (whole(TEXT), whole(nlp(TEXT + "\n"))):
        assert len(list(doc.sents)) == 1
        check_heads(doc)


@pytest.mark.parametrize("policy", ["split", "flat"])
def test_too_long_a_sentence_is_one_tree(nlp: Language, tmp_path: Path, policy: str) -> None:
    nlp.to_disk(tmp_path)
    config = {"lal_dependency": {"max_sentence_length": 4, "long_sentences": policy}}
    short = spacy.load(tmp_path, config={"components": config})
    words = ["Hello", "The", "\n", "cat", "sat", ",", " ", "the", "dog", "ate", ".", "\n", "Hello"]
    starts = [k in (0, 1, 12) for k in range(len(words))]
    doc = short(Doc(short.vocab, words=words, sent_starts=starts))
    assert [bool(token.is_sent_start) for token in doc] == starts
    check_heads(doc)
    if policy == "flat":
        assert all(t.head.i == 1 for t in doc[1:11] if not t.is_space)


def test_existing_tags_are_kept(nlp: Language) -> None:
    doc = nlp(Doc(nlp.vocab, words=["Go", "home", "!"], tags=["X", "", ""]))
    assert [token.tag_ for token in doc] == ["X", "RB", "."]


def test_existing_heads_are_replaced(nlp: Language) -> None:
    gold = headed_doc(nlp, 0)
    doc = bare_doc(nlp, gold)
    wrong = Doc(nlp.vocab, words=[t.text for t in doc], heads=[6] * 7, deps=["x"] * 7)
    assert heads(nlp(wrong)) == heads(gold)


some_words = st.lists(st.sampled_from(["the", "cat", "sat", ".", "3", "zebra", ","]), max_size=12)


@settings(max_examples=15, deadline=None)
@given(batch=st.lists(some_words, min_size=1, max_size=6))
def test_a_doc_does_not_depend_on_its_batch(nlp: Language, batch: list[list[str]]) -> None:
    # scores, not heads: of two that are worth the same either may be chosen
    model = nlp.get_pipe("lal_dependency").model

    def arcs(texts: list[list[str]]) -> dict[int, torch.Tensor]:
        scores = model.predict(
            [Doc(nlp.vocab, words=ws, sent_starts=[k == 0 for k in range(len(ws))]) for ws in texts]
        )
        return {
            scores.sentences[k].doc: group.scores.arcs[row, :n, : n + 1]
            for group in scores.batches
            for row, (k, n) in enumerate(zip(group.members, group.lengths.tolist(), strict=True))
        }

    together = arcs(batch)
    for d, words in enumerate(batch):
        alone = arcs([words])
        assert (d in together) == (0 in alone)
        if alone:
            # an arc's score is a sum of terms of all sizes: it is rounded as the largest are
            rounding = 2e-5 * max(5.0, float(alone[0].abs().max()))
            torch.testing.assert_close(together[d], alone[0], atol=rounding, rtol=1e-4)


# Storage


def test_beside_a_constituency_parser(nlp: Language) -> None:
    other = spacy.blank("en")
    other.add_pipe("lal_dependency", source=nlp)
    assert results(other(TEXT)) == results(nlp(TEXT))
    other.add_pipe("sentencizer", first=True)
    assert other("Hello. Hello.")[0].dep_ == "ROOT"


# Training


def test_empty_labels_are_refused() -> None:
    nlp = dependency_pipeline()
    nlp.config["initialize"]["components"] = {"lal_dependency": {"labels": {"relations": []}}}
    with pytest.raises(ValueError, match="have no relation"):
        nlp.initialize(lambda: headed_examples(nlp))


def test_partial_gold_trains_what_it_can(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO, "spacy")
    nlp = dependency_pipeline()
    of_training = headed_examples(nlp)
    for token in of_training[0].reference:
        token.dep_ = ""
    of_training[1].reference[2].dep_ = ""
    of_training[4].reference[0].dep_ = "unheard-of"
    for token in of_training[5].reference:
        token.tag_ = ""
    nlp.initialize(lambda: of_training)
    assert "1 of 8 training Docs have no heads and train tags only" in caplog.text
    pipe = nlp.get_pipe("lal_dependency")
    pipe.cfg["relations"].remove("unheard-of")
    scores, _ = pipe.model.begin_update([eg.predicted for eg in of_training])
    _, d_scores = pipe.get_loss(of_training, scores)
    for batch in d_scores.batches:
        for row, member in enumerate(batch.members):
            d = d_scores.sentences[member].doc
            n = int(batch.lengths[row])
            assert bool(batch.scores.tags[row].any()) == (d != 5)
            for word in range(n):
                has_head = d != 0 and (d, word) != (1, 2)
                has_relation = has_head and (d, word) != (4, 0)
                # one word alone has one relation, but two heads to choose from
                assert bool(batch.scores.arcs[row, word].any()) == has_head
                assert bool(batch.scores.governed[row, word].any()) == has_relation
    assert numpy.isfinite(nlp.update(of_training)["lal_dependency"])


def test_heads_of_mismatched_tokens() -> None:
    nlp = dependency_pipeline()
    reference = headed_doc(nlp, 1)  # She ate the fish .
    predicted = Doc(
        nlp.vocab,
        words=["She", "\n", "at", "e", "the", "fish."],
        spaces=[True, False, False, True, True, False],
    )
    example = Example(predicted, reference)
    # "ate" is two tokens, "fish." is two gold tokens: only the head of "the" is known
    gold = gold_heads(example)
    assert gold.heads.tolist() == [-1, -1, -1, -1, 5, -1]
    nlp.initialize(lambda: [example])
    assert numpy.isfinite(nlp.update([example])["lal_dependency"])
    assert "dep_uas" in nlp.evaluate([example])


def test_gold_heads_around_whitespace() -> None:
    nlp = dependency_pipeline()
    reference = headed_doc(nlp, 1)
    predicted = Doc(
        nlp.vocab,
        words=["She", "\n", "ate", "the", "fish", "."],
        spaces=[True, False, True, True, False, False],
    )
    gold = gold_heads(Example(predicted, reference))
    assert gold.heads.tolist() == [2, -1, 2, 4, 2, 2]
    assert gold.relations == ["nsubj", "", "ROOT", "det", "obj", "punct"]


def test_gradient_of_the_loss_by_finite_differences() -> None:
    nlp = dependency_pipeline(arc_weight=0.3, relation_weight=1.3, tag_weight=0.6)
    of_training = dependency_examples(nlp)
    nlp.initialize(lambda: of_training)
    pipe = nlp.get_pipe("lal_dependency")
    predicted = pipe.model.predict([eg.predicted for eg in of_training])
    scores = ParserScores(predicted.sentences, list(predicted.batches))
    for batch in scores.batches:
        batch.scores = OneStageScores(*(None if s is None else s.double() for s in batch.scores))
    _, d_scores = pipe.get_loss(of_training, scores)
    generator = torch.Generator().manual_seed(0)
    for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
        assert batch.scores.labels is None
        assert d_batch.scores.labels is None
        for values, gradient in zip(batch.scores, d_batch.scores, strict=True):
            if values is None:
                continue
            direction = torch.randn(values.shape, generator=generator, dtype=values.dtype)
            step = 1e-5
            values += step * direction
            above, _ = pipe.get_loss(of_training, scores)
            values -= 2 * step * direction
            below, _ = pipe.get_loss(of_training, scores)
            values += step * direction
            expected = (above - below) / (2 * step)
            assert float((gradient * direction).sum()) == pytest.approx(expected, abs=1e-6)


def test_default_component_is_trainable() -> None:
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_dependency")
    of_training = dependency_examples(nlp)[:2]
    optimizer = nlp.initialize(lambda: of_training)
    # thousands of biaffine weights that move as one overshoot at first, if not for a warm-up
    optimizer.learn_rate = 5e-5
    first = nlp.update(of_training, sgd=optimizer, drop=0.1)["lal_dependency"]
    for _ in range(3):
        last = nlp.update(of_training, sgd=optimizer, drop=0.1)["lal_dependency"]
    assert last < first
    check_heads(nlp("Hello there"))


def test_needs_a_model_of_heads() -> None:
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy-lal.LabelAttentionParser.v1",
        **tiny_pipeline().config["components"]["lal_constituency"]["model"],
    }
    with pytest.raises(ValueError, match=r"no `dependencies`.*LabelAttentionDependencyParser\.v1"):
        nlp.add_pipe("lal_dependency", config={"model": model})
