"""Dropout: which values go, what the others become, and what flows back."""

from __future__ import annotations

import pytest
import torch

from spacy_lal.layers.dropout import Dropout, FeatureDropout, drop


@pytest.mark.parametrize("rate", [0.001, 0.1, 1 / 3, 0.5, 0.9])
def test_the_share_that_goes_and_the_scale_of_the_rest(rate: float) -> None:
    torch.manual_seed(0)
    n = 400_000
    y = drop(torch.ones(n), rate)
    share = float((y == 0).float().mean())
    # four standard deviations of a binomial share
    assert abs(share - rate) < 4 * (rate * (1 - rate) / n) ** 0.5
    torch.testing.assert_close(
        y[y != 0].unique(), torch.tensor([1 / (1 - rate)]), rtol=1e-4, atol=0
    )


def test_neighbours_go_independently() -> None:
    """Four masks come of one number, so values up to seven places away are looked at."""
    torch.manual_seed(0)
    kept = (drop(torch.ones(400_000), 0.4) != 0).double() - 0.6
    for distance in range(1, 8):
        covariance = float((kept[distance:] * kept[:-distance]).mean())
        assert abs(covariance) < 4 * 0.24 / 400_000**0.5


@pytest.mark.parametrize("shape", [(0,), (1,), (3,), (5, 7), (2, 3, 5), ()])
def test_any_shape(shape: tuple[int, ...]) -> None:
    x = torch.full(shape, 3.0, requires_grad=True)
    y = drop(x, 0.5)
    assert y.shape == x.shape
    assert set(y.detach().flatten().tolist()) <= {0.0, 6.0}
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach() / 3)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_numbers_of_other_kinds(dtype: torch.dtype) -> None:
    y = drop(torch.ones(64, dtype=dtype), 0.5)
    assert y.dtype == dtype
    assert set(y.tolist()) == {0.0, 2.0}


def test_the_seed_decides() -> None:
    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return drop(torch.ones(101), 0.5)

    assert torch.equal(drawn(1), drawn(1))
    assert not torch.equal(drawn(1), drawn(2))


def test_something_stays_at_the_highest_rate() -> None:
    assert torch.isfinite(drop(torch.ones(1000), 0.999999)).all()


@pytest.mark.parametrize("kind", [Dropout, FeatureDropout])
def test_nothing_goes_in_prediction_or_without_a_rate(kind: type[Dropout]) -> None:
    x = torch.randn(2, 3, 4)
    assert torch.equal(kind(0.5).eval()(x), x)
    assert torch.equal(kind(0.0)(x), x)


def test_features_go_in_all_rows() -> None:
    torch.manual_seed(0)
    y = FeatureDropout(0.5)(torch.ones(4, 6, 50))
    assert torch.equal(y, y[:, :1].expand_as(y))
    assert 0 < float((y == 0).float().mean()) < 1
