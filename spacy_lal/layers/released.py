"""Names of parameters in the parser that Mrini et al. (2020) released, mapped onto these layers."""

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
