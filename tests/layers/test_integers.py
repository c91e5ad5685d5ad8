"""Predictions with 8-bit integers: plain integer arithmetic, and no word sees another batch."""

import numpy
import pytest
import torch

from spacy_lal.layers import bilstm, integers
from spacy_lal.layers.bilstm import BiLSTM
from spacy_lal.layers.integers import IntegerMatrix, Linear, OneSidedLinear, products
from spacy_lal.layers.prepared import prepare

UNALIKE = [[0.5, -1.0, 300.0], [1e-20, 2e-20, 0.0], [0.0, 0.0, 0.0], [-127.0, 63.4, 1.0]]


def by_hand(x: numpy.ndarray, weight: numpy.ndarray, *, centred: bool) -> numpy.ndarray:
    """Products of numpy's own integers: of rows about 0 or their middles, of weights about 0."""
    parts = []
    middles = (x.max(1) + x.min(1)) / 2 * centred
    for rows, middle, most in (
        (x, middles, 127),
        (weight, 0 * weight[:, 0], 127 if centred else 64),
    ):
        off = (rows - middle[:, None]).astype(numpy.float32)
        scale = numpy.maximum(abs(off).max(1), 1e-28).astype(numpy.float32) / numpy.float32(most)
        parts.append((numpy.rint(off / scale[:, None]).astype(numpy.int32), scale, middle))
    (a, a_scale, middle), (b, b_scale, _) = parts
    return ((a @ b.T) * a_scale[:, None] + middle[:, None] * b.sum(1)) * b_scale


@pytest.fixture(params=["native", "float32"])
def arithmetic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor's integers, and float32 numbers for processors without."""
    if request.param == "float32":
        monkeypatch.setattr(integers, "has_integer_products", lambda most: False)


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("kind", [Linear, OneSidedLinear])
def test_a_linear_layer_is_an_integer_product_of_rounded_rows(kind: type[Linear]) -> None:
    torch.manual_seed(0)
    layer = kind(3, 5)
    x = torch.tensor(UNALIKE)
    wanted = by_hand(x.numpy(), layer.weight.detach().numpy(), centred=kind is OneSidedLinear)
    prepare(layer, "int8")
    with torch.no_grad():
        found = layer(x).numpy()
    bias = layer.bias.detach().numpy()
    numpy.testing.assert_allclose(found, wanted + bias, rtol=1e-5)


def test_one_sided_rows_lose_no_range() -> None:
    """Numbers from 100 to 101 are rounded to 254ths, with weights that are integers already."""
    torch.manual_seed(0)
    x, layer = 100 + torch.rand(6, 50), OneSidedLinear(50, 4, bias=False)
    layer.weight.data = torch.randint(-126, 127, (4, 50)).float()
    layer.weight.data[:, 0] = 127
    prepare(layer, "int8")
    with torch.no_grad():
        found, exact = layer(x), x.double() @ layer.weight.double().T
    assert ((found - exact).abs() <= 0.51 / 254 * layer.weight.abs().sum(1)).all()


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("most", [64, 127])
def test_the_largest_sums_are_exact(most: int) -> None:
    matrix = IntegerMatrix(torch.ones(2, 1024) * torch.tensor([[1.0], [-1.0]]), most)
    rows = torch.full((3, 1024), 127.0).to(matrix.dtype)
    sums = matrix.sums(rows, matrix.empty_sums(3))
    assert sums.tolist() == [[127 * most * 1024, -127 * most * 1024]] * 3


def test_other_kinds_of_processors_multiply_float32_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    # without what was found before
    assert not integers.has_integer_products.__wrapped__(64)


def test_processors_agree() -> None:
    torch.manual_seed(1)
    layer, x = BiLSTM(24, 16, depth=2), torch.randn(3, 7, 24)
    lengths = torch.tensor([7, 2, 5])
    found = []
    for native in (integers.has_integer_products(64), False):
        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            patch.setattr(integers, "has_integer_products", lambda most, native=native: native)
            prepare(layer, "int8")
            found.append(layer(x, lengths))
    assert torch.equal(*found)


@pytest.mark.usefixtures("arithmetic")
def test_a_bilstm_is_near_to_its_float32_self() -> None:
    torch.manual_seed(2)
    layer, x = BiLSTM(24, 16, depth=3), torch.randn(4, 9, 24)
    lengths = torch.tensor([9, 1, 4, 8])
    with torch.no_grad():
        exact = layer.states(x, lengths)
        prepare(layer, "int8")
        rounded = layer.states(x, lengths)
        prepare(layer, None)
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
    prepare(lstm, "int8")
    prepare(linear, "int8")
    with torch.no_grad():
        together = linear(lstm(x, lengths))
        for row, n in enumerate(lengths.tolist()):
            alone = linear(lstm(x[row : row + 1, :n], lengths[row : row + 1]))
            torch.testing.assert_close(together[row, :n], alone[0], rtol=0, atol=1e-6)


@pytest.mark.usefixtures("arithmetic")
def test_how_much_is_done_at_one_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are rounded in blocks, and gates made for some words at one time."""
    torch.manual_seed(4)
    layers = [BiLSTM(6, 4, depth=2), Linear(6, 5), OneSidedLinear(6, 3)]
    x, lengths = torch.randn(5, 9, 6), torch.tensor([9, 1, 4, 4, 8])
    found = []
    for block, words in ((1 << 17, 256), (12, 1), (1, 10)):
        monkeypatch.setattr(integers, "BLOCK", block)
        monkeypatch.setattr(bilstm, "WORDS_AHEAD", words)
        for layer in layers:
            prepare(layer, "int8")
        with torch.no_grad():
            states = layers[0](x, lengths)
            found.append([states, layers[1](x), layers[2](x)])
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_gradients_are_those_of_float32() -> None:
    layers = [Linear(4, 3), Linear(4, 2)]
    x = torch.randn(5, 4)
    wanted = [torch.nn.functional.linear(x, layer.weight, layer.bias) for layer in layers]
    for layer in layers:
        prepare(layer, "int8")
    for a, b in zip(products(layers, x), wanted, strict=True):
        assert torch.equal(a, b)
        assert a.requires_grad
