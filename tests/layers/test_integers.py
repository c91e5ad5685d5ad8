"""Predictions with 8-bit integers: plain integer arithmetic, and no word sees another batch."""

import numpy
import pytest
import torch

from spacy_lal.layers import integers
from spacy_lal.layers.bilstm import BiLSTM
from spacy_lal.layers.integers import IntegerMatrix, Linear, products, round_weights

UNALIKE = [[0.5, -1.0, 300.0], [1e-20, 2e-20, 0.0], [0.0, 0.0, 0.0], [-127.0, 63.4, 1.0]]


def by_hand(x: numpy.ndarray, weight: numpy.ndarray) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Integer sums and their scales, in numpy's own integers."""
    parts = []
    for rows in (x, weight):
        scale = numpy.maximum(abs(rows).max(1), 1e-28).astype(numpy.float32) / numpy.float32(127)
        parts.append((numpy.rint(rows / scale[:, None]).astype(numpy.int32), scale))
    (a, a_scale), (b, b_scale) = parts
    return a @ b.T, a_scale[:, None] * b_scale


@pytest.fixture(params=["native", "float32"])
def arithmetic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor's integers, and float32 numbers for processors without."""
    if request.param == "float32":
        monkeypatch.setattr(integers, "has_integer_products", lambda: False)


@pytest.mark.usefixtures("arithmetic")
def test_a_linear_layer_is_an_integer_product_of_rounded_rows() -> None:
    torch.manual_seed(0)
    layer = Linear(3, 5)
    x = torch.tensor(UNALIKE)
    sums, scale = by_hand(x.numpy(), layer.weight.detach().numpy())
    round_weights(layer, wanted=True)
    with torch.no_grad():
        found = layer(x).numpy()
        without = layer.without_bias(x).numpy()
    bias = layer.bias.detach().numpy()
    numpy.testing.assert_allclose(without, sums * scale, rtol=1e-5, atol=1e-30)
    numpy.testing.assert_allclose(found, sums * scale + bias, rtol=1e-5)


@pytest.mark.usefixtures("arithmetic")
def test_the_largest_sums_are_exact() -> None:
    matrix = IntegerMatrix(torch.ones(2, 1024) * torch.tensor([[1.0], [-1.0]]))
    rows = torch.full((3, 1024), 127.0).to(matrix.dtype)
    sums = matrix.sums(rows, matrix.empty_sums(3))
    assert sums.tolist() == [[127 * 127 * 1024, -127 * 127 * 1024]] * 3


def test_processors_agree() -> None:
    torch.manual_seed(1)
    layer, x = BiLSTM(24, 16, depth=2), torch.randn(3, 7, 24)
    lengths = torch.tensor([7, 2, 5])
    found = []
    for native in (integers.has_integer_products(), False):
        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            patch.setattr(integers, "has_integer_products", lambda native=native: native)
            round_weights(layer, wanted=True)
            found.append(layer(x, lengths))
    assert torch.equal(*found)


@pytest.mark.usefixtures("arithmetic")
def test_a_bilstm_is_near_to_its_float32_self() -> None:
    torch.manual_seed(2)
    layer, x = BiLSTM(24, 16, depth=3), torch.randn(4, 9, 24)
    lengths = torch.tensor([9, 1, 4, 8])
    with torch.no_grad():
        exact = layer.states(x, lengths)
        round_weights(layer, wanted=True)
        rounded = layer.states(x, lengths)
        round_weights(layer, wanted=False)
        again = layer.states(x, lengths)
    for row, n in enumerate(lengths.tolist()):
        for a, b, c in zip(exact, rounded, again, strict=True):
            assert not torch.equal(a[row, :n], b[row, :n])
            torch.testing.assert_close(a[row, :n], b[row, :n], rtol=0, atol=0.03)
            assert torch.equal(a, c)


@pytest.mark.usefixtures("arithmetic")
def test_nothing_depends_on_the_batch() -> None:
    torch.manual_seed(3)
    lstm, linear = BiLSTM(24, 16, depth=2), Linear(32, 5)
    # a sentence of large numbers must not make the scale of small ones
    x = torch.randn(4, 9, 24) * torch.tensor([1.0, 1000.0, 0.001, 1.0])[:, None, None]
    lengths = torch.tensor([9, 6, 1, 8])
    round_weights(lstm, wanted=True)
    round_weights(linear, wanted=True)
    with torch.no_grad():
        together = linear(lstm(x, lengths))
        for row, n in enumerate(lengths.tolist()):
            alone = linear(lstm(x[row : row + 1, :n], lengths[row : row + 1]))
            torch.testing.assert_close(together[row, :n], alone[0], rtol=0, atol=1e-6)


def test_gradients_are_those_of_float32() -> None:
    layers = [Linear(4, 3), Linear(4, 2)]
    x = torch.randn(5, 4)
    wanted = [torch.nn.functional.linear(x, layer.weight, layer.bias) for layer in layers]
    for layer in layers:
        round_weights(layer, wanted=True)
    for a, b in zip(products(layers, x), wanted, strict=True):
        assert torch.equal(a, b)
        assert a.requires_grad
