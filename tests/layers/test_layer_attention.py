"""Attention over layers: values computed the long way, dropout, settings."""

import pytest
import torch

from spacy_lal.layers import layer_attention
from spacy_lal.layers.layer_attention import LayerAttention, LayerAttentionSettings
from spacy_lal.layers.prepared import prepare


def attention(d, n_layers, n_classes, heads, pooling="attention", dropout=0.0):
    return LayerAttention(d, n_layers, n_classes, LayerAttentionSettings(heads, pooling, dropout))


def by_the_equations(layer, h, j_heads):
    """Eqs. 4 to 10 head by head and token by token."""
    n_layers, n_tokens, d = h.shape
    size = d // j_heads
    logits = []
    for n in range(n_tokens):
        heads = []
        for j in range(j_heads):
            rows = slice(j * size, (j + 1) * size)
            values, scores = [], []
            for k in range(n_layers):
                values.append(layer.value[k, rows] @ h[k, n] + layer.value_bias[k, rows])
                key = torch.relu(layer.key[k, rows] @ h[k, n] + layer.key_bias[k, rows])
                scores.append(layer.score[k, rows] @ key + layer.score_bias[k, j])
            alpha = torch.softmax(torch.stack(scores), 0)
            heads.append(sum(a * v for a, v in zip(alpha, values, strict=True)))
        logits.append(layer.output(torch.cat(heads)))
    return torch.stack(logits)


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
@pytest.mark.parametrize("classes", [2, 5])
def test_equations(heads, classes):
    torch.manual_seed(0)
    layer = attention(6, 3, classes, heads=heads).double()
    for bias in (layer.value_bias, layer.key_bias, layer.score_bias):
        torch.nn.init.normal_(bias)
    h = torch.randn(3, 4, 6, dtype=torch.double)
    torch.testing.assert_close(layer(h), by_the_equations(layer, h, heads))


@pytest.mark.parametrize("classes", [3, 5])
def test_rounded_weights_that_are_integers_are_exact(classes, monkeypatch):
    """Of keys and values; of votes as well, with heads of one feature that has an integer vote."""
    monkeypatch.setattr(layer_attention, "TOKENS", 3)
    torch.manual_seed(0)
    layer = attention(12, 3, classes, heads=4)
    assert layer.votes == (classes == 3)
    for bias in (layer.value_bias, layer.key_bias, layer.score_bias):
        torch.nn.init.normal_(bias)
    for weight in (layer.key, layer.value):
        weight.data = torch.randint(-63, 64, weight.shape).float()
        weight.data[..., 0] = 64
    layer.output.weight.data = torch.eye(12)[:classes]
    h = torch.randint(-126, 127, (3, 7, 12)).float()
    h[..., 0] = 127
    # small keys, or one layer has all attention
    layer.score.data /= 1e5
    exact = by_the_equations(layer, h, 4)
    prepare(layer, "int8")
    with torch.no_grad():
        found = layer(h)
        alone = torch.cat([layer(h[:, n : n + 1]) for n in range(7)])
    torch.testing.assert_close(found, exact, rtol=1e-4, atol=0.1)
    assert found.equal(alone)


@pytest.mark.parametrize("pooling", ["attention", "average", "last"])
def test_gradients(pooling):
    torch.manual_seed(0)
    layer = attention(4, 2, 2, heads=2, pooling=pooling).double()
    h = torch.randn(2, 3, 4, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(lambda h, *_: layer(h), (h, *layer.parameters()))


def test_dropout_of_the_attention_keeps_its_mean():
    torch.manual_seed(0)
    layer = attention(4, 3, 2, heads=2, dropout=0.3)
    # only alpha is left to drop: h and k are constant zero, so values are their biases
    torch.nn.init.normal_(layer.value_bias)
    h = torch.zeros(3, 20000, 4)
    dropped = layer.train()(h)
    torch.testing.assert_close(dropped.mean(0), layer.eval()(h)[0], atol=0.02, rtol=0)
    assert dropped.std(0).min() > 0.01


def test_no_tokens():
    assert attention(4, 3, 2, heads=2)(torch.zeros(3, 0, 4)).shape == (0, 2)


def test_settings_are_checked():
    with pytest.raises(ValueError, match="12 features can't be shared out evenly to 5 heads"):
        attention(12, 2, 2, heads=5)
    with pytest.raises(ValueError, match="pooling must be one of"):
        attention(12, 2, 2, heads=3, pooling="max")
