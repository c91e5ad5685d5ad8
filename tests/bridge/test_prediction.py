"""`prediction`: 8-bit, 16-bit or 32-bit products outside of training, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import Adam, fix_random_seed

from spacy_lal.bridge.shim import TorchShim, torch_shim
from spacy_lal.layers.integers import Linear
from tests.pipeline.contract import copy_of
from tests.pipeline.toy import (
    DEPENDENCIES,
    TINY,
    examples,
    headed_examples,
    joint_pipeline,
    tiny_pipeline,
)

WORDS = ["the", "dog", "saw", "a", "cat", "with", "the", "old", "man"]


def parser_of(nlp: Language) -> TorchShim:
    return torch_shim(nlp.get_pipe("lal_constituency").model)


def scores_of(nlp: Language, prediction: str) -> numpy.ndarray:
    model = nlp.get_pipe("lal_constituency").model
    model.attrs["prediction"] = prediction
    (batch,) = model.predict([Doc(nlp.vocab, WORDS)]).batches
    assert batch.scores.labels.dtype == torch.float32
    return batch.scores.labels.numpy()


def test_narrower_products_are_near_and_not_equal() -> None:
    nlp = copy_of("constituency")
    exact = scores_of(nlp, "float32")
    for prediction, tolerance in (("int8", 0.05), ("bfloat16", 0.1)):
        narrow = scores_of(nlp, prediction)
        assert abs(narrow - exact).max() < tolerance * abs(exact).max()
    assert (scores_of(nlp, "int8") != exact).any()
    assert (scores_of(nlp, "float32") == exact).all()


def test_training_reads_float32_weights_and_rounds_its_own_anew() -> None:
    """Same losses with either setting, and predictions of the new weights, not of the old."""
    losses, found = {}, {}
    for prediction in ("int8", "float32"):
        nlp = tiny_pipeline()
        optimizer = Adam(0.01)
        fix_random_seed(0)
        nlp.initialize(lambda nlp=nlp: examples(nlp))
        for _ in range(3):
            scores_of(nlp, prediction)
            losses[prediction] = nlp.update(examples(nlp), sgd=optimizer)
        found[prediction] = scores_of(nlp, prediction)
        shim = parser_of(nlp)
        rounded = [m.kept for m in shim.module.modules() if isinstance(m, Linear)]
        assert {matrix is not None for matrix in rounded} == {prediction == "int8"}
        averages = {(shim.id, name): t.numpy() * 0 for name, t in shim.tensors().items()}
        with nlp.use_params(averages):
            assert not scores_of(nlp, prediction).any()
        assert (scores_of(nlp, prediction) == found[prediction]).all()
    assert losses["int8"] == losses["float32"]
    assert abs(found["int8"] - found["float32"]).max() < 0.05 * abs(found["float32"]).max()


def test_what_is_saved_are_float32_weights(tmp_path: Path) -> None:
    nlp = copy_of("constituency")
    scores = scores_of(nlp, "int8")
    before = {name: t.clone() for name, t in parser_of(nlp).tensors().items()}
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    after = parser_of(loaded).tensors()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert (scores_of(loaded, "int8") == scores).all()


def test_the_config_decides_whatever_the_weights_were_saved_with(tmp_path: Path) -> None:
    nlp = copy_of("constituency")
    exact = scores_of(nlp, "float32")
    rounded = scores_of(nlp, "int8")
    assert nlp.get_pipe("lal_constituency").model.attrs["prediction"] == "int8"
    # the config still has float32
    nlp.to_disk(tmp_path)
    of_disk = spacy.load(tmp_path)
    of_bytes = spacy.load(tmp_path).from_bytes(nlp.to_bytes())
    for loaded in (of_disk, of_bytes):
        model = loaded.get_pipe("lal_constituency").model
        assert model.attrs["prediction"] == "float32"
        (batch,) = model.predict([Doc(loaded.vocab, WORDS)]).batches
        assert (batch.scores.labels.numpy() == exact).all()
        assert (batch.scores.labels.numpy() != rounded).any()


@pytest.mark.parametrize("factory", ["lal_constituency", "lal_dependency", "lisa_srl"])
def test_a_wrong_name_is_refused(factory: str) -> None:
    nlp = spacy.blank("en")
    model = dict(nlp.get_factory_meta(factory).default_config["model"])
    with pytest.raises(ValueError, match="prediction"):
        nlp.add_pipe(factory, config={"model": model | {"prediction": "int4"}})


SELF_ATTENTION: dict[str, Any] = {"self_attention_layers": 1}
POSITIONS = {"@misc": "spacy-lal.PositionRows.v1", "width": 32}


@pytest.mark.parametrize(
    ("encoder", "input_encoder", "rounded"),
    [({}, {}, True), (SELF_ATTENTION, {}, False), ({}, POSITIONS, False)],
    ids=["label attention", "self-attention", "positions"],
)
def test_scorers_round_what_is_the_same_in_every_batch(
    encoder: dict[str, Any], input_encoder: dict[str, Any], rounded: bool
) -> None:
    """Of float32 sums over a sentence the last bit would decide between two integers."""
    of_rows = input_encoder or TINY["input_encoder"]
    model = {**TINY, "encoder": {**TINY["encoder"], **encoder}, "input_encoder": of_rows}
    nlp = joint_pipeline(model={**model, "dependencies": DEPENDENCIES})
    nlp.initialize(lambda: headed_examples(nlp))
    network = parser_of(nlp).module
    assert isinstance(network.scorer.hidden, Linear) == rounded
    assert isinstance(network.dependencies.arc_head, Linear) == rounded
    scores_of(nlp, "int8")
