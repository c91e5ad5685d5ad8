import pytest
import torch
from torch.autograd import gradcheck

from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.label_attention import EncoderSettings, LabelAttention
from spacy_lal.layers.partitioned_attention import PartitionedFeedForward, PartitionedSelfAttention


def rows(lengths, d_model):
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return torch.randn(*mask.shape, d_model, dtype=torch.float64), mask


@pytest.mark.parametrize("positional", [None, 4])
@pytest.mark.parametrize("scale", ["key", "model"])
def test_self_attention_is_label_attention_with_matrix_queries_projected(positional, scale):
    layer = PartitionedSelfAttention(10, 2, 4, 4, d_positional=positional, scale=scale).double()
    settings = EncoderSettings(
        heads=2,
        key_width=4,
        value_width=4,
        partition_width=positional,
        scale=scale,
        query="matrix",
        combine="project",
    )
    label = LabelAttention(settings, 10).double()
    label.load_state_dict(layer.state_dict())
    x, mask = rows([5, 1, 3], 10)
    torch.testing.assert_close(layer(x, mask), label(x, mask))
    torch.testing.assert_close(layer.attention(x, mask), label.attention(x, mask))


@pytest.mark.parametrize("positional", [None, 4])
def test_self_attention_gradients_and_padding(positional):
    layer = PartitionedSelfAttention(6, 2, 2, 2, d_positional=positional).double()
    x, mask = rows([3, 2], 6)
    assert gradcheck(lambda x: layer(x, mask)[mask], (x.requires_grad_(),))
    together = layer(x, mask)
    alone = layer(x[1:, :2], mask[1:, :2])
    torch.testing.assert_close(together[1:, :2], alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("positional", [None, 4])
def test_feed_forward_equals_the_equation(positional):
    layer = PartitionedFeedForward(10, 8, d_positional=positional).double()
    x, _ = rows([5, 3], 10)
    if positional is None:
        parts = [(x, layer.w_1, layer.w_2)]
    else:
        parts = [(x[..., :6], layer.w_1c, layer.w_2c), (x[..., 6:], layer.w_1p, layer.w_2p)]
    transformed = torch.cat([w_2(w_1(part).clamp_min(0)) for part, w_1, w_2 in parts], -1)
    torch.testing.assert_close(layer(x), layer.layer_norm(x + transformed))
    assert gradcheck(layer, (x[:, :2].requires_grad_(),))


def test_feed_forward_dropout():
    layer = PartitionedFeedForward(10, 8).double()
    x, _ = rows([5, 3], 10)
    expected = layer(x)
    set_dropout(layer, 0.5)
    assert not torch.allclose(layer(x), expected)
    torch.testing.assert_close(layer.eval()(x), expected)


def test_self_attention_dropout():
    layer = PartitionedSelfAttention(10, 2, 4, 4).double()
    x, mask = rows([5, 3], 10)
    expected = layer(x, mask)
    for rate in ("attention_dropout", "residual_dropout"):
        layer.train()
        set_dropout(getattr(layer, rate), 0.5)
        assert not torch.allclose(layer(x, mask), expected)
        torch.testing.assert_close(layer.eval()(x, mask), expected)
        set_dropout(layer, 0.0)


def test_wrong_partitions_are_refused():
    with pytest.raises(ValueError, match="d_positional"):
        PartitionedFeedForward(10, 8, d_positional=10)
    with pytest.raises(ValueError, match="d_positional"):
        PartitionedSelfAttention(10, 2, 4, 4, d_positional=12)
