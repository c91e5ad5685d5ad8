"""Names of parameters in released code, of Mrini et al. (2020) and others, mapped onto these
layers."""

import re
from collections.abc import Mapping

from torch import Tensor


def encoder_state(released: Mapping[str, Tensor], n_layers: int) -> dict[str, Tensor]:
    """The state dict of a `LabelAttentionEncoder` of `n_layers`, from released names.

    `encoder.attn_<i>` and `encoder.ff_<i>` are the layers; those numbered `n_layers` are label
    attention and the feed-forward layer after it.
    """
    state = {}
    for name, value in released.items():
        match = re.fullmatch(r"encoder\.(attn|ff)_(\d+)\.(.+)", name)
        if match is None:
            continue
        kind = "attention" if match[1] == "attn" else "feed_forward"
        index = int(match[2])
        layer = f"{kind}_layers.{index}" if index < n_layers else f"label_{kind}"
        state[f"{layer}.{match[3]}"] = value
    return state


def span_scorer_state(released: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict of a `SpanScorer`, from released names (`f_label.<i>`)."""
    layers = {"f_label.0.": "hidden.", "f_label.1.": "layer_norm.", "f_label.3.": "output."}
    return {
        layers[name[:10]] + name[10:]: value
        for name, value in released.items()
        if name[:10] in layers
    }


def dependency_scorer_state(released: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict of a `DependencyScorer`, from released names (`dep_score.…`)."""
    mine = {n.removeprefix("dep_score."): v for n, v in released.items() if "dep_score." in n}
    linear = {
        "arc_h": "arc_head",
        "arc_c": "arc_dependent",
        "type_h": "relation_head",
        "type_c": "relation_dependent",
    }
    state = {
        f"{ours}.{kind}": mine[f"{theirs}.{kind}"]
        for theirs, ours in linear.items()
        for kind in ("weight", "bias")
    }
    # [h;1]^T W [c;1] with W's last row and column spelled out
    whole = mine["attention.dep_weight"]
    state["arc.bilinear"] = whole[:-1, :-1].unsqueeze(0)
    state["arc.left"] = whole[:-1, -1].unsqueeze(0)
    state["arc.right"] = whole[-1, :-1].unsqueeze(0)
    state["arc.bias"] = whole[-1, -1].unsqueeze(0)
    for theirs, name in (("U", "bilinear"), ("W_l", "left"), ("W_r", "right"), ("bias", "bias")):
        state[f"relation.{name}"] = mine[f"bilinear.{theirs}"]
    return state


def lstm_name(released: str) -> str:
    """The name in a `BiLSTM` of one layer of what `torch.nn.LSTM` calls `weight_ih_l0_reverse`."""
    direction = "back" if released.endswith("_reverse") else "ahead"
    return f"{direction}.0.{released.removesuffix('_reverse')}"
