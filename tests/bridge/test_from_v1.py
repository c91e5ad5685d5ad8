"""Headers and tensors as 0.1 stored them, written out by hand."""

from typing import Any

import pytest
import torch

from spacy_lal.bridge.from_v1 import from_v1
from spacy_lal.parsing.input_encoders import BiLSTMInput, BranchInput, PositionInput
from spacy_lal.parsing.settings import DependencySettings, EncoderSettings, ParserSettings
from spacy_lal.parsing.spans import BiaffineSpanSettings, TransformerSpanSettings
from spacy_lal.srl.settings import LisaSettings

NAMES = {"labels": ["NP"], "tags": ["NN", "."]}
BILSTM = {"d_hidden": 256, "depth": 3, "tag_depth": 1, "d_tag": 64, "mixed_precision": True}
ENCODER = {
    "n_layers": 2,
    "n_heads": 4,
    "d_key": 48,
    "d_ff": 512,
    "d_positional": 20,
    "n_label_heads": 32,
    "d_label_key": 24,
    "d_label_value": 12,
    "d_label_proj": 6,
    "label_d_positional": None,
    "label_feed_forward": True,
    "label_query_matrix": True,
    "label_combine": "project",
    "drops_label_residual": True,
    "arrangement": "stack",
}
SETTINGS = EncoderSettings(
    heads=32,
    key_width=24,
    value_width=12,
    projection_width=6,
    self_attention_layers=2,
    self_attention_heads=4,
    self_attention_key_width=48,
    feed_forward_width=512,
    partition_width=20,
    label_feed_forward=True,
    arrangement="stack",
    scale="key",
    query="matrix",
    combine="project",
    residual_dropout=True,
    label_partitioned=False,
    halves="head",
)


def settings_of(header: dict[str, Any]) -> ParserSettings:
    converted, _ = from_v1({"d_in": 8, **NAMES, "encoder": ENCODER, **header}, {})
    assert converted["d_in"] == 8
    assert {name: converted[name] for name in NAMES} == NAMES
    return ParserSettings.from_json(converted["settings"])


def test_a_joint_parser() -> None:
    settings = settings_of(
        {
            "rows": {"kind": "bilstm", **BILSTM},
            "d_hidden": 250,
            "relations": ["nsubj"],
            "dependencies": {
                "d_arc": 200,
                "d_relation": 50,
                "relation_of": "dependent",
                "read": "fenceposts",
            },
        }
    )
    assert settings == ParserSettings(
        BiLSTMInput(256, 3, 1, 64, True),
        SETTINGS,
        250,
        DependencySettings(200, 50, "dependent", "fenceposts"),
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ({"kind": "positions", "d_model": 96, "max_length": 99}, PositionInput(96, 99)),
        (
            {
                "kind": "branches",
                "d_model": 96,
                "max_length": 99,
                "content": "word",
                "bilstm": BILSTM,
            },
            BranchInput(96, 99, "word", BiLSTMInput(256, 3, 1, 64, True)),
        ),
        (
            {"kind": "branches", "d_model": 96, "max_length": 99, "content": "tag", "bilstm": None},
            BranchInput(96, 99),
        ),
    ],
)
def test_input_encoders(rows: dict[str, Any], expected: Any) -> None:
    assert settings_of({"rows": rows}) == ParserSettings(expected, SETTINGS)


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        (
            {"kind": "biaffine", "d_span": 30, "d_label": 20, "label_rank": 4},
            BiaffineSpanSettings(30, 20, 4),
        ),
        (
            {
                "kind": "transformer",
                "d_span": 30,
                "d_biaffine": 48,
                "rank": None,
                "d": 24,
                "n_heads": 2,
                "n_layers": 0,
                "d_ff": 36,
                "normalise": "concatenation",
                "d_label": 20,
                "label_rank": None,
            },
            TransformerSpanSettings(30, 48, None, 24, 2, 0, 36, "concatenation", 20, None),
        ),
    ],
)
def test_span_scorers(spans: dict[str, Any], expected: Any) -> None:
    settings = settings_of({"rows": {"kind": "bilstm", **BILSTM}, "spans": spans})
    assert settings.spans == expected


def test_lisa() -> None:
    names = {"joint": ["NN/True"], "roles": ["O"], "tags": ["NN"], "relations": ["nsubj"]}
    converted, _ = from_v1(
        {
            "d_in": 8,
            **names,
            "rows": {"kind": "bilstm", **BILSTM},
            "encoder": {
                "n_layers": 3,
                "n_heads": 8,
                "d_head": 32,
                "d_ff": 512,
                "ff_depth": 1,
                "tag_layer": 1,
                "syntax_layer": 2,
                "syntactic_head": "biaffine",
                "d_arc": 256,
                "d_relation": 64,
                "dropout": 0.1,
            },
            "d_tag": 128,
            "d_predicate": 120,
            "d_role": 110,
            "role_rank": 16,
            "d_indicator": None,
            "role_paths": True,
        },
        {},
    )
    assert {name: converted[name] for name in names} == names
    assert LisaSettings.from_json(converted["settings"]) == LisaSettings(
        input_encoder=BiLSTMInput(256, 3, 1, 64, True),
        layers=3,
        heads=8,
        head_width=32,
        feed_forward_width=512,
        feed_forward_depth=1,
        tag_layer=1,
        syntax_layer=2,
        syntactic_head="biaffine",
        tag_width=128,
        arc_width=256,
        relation_width=64,
        predicate_width=120,
        role_width=110,
        role_rank=16,
        layer_dropout=0.1,
        indicator_width=None,
        role_paths=True,
    )


def test_names_of_tensors() -> None:
    header = {"d_in": 8, **NAMES, "rows": {"kind": "bilstm", **BILSTM}, "encoder": ENCODER}
    tensors = {"rows.lower.x": torch.zeros(1), "encoder.rows.y": torch.ones(1)}
    assert from_v1(header, tensors)[1] == {
        "input_encoder.lower.x": tensors["rows.lower.x"],
        "encoder.rows.y": tensors["encoder.rows.y"],
    }


def test_others_stay_as_they_are() -> None:
    header, tensors = {"vocabulary": ["a"]}, {"rows.weight": torch.zeros(1)}
    assert from_v1(header, tensors) == (header, tensors)
