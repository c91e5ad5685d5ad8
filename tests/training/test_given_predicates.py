"""LISA with given predicates, as `spacy train` and `lal evaluate` meet it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as spacy_train

from spacy_lal.annotations import get_frames, set_frames
from spacy_lal.evaluation import evaluate
from spacy_lal.training.corpus import Corpus, Paragraphs

from ..pipeline.toy_frames import SENTENCES, frames_doc, srl_pipeline

GOLD = [[(f.predicate, f.roleset) for f in frames] for *_, frames in SENTENCES]


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "gold.spacy"
    nlp = spacy.blank("en")
    docs = [frames_doc(nlp, k) for k in range(len(SENTENCES))]
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="module")
def best(gold: Path, tmp_path_factory: pytest.TempPathFactory) -> Language:
    """The best pipeline of a training by spaCy."""
    config = srl_pipeline({"indicator_width": 4}, predicate_source="doc").config
    reader = {"@readers": "spacy-lal.Corpus.v1", "path": str(gold)}
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"] |= {"max_steps": 60, "eval_frequency": 15}
    config["training"]["optimizer"] = {"@optimizers": "Adam.v1", "learn_rate": 0.01}
    output = tmp_path_factory.mktemp("given")
    spacy_train(init_nlp(config), output)
    return spacy.load(output / "model-best")


def test_training_shows_scores_and_chooses(best: Language) -> None:
    scores = best.meta["performance"]
    assert scores["srl_pred_f"] == 1.0
    assert scores["srl_f"] > 0.8


def test_evaluation_goes_by_gold_predicates(
    best: Language, gold: Path, caplog: pytest.LogCaptureFixture
) -> None:
    roles = {"parses": ["model", "gold"], "predicates": ["model", "gold"]}
    with caplog.at_level(logging.WARNING, logger="spacy"):
        (result,) = evaluate(best, [gold], roles=roles)["results"]
    rows = [(row["parses"], row["predicates"]) for row in result["roles"]]
    assert rows == [("model", "gold"), ("gold", "gold")]
    assert result["srl_f"] == pytest.approx(best.meta["performance"]["srl_f"])
    assert "finds no predicates" in caplog.text
    with pytest.raises(ValueError, match="--predicates must be gold"):
        evaluate(best, [gold], roles={"predicates": ["model"]})


@pytest.mark.parametrize("reader", [Corpus, Paragraphs])
@pytest.mark.parametrize("source", ["doc", "model"])
def test_readers_give_predicates_alone(
    gold: Path, reader: type[Corpus | Paragraphs], source: str
) -> None:
    nlp = srl_pipeline(predicate_source=source)
    for example, of_gold in zip(reader(gold)(nlp), GOLD, strict=True):
        frames = get_frames(example.predicted)
        found = [(frame.predicate.i, frame.roleset) for frame in frames]
        assert found == (of_gold if source == "doc" else [])
        assert not any(frame.arguments for frame in frames)


def test_readers_give_none_where_there_is_no_gold(tmp_path: Path) -> None:
    nlp = srl_pipeline(predicate_source="doc", spans_key="roles")
    plain, own = (Doc(nlp.vocab, ["Go", "!"]) for _ in range(2))
    set_frames(own, [], key="roles")
    DocBin(docs=[plain, own]).to_disk(tmp_path / "gold.spacy")
    plain, own = (example.predicted for example in Corpus(tmp_path)(nlp))
    assert "roles" not in plain.spans
    assert not own.spans["roles"]
