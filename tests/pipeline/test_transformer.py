"""The component on a transformer, through spacy-transformers' listener."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from ..tiny_transformers import write_bert
from .toy import TREES, examples, predicted

pytestmark = pytest.mark.spacy_transformers


@pytest.fixture
def bert(tmp_path: Path) -> Path:
    """Saved where a hub's would be."""
    folder = tmp_path / "bert"
    folder.mkdir()
    write_bert(folder, "".join(TREES).split(), positions=128)
    return folder


def pipeline(bert: Path) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe(
        "transformer",
        config={
            "model": {
                "@architectures": "spacy-transformers.TransformerModel.v3",
                "name": str(bert),
                "tokenizer_config": {"use_fast": True},
                "get_spans": {
                    "@span_getters": "spacy-transformers.strided_spans.v1",
                    "window": 96,
                    "stride": 72,
                },
            }
        },
    )
    nlp.add_pipe(
        "lal_constituency",
        config={
            "model": {
                "tok2vec": {
                    "@architectures": "spacy-transformers.TransformerListener.v1",
                    "grad_factor": 1.0,
                    "pooling": {"@layers": "reduce_mean.v1"},
                },
                "input_encoder": {"@misc": "spacy-lal.PositionRows.v1", "width": 32},
                "encoder": {
                    "@misc": "spacy-lal.LabelAttentionEncoder.v1",
                    "heads": 8,
                    "key_width": 8,
                    "value_width": 8,
                    "projection_width": 8,
                },
                "hidden_width": 32,
            }
        },
    )
    return nlp


def test_trains_saves_loads_and_parses(bert: Path, tmp_path: Path) -> None:
    spacy.util.fix_random_seed(0)
    nlp = pipeline(bert)
    of_training = examples(nlp)
    optimizer = nlp.initialize(lambda: of_training)
    optimizer.learn_rate = 0.005
    for _ in range(100):
        losses = nlp.update(of_training, sgd=optimizer)
    assert losses["lal_constituency"] < 0.1
    parses = [predicted(nlp, tree) for tree in TREES]
    assert parses == TREES
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    assert [predicted(loaded, tree) for tree in TREES] == parses


def test_a_word_of_600_pieces_still_gets_a_tree(bert: Path) -> None:
    nlp = pipeline(bert)
    nlp.initialize(lambda: examples(nlp))
    doc = nlp("The cat ate " + "c" * 600 + " .")
    assert [w for tree in doc._.trees for w in tree.leaves] == [t.text for t in doc]


def test_replaced_listeners_stand_alone(bert: Path) -> None:
    nlp = pipeline(bert)
    nlp.initialize(lambda: examples(nlp))
    before = [predicted(nlp, tree) for tree in TREES]
    nlp.replace_listeners("transformer", "lal_constituency", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    assert [predicted(nlp, tree) for tree in TREES] == before
