import pytest
import torch

from spacy_lal.layers.encoder import LabelAttentionEncoder, halves
from spacy_lal.layers.label_attention import EncoderSettings
from spacy_lal.layers.span_scorer import SpanScorer

SMALL = {
    "self_attention_heads": 2,
    "self_attention_key_width": 4,
    "feed_forward_width": 6,
    "heads": 0,
    "key_width": 4,
    "value_width": 4,
    "projection_width": 6,
    "arrangement": "stack",
    "label_feed_forward": True,
}


def make(d_around=0, **options) -> LabelAttentionEncoder:
    settings = EncoderSettings(**{**SMALL, **options})
    return LabelAttentionEncoder(settings, 8, d_around).double().eval()


def rows(lengths):
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return torch.randn(*mask.shape, 8, dtype=torch.float64), mask


@pytest.mark.parametrize(
    ("options", "width"),
    [
        ({}, 8),
        ({"self_attention_layers": 2, "partition_width": 4}, 8),
        ({"heads": 3}, 18),
        ({"self_attention_layers": 1, "heads": 3, "label_feed_forward": False}, 18),
        ({"heads": 3, "combine": "project"}, 8),
        ({"heads": 3, "arrangement": "concatenate"}, 26),
        ({"arrangement": "concatenate"}, 8),
        ({"heads": 3, "combine": "project", "arrangement": "concatenate"}, 16),
        ({"heads": 3, "halves": "whole"}, 18),
    ],
    ids=str,
)
def test_widths_and_padding(options, width):
    encoder = make(**options)
    x, mask = rows([5, 3])
    annotations = encoder(x, mask)
    assert annotations.shape == (2, 5, width)
    assert encoder.output_dim == width
    assert encoder.fenceposts(annotations).shape == (2, 4, width)
    alone = encoder(x[1:, :3], mask[1:, :3])
    torch.testing.assert_close(annotations[1:, :3], alone, rtol=0, atol=1e-12)


def test_concatenated_fenceposts():
    encoder = make(heads=2, projection_width=4, arrangement="concatenate")
    row = torch.arange(16.0)
    after = 100 + row
    expected = [row[:4], row[[8, 9, 12, 13]], after[4:8], after[[10, 11, 14, 15]]]
    torch.testing.assert_close(
        encoder.fenceposts(torch.stack([row, after]).unsqueeze(0))[0, 0], torch.cat(expected)
    )


@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        # features 0-2 go around, label attention's are 3-8: two heads of three
        ({"halves": "whole"}, [0, 3, 4, 5], [1, 2, 6, 7, 8]),
        ({"halves": "head"}, [0, 3, 6], [1, 2, 4, 5, 7, 8]),
        # three heads of three are 3-11
        ({"halves": "whole", "heads": 3}, [0, 3, 4, 5, 6], [1, 2, 7, 8, 9, 10, 11]),
        ({"halves": "head", "heads": 3}, [0, 3, 6, 9], [1, 2, 4, 5, 7, 8, 10, 11]),
        # the rows that enter label attention are 3-10, its own features 11-16
        (
            {"halves": "whole", "arrangement": "concatenate"},
            [0, 3, 4, 5, 6, 11, 12, 13],
            [1, 2, 7, 8, 9, 10, 14, 15, 16],
        ),
        (
            {"halves": "head", "arrangement": "concatenate"},
            [0, 3, 4, 5, 6, 11, 14],
            [1, 2, 7, 8, 9, 10, 12, 13, 15, 16],
        ),
        # one vector for all heads has no heads to halve
        ({"halves": "head", "combine": "project"}, [0, 3, 4, 5, 6], [1, 2, 7, 8, 9, 10]),
        # nothing goes around
        ({"halves": "whole", "d_around": 0}, [0, 1, 2], [3, 4, 5]),
        ({"halves": "head", "d_around": 0}, [0, 3], [1, 2, 4, 5]),
        # no label attention: self-attention's features 3-10 are [content ; position]
        (
            {"heads": 0, "self_attention_layers": 1, "partition_width": 4},
            [0, 3, 5, 7, 9],
            [1, 2, 4, 6, 8, 10],
        ),
    ],
    ids=str,
)
def test_fenceposts_of_branches(options, first, second):
    """E_i = [B_i, L_i: first halves ; B_i+1, L_i+1: second halves]."""
    encoder = make(**{"heads": 2, "projection_width": 3, "d_around": 3, **options})
    annotations = torch.arange(3.0 * encoder.output_dim).view(1, 3, -1)
    assert sorted(first + second) == list(range(encoder.output_dim))
    expected = [
        torch.cat([annotations[0, k, first], annotations[0, k + 1, second]]) for k in range(2)
    ]
    torch.testing.assert_close(encoder.fenceposts(annotations)[0], torch.stack(expected))


@pytest.mark.parametrize("halves", ["whole", "head"])
@pytest.mark.parametrize("arrangement", ["stack", "concatenate"])
def test_what_goes_around_is_read_by_no_layer(arrangement, halves):
    options = {"self_attention_layers": 1, "heads": 3, "arrangement": arrangement, "halves": halves}
    plain, around = make(**options), make(d_around=5, **options)
    around.load_state_dict(plain.state_dict())
    x, mask = rows([5, 3])
    beside = torch.randn(2, 5, 5, dtype=torch.float64)
    annotations = around(torch.cat([beside, x], -1), mask)
    assert around.output_dim == plain.output_dim + 5
    assert torch.equal(annotations[..., :5], beside)
    assert torch.equal(annotations[..., 5:], plain(x, mask))


def test_unknown_halves_are_refused():
    with pytest.raises(ValueError, match=r"halves must be one of \('head', 'whole'\), not 'both'"):
        make(halves="both")


def test_concatenate_keeps_the_rows():
    encoder = make(
        self_attention_layers=1, heads=2, arrangement="concatenate", label_feed_forward=False
    )
    x, mask = rows([4])
    annotations = encoder(x, mask)
    encoded = encoder.encode(x, mask)
    torch.testing.assert_close(annotations[..., :8], encoded)
    torch.testing.assert_close(annotations[..., 8:], encoder.label_attention(encoded, mask))


def test_unknown_arrangement_is_refused():
    with pytest.raises(ValueError, match="arrangement"):
        make(arrangement="sum")


def test_mixed_precision():
    encoder = make(self_attention_layers=1, heads=3).float()
    x, mask = rows([5, 3])
    scorer = SpanScorer(encoder.output_dim, 6, 4)
    expected = scorer(encoder.fenceposts(encoder(x.float(), mask)))
    with torch.autocast("cpu", torch.bfloat16):
        scores = scorer(encoder.fenceposts(encoder(x.float(), mask)))
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores, expected, rtol=0, atol=0.3)
    scores.sum().backward()
    assert all(
        parameter.grad.isfinite().all()
        for parameter in encoder.parameters()
        if parameter.grad is not None
    )


def test_halves_of_heads():
    first, second = halves(torch.arange(8).view(1, 1, 8), 2)
    assert (first.tolist(), second.tolist()) == ([[[0, 1, 4, 5]]], [[[2, 3, 6, 7]]])
    # An odd width leaves the larger half to the second.
    first, second = halves(torch.arange(6).view(1, 1, 6), 2)
    assert (first.tolist(), second.tolist()) == ([[[0, 3]]], [[[1, 2, 4, 5]]])
