"""What would otherwise be silent: no gold to score, unknown names, sentences that nobody parsed."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example

from spacy_lal.annotations import FrameSpans, set_constituents, set_frames
from spacy_lal.srl.scorer import score_frames
from spacy_lal.training.corpus import Corpus
from tests.carriers import CARRIERS

from .test_damaged import MODELS, _examples
from .toy import TINY, examples, tiny_pipeline
from .toy_frames import frames_examples

FACTORIES = list(MODELS)


def initialised(factory: str, **config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config={**MODELS[factory], **config})
    examples = _examples(nlp)
    nlp.initialize(lambda: examples)
    return nlp


@pytest.mark.parametrize("factory", FACTORIES)
def test_docs_without_gold_are_no_score_of_0(factory: str, caplog) -> None:
    nlp = initialised(factory)
    bare = [Example(nlp.make_doc("She ate"), nlp.make_doc("She ate")) for _ in range(2)]
    with caplog.at_level(logging.WARNING, logger="spacy"):
        nlp.evaluate(_examples(nlp))
        assert not caplog.records
        nlp.evaluate(bare)
        nlp.evaluate(bare)
    (record,) = caplog.records
    assert f"{factory}: none of the 2 Docs to score has gold" in record.getMessage()


def test_files_that_are_no_corpus(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    (tmp_path / "a.txt").write_text("She ate.")
    for path in (tmp_path / "a.txt", tmp_path):
        with (
            pytest.warns(UserWarning, match="W090"),
            pytest.raises(ValueError, match=rf"no \.spacy files in {path}"),
        ):
            list(Corpus(path)(nlp))
    DocBin().to_disk(tmp_path / "b.spacy")
    with pytest.raises(ValueError, match=r"no Docs in .*b\.spacy"):
        list(Corpus(tmp_path / "b.spacy")(nlp))
    DocBin(docs=[nlp.make_doc("She ate")]).to_disk(tmp_path / "c.spacy")
    with pytest.raises(ValueError, match=r"no Docs of at most 1 tokens in .*c\.spacy"):
        list(Corpus(tmp_path / "c.spacy", max_length=1)(nlp))


def test_roles_have_the_names_that_evaluate_prints() -> None:
    examples = frames_examples(spacy.blank("en"))
    for example in examples:
        set_frames(example.predicted, [])
    set_frames(examples[0].predicted, [FrameSpans(2, "", [(0, 2, "ARG1"), (2, 3, "V")])])
    scores = score_frames(examples)
    assert scores["spans_srl_p"] == 1.0
    for name in ("p", "r", "f", "per_type"):
        assert scores[f"spans_srl_{name}"] == scores[f"srl_{name}"]


def test_a_sentence_that_was_not_parsed_says_so() -> None:
    nlp = initialised("spanformer", long_sentences="flat", max_sentence_length=3)
    doc = nlp("Go home! She ate the fish with them.")
    for each in (doc, *(carry(doc) for carry in CARRIERS)):
        assert [tree.parsed for tree in each._.trees] == [True, False]
        assert [sent._.tree.parsed for sent in each.sents] == [True, False]
    assert not pickle.loads(pickle.dumps(doc._.trees[1])).parsed
    assert not doc._.trees[1].rooted().parsed
    assert not nlp.make_doc("She ate")._.trees[0].parsed
    gold = nlp.make_doc("She ate")
    set_constituents(gold, [])  # annotated, and flat
    assert gold._.trees[0].parsed


@pytest.mark.parametrize(("tag_depth", "said"), [(0, 0), (1, 1)])
def test_tags_are_unknown_only_to_a_parser_that_predicts_tags(tag_depth, said, caplog) -> None:
    nlp = tiny_pipeline(
        model={**TINY, "input_encoder": {**TINY["input_encoder"], "tag_depth": tag_depth}}
    )
    nlp.initialize(lambda: examples(nlp))
    others = examples(nlp)
    others[0].reference[0].tag_ = "XYZ"
    with caplog.at_level(logging.WARNING, logger="spacy"):
        for batch in (examples(nlp), others, others):
            nlp.update(batch)
    assert [record.getMessage().count("'XYZ', 1 times") for record in caplog.records] == [1] * said


AFFIXES = {"@architectures": "spacy-lal.WordAffixEmbed.v1", "min_count": 1}
HASHES = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 16,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}


@pytest.mark.parametrize(
    ("embed", "max_epochs", "said"), [(AFFIXES, -1, 1), (AFFIXES, 0, 0), (HASHES, -1, 0)]
)
def test_words_beyond_the_first_hundred_examples(embed, max_epochs, said, caplog) -> None:
    """spaCy initialises with no more of a stream; a table of words would know none of the others,
    and training would say nothing of it."""
    nlp = tiny_pipeline(model={**TINY, "tok2vec": embed})
    nlp.config["training"]["max_epochs"] = max_epochs
    with caplog.at_level(logging.WARNING, logger="spacy"):
        nlp.initialize(lambda: examples(nlp))
    told = [record.getMessage() for record in caplog.records]
    assert ["first 100 examples" in message for message in told] == [True] * said
