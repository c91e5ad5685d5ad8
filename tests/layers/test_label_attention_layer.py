import itertools
import math

import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.label_attention import EncoderSettings, LabelAttention
from spacy_lal.layers.prepared import prepare

VARIANTS = [
    {"query": query, "combine": combine, "partition_width": positional, "scale": scale}
    for query, combine, positional, scale in itertools.product(
        ("vector", "matrix"), ("concatenate", "project"), (None, 4), ("key", "model")
    )
]


def make(d_model=10, n_heads=3, d_key=4, d_value=6, d_proj=5, **options) -> LabelAttention:
    widths = {"key_width": d_key, "value_width": d_value, "projection_width": d_proj}
    given = {"residual_dropout": True, **widths, **options}
    layer = LabelAttention(EncoderSettings(heads=n_heads, **given), d_model).double()
    torch.nn.init.normal_(layer.layer_norm.a_2)
    torch.nn.init.normal_(layer.layer_norm.b_2)
    return layer


def normalise(layer, row):
    if len(row) == 1:
        return row
    norm = layer.layer_norm
    return (row - row.mean()) / (row.std() + 1e-3) * norm.a_2 + norm.b_2


def literal(layer, x):
    """The equations for one sentence x [n,d], word for word, head by head."""
    p = dict(layer.named_parameters())
    if "w_ks" in p:
        parts = {"": slice(None)}
    else:
        d_content = p["w_ks1"].shape[1]
        parts = {"1": slice(d_content), "2": slice(d_content, None)}
    root = math.sqrt(layer.d_key if layer.scale == layer.d_key**-0.5 else layer.d_model)
    attention, contexts = [], []
    for head in range(layer.n_heads):
        keys = torch.cat([x[:, cut] @ p["w_ks" + part][head] for part, cut in parts.items()], 1)
        values = [x[:, cut] @ p["w_vs" + part][head] for part, cut in parts.items()]
        if layer.query_matrix:
            queries = [x[:, cut] @ p["w_qs" + part][head] for part, cut in parts.items()]
        else:
            queries = [p["w_qs" + part][head].unsqueeze(0) for part in parts]
        weights = (torch.cat(queries, 1) @ keys.T / root).softmax(-1)
        attention.append(weights)
        contexts.append([weights @ value for value in values])
    if layer.combine == "project":
        projected = torch.cat(
            [
                torch.cat([context[index] for context in contexts], 1) @ p[f"proj{part}.weight"].T
                for index, part in enumerate(parts)
            ],
            1,
        )
        rows = [normalise(layer, row) for row in projected + x]
        return torch.stack(attention), torch.stack(rows)
    outputs = []
    for context in contexts:
        projected = [
            half @ p[f"proj{part}.weight"].T for half, part in zip(context, parts, strict=True)
        ]
        rows = (torch.cat(projected, 1) + x) @ p["reduce_proj.weight"].T
        outputs.append(torch.stack([normalise(layer, row) for row in rows]))
    return torch.stack(attention), torch.cat(outputs, 1)


def padded(lengths, d_model=10):
    mask = torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)
    return torch.randn(len(lengths), max(lengths), d_model, dtype=torch.float64), mask


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("n_heads", [1, 3])
def test_equals_the_equations_in_a_padded_batch(options, n_heads):
    layer = make(n_heads=n_heads, **options)
    lengths = [5, 1, 3]
    x, mask = padded(lengths)
    y, attention = layer(x, mask), layer.attention(x, mask)
    assert y.shape == (3, 5, layer.output_dim)
    for index, n in enumerate(lengths):
        weights, expected = literal(layer, x[index, :n])
        torch.testing.assert_close(y[index, :n], expected, rtol=0, atol=1e-9)
        m = n if options["query"] == "matrix" else 1
        torch.testing.assert_close(attention[index, :, :m, :n], weights, rtol=0, atol=1e-12)
        assert attention[index, :, :m, n:].count_nonzero() == 0


@pytest.mark.parametrize("options", VARIANTS[::2], ids=str)
def test_gradients_equal_those_of_the_equations(options):
    layer = make(**options)
    x, mask = padded([4, 2])
    x.requires_grad_()
    loss = torch.randn(2, 4, layer.output_dim, dtype=torch.float64)
    wanted = [x, *layer.parameters()]
    actual = torch.autograd.grad((layer(x, mask) * loss)[mask].sum(), wanted)
    alone = sum(
        (literal(layer, x[index, :n])[1] * loss[index, :n]).sum() for index, n in enumerate((4, 2))
    )
    expected = torch.autograd.grad(alone, wanted)
    torch.testing.assert_close(actual, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("options", VARIANTS[::4], ids=str)
def test_gradcheck(options):
    layer = make(4, 2, 2, 2, 3, **{**options, "partition_width": None})
    x, mask = padded([3, 2], 4)
    names, parameters = zip(*layer.named_parameters(), strict=True)

    def forward(x, *parameters):
        return functional_call(layer, dict(zip(names, parameters, strict=True)), (x, mask))[mask]

    assert gradcheck(forward, (x.requires_grad_(), *parameters), fast_mode=True)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_padding_and_other_sentences_do_not_matter(options):
    layer = make(**options).eval()
    x, mask = padded([2, 6, 4])
    together = layer(x, mask)
    for index, n in enumerate(mask.sum(1).tolist()):
        alone = layer(x[index : index + 1, :n], mask[index : index + 1, :n])
        torch.testing.assert_close(together[index, :n], alone[0], rtol=0, atol=1e-12)
    x[~mask] = 1e6
    torch.testing.assert_close(layer(x, mask)[mask], together[mask], rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", VARIANTS[::2], ids=str)
def test_dropout_only_in_training_and_settable(options):
    layer = make(**options)
    x, mask = padded([5, 3])
    expected = layer(x, mask)
    set_dropout(layer, 0.5)
    assert not torch.allclose(layer(x, mask), expected)
    torch.manual_seed(1)
    first = layer(x, mask)
    torch.manual_seed(1)
    torch.testing.assert_close(layer(x, mask), first)
    layer.eval()
    torch.testing.assert_close(layer(x, mask), expected)
    torch.testing.assert_close(layer.attention(x, mask), layer.train().attention(x, mask))


@pytest.mark.parametrize("positional", [None, 4])
def test_residual_dropout_of_rate_zero_is_the_limit(positional):
    # proj and reduce_proj are merged without residual dropout, apart with it.
    layer = make(partition_width=positional)
    x, mask = padded([5, 3])
    expected = layer(x, mask)
    set_dropout(layer.residual_dropout, 1e-300)
    torch.testing.assert_close(layer(x, mask), expected, rtol=0, atol=1e-12)


def test_residual_dropout_drops_the_same_features_in_all_rows():
    layer = make(query="matrix", combine="project", residual_dropout=True)
    set_dropout(layer, 0.5)
    projected = layer.residual_dropout(torch.ones(2, 7, 10))
    assert (projected == projected[:, :1]).all()
    assert set(projected.unique().tolist()) == {0.0, 2.0}


def test_parameters_are_named_and_shaped_as_released():
    shapes = {name: tuple(value.shape) for name, value in make().state_dict().items()}
    assert shapes == {
        "w_qs": (3, 4),
        "w_ks": (3, 10, 4),
        "w_vs": (3, 10, 6),
        "proj.weight": (10, 6),
        "reduce_proj.weight": (5, 10),
        "layer_norm.a_2": (5,),
        "layer_norm.b_2": (5,),
    }
    layer = make(partition_width=4, query="matrix", combine="project")
    assert {name: tuple(value.shape) for name, value in layer.state_dict().items()} == {
        "w_qs1": (3, 6, 2),
        "w_qs2": (3, 4, 2),
        "w_ks1": (3, 6, 2),
        "w_ks2": (3, 4, 2),
        "w_vs1": (3, 6, 3),
        "w_vs2": (3, 4, 3),
        "proj1.weight": (6, 9),
        "proj2.weight": (4, 9),
        "layer_norm.a_2": (10,),
        "layer_norm.b_2": (10,),
    }


@pytest.mark.parametrize("d_proj", [1, 2])
def test_narrow_heads(d_proj):
    layer = make(d_proj=d_proj)
    x, mask = padded([3])
    torch.testing.assert_close(layer(x, mask)[0], literal(layer, x[0])[1], rtol=0, atol=1e-8)


def test_a_sentence_without_rows_is_finite():
    x, mask = padded([3, 0])
    for options in VARIANTS:
        assert make(**options)(x, mask)[0].isfinite().all()


@pytest.mark.parametrize(
    "options",
    [
        {"scale": "none"},
        {"combine": "add"},
        {"partition_width": 0},
        {"partition_width": 10},
        {"partition_width": 4, "d_key": 3},
    ],
    ids=str,
)
def test_wrong_options_are_refused(options):
    with pytest.raises(ValueError, match="must"):
        make(**options)


@torch.no_grad()
def test_for_rounded_readers_a_sentence_has_the_same_bits_in_every_batch():
    """Sums over padding may end otherwise in float32, and would be rounded to other integers."""
    torch.manual_seed(4)
    layer = LabelAttention(EncoderSettings(heads=64, key_width=32, value_width=32), 512).eval()
    lengths = torch.tensor([61, 60, 47, 33, 18, 9, 4, 1])
    # some rows are far larger than others
    x = torch.randn(8, 61, 512) * torch.rand(8, 61, 1)
    mask = torch.arange(61) < lengths.unsqueeze(1)
    exact = layer(x, mask)
    prepare(layer, "int8")
    together = layer(x, mask)
    assert together.dtype == torch.float32
    error = (together - exact)[mask]
    assert 0 < float(error.square().mean().sqrt()) < 0.02 * float(exact[mask].std())
    for row, n in enumerate(lengths.tolist()):
        alone = layer(x[row : row + 1, :n], torch.ones(1, n, dtype=torch.bool))
        assert torch.equal(together[row, :n], alone[0])
