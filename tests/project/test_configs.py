"""The configs: all resolve, and those of papers have what the papers state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import srsly
from spacy.cli._util import parse_config_overrides
from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry
from thinc.api import Config
from weasel.util import split_command, substitute_project_variables

from .running import ROOT

OF_TRAINED = {"en_lal_sm"}
"""Made of pipelines that were trained before."""


def trainings() -> dict[str, tuple[Path, list[str]]]:
    """Config and overridden settings of each command that trains, by its project and name."""
    found = {}
    for path in (ROOT / "project.yml", *sorted(ROOT.glob("projects/*/project.yml"))):
        for command in substitute_project_variables(srsly.read_yaml(path))["commands"]:
            for line in command["script"]:
                words = split_command(line)
                if words[2:4] == ["spacy", "train"] or words[2:5] == ["spacy", "lal", "train"]:
                    config, *options = words[words.index("train") + 1 :]
                    options = [option for option in options if option != "--resume"]
                    pairs = zip(options[::2], options[1::2], strict=True)
                    settings = [part for pair in pairs if "." in pair[0] for part in pair]
                    name = f"{path.parent.relative_to(ROOT).as_posix()} {command['name']}"
                    found[name] = ((path.parent / config).resolve(), settings)
    return found


TRAININGS = {
    name: (config, settings)
    for name, (config, settings) in trainings().items()
    if config.stem not in OF_TRAINED
    and any("--paths." not in part for part in settings[::2])
    and '"source"' not in " ".join(settings)
}
"""With settings other than paths."""
ALONE = {
    path.stem: (path, list[str]())
    for path in sorted(ROOT.glob("configs/*.cfg"))
    if path.stem not in OF_TRAINED
}
CONFIGS = TRAININGS | ALONE


def read(name: str) -> Config:
    path, settings = CONFIGS[name]
    return load_config(path, parse_config_overrides([*settings]))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.spacy_transformers)
        if "transformer" in read(name).to_str()
        else name
        for name in CONFIGS
    ],
)
def test_config_resolves(name: str) -> None:
    config = read(name)
    nlp = load_model_from_config(config, auto_fill=True, validate=True)
    assert nlp.pipe_names == config["nlp"]["pipeline"]
    training = nlp.config.interpolate()["training"]
    assert registry.resolve(training, schema=ConfigSchemaTraining)["optimizer"]


MAP = {"@misc": "spacy-lal.map_decoder.v1"}
ARGMAX = {"@misc": "spacy-lal.mbr_decoder.v1", "threshold": None}
PARSER = "components.lal_constituency"
SPANFORMER = "components.spanformer"
STATED: dict[str, dict[str, Any]] = {
    "ptb": {
        f"{PARSER}.objective.@misc": "spacy-lal.margin_objective.v2",
        "paths.encoder": "xlnet-large-cased",
        f"{PARSER}.model.encoder.heads": 112,
        f"{PARSER}.model.encoder.self_attention_layers": 3,
        f"{PARSER}.model.encoder.projection_width": 128,
    },
    "projects/ctb train": {
        f"{PARSER}.objective.@misc": "spacy-lal.margin_objective.v2",
        "components.transformer.model.name": "bert-base-chinese",
        f"{PARSER}.model.encoder.heads": 64,
    },
    "lal_crf_vtb": {
        "components.transformer.model.name": "vinai/phobert-large",
        f"{PARSER}.decoder": MAP,
        f"{PARSER}.model.input_encoder.width": 1024,
        f"{PARSER}.model.encoder.partition_width": 512,
        f"{PARSER}.model.encoder.label_partitioned": True,
        f"{PARSER}.model.encoder.heads": 64,
        f"{PARSER}.model.spans.span_width": 1024,
        f"{PARSER}.model.spans.label_width": 250,
        "training.batcher.size": 1000,
        "training.max_epochs": 100,
    },
    **{
        name: {
            f"{SPANFORMER}.decoder": ARGMAX,
            f"{SPANFORMER}.model.input_encoder.depth": 3,
            f"{SPANFORMER}.model.input_encoder.tag_depth": 0,
            f"{SPANFORMER}.model.tok2vec.width": width,
            f"{SPANFORMER}.model.tok2vec.embed.word_width": width,
            f"{SPANFORMER}.model.spans.biaffine_width": 480,
            "training.batcher.size": 5000,
            "training.optimizer.learn_rate.start": 0.002,
        }
        for name, width in (("spanformer", 100), ("projects/ftb train", 300))
    },
    "projects/ftb train-xlmr": {
        "components.transformer.model.name": "xlm-roberta-large",
        f"{SPANFORMER}.decoder": ARGMAX,
        f"{SPANFORMER}.model.input_encoder.tag_depth": 0,
        "training.batcher.size": 5000,
        "training.max_epochs": 10,
        "training.optimizer.L2": 0.01,
        "training.optimizer.learn_rate.start": 5e-5,
    },
    "ged_bert": {"training.max_epochs": 5, "corpora.train.max_length": 128},
}


@pytest.mark.parametrize("name", STATED)
def test_config_has_what_the_paper_states(name: str) -> None:
    config = read(name)
    for place, value in STATED[name].items():
        found: Any = config
        for key in place.split("."):
            found = found[key]
        assert found == value, place


@pytest.mark.parametrize(
    ("name", "parameter", "rate"),
    [
        ("spanformer", "spans.layers.0.attention.query.weight", 0.001),
        ("spanformer", "spans.projection.weight", 0.002),
        ("projects/ftb train", "spans.layers.0.outer.bias", 0.001),
        ("projects/ftb train-xlmr", "spans.layers.0.attention.query.weight", 0.001),
        ("projects/ftb train-xlmr", "encoder.layer.0.output.dense.weight", 5e-5),
    ],
)
def test_learning_rate(name: str, parameter: str, rate: float) -> None:
    optimizer = registry.resolve({"optimizer": read(name)["training"]["optimizer"]})["optimizer"]
    assert optimizer.learn_rate * optimizer.factor(parameter) == pytest.approx(rate)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_plateau_hears_of_scores(name: str) -> None:
    training = read(name)["training"]
    if "spacy-lal.plateau.v1" in str(training.get("optimizer")):
        assert training["logger"]["@loggers"] == "spacy-lal.PlateauLogger.v1"


@pytest.mark.parametrize(
    "path", sorted(ROOT.glob("packages/*/*/*-*/config.cfg")), ids=lambda path: path.parent.name
)
def test_a_packaged_pipeline_can_be_trained_on(path: Path) -> None:
    training = load_config(path, interpolate=True)["training"]
    resolved = registry.resolve({name: training[name] for name in ("optimizer", "batcher")})
    assert callable(resolved["optimizer"])
    assert callable(resolved["batcher"])
