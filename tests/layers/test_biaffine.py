import pytest
import torch
import torch.nn.functional as F
from torch.autograd import gradcheck
from torch.func import functional_call

from spacy_lal.layers.biaffine import Biaffine, FactorisedBiaffine, RoundedMatrices, label_scores
from spacy_lal.layers.prepared import prepare


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


def test_gradients():
    biaffine = make(2, 3, 2)
    names, parameters = zip(*biaffine.named_parameters(), strict=True)
    left = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    right = torch.randn(2, 3, 3, dtype=torch.float64, requires_grad=True)

    class Called(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = biaffine

        def forward(self, left, right):
            return self.inner(left, right)

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


@pytest.mark.parametrize(("d_left", "d_right", "n_outputs"), [(1, 1, 1), (2, 5, 1), (4, 3, 6)])
def test_matrices_hold_all_four_terms(d_left, d_right, n_outputs):
    biaffine = make(d_left, d_right, n_outputs)
    left = torch.randn(2, 3, d_left, dtype=torch.float64)
    right = torch.randn(2, 4, d_right, dtype=torch.float64)
    matrices = biaffine.factors(left, right).weight
    assert matrices.shape == (n_outputs, d_left + 1, d_right + 1)
    x, y = F.pad(left, (0, 1), value=1.0), F.pad(right, (0, 1), value=1.0)
    expected = torch.einsum("bni,oij,bmj->bnmo", x, matrices, y)
    torch.testing.assert_close(biaffine(left, right), expected, rtol=0, atol=1e-12)


def test_matrices_pass_their_gradient_on():
    biaffine = make(2, 3, 4)
    of_matrices = torch.randn(4, 3, 4, dtype=torch.float64)
    biaffine.factors(torch.zeros(1), torch.zeros(1)).weight.backward(of_matrices)
    assert torch.equal(biaffine.bilinear.grad, of_matrices[:, :-1, :-1])
    assert torch.equal(biaffine.left.grad, of_matrices[:, :-1, -1])
    assert torch.equal(biaffine.right.grad, of_matrices[:, -1, :-1])
    assert torch.equal(biaffine.bias.grad, of_matrices[:, -1, -1])


def whole_matrices(factorised):
    """The matrices of a factorised product, one rank-one matrix after the other."""
    u, v = (
        torch.cat([layer.weight, layer.bias.unsqueeze(1)], 1)
        for layer in (factorised.left, factorised.right)
    )
    mixture, bias = factorised.mixture.weight, factorised.mixture.bias
    whole = torch.zeros(len(mixture), u.shape[1], v.shape[1], dtype=torch.float64)
    for o in range(len(mixture)):
        for r in range(len(u)):
            whole[o] += mixture[o, r] * torch.outer(u[r], v[r])
        whole[o, -1, -1] += bias[o]
    return whole


@pytest.mark.parametrize(
    ("d_left", "d_right", "n_outputs", "rank"), [(1, 1, 1, 1), (2, 5, 3, 4), (4, 3, 7, 2)]
)
def test_factorised_equals_the_matrices_it_stands_for(d_left, d_right, n_outputs, rank):
    factorised = FactorisedBiaffine(d_left, d_right, n_outputs, rank).double()
    factorised.requires_grad_(False)
    full, whole = make(d_left, d_right, n_outputs), whole_matrices(factorised)
    full.load_state_dict(
        {
            "bilinear": whole[:, :-1, :-1],
            "left": whole[:, :-1, -1],
            "right": whole[:, -1, :-1],
            "bias": whole[:, -1, -1],
        }
    )
    left = torch.randn(2, 3, d_left, dtype=torch.float64)
    right = torch.randn(2, 4, d_right, dtype=torch.float64)
    scores = of_all_pairs(factorised, left, right)
    torch.testing.assert_close(scores, full(left, right), rtol=0, atol=1e-12)


def of_all_pairs(factorised, left, right):
    if isinstance(factorised, Biaffine):
        return factorised(left, right)
    u, v, weight = factorised.factors(left, right)
    return F.linear(u.unsqueeze(2) * v.unsqueeze(1), weight[:, :-1], weight[:, -1])


@pytest.mark.parametrize("d", [8, 500])
@pytest.mark.parametrize("rank", [4, 64])
def test_factorised_scores_begin_with_a_spread(d, rank):
    factorised = FactorisedBiaffine(d, d, 48, rank).requires_grad_(False)
    spread = float(of_all_pairs(factorised, torch.randn(4, 9, d), torch.randn(4, 9, d)).std())
    assert 0.2 < spread < 5


def test_a_rank_below_one_is_refused():
    with pytest.raises(ValueError, match="at least 1, not 0"):
        FactorisedBiaffine(2, 3, 4, 0)


def test_rounded_matrices_are_near_to_exact_ones_in_every_batch() -> None:
    torch.manual_seed(0)
    product = Biaffine(16, 12, 5, rounds=True)
    left, right = torch.randn(3, 7, 16), torch.randn(3, 7, 12)
    at = torch.arange(3).repeat_interleave(7), torch.arange(7).repeat(3), torch.arange(21) % 5
    with torch.no_grad():
        exact = label_scores(product.factors(left, right), *at), product(left, right)
        prepare(product, "int8")
        factors = product.factors(left, right)
        assert isinstance(factors.weight, RoundedMatrices)
        rounded = label_scores(factors, *at), product(left, right)
        for one, other in zip(exact, rounded, strict=True):
            assert not torch.equal(one, other)
            torch.testing.assert_close(one, other, rtol=0, atol=0.03 * float(one.abs().max()))
        for k in range(21):
            alone = label_scores(factors, *(of[k : k + 1] for of in at))
            torch.testing.assert_close(alone[0], rounded[0][k], rtol=1e-6, atol=1e-6)
    with torch.enable_grad():
        assert isinstance(product.factors(left, right).weight, torch.Tensor)
