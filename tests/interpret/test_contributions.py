"""Sums and shares of label attention heads, by hand."""

import math

import pytest
import torch

from spacy_lal.interpret.explanation import head_sums, span_contributions
from spacy_lal.layers.encoder import halves

# START, two words, STOP; three heads of two features
ROWS = torch.tensor(
    [[[1, 2, 0, 1, 5, 5], [3, 1, 0, 0, 1, 1], [4, 4, 2, 1, 0, 3], [0, 7, 1, 6, 2, 2]]],
    dtype=torch.float64,
)


def test_head_sums_by_hand():
    # first feature of row k and second feature of row k + 1
    assert head_sums(ROWS, 3).tolist() == [[[2, 0, 6], [7, 1, 4], [11, 8, 2]]]


def test_head_sums_are_those_of_fenceposts():
    for width in (1, 2, 3, 4):
        rows = torch.randn(2, 6, 5 * width, dtype=torch.float64)
        first, second = halves(rows, 5)
        first, second = first[:, :-1], second[:, 1:]
        for head in range(5):
            expected = first[..., head * (width // 2) : (head + 1) * (width // 2)].sum(
                -1
            ) + second.unflatten(-1, (5, -1))[..., head, :].sum(-1)
            torch.testing.assert_close(head_sums(rows, 5)[..., head], expected)


def test_shares_by_hand():
    sums = head_sums(ROWS, 3)[0]
    starts, ends = torch.tensor([0, 1, 0]), torch.tensor([1, 2, 2])
    # differences [5, 1, -2], [4, 7, -2], [9, 8, -4]
    scaled = [[1, 3 / 7, 0], [6 / 9, 1, 0], [1, 12 / 13, 0]]
    normalised = span_contributions(sums, starts, ends)
    softmax = span_contributions(sums, starts, ends, "softmax")
    for row, values in enumerate(scaled):
        assert normalised[row].tolist() == pytest.approx([v / sum(values) for v in values])
        exponents = [math.exp(v) for v in values]
        assert softmax[row].tolist() == pytest.approx([v / sum(exponents) for v in exponents])


@pytest.mark.parametrize("method", ["normalised", "softmax"])
def test_equal_heads_have_equal_shares(method):
    starts, ends = torch.tensor([0]), torch.tensor([1])
    for n_heads in (1, 4):
        sums = torch.tensor([[1.0] * n_heads, [3.0] * n_heads])
        shares = span_contributions(sums, starts, ends, method)
        assert shares.tolist() == [[1 / n_heads] * n_heads]


def test_no_spans():
    none = torch.zeros(0, dtype=torch.int64)
    assert span_contributions(torch.ones(3, 4), none, none).shape == (0, 4)


def test_unknown_method():
    none = torch.zeros(0, dtype=torch.int64)
    with pytest.raises(ValueError, match="'softmax'"):
        span_contributions(torch.ones(3, 4), none, none, "mean")
