"""Multi-head multi-layer attention against numbers computed from the paper's equations."""

import pytest
import torch

from tests.layers.test_layer_attention import attention

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
    layer = attention(
        h.shape[2], len(h), len(arrays["param/bo"]), heads=n_heads, pooling=pooling
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


def one_layer(layer, number, pooling, n_layers):
    """A layer attention whose first layer has the parameters of one layer of another.

    Its classifier hands over what it reads; the parameters of other layers are 0.
    """
    d = layer.value.shape[1]
    alone = attention(d, n_layers, d, heads=layer.n_heads, pooling=pooling).double()
    for name, parameter in alone.named_parameters():
        parameter.data.zero_()
        if not name.startswith("output"):
            parameter.data[0] = layer.get_parameter(name).data[number]
    alone.output.weight.data = torch.eye(d, dtype=torch.double)
    return alone


def log_odds(layer, h):
    """Scores a of one layer: beside one whose scores are 0, alpha is their logistic function."""
    alpha = layer.attention(torch.stack([h, torch.zeros_like(h)]))
    return (alpha[0] / alpha[1]).log()


@torch.no_grad()
def test_keys_values_and_scores(load_arrays, load_json):
    """Of every layer, and what the classifier reads, all seen through the layer's own outputs."""
    cases = load_arrays("mhmla")
    near = {"rtol": 1e-5, "atol": 1e-6}
    for options in load_json("mhmla")["cases"]:
        arrays = cases[options["key"]]
        layer, h = build(arrays, "attention")
        n_layers, n, d = h.shape
        assert (n_layers, n, d, layer.n_heads) == tuple(options[k] for k in ("L", "n", "d", "J"))
        heads = (layer.n_heads, options["dv"])
        for k, of_layer in enumerate(h):
            values = one_layer(layer, k, "average", 1)(of_layer.unsqueeze(0))
            expected = arrays["v"][k].double()
            torch.testing.assert_close(values.view(n, *heads), expected, **near)
            scorer = one_layer(layer, k, "attention", 2)
            torch.testing.assert_close(log_odds(scorer, of_layer), arrays["a"][k], **near)
            # with a score of 1 for one feature of every head, the score is that feature of the key
            scorer.score_bias.data.zero_()
            for feature in range(heads[1]):
                scorer.score.data.zero_().view(2, *heads)[0, :, feature] = 1.0
                expected = arrays["k"][k, ..., feature].double()
                torch.testing.assert_close(log_odds(scorer, of_layer), expected, **near)
        reader = attention(d, n_layers, d, heads=layer.n_heads).double()
        state = layer.state_dict()
        state["output.weight"] = torch.eye(d, dtype=torch.double)
        state["output.bias"] = torch.zeros(d, dtype=torch.double)
        reader.load_state_dict(state)
        torch.testing.assert_close(reader(h), arrays["c"], **near)
        torch.testing.assert_close(reader(h).view(n, *heads), arrays["head"], **near)
        loss = torch.nn.functional.cross_entropy(layer(h), arrays["y"])
        assert loss.item() == pytest.approx(options["loss_mean_ce"], rel=1e-5)


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
    layer = attention(6, 4, 2, heads=3, pooling=pooling)
    alpha = layer.attention(torch.randn(4, 5, 6))
    torch.testing.assert_close(alpha.sum(0), torch.ones(5, 3))
