"""Multi-head multi-layer attention against numbers computed from the paper's equations."""

import pytest
import torch

from spacy_lal.layers.layer_attention import LayerAttention

PARAMETERS = {
    "value": "Wv",
    "value_bias": "bv",
    "key": "Wk",
    "key_bias": "bk",
    "score": "wa",
    "score_bias": "ba",
    "output.weight": "Wo",
    "output.bias": "bo",
}


def build(arrays, pooling):
    h = arrays["h"]
    n_heads = arrays["param/ba"].shape[1]
    layer = LayerAttention(
        h.shape[2], len(h), len(arrays["param/bo"]), n_heads=n_heads, pooling=pooling
    ).double()
    state = {
        name: arrays[f"param/{theirs}"].double().reshape(layer.state_dict()[name].shape)
        for name, theirs in PARAMETERS.items()
        if name in layer.state_dict()
    }
    layer.load_state_dict(state)
    return layer, h.double().requires_grad_()


def test_attention_logits_and_gradients(load_arrays):
    for case, arrays in load_arrays("mhmla").items():
        layer, h = build(arrays, "attention")
        logits = layer(h)
        near = {"rtol": 1e-5, "atol": 1e-6}
        torch.testing.assert_close(layer.attention(h), arrays["alpha"], **near)
        torch.testing.assert_close(logits, arrays["logits"], **near)
        torch.testing.assert_close(torch.softmax(logits, -1), arrays["probs"], **near)
        torch.nn.functional.cross_entropy(logits, arrays["y"]).backward()
        found = {"grad_h": h.grad}
        for name, parameter in layer.named_parameters():
            found[f"grad/{PARAMETERS[name]}"] = parameter.grad
        for name, value in found.items():
            expected = arrays[name].double().reshape(value.shape)
            torch.testing.assert_close(value, expected, msg=f"{case} {name}", **near)


def test_average_of_layers(load_arrays):
    for arrays in load_arrays("mhmla").values():
        layer, h = build(arrays, "average")
        torch.testing.assert_close(layer(h), arrays["avgl_logits"], rtol=1e-5, atol=1e-6)


def test_last_layer_alone(load_arrays):
    for arrays in load_arrays("mhmla").values():
        layer, h = build(arrays, "last")
        weight, bias = arrays["param/Wo"].double(), arrays["param/bo"].double()
        torch.testing.assert_close(layer(h), h[-1] @ weight.T + bias)


@pytest.mark.parametrize("pooling", ["attention", "average", "last"])
def test_attention_sums_to_one_over_layers(pooling):
    layer = LayerAttention(6, 4, 2, n_heads=3, pooling=pooling)
    alpha = layer.attention(torch.randn(4, 5, 6))
    torch.testing.assert_close(alpha.sum(0), torch.ones(5, 3))
