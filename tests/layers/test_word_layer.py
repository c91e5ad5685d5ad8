"""The layer that reads a word's form beside what a transformer made of it."""

from __future__ import annotations

import math

import numpy
import torch

from spacy_lal.layers.word_layer import WordLayer


def test_equals_the_equation() -> None:
    """LayerNorm(h + W_2 gelu(W_1 [h; words] + b_1) + b_2), number by number."""
    torch.manual_seed(0)
    layer = WordLayer(4, 3, 5).double().eval()
    torch.nn.init.normal_(layer.norm.weight)
    torch.nn.init.normal_(layer.norm.bias)
    h, words = torch.randn(2, 4).double(), torch.randn(2, 3).double()
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    expected = []
    for row in torch.cat([h, words], 1).numpy():
        hidden = p["hidden.weight"] @ row + p["hidden.bias"]
        gelu = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in hidden]
        added = row[:4] + p["output.weight"] @ numpy.array(gelu) + p["output.bias"]
        normed = (added - added.mean()) / math.sqrt(added.var() + 1e-5)
        expected.append(p["norm.weight"] * normed + p["norm.bias"])
    numpy.testing.assert_allclose(layer(h, words).detach().numpy(), expected, atol=1e-9)
