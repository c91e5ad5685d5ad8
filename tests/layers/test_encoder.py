import pytest
import torch

from spacy_lal.layers.encoder import LabelAttentionEncoder
from spacy_lal.layers.span_scorer import SpanScorer

SMALL = {"n_heads": 2, "d_key": 4, "d_ff": 6, "d_label_key": 4, "d_label_proj": 6}


def make(**options) -> LabelAttentionEncoder:
    return LabelAttentionEncoder(8, **{**SMALL, **options}).double().eval()


def rows(lengths):
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return torch.randn(*mask.shape, 8, dtype=torch.float64), mask


@pytest.mark.parametrize(
    ("options", "width"),
    [
        ({}, 8),
        ({"n_layers": 2, "d_positional": 4}, 8),
        ({"n_label_heads": 3}, 18),
        ({"n_layers": 1, "n_label_heads": 3, "label_feed_forward": False}, 18),
        ({"n_label_heads": 3, "label_combine": "project"}, 8),
        ({"n_label_heads": 3, "arrangement": "concatenate"}, 26),
        ({"arrangement": "concatenate"}, 8),
        ({"n_label_heads": 3, "label_combine": "project", "arrangement": "concatenate"}, 16),
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
    encoder = make(n_label_heads=2, d_label_proj=4, arrangement="concatenate")
    row = torch.arange(16.0)
    after = 100 + row
    expected = [row[:4], row[[8, 9, 12, 13]], after[4:8], after[[10, 11, 14, 15]]]
    torch.testing.assert_close(
        encoder.fenceposts(torch.stack([row, after]).unsqueeze(0))[0, 0], torch.cat(expected)
    )


def test_concatenate_keeps_the_rows():
    encoder = make(n_layers=1, n_label_heads=2, arrangement="concatenate", label_feed_forward=False)
    x, mask = rows([4])
    annotations = encoder(x, mask)
    encoded = encoder.encode(x, mask)
    torch.testing.assert_close(annotations[..., :8], encoded)
    torch.testing.assert_close(annotations[..., 8:], encoder.label_attention(encoded, mask))
    torch.testing.assert_close(
        encoder.attention(x, mask), encoder.label_attention.attention(encoded, mask)
    )


def test_attention_needs_label_attention():
    with pytest.raises(ValueError, match="no Label Attention"):
        make().attention(*rows([3]))


def test_unknown_arrangement_is_refused():
    with pytest.raises(ValueError, match="arrangement"):
        make(arrangement="sum")


def test_mixed_precision():
    encoder = make(n_layers=1, n_label_heads=3).float()
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
