"""Weights that were stored before settings had types: their names, and today's."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .settings import NAME
from .weights import Header

_PARTS = {
    "bilstm": ("spacy-lal.BiLSTMRows.v1", {"d_hidden": "hidden_width", "d_tag": "tag_width"}),
    "positions": ("spacy-lal.PositionRows.v1", {"d_model": "width"}),
    "branches": ("spacy-lal.BranchRows.v1", {"d_model": "width"}),
    "biaffine": (
        "spacy-lal.BiaffineSpans.v1",
        {"d_span": "span_width", "d_label": "label_width"},
    ),
    "transformer": (
        "spacy-lal.TransformerSpans.v1",
        {
            "d_span": "span_width",
            "d_biaffine": "biaffine_width",
            "rank": "biaffine_rank",
            "d": "width",
            "n_heads": "heads",
            "n_layers": "layers",
            "d_ff": "feed_forward_width",
            "d_label": "label_width",
        },
    ),
}
_ENCODER = {
    "n_layers": "self_attention_layers",
    "n_heads": "self_attention_heads",
    "d_key": "self_attention_key_width",
    "d_ff": "feed_forward_width",
    "d_positional": "partition_width",
    "n_label_heads": "heads",
    "d_label_key": "key_width",
    "d_label_value": "value_width",
    "d_label_proj": "projection_width",
    "label_combine": "combine",
    "drops_label_residual": "residual_dropout",
}
_DEPENDENCIES = {"d_arc": "arc_width", "d_relation": "relation_width"}
_LISA = {
    "n_layers": "layers",
    "n_heads": "heads",
    "d_head": "head_width",
    "d_ff": "feed_forward_width",
    "ff_depth": "feed_forward_depth",
    "d_arc": "arc_width",
    "d_relation": "relation_width",
    "dropout": "layer_dropout",
    "d_tag": "tag_width",
    "d_predicate": "predicate_width",
    "d_role": "role_width",
    "d_indicator": "indicator_width",
}


def from_v1(header: Header, tensors: dict[str, Tensor]) -> tuple[Header, dict[str, Tensor]]:
    """Header and tensors of a network as `build_network` takes them today.

    Those of 0.1 have "rows" among their settings, all of which stand in the header itself; others
    are given back as they are.
    """
    if "rows" not in header:
        return header, tensors
    own = {name: header.get(name, []) for name in ("d_in", "labels", "tags", "relations")}
    if "joint" in header:
        own = {name: header[name] for name in ("d_in", "joint", "roles", "tags", "relations")}
        rest = {name: value for name, value in header.items() if name not in own}
        settings = _renamed(rest | rest.pop("encoder"), _LISA)
        settings["input_encoder"] = _part(settings.pop("rows"))
    else:
        settings = {
            "input_encoder": _part(header["rows"]),
            "encoder": _encoder(header["encoder"]),
            "hidden_width": header.get("d_hidden"),
            "dependencies": _renamed(header.get("dependencies"), _DEPENDENCIES),
            "spans": _part(header.get("spans")),
        }
    renamed_tensors = {
        "input_encoder." + name.removeprefix("rows.") if name.startswith("rows.") else name: value
        for name, value in tensors.items()
    }
    return own | {"settings": settings}, renamed_tensors


def _renamed(values: dict[str, Any] | None, names: dict[str, str]) -> Any:
    return values and {names.get(name, name): value for name, value in values.items()}


def _part(values: dict[str, Any] | None) -> dict[str, Any] | None:
    if values is None:
        return None
    values = dict(values)
    # a BiLSTM inside another part did not say what it is
    name, names = _PARTS[values.pop("kind", "bilstm")]
    if "bilstm" in values:
        values["bilstm"] = _part(values["bilstm"])
    renamed: dict[str, Any] = _renamed(values, names)
    return {NAME: name} | renamed


def _encoder(values: dict[str, Any]) -> dict[str, Any]:
    # what the layer assumed where a header is older than a setting
    values = {"halves": "head", "scale": "key"} | values
    partitioned = values.pop("label_d_positional", None) is not None
    query = "matrix" if values.pop("label_query_matrix", False) else "vector"
    settings: dict[str, Any] = _renamed(values, _ENCODER)
    return settings | {"label_partitioned": partitioned, "query": query}
