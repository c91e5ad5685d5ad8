"""What users of constituency parsers have complained of, each as a test."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import safetensors.torch
import spacy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import get_constituents, set_constituents
from spacy_lal.batching.batches import ParserScores
from spacy_lal.parsing.decoders import MaximumAPosteriori
from spacy_lal.parsing.gold_trees import gold_constituents
from spacy_lal.parsing.network import OneStageScores
from tests.new_processes import fork_server

from .contract import copy_of
from .toy import TINY, TREES, examples, gold_doc, parses_of, predicted, tiny_pipeline, train

TEXT = "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return copy_of("constituency")


def trees(doc: Doc) -> list[str]:
    return [str(tree) for tree in doc._.trees]


def pretokenised(nlp: Language, words: list[str]) -> Doc:
    return Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(len(words))])


def well_formed(doc: Doc) -> None:
    """Every tree holds its sentence's words, and no span crosses another."""
    words = [w for tree in doc._.trees for w in tree.leaves]
    assert words == [t.text for t in doc if not t.is_space]


def test_scores_of_gold_are_perfect(nlp: Language) -> None:
    scores = nlp.evaluate(examples(nlp))
    assert scores["const_evalb_f"] == 1.0
    assert scores["spans_constituents_f"] == 1.0
    assert scores["tag_acc"] == 1.0


def test_whitespace_tokens_stay_out_of_the_tree(nlp: Language) -> None:
    plain = nlp(pretokenised(nlp, ["She", "ate", "the", "fish", "."]))
    spaced = nlp(pretokenised(nlp, ["She", "  ", "ate", "\n", "the", "fish", ".", " "]))
    assert trees(spaced) == trees(plain)
    (verb_phrase,) = [s for s in spaced.spans["constituents"] if s.label_ == "VP"]
    assert verb_phrase.text.split() == ["ate", "the", "fish"]


def test_text_without_sentence_boundaries_is_split_by_rule(nlp: Language) -> None:
    doc = nlp(TEXT)
    assert [sent.text.strip() for sent in doc.sents] == [
        "The cat sat on the mat.",
        "She ate the fish.",
        "Cats and dogs fight.",
        "Hello",
    ]
    well_formed(doc)


def test_abbreviations_inside_a_sentence_do_not_split_before_lower_case(nlp: Language) -> None:
    assert len(list(nlp("The cat sat at 3 p.m. on the mat.").sents)) == 1


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ('It rained. "Go home," she said.', '"Go home," she said.'),
        ('She said "Go home!" The cat sat.', "The cat sat."),
        ("He ate. (The fish.) She sat.", "(The fish.)"),
        ("Go home... \u201cThe cat sat.\u201d", "\u201cThe cat sat.\u201d"),
    ],
)
def test_quotes_and_brackets_go_to_the_sentence_they_belong_to(
    nlp: Language, text: str, second: str
) -> None:
    assert [sent.text.strip() for sent in nlp(text).sents][1] == second


def test_margin_scores_are_no_probabilities() -> None:
    for version in ("v1", "v2"):
        with pytest.raises(ValueError, match="map_decoder"):
            tiny_pipeline(objective={"@misc": f"spacy-lal.margin_objective.{version}"})


def test_one_stage_needs_a_threshold() -> None:
    with pytest.raises(ValueError, match="threshold = null is for two-stage parsers"):
        tiny_pipeline(decoder={"@misc": "spacy-lal.mbr_decoder.v1", "threshold": None})


def test_a_line_break_between_words_loses_no_gold(nlp: Language) -> None:
    reference = gold_doc(nlp, TREES[1])
    spaces = [True, False, True, True, False, False]
    words = ["She", "\n", "ate", "the", "fish", "."]
    example = Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
    assert gold_constituents(example, "constituents") == [
        (0, 6, "S"),
        (0, 1, "NP"),
        (2, 5, "VP"),
        (3, 5, "NP"),
    ]


def test_existing_sentence_boundaries_and_tags_are_kept(nlp: Language) -> None:
    doc = Doc(
        nlp.vocab,
        words=["Go", "home", "!", "Hello"],
        tags=["X", "", "", ""],
        sent_starts=[True, True, False, False],
    )
    doc = nlp(doc)
    assert [t.is_sent_start for t in doc] == [True, True, False, False]
    assert doc[0].tag_ == "X"
    assert doc[3].tag_ == "UH"


def test_sentence_of_600_tokens(nlp: Language) -> None:
    doc = nlp(pretokenised(nlp, ["cat"] * 600))
    well_formed(doc)
    assert len(doc._.trees) == 1


@pytest.mark.parametrize("policy", ["split", "flat"])
def test_too_long_a_sentence_is_never_dropped(policy: str) -> None:
    nlp = train(tiny_pipeline(max_sentence_length=10, long_sentences=policy), steps=30)
    words = ["The", "cat", "sat", ",", "the", "dog", "ate", ",", "she", "ate", "the", "fish", "."]
    doc = nlp(pretokenised(nlp, words))
    well_formed(doc)
    assert len(doc._.trees) == 1
    assert bool(get_constituents(doc)) == (policy == "split")
    assert all(s.end - s.start <= 10 for s in doc.spans["constituents"])


def predict(nlp: Language, docs: list[Doc]) -> ParserScores:
    scores = nlp.get_pipe("lal_constituency").model.predict(docs)
    return ParserScores(scores.sentences, list(scores.batches))


WORDS = ["the", "cat", "dog", "sat", ".", "!", "with", "Hello", "3", "zebra", ",", "on"]
words = st.lists(st.sampled_from(WORDS), max_size=12)


@settings(max_examples=25, deadline=None)
@given(batch=st.lists(words, min_size=1, max_size=6))
def test_a_doc_does_not_depend_on_its_batch(nlp: Language, batch: list[list[str]]) -> None:
    docs = [pretokenised(nlp, ws) for ws in batch]
    together = predict(nlp, docs)
    found = {}
    for group in together.batches:
        for row, member in enumerate(group.members):
            n = int(group.lengths[row])
            found[together.sentences[member].doc] = group.scores.tags[row, :n]
    for d, doc in enumerate(docs):
        alone = predict(nlp, [doc])
        assert (d in found) == bool(alone.batches)
        if alone.batches:
            torch.testing.assert_close(
                alone.batches[0].scores.tags[0], found[d], atol=1e-5, rtol=1e-4
            )
            (parse,) = parses_of(alone, MaximumAPosteriori()).values()
            (k,) = [k for k, s in enumerate(together.sentences) if s.doc == d]
            of_batch = parses_of(together, MaximumAPosteriori())[k]
            assert parse.labels.tolist() == of_batch.labels.tolist()
            assert parse.starts.tolist() == of_batch.starts.tolist()


@pytest.mark.parametrize("name", ["model", "model.safetensors"])
def test_truncated_file_is_named(nlp: Language, tmp_path: Path, name: str) -> None:
    nlp.to_disk(tmp_path)
    path = tmp_path / "lal_constituency" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=rf"lal_constituency.{name}: "):
        spacy.load(tmp_path)


def test_weights_of_another_shape_are_named(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    path = tmp_path / "lal_constituency" / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    tensors["0.input_encoder.start"] = torch.zeros(3)
    safetensors.torch.save_file(tensors, path, metadata)
    with pytest.raises(ValueError, match=r"model\.safetensors: these are not the weights"):
        spacy.load(tmp_path)


def test_weights_are_safetensors_only(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    folder = tmp_path / "lal_constituency"
    tensors = safetensors.torch.load_file(folder / "model.safetensors")
    modules = [
        s.module for node in nlp.get_pipe("lal_constituency").model.walk() for s in node.shims
    ]
    assert len(tensors) == sum(len(module.state_dict()) for module in modules)
    assert (folder / "model").stat().st_size < 20_000


def test_two_processes_that_get_all_by_pickle(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    # spaCy takes processes as they are started by default, which one may set but once
    monkeypatch.setattr("spacy.language.mp", fork_server())
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    texts = [TEXT, "Go home!"] * 4
    found = [trees(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    assert found == [trees(nlp(text)) for text in texts]


def test_default_component_is_trainable() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency")
    of_training = examples(nlp)[:4]
    optimizer = nlp.initialize(lambda: of_training)
    first = nlp.update(of_training, sgd=optimizer, drop=0.1)["lal_constituency"]
    for _ in range(5):
        last = nlp.update(of_training, sgd=optimizer, drop=0.1)["lal_constituency"]
    assert last < first
    assert nlp("Hello there")._.trees


def test_training_data_without_trees_says_so() -> None:
    nlp = tiny_pipeline()
    doc = Doc(nlp.vocab, words=["Hello"], tags=["UH"])
    with pytest.raises(ValueError, match=r"spacy-lal\.Corpus\.v1"):
        nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["Hello"]), doc)])


def test_crossing_constituents_are_refused() -> None:
    nlp = tiny_pipeline()
    of_training = examples(nlp)
    set_constituents(of_training[1].reference, [(0, 3, "X"), (2, 5, "Y")])
    with pytest.raises(ValueError, match=r"\(0, 3, 'X'\) and \(2, 5, 'Y'\) cross.*She ate"):
        nlp.initialize(lambda: of_training)


def test_constituents_of_mismatched_tokens_still_train() -> None:
    nlp = tiny_pipeline()
    reference = gold_doc(nlp, TREES[1])
    predicted_doc = Doc(nlp.vocab, words=["She", "at", "e", "the", "fi", "sh", "."])
    reference_text = Doc(nlp.vocab, words=["She", "ate", "the", "fish", "."])
    assert reference_text.text == reference.text
    spaces = [True, False, True, True, False, True, False]
    predicted_doc = Doc(nlp.vocab, words=[t.text for t in predicted_doc], spaces=spaces)
    example = Example(predicted_doc, reference)
    nlp.initialize(lambda: [example])
    losses = nlp.update([example])
    assert numpy.isfinite(losses["lal_constituency"])
    assert "const_evalb_f" in nlp.evaluate([example])


def test_constituents_that_differ_in_whitespace_only_are_a_chain() -> None:
    nlp = tiny_pipeline()
    reference = Doc(nlp.vocab, words=["\n", "Dogs", "bark"], tags=["_SP", "NNS", "VBP"])
    set_constituents(reference, [(0, 3, "S"), (1, 3, "VP")])
    example = Example(Doc(nlp.vocab, words=["\n", "Dogs", "bark"]), reference)
    nlp.initialize(lambda: [example])
    pipe = nlp.get_pipe("lal_constituency")
    assert pipe.labels == ("S::VP",)
    scores, _ = pipe.model.begin_update([example.predicted])
    _, d_scores = pipe.get_loss([example], scores)
    assert bool(d_scores.batches[0].scores.labels.any())


def test_nothing_wins_over_a_constituent_of_equal_score() -> None:
    nlp = tiny_pipeline()
    nlp.initialize(lambda: examples(nlp))
    pipe = nlp.get_pipe("lal_constituency")
    scores, _ = pipe.model.begin_update([pretokenised(nlp, ["She", "ate", "fish"])])
    for batch in scores.batches:
        torch.zero_(batch.scores.labels.detach())
    (parse,) = parses_of(scores, MaximumAPosteriori()).values()
    assert not len(parse.labels)


def test_sentences_without_trees_train_tags_only() -> None:
    nlp = tiny_pipeline()
    of_training = examples(nlp)
    del of_training[0].reference.spans["constituents"]
    nlp.initialize(lambda: of_training)
    pipe = nlp.get_pipe("lal_constituency")
    scores, _ = pipe.model.begin_update([eg.predicted for eg in of_training])
    _, d_scores = pipe.get_loss(of_training, scores)
    for batch in d_scores.batches:
        for row, member in enumerate(batch.members):
            without = d_scores.sentences[member].doc == 0
            assert bool((batch.scores.labels[row] == 0).all()) == without
            assert not bool((batch.scores.tags[row] == 0).all())


@pytest.mark.parametrize("objective", ["crf", "margin"])
def test_gradient_of_the_loss_by_finite_differences(objective: str) -> None:
    nlp = tiny_pipeline(
        objective={"@misc": f"spacy-lal.{objective}_objective.v1"},
        decoder={"@misc": "spacy-lal.map_decoder.v1"},
    )
    of_training = examples(nlp)
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
            direction = torch.randn(values.shape, generator=generator, dtype=values.dtype)
            step = 1e-5
            values += step * direction
            above, _ = pipe.get_loss(of_training, scores)
            values -= 2 * step * direction
            below, _ = pipe.get_loss(of_training, scores)
            values += step * direction
            expected = (above - below) / (2 * step)
            assert float((gradient * direction).sum()) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_margin_objective_learns(version: str) -> None:
    spacy.util.fix_random_seed(0)
    nlp = tiny_pipeline(
        objective={"@misc": f"spacy-lal.margin_objective.{version}"},
        decoder={"@misc": "spacy-lal.map_decoder.v1"},
    )
    train(nlp, steps=100)
    doc = nlp("Go home!")
    assert doc.spans["constituents"].attrs["scores"] == [None] * len(doc.spans["constituents"])
    *found, last = [predicted(nlp, tree) for tree in TREES]
    assert found == TREES[:-1]
    # the last sentence is no constituent
    assert (last == TREES[-1]) == (version == "v1")


def test_position_rows_and_self_attention_train() -> None:
    """The paper's own encoder: content and position, self-attention, stacked label attention."""
    model = {
        **TINY,
        "input_encoder": {"@misc": "spacy-lal.PositionRows.v1", "width": 32, "max_length": 40},
        "encoder": {
            **TINY["encoder"],
            "self_attention_layers": 1,
            "self_attention_heads": 2,
            "self_attention_key_width": 8,
            "feed_forward_width": 32,
            "partition_width": 16,
            "arrangement": "stack",
        },
    }
    spacy.util.fix_random_seed(0)
    nlp = train(tiny_pipeline(model=model), steps=150)
    assert [predicted(nlp, tree) for tree in TREES] == TREES
    with pytest.raises(ValueError, match="40 positions"):
        nlp(pretokenised(nlp, ["cat"] * 41))
