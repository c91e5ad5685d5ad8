import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from spacy_lal.layers.biaffine import Biaffine


def make(d_left, d_right, n_outputs):
    biaffine = Biaffine(d_left, d_right, n_outputs).double()
    torch.nn.init.normal_(biaffine.bias)
    return biaffine


def literal(biaffine, x, y, o):
    """x^T U_o y + w_o . x + v_o . y + b_o of two vectors, number by number."""
    biaffine.requires_grad_(False)
    score = float(biaffine.bias[o])
    for i in range(len(x)):
        score += float(biaffine.left[o, i] * x[i])
        for j in range(len(y)):
            score += float(x[i] * biaffine.bilinear[o, i, j] * y[j])
    for j in range(len(y)):
        score += float(biaffine.right[o, j] * y[j])
    return score


@pytest.mark.parametrize(
    ("batch", "n", "m", "d_left", "d_right", "n_outputs"),
    [(1, 1, 1, 1, 1, 1), (2, 3, 4, 2, 5, 1), (2, 4, 2, 5, 3, 3)],
)
def test_every_pair_by_the_formula(batch, n, m, d_left, d_right, n_outputs):
    biaffine = make(d_left, d_right, n_outputs)
    left = torch.randn(batch, n, d_left, dtype=torch.float64)
    right = torch.randn(batch, m, d_right, dtype=torch.float64)
    scores = biaffine(left, right).detach()
    assert scores.shape == (batch, n, m, n_outputs)
    for b in range(batch):
        for i in range(n):
            for j in range(m):
                for o in range(n_outputs):
                    expected = literal(biaffine, left[b, i], right[b, j], o)
                    assert float(scores[b, i, j, o]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 4])
def test_positions_are_the_diagonal(n_outputs):
    biaffine = make(3, 5, n_outputs)
    left = torch.randn(2, 6, 3, dtype=torch.float64)
    right = torch.randn(2, 6, 5, dtype=torch.float64)
    of_pairs = biaffine(left, right).diagonal(dim1=1, dim2=2).transpose(1, 2)
    torch.testing.assert_close(biaffine.of_positions(left, right), of_pairs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("of_positions", [False, True])
def test_gradients(of_positions):
    biaffine = make(2, 3, 2)
    names, parameters = zip(*biaffine.named_parameters(), strict=True)
    left = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    right = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)

    class Called(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = biaffine

        def forward(self, left, right):
            return (self.inner.of_positions if of_positions else self.inner)(left, right)

    def forward(left, right, *values):
        state = {f"inner.{name}": value for name, value in zip(names, values, strict=True)}
        return functional_call(Called(), state, (left, right))

    assert gradcheck(forward, (left, right, *parameters))


def test_no_words():
    biaffine = make(2, 3, 4)
    left, right = torch.zeros(2, 0, 2).double(), torch.zeros(2, 5, 3).double()
    assert biaffine(left, right).shape == (2, 0, 5, 4)
    assert biaffine(right[..., :2], right[:, :0]).shape == (2, 5, 0, 4)


def test_all_weights_begin_with_a_spread():
    """None at zero, which would leave a biaffine product without a gradient at first."""
    biaffine = Biaffine(8, 8, 3)
    for weight in (biaffine.bilinear, biaffine.left, biaffine.right):
        assert 0 < float(weight.detach().std()) < 1
    assert not bool(biaffine.bias.any())
