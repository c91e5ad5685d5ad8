"""The joint model of `lal_constituency`: constituents and heads from one decode."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import get_constituents, set_constituents
from spacy_lal.batching.batches import ParserScores, SentenceBatch
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.structure.arborescence import is_projective, mask_padding
from spacy_lal.structure.hpsg import SUB_HEAD

from .contract import copy_of
from .toy import (
    DEPENDENCIES,
    TINY,
    TREES,
    bare_doc,
    check_heads,
    headed_doc,
    headed_examples,
    joint_pipeline,
    parses_of,
    train_on,
)

TEXT = "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello"
LONG = ["The", "cat", "sat", ",", "the", "dog", "ate", ",", "she", "ate", "the", "fish", "."]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return copy_of("joint")


@pytest.fixture(scope="module")
def untrained() -> Language:
    """Random weights: its trees are nobody's."""
    spacy.util.fix_random_seed(1)
    nlp = joint_pipeline(decoder={"@misc": "spacy-lal.map_decoder.v1"})
    return train_on(nlp, headed_examples(nlp), steps=0)


def pretokenised(nlp: Language, words: list[str]) -> Doc:
    return Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(len(words))])


def heads(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


def results(doc: Doc) -> tuple[list[str], list[tuple[int, str]], list[int]]:
    return (
        [str(tree) for tree in doc._.trees],
        heads(doc),
        [sentence.start for sentence in doc.sents] if len(doc) else [],
    )


def predict(nlp: Language, docs: list[Doc]) -> ParserScores:
    scores = nlp.get_pipe("lal_constituency").model.predict(docs)
    return ParserScores(scores.sentences, list(scores.batches))


def check_joint(doc: Doc) -> None:
    """Trees and heads are halves of one tree: a phrase has one word whose head is outside."""
    check_heads(doc)
    for start, end, _ in get_constituents(doc):
        outside = [
            token
            for token in doc[start:end]
            if not token.is_space and (token.head == token or not start <= token.head.i < end)
        ]
        assert len(outside) == 1
    for sentence in doc.sents:
        words = [token for token in sentence if not token.is_space]
        number = {token: k for k, token in enumerate(words, 1)}
        assert is_projective([0 if t.head == t else number[t.head] for t in words])


def test_learns_trees_heads_and_relations(nlp: Language) -> None:
    for k in range(len(TREES)):
        gold = headed_doc(nlp, k)
        doc = nlp(bare_doc(nlp, gold))
        assert results(doc) == results(gold)
        assert [token.tag_ for token in doc] == [token.tag_ for token in gold]
        check_joint(doc)


def test_scores_of_gold_are_perfect(nlp: Language) -> None:
    scores = nlp.evaluate(headed_examples(nlp))
    for name in ("const_evalb_f", "spans_constituents_f", "tag_acc", "dep_uas", "dep_las"):
        assert scores[name] == 1.0, name


def test_groups_are_never_written(nlp: Language) -> None:
    pipe = nlp.get_pipe("lal_constituency")
    assert SUB_HEAD in pipe.labels
    for text in (TEXT, "Dogs and cats and dogs and the fish on the mat sat home!"):
        assert SUB_HEAD not in {label for *_, label in get_constituents(nlp(text))}


def test_the_margin_objective_learns_too() -> None:
    """With the paper's decoder, to which every sentence is a constituent."""
    spacy.util.fix_random_seed(0)
    nlp = joint_pipeline(
        objective={"@misc": "spacy-lal.margin_objective.v1"},
        decoder={"@misc": "spacy-lal.map_decoder.v1"},
        arc_weight=0.5,
        relation_weight=0.5,
    )
    train_on(nlp, headed_examples(nlp), steps=80)
    for k, tree in enumerate(TREES):
        gold = headed_doc(nlp, k)
        doc = nlp(bare_doc(nlp, gold))
        check_joint(doc)
        assert heads(doc) == heads(gold)
        whole = any(span[:2] == (0, len(gold)) for span in get_constituents(gold))
        assert whole == (tree != TREES[7])
        assert (results(doc) == results(gold)) == whole


VOCABULARY = ["the", "cat", "dog", "sat", ".", "!", "with", "Hello", "3", "zebra", ",", "\n", "  "]
some_words = st.lists(st.sampled_from(VOCABULARY), max_size=12)


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=14),
    starts=st.sets(st.integers(1, 13), max_size=4),
    trained=st.booleans(),
)
def test_both_come_from_one_decode(
    nlp: Language, untrained: Language, words: list[str], starts: set[int], trained: bool
) -> None:
    pipeline = nlp if trained else untrained
    begins = [k == 0 or k in starts for k in range(len(words))]
    doc = pipeline(Doc(pipeline.vocab, words=words, sent_starts=begins))
    assert [bool(token.is_sent_start) for token in doc] == begins
    check_joint(doc)
    pipe = pipeline.get_pipe("lal_constituency")
    scores = predict(pipeline, [bare_doc(pipeline, doc)])
    parses = parses_of(scores, pipe.decoder, group=pipe.labels.index(SUB_HEAD) + 1)
    for k, parse in parses.items():
        tokens = scores.sentences[k].words
        assert parse.heads is not None
        assert [
            0 if doc[i].head.i == i else int(numpy.searchsorted(tokens, doc[i].head.i)) + 1
            for i in tokens.tolist()
        ] == parse.heads.tolist()


def best_values(pipe: ConstituencyPipe, group: SentenceBatch, sub_head: int) -> list:
    """What the tree of each sentence of a batch is worth to the decoder."""
    trees = group.scores.trees(group.lengths, group=sub_head)
    found, words = trees.mbr(0.45), trees.arcs.shape[1]
    heads = torch.softmax(mask_padding(trees.arcs, group.lengths), -1)
    of_heads = heads.gather(-1, found.heads.unsqueeze(-1)).squeeze(-1)
    of_heads = of_heads * (torch.arange(words) < group.lengths.unsqueeze(1))
    of_spans = (found.probabilities - 0.45) * (found.labels > 0)
    return (of_heads.sum(1) + of_spans.sum(1)).tolist()


@settings(max_examples=15, deadline=None)
@given(batch=st.lists(some_words, min_size=1, max_size=6))
def test_a_doc_does_not_depend_on_its_batch(nlp: Language, batch: list[list[str]]) -> None:
    together = predict(nlp, [pretokenised(nlp, words) for words in batch])
    pipe = nlp.get_pipe("lal_constituency")
    sub_head = pipe.labels.index(SUB_HEAD) + 1
    values = [value for group in together.batches for value in best_values(pipe, group, sub_head)]
    members = [member for group in together.batches for member in group.members]
    of_doc = {together.sentences[k].doc: value for k, value in zip(members, values, strict=True)}
    rows = {
        together.sentences[member].doc: (group.scores, row)
        for group in together.batches
        for row, member in enumerate(group.members)
    }
    for d, words in enumerate(batch):
        alone = predict(nlp, [pretokenised(nlp, words)])
        assert (d in of_doc) == bool(alone.batches)
        if d not in of_doc:
            continue
        scores, row = rows[d]
        mine = alone.batches[0].scores
        n = mine.tags.shape[1]
        heads = torch.arange(scores.tags.shape[1]).expand(scores.tags.shape[:2])
        for ours, theirs in (
            (scores.arcs[row, :n, : n + 1], mine.arcs[0]),
            (scores.relations_of(heads)[row, :n], mine.relations_of(heads[:1, :n])[0]),
        ):
            torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)
        # the trees themselves may differ where two are worth the same
        (value,) = best_values(pipe, alone.batches[0], sub_head)
        assert of_doc[d] == pytest.approx(value, abs=1e-4)


def test_empty_doc(nlp: Language) -> None:
    doc = nlp("")
    assert doc._.trees == []
    assert doc.has_annotation("DEP")


@pytest.mark.parametrize("words", [[" "], ["\n\n"], [" ", "\n", "\t"]])
def test_whitespace_only(nlp: Language, words: list[str]) -> None:
    doc = nlp(Doc(nlp.vocab, words=words))
    assert list(doc.spans["constituents"]) == []
    assert len(list(doc.sents)) == 1
    # so that spaCy's noun chunks and matchers, which insist on a parse, run on any text
    assert doc.has_annotation("DEP")
    assert list(doc.noun_chunks) == []
    check_heads(doc)


def test_whitespace_tokens_hang_on_their_neighbours(nlp: Language) -> None:
    plain = nlp(pretokenised(nlp, ["She", "ate", "the", "fish", "."]))
    spaced = nlp(
        pretokenised(nlp, ["\n", " ", "She", "  ", "ate", "\n", "\t", "the", "fish", ".", " "])
    )
    check_joint(spaced)
    assert [str(t) for t in spaced._.trees] == [str(t) for t in plain._.trees]
    words = [token for token in spaced if not token.is_space]
    assert [(words.index(t.head), t.dep_) for t in words] == heads(plain)
    assert [spaced[i].head.i for i in (0, 1, 3, 5, 6, 10)] == [2, 2, 2, 4, 5, 9]


def test_sentences_of_whitespace_stay(nlp: Language) -> None:
    doc = Doc(
        nlp.vocab,
        words=["\n", "She", "ate", ".", "\n", " ", "Hello", "\n"],
        sent_starts=[True, True, False, False, True, False, True, True],
    )
    for again in (nlp(doc), Doc(nlp.vocab).from_bytes(doc.to_bytes())):
        assert [sentence.start for sentence in again.sents] == [0, 1, 4, 6, 7]
        check_joint(again)


def test_sentences_of_the_doc_stay(nlp: Language) -> None:
    words = ["Go", "home", "!", "Hello", "The", "cat", "sat", "."]
    for starts in ({0}, {0, 3}, {0, 2, 3, 7}, set(range(8))):
        doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[k in starts for k in range(8)]))
        assert {sentence.start for sentence in doc.sents} == starts
        check_joint(doc)


def test_sentences_are_found_where_there_are_none(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert [sentence.text.strip() for sentence in doc.sents] == [
        "The cat sat on the mat.",
        "She ate the fish.",
        "Cats and dogs fight.",
        "Hello",
    ]
    check_joint(doc)


def test_reads_the_doc_as_one_sentence(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    config = {"components": {"lal_constituency": {"sentences": "doc", "overwrite_heads": True}}}
    whole = spacy.load(tmp_path, config=config)
    parsed_before = nlp(TEXT)
    for doc in (whole(TEXT), whole(whole.make_doc("\n" + TEXT + "\n")), whole(parsed_before)):
        assert len(list(doc.sents)) == len(doc._.trees) == 1
        check_joint(doc)


def with_limit(nlp: Language, folder: Path, **config: object) -> Language:
    nlp.to_disk(folder)
    return spacy.load(folder, config={"components": {"lal_constituency": config}})


@pytest.mark.parametrize("limit", [1, 4, 10])
def test_pieces_of_a_long_sentence_hang_together(nlp: Language, tmp_path: Path, limit: int) -> None:
    short = with_limit(nlp, tmp_path, max_sentence_length=limit)
    spaced = ["\n", *[part for word in LONG for part in (word, " ")]]
    for words in (LONG, spaced, ["Hello", *LONG, "Hello"]):
        starts = [
            True,
            *[k in (1, len(words) - 1) and words[0] == "Hello" for k in range(1, len(words))],
        ]
        doc = short(Doc(short.vocab, words=words, sent_starts=starts))
        assert [bool(token.is_sent_start) for token in doc] == starts
        check_heads(doc)
        assert len(doc._.trees) == sum(starts)
        assert all(end - start <= 2 * limit for start, end, _ in get_constituents(doc))
        # whitespace between pieces, too, belongs to what is before it
        for token in doc:
            if token.is_space and token.i:
                assert token.head.i == token.i - 1


def test_a_flat_sentence_hangs_on_its_first_word(nlp: Language, tmp_path: Path) -> None:
    short = with_limit(nlp, tmp_path, max_sentence_length=5, long_sentences="flat")
    words = ["Hello", "\n", *LONG, "Go", "home", "!"]
    starts = [k in (0, 1, 15) for k in range(len(words))]
    doc = short(Doc(short.vocab, words=words, sent_starts=starts))
    assert [bool(token.is_sent_start) for token in doc] == starts
    check_heads(doc)
    assert heads(doc)[2:15] == [(2, "ROOT"), *[(2, "dep")] * 12]
    assert heads(doc)[1] == (2, "dep")
    assert {(s.start, s.end) for s in doc.spans["constituents"]} <= {
        (0, 1),
        (15, 18),
        (15, 17),
        (16, 17),
    }


def test_a_long_sentence(untrained: Language) -> None:
    doc = untrained(pretokenised(untrained, ["cat", "dog", "the"] * 40))
    assert len(list(doc.sents)) == 1
    check_joint(doc)


# Storage


# Training


def test_partial_gold_trains_what_it_can() -> None:
    """Doc 0 has no heads, doc 1 no tree, doc 5 a word without head; the others have all."""
    nlp = joint_pipeline()
    of_training = headed_examples(nlp)
    without_heads = headed_doc(nlp, 0)
    of_training[0].reference = Doc(
        nlp.vocab,
        words=[t.text for t in without_heads],
        tags=[t.tag_ for t in without_heads],
        sent_starts=[t.i == 0 for t in without_heads],
    )
    of_training[0].reference.spans["constituents"] = [
        of_training[0].reference.char_span(s.start_char, s.end_char, s.label_)
        for s in without_heads.spans["constituents"]
    ]
    del of_training[1].reference.spans["constituents"]
    partial = headed_doc(nlp, 5)
    of_training[5] = Example(
        bare_doc(nlp, partial),
        Doc(
            nlp.vocab,
            words=[t.text for t in partial],
            tags=[t.tag_ for t in partial],
            heads=[t.head.i for t in partial],
            deps=["nsubj", "cc", "", "ROOT", "punct"],
        ),
    )
    of_training[5].reference.spans["constituents"] = [
        of_training[5].reference.char_span(s.start_char, s.end_char, s.label_)
        for s in partial.spans["constituents"]
    ]
    assert of_training[5].reference[2].dep_ == ""
    nlp.initialize(lambda: of_training)
    pipe = nlp.get_pipe("lal_constituency")
    scores, _ = pipe.model.begin_update([eg.predicted for eg in of_training])
    _, d_scores = pipe.get_loss(of_training, scores)
    seen = set()
    for batch in d_scores.batches:
        of = batch.scores
        for row, member in enumerate(batch.members):
            d = d_scores.sentences[member].doc
            n = int(batch.lengths[row])
            seen.add(d)
            assert bool(of.labels[row].any()) == (d != 1)
            assert bool(of.tags[row, :n].any())
            for word in range(n):
                has_head = d != 0 and (d, word) != (5, 2)
                assert bool(of.arcs[row, word].any()) == has_head
                assert bool(of.governed[row, word].any()) == has_head
            # nothing of a word's gradient goes beyond its sentence
            assert not bool(of.arcs[row, n:].any())
            assert not bool(of.arcs[row, :, n + 1 :].any())
            assert not bool(of.governed[row, n:].any())
            assert not bool(of.governor[row, n + 1 :].any())
    assert seen == set(range(len(of_training)))
    losses = nlp.update(of_training)
    assert numpy.isfinite(losses["lal_constituency"])


def reference(nlp: Language, k: int, *, heads: bool, tree: bool) -> Doc:
    """Sentence k with a part of its gold, through bytes as a `.spacy` file has it."""
    gold = headed_doc(nlp, k)
    words, tags = [t.text for t in gold], [t.tag_ for t in gold]
    relations = {"heads": [t.head.i for t in gold], "deps": [t.dep_ for t in gold]}
    starts = [t.i == 0 for t in gold]
    doc = Doc(nlp.vocab, words, tags=tags, sent_starts=starts, **relations if heads else {})
    if tree:
        set_constituents(doc, get_constituents(gold))
    return Doc(nlp.vocab).from_bytes(doc.to_bytes())


@pytest.mark.parametrize("objective", ["crf", "margin"])
def test_treebanks_with_different_layers_mix(objective: str) -> None:
    """Trees and heads, trees alone, heads alone: what is missing has no gradient at all."""
    name = f"spacy-lal.{objective}_objective.v1"
    decoder = {"@misc": "spacy-lal.map_decoder.v1"}
    nlp = joint_pipeline(objective={"@misc": name}, decoder=decoder)
    nlp.initialize(lambda: headed_examples(nlp))
    pipe = nlp.get_pipe("lal_constituency")
    group = pipe.labels.index(SUB_HEAD) + 1
    layers = [(True, True), (False, True), (True, False)]
    mixed = [
        Example(bare_doc(nlp, doc), doc)
        for doc in (reference(nlp, 0, heads=heads, tree=tree) for heads, tree in layers)
    ]
    scores, _ = pipe.model.begin_update([example.predicted for example in mixed])
    _, d_scores = pipe.get_loss(mixed, scores)
    seen = []
    for batch in d_scores.batches:
        for row, member in enumerate(batch.members):
            heads, tree = layers[d_scores.sentences[member].doc]
            of = batch.scores
            seen.append((heads, tree))
            assert bool(of.labels[row].any()) == tree
            assert bool(of.arcs[row].any()) == bool(of.governed[row].any()) == heads
            assert bool(of.tags[row].any())
            if objective == "margin" and not heads:
                assert not of.labels[row, :, group].any()
    assert sorted(seen) == sorted(layers)


def test_trees_without_heads_leave_groups_alone() -> None:
    """A parser that is sure of its groups loses nothing by the same trees without heads."""
    spacy.util.fix_random_seed(0)
    nlp = joint_pipeline()
    train_on(nlp, headed_examples(nlp), steps=120)
    pipe = nlp.get_pipe("lal_constituency")
    group = pipe.labels.index(SUB_HEAD) + 1
    grouped = 5  # "Cats and dogs fight.": "dogs" and "and" are one
    of = {}
    for heads in (True, False):
        doc = reference(nlp, grouped, heads=heads, tree=True)
        example = Example(bare_doc(nlp, doc), doc)
        scores, _ = pipe.model.begin_update([example.predicted])
        _, d_scores = pipe.get_loss([example], scores)
        (batch,) = d_scores.batches
        of[heads] = float(batch.scores.labels[0, :, group].abs().max())
    assert of[False] < 0.01, of


def test_heads_of_mismatched_tokens_train() -> None:
    nlp = joint_pipeline()
    reference = headed_doc(nlp, 1)  # She ate the fish .
    words = ["She", "\n", "at", "e", "the", "fish", "."]
    spaces = [True, False, False, True, True, False, False]
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
    nlp.initialize(lambda: [example])
    pipe = nlp.get_pipe("lal_constituency")
    scores, _ = pipe.model.begin_update([example.predicted])
    _, d_scores = pipe.get_loss([example], scores)
    (batch,) = d_scores.batches
    # "ate" is two tokens: neither it nor what hangs on it has gold; "the" hangs on "fish"
    assert batch.scores.arcs[0].any(-1).tolist() == [False, False, False, True, False, False]
    assert float(batch.scores.arcs[0, 3].argmin()) == 5
    assert numpy.isfinite(nlp.update([example])["lal_constituency"])
    assert "dep_las" in nlp.evaluate([example])


def test_gold_heads_across_pieces_and_sentences_do_not_count() -> None:
    nlp = joint_pipeline(max_sentence_length=3)
    example = headed_examples(nlp)[0]  # The cat sat | on the mat | .
    nlp.initialize(lambda: headed_examples(nlp))
    pipe = nlp.get_pipe("lal_constituency")
    scores, _ = pipe.model.begin_update([example.predicted])
    _, d_scores = pipe.get_loss([example], scores)
    known = {}
    for batch in d_scores.batches:
        for row, member in enumerate(batch.members):
            for k, token in enumerate(d_scores.sentences[member].words.tolist()):
                known[token] = bool(batch.scores.arcs[row, k].any())
    assert known == {0: True, 1: True, 2: True, 3: True, 4: True, 5: False, 6: False}


@pytest.mark.parametrize("objective", ["crf", "margin"])
@pytest.mark.parametrize("relation_of", ["pair", "dependent"])
def test_gradient_of_the_loss_by_finite_differences(objective: str, relation_of: str) -> None:
    model = {**TINY, "dependencies": {**DEPENDENCIES, "relation_of": relation_of}}
    nlp = joint_pipeline(
        model=model,
        objective={"@misc": f"spacy-lal.{objective}_objective.v1"},
        decoder={"@misc": "spacy-lal.map_decoder.v1"},
        constituency_weight=0.7,
        arc_weight=0.3,
        relation_weight=1.3,
    )
    of_training = headed_examples(nlp)
    nlp.initialize(lambda: of_training)
    pipe = nlp.get_pipe("lal_constituency")
    scores = predict(nlp, [eg.predicted for eg in of_training])
    for batch in scores.batches:
        batch.scores = OneStageScores(*(None if s is None else s.double() for s in batch.scores))
    _, d_scores = pipe.get_loss(of_training, scores)
    generator = torch.Generator().manual_seed(0)
    for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
        for values, gradient in zip(batch.scores, d_batch.scores, strict=True):
            if values is None:
                continue
            assert bool(gradient.any())
            direction = torch.randn(values.shape, generator=generator, dtype=values.dtype)
            step = 1e-5
            values += step * direction
            above, _ = pipe.get_loss(of_training, scores)
            values -= 2 * step * direction
            below, _ = pipe.get_loss(of_training, scores)
            values += step * direction
            expected = (above - below) / (2 * step)
            assert float((gradient * direction).sum()) == pytest.approx(expected, abs=1e-6)


def test_a_listener_gets_gradients_of_heads() -> None:
    """The scores' gradients reach the word embeddings, those of heads alone too."""
    nlp = joint_pipeline(constituency_weight=0.0, tag_weight=0.0)
    of_training = headed_examples(nlp)
    optimizer = nlp.initialize(lambda: of_training)
    embedding = nlp.get_pipe("lal_constituency").model.get_ref("tok2vec").shims[0].module
    before = [p.detach().clone() for p in embedding.parameters()]
    nlp.update(of_training, sgd=optimizer)
    assert not all(map(torch.equal, before, embedding.parameters()))


# What is reported and refused


def messages(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records)


def test_initialize_says_what_is_missing(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO, "spacy")
    nlp = joint_pipeline()
    of_training = headed_examples(nlp)
    del of_training[1].reference.spans["constituents"]
    for k in (2, 3):
        for token in of_training[k].reference:
            token.dep_ = ""
    nlp.initialize(lambda: of_training)
    said = messages(caplog)
    assert "1 of 8 training Docs have no tree" in said
    assert "2 of 8 training Docs have no dependency heads" in said
    # 5 Docs have both, one of them a group
    assert "trees and heads: {'sentences': 5, 'groups': 1, 'conflicts': 0" in said


def test_groups_are_counted_by_sentence(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sentences of one Doc, and whitespace, are no conflicts of one tree."""
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO, "spacy")
    nlp = joint_pipeline()
    docs = [headed_doc(nlp, k) for k in (0, 5, 1)]
    space = Doc(nlp.vocab, words=["\n"], sent_starts=[True])
    reference = Doc.from_docs([docs[0], space, *docs[1:]], ensure_whitespace=False)
    assert len(reference.spans["constituents"]) == sum(len(d.spans["constituents"]) for d in docs)
    nlp.initialize(lambda: [Example(bare_doc(nlp, reference), reference)])
    assert (
        "of sentences with trees and heads: "
        "{'sentences': 3, 'groups': 1, 'conflicts': 0, 'non-projective': 0}"
    ) in messages(caplog)


def test_given_labels_have_relations() -> None:
    nlp = joint_pipeline()
    labels = {"labels": ["S"], "tags": ["DT"]}
    nlp.config["initialize"]["components"] = {"lal_constituency": {"labels": labels}}
    with pytest.raises(ValueError, match="have no relation"):
        nlp.initialize(lambda: headed_examples(nlp))


def test_training_data_without_heads_say_so() -> None:
    nlp = joint_pipeline()
    of_training = headed_examples(nlp)
    for example in of_training:
        for token in example.reference:
            token.dep_ = ""
    with pytest.raises(ValueError, match="none of the 8 training Docs has dependency heads"):
        nlp.initialize(lambda: of_training)


def test_what_dependencies_read_is_checked() -> None:
    with pytest.raises(ValueError, match="'words', 'fenceposts'"):
        joint_pipeline(model={**TINY, "dependencies": {**DEPENDENCIES, "read": "rows"}})


def test_the_released_arrangement_trains() -> None:
    spacy.util.fix_random_seed(0)
    dependencies = {**DEPENDENCIES, "read": "fenceposts", "relation_of": "dependent"}
    nlp = joint_pipeline(model={**TINY, "dependencies": dependencies})
    train_on(nlp, headed_examples(nlp), steps=40)
    assert nlp.evaluate(headed_examples(nlp))["dep_uas"] > 0.9


@pytest.mark.parametrize("overwrite", [False, True])
def test_heads_of_another_parser_stay_unless_told(overwrite: bool) -> None:
    nlp = joint_pipeline(overwrite_heads=overwrite)
    of_training = headed_examples(nlp)
    nlp.initialize(lambda: of_training)
    words = ["She", "ate", "the", "fish", "."]
    doc = Doc(nlp.vocab, words=words, heads=[4] * 5, deps=["odd"] * 4 + ["ROOT"])
    nlp(doc)
    kept = [(token.head.i, token.dep_) for token in doc] == [(4, "odd")] * 4 + [(4, "ROOT")]
    assert kept is not overwrite
    assert "constituents" in doc.spans
