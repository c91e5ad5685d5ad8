"""Names of variables of the released LISA (Strubell et al. 2018), mapped onto these layers."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor


def lisa_encoder_state(released: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict of a `LisaEncoder` with a copied head, from the variables of the released
    LISA (`LISA/…`), whose matrices are [in, out]."""
    state = _linear(released, "LISA/project_input/Linear", "project")
    for name, value in released.items():
        match = re.fullmatch(r"LISA/transformer/layer(\d+)/(.+)", name)
        if match is None:
            continue
        layer = f"layers.{match[1]}"
        part = match[2].replace("/gamma", ".weight").replace("/beta", ".bias")
        hidden = re.fullmatch(r"ffnn/conv_hidden_relu/ff([12])", part)
        if hidden:
            part = f"hidden.{int(hidden[1]) - 1}.weight"
        task_norm = f"task_norms.{int(match[1]) + 1}"
        names = {
            "self_attention/layer_norm": f"{layer}.norm",
            "self_attention/multihead_attention/qkv_transform": (
                f"{layer}.attention.queries_keys_values.weight"
            ),
            "self_attention/multihead_attention/final_proj": f"{layer}.attention.output.weight",
            "ffnn/layer_norm": f"{layer}.feed_forward_norm",
            "ffnn/conv_hidden_relu/ff3": f"{layer}.output.weight",
            "layer_norm": task_norm,
            "hidden": f"{layer}.hidden",
        }
        base, dot, kind = part.partition(".")
        if base in names:
            # convolutions of width 1: [1, 1, in, out]
            state[names[base] + dot + kind] = value.flatten(0, -2).T if value.dim() > 1 else value
    (parser,) = {n.rpartition("/crf/")[0] for n in released if "/crf/parse_bilinear/" in n}
    state |= _linear(released, f"{parser}/crf/parse_bilinear/MLP/Linear", "parser.views")
    state["parser.arc"] = released[f"{parser}/crf/parse_bilinear/Arcs/Bilinear/Weights"].squeeze(1)
    return state | _biaffine(
        released[f"{parser}/crf/conditional_bilin/Bilinear/Weights"], "parser.relation"
    )


def lisa_state(released: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state dict of a `LisaNetwork` without a BiLSTM, from the released LISA's variables."""
    state = {f"encoder.{name}": value for name, value in lisa_encoder_state(released).items()}
    (tags,) = {n.rpartition("/Classifier/")[0] for n in released if "/crf/Classifier/" in n}
    (roles,) = {n.rpartition("/Bilinear/Bil")[0] for n in released if "/crf/Bilinear/Bil" in n}
    state |= _linear(released, f"{tags}/MLP/Linear", "tag_hidden")
    state |= _linear(released, f"{tags}/Classifier/Linear", "joint")
    state |= _linear(released, f"{roles}/MLP/Linear", "roles.views")
    return state | _biaffine(released[f"{roles}/Bilinear/Bilinear/Weights"], "roles.product")


def _linear(released: Mapping[str, Tensor], theirs: str, ours: str) -> dict[str, Tensor]:
    return {
        f"{ours}.weight": released[f"{theirs}/Weights"].T,
        f"{ours}.bias": released[f"{theirs}/Biases"],
    }


def _biaffine(weights: Tensor, ours: str) -> dict[str, Tensor]:
    """[a + 2, outputs, b + 2]: both sides have the constant 1 appended twice."""
    whole = weights.transpose(0, 1)
    whole = torch.cat([whole[:, :-2], whole[:, -2:].sum(1, keepdim=True)], 1)
    whole = torch.cat([whole[..., :-2], whole[..., -2:].sum(2, keepdim=True)], 2)
    return {
        f"{ours}.bilinear": whole[:, :-1, :-1],
        f"{ours}.left": whole[:, :-1, -1],
        f"{ours}.right": whole[:, -1, :-1],
        f"{ours}.bias": whole[:, -1, -1],
    }
