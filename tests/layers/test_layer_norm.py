import pytest
import torch
from torch.autograd import gradcheck

from spacy_lal.layers.layer_norm import LayerNorm


def literal(norm, x):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, unbiased=True, keepdim=True)
    return (x - mean) / (std + 1e-3) * norm.a_2 + norm.b_2


@pytest.fixture(params=[2, 3, 8])
def norm(request):
    norm = LayerNorm(request.param).double()
    torch.nn.init.normal_(norm.a_2)
    torch.nn.init.normal_(norm.b_2)
    return norm


def test_equals_the_equation(norm):
    x = torch.randn(4, 5, norm.width, dtype=torch.float64)
    expected = literal(norm, x)
    torch.testing.assert_close(norm(x), expected, rtol=0, atol=1e-12)
    with torch.no_grad():
        torch.testing.assert_close(norm(x), expected, rtol=0, atol=1e-12)


def test_of_sums_equals_the_equation(norm):
    left = torch.randn(3, 4, norm.width, dtype=torch.float64)
    right = torch.randn(3, 5, norm.width, dtype=torch.float64)
    expected = literal(norm, left.unsqueeze(1) + right.unsqueeze(2))
    torch.testing.assert_close(norm.normalise_sums(left, right), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("magnitude", [1.0, 1e3])
def test_of_sums_that_nearly_cancel(magnitude):
    """In float32, against float64: as near as the rounding of the rows allows."""
    norm = LayerNorm(16)
    left = magnitude * torch.randn(2, 8, 16)
    right = magnitude * torch.randn(2, 10, 16)
    right[:, :8] = magnitude / 1e3 * torch.randn(2, 8, 16) - left
    gradient = torch.randn(2, 10, 8, 16)
    found, expected = [], []
    for dtype, results in ((torch.float32, found), (torch.float64, expected)):
        norm = norm.to(dtype)
        rows = [x.to(dtype).requires_grad_() for x in (left, right)]
        sums = rows[0].unsqueeze(1) + rows[1].unsqueeze(2)
        normalised = norm.normalise_sums(*rows) if results is found else literal(norm, sums)
        results += [normalised, *torch.autograd.grad(normalised, rows, gradient.to(dtype))]
    for mine, wanted in zip(found, expected, strict=True):
        near = 1e-3 * wanted.abs().max().item()
        torch.testing.assert_close(mine.double(), wanted, rtol=0, atol=near)


def test_gradients(norm):
    def forward(x, scale, shift):
        return torch.func.functional_call(norm, {"a_2": scale, "b_2": shift}, (x,))

    x = torch.randn(2, 3, norm.width, dtype=torch.float64, requires_grad=True)
    assert gradcheck(forward, (x, norm.a_2, norm.b_2))


def test_gradients_of_sums(norm):
    left = torch.randn(2, 3, norm.width, dtype=torch.float64, requires_grad=True)
    right = torch.randn(2, 4, norm.width, dtype=torch.float64, requires_grad=True)
    assert gradcheck(lambda left, right, *_: norm.normalise_sums(left, right), (left, right))
    loss = torch.randn(2, 4, 3, norm.width, dtype=torch.float64)
    actual = torch.autograd.grad(
        (norm.normalise_sums(left, right) * loss).sum(), list(norm.parameters())
    )
    expected = torch.autograd.grad(
        (literal(norm, left.unsqueeze(1) + right.unsqueeze(2)) * loss).sum(),
        list(norm.parameters()),
    )
    torch.testing.assert_close(actual, expected, rtol=0, atol=1e-9)


def test_constant_rows_have_finite_gradients():
    norm = LayerNorm(4)
    x = torch.full((2, 4), 3.0, requires_grad=True)
    y = norm(x)
    torch.testing.assert_close(y, torch.zeros(2, 4))
    y.sum().backward()
    assert x.grad.isfinite().all()
    left, right = torch.ones(1, 2, 4, requires_grad=True), torch.ones(1, 3, 4, requires_grad=True)
    norm.normalise_sums(left, right).sum().backward()
    assert left.grad.isfinite().all()
    assert right.grad.isfinite().all()


def test_width_one_is_the_identity():
    norm = LayerNorm(1)
    x = torch.randn(2, 3, 1)
    assert norm(x) is x
    torch.testing.assert_close(norm.normalise_sums(x, x), x.unsqueeze(1) + x.unsqueeze(2))
