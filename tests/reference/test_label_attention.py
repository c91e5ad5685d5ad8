"""The Label Attention Layer against outputs of the released code (one sentence at a time)."""

import copy

import numpy
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from spacy_lal.layers.label_attention import EncoderSettings, LabelAttention


def build(arrays, *, query_matrix, combine_as_self, dtype=torch.float64):
    """The layer that a set of released parameters belongs to, holding them."""
    partitioned = "w_ks1" in arrays
    keys = [arrays[name] for name in sorted(arrays) if name.startswith("w_ks")]
    values = [arrays[name] for name in sorted(arrays) if name.startswith("w_vs")]
    settings = EncoderSettings(
        heads=keys[0].shape[0],
        key_width=sum(key.shape[2] for key in keys),
        value_width=sum(value.shape[2] for value in values),
        projection_width=1 if combine_as_self else arrays["reduce_proj.weight"].shape[0],
        partition_width=keys[1].shape[1] if partitioned else None,
        query="matrix" if query_matrix else "vector",
        combine="project" if combine_as_self else "concatenate",
        scale="model",
        residual_dropout=True,
    )
    layer = LabelAttention(settings, sum(key.shape[1] for key in keys))
    layer.load_state_dict({name: arrays[name] for name in layer.state_dict()})
    return layer.to(dtype).eval()


def assert_settings(layer, options, parameters):
    """The layer is as large as the options say, and has the parameters that they list."""
    assert layer.n_heads == options["d_l"]
    rows = torch.zeros(1, 1, options["d_model"], dtype=layer.layer_norm.a_2.dtype)
    width = options["d_model"] if options["combine_as_self"] else options["d_l"] * options["d_proj"]
    assert layer(rows, torch.ones(1, 1, dtype=torch.bool)).shape == (1, 1, width)
    shapes = {name: list(value.shape) for name, value in layer.state_dict().items()}
    assert shapes == {name: parameters[name] for name in parameters}
    for name, size in (("w_ks", "d_k"), ("w_vs", "d_v")):
        assert sum(shapes[k][-1] for k in shapes if k.startswith(name)) == options[size]
    assert shapes.get("w_ks2", [None] * 2)[1] == options["d_positional"]


def alone(layer, x) -> tuple[Tensor, Tensor]:
    x = x.to(layer.layer_norm.a_2.dtype).unsqueeze(0)
    mask = torch.ones(x.shape[:2], dtype=torch.bool)
    with torch.no_grad():
        return layer(x, mask)[0], layer.attention(x, mask)[0]


def assert_near(actual, expected, tolerance):
    torch.testing.assert_close(
        actual.double(),
        expected.double(),
        rtol=0,
        atol=tolerance * max(1.0, expected.abs().max().item()),
    )


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=str
)
def test_small(load_arrays, load_json, dtype, tolerance):
    cases = load_arrays("lal_small")
    for index, options in enumerate(load_json("lal_small")):
        arrays = cases[f"c{index}"]
        layer = build(
            arrays,
            query_matrix=options["q_as_matrix"],
            combine_as_self=options["combine_as_self"],
            dtype=dtype,
        )
        assert_settings(layer, options, options["params"])
        assert len(arrays["x"]) == options["len"]
        y, attention = alone(layer, arrays["x"])
        assert list(y.shape) == options["y_shape"]
        assert list(attention.shape) == options["attn_shape"]
        assert_near(y, arrays["y"], tolerance)
        assert_near(attention, arrays["attn"], tolerance)


def pseudo_random(seed: int, shape: list[int], amplitude: float) -> numpy.ndarray:
    """Float64 values in [-amplitude, amplitude) from the SplitMix64 generator."""
    size = int(numpy.prod(shape))
    z = numpy.uint64(seed) + numpy.arange(1, size + 1, dtype=numpy.uint64) * numpy.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    z ^= z >> numpy.uint64(31)
    return amplitude * (2.0 * (z >> numpy.uint64(11)) * 2.0**-53 - 1).reshape(shape)


@pytest.fixture(scope="module")
def published_size(load_arrays, load_json):
    """A layer of the published size with generated parameters, its input and its outputs."""
    options = load_json("lal_big112")
    expected = load_arrays("lal_big112")[""]
    arrays = {}
    for index, (name, shape) in enumerate(sorted(options["params"].items())):
        fan = shape[1] if len(shape) == 3 else 1 if name.startswith("w_qs") else shape[-1]
        amplitude = 0.25 if name.startswith("layer_norm") else (3 / fan) ** 0.5
        values = pseudo_random(options["seed"] + 1000 * index, shape, amplitude)
        arrays[name] = torch.from_numpy(values + (name == "layer_norm.a_2")).float()
        torch.testing.assert_close(
            arrays[name].flatten()[:8], expected[f"first8_{name}"], rtol=0, atol=0
        )
    shape = [options["len"], options["d_model"]]
    x = torch.from_numpy(pseudo_random(options["seed"] + 999, shape, 1.0)).float()
    torch.testing.assert_close(x.flatten()[:8], expected["x_first"], rtol=0, atol=0)
    return options, arrays, x, expected


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
def test_published_size(published_size, dtype):
    options, arrays, x, expected = published_size
    tolerance = 1e-9
    if dtype == torch.float32:
        # the order of the sums is another than in the released code, and so is their rounding
        tolerance = 10 * expected["f32_max_abs_err"].item()
    layer = build(
        arrays,
        query_matrix=options["q_as_matrix"],
        combine_as_self=options["combine_as_self"],
        dtype=dtype,
    )
    assert_settings(layer, options, options["params"])
    y, attention = alone(layer, x)
    assert_near(attention, expected["attn"], tolerance)
    heads = y.unflatten(1, (layer.n_heads, -1)).double()
    for name in expected:
        if name.startswith("y_heads_"):
            chosen = [int(head) for head in name.removeprefix("y_heads_").split("_")]
            assert_near(heads[:, chosen], expected[name], tolerance)
    stride = next(
        stride
        for stride in range(1, y.shape[1] + 1)
        if len(range(0, y.shape[1], stride)) == expected["y_stride"].shape[1]
        and torch.allclose(y[0, ::stride].double(), expected["y_stride"][0], atol=1e-2)
    )
    assert_near(y[:, ::stride], expected["y_stride"], tolerance)
    # A sum of d_proj values gathers the rounding of all of them.
    assert_near(heads.sum(-1), expected["y_head_sum"], tolerance * heads.shape[-1])
    assert_near(heads.square().sum(-1), expected["y_head_sumsq"], tolerance)


def with_queries(layer, order):
    """The same layer, whose head k has the query of head order[k]."""
    other = copy.deepcopy(layer)
    for name, value in layer.named_parameters():
        if name.startswith("w_qs"):
            other.get_parameter(name).data = value[order].clone()
    return other


def released_queries(n_heads, sentence, size):
    """Whose queries the released code gives to the heads of a sentence in a batch of `size`.

    Keys stand in order of head, then sentence; queries were repeated the other way around.
    """
    return (torch.arange(n_heads) * size + sentence) % n_heads


def test_batch_of_sentences(load_arrays, load_json):
    cases = load_arrays("lal_batch_bug")
    for options in load_json("lal_batch_bug"):
        arrays = cases[options["case"]]
        layer = build(arrays, query_matrix=options["q_as_matrix"], combine_as_self=False)
        assert layer.n_heads == options["d_l"]
        assert ("w_ks2" in arrays and arrays["w_ks2"].shape[1]) == (
            options["d_positional"] or False
        )
        lengths = arrays["lens"].tolist()
        assert lengths == options["lens"]
        x = pad_sequence(arrays["x"].double().split(lengths), batch_first=True, padding_value=7.0)
        mask = pad_sequence([torch.ones(n, dtype=torch.bool) for n in lengths], batch_first=True)
        with torch.no_grad():
            y = layer(x, mask)
            attention = layer.attention(x, mask)
        assert_near(y[mask], arrays["y_single"], 1e-9)
        assert y[mask].abs().mean().item() == pytest.approx(options["y_abs_mean"], rel=1e-9)
        assert_near(
            torch.cat([alone(layer, rows[:n])[0] for rows, n in zip(x, lengths, strict=True)]),
            y[mask],
            1e-12,
        )
        assert attention.masked_select(~mask[:, None, None]).count_nonzero() == 0
        # The released code pairs head l of sentence b with query (l * B + b) mod H.
        difference = (y[mask] - arrays["y_batch_released"]).abs().max().item()
        assert difference == pytest.approx(options["max_abs_diff_batch_vs_single"], abs=1e-9)
        assert options["q_as_matrix"] or difference > 1e-3


def test_released_batches_have_the_queries_of_other_heads(load_arrays, load_json):
    """Every head follows its query: with the released order of them, the released outputs."""
    cases = load_arrays("lal_batch_bug")
    for options in load_json("lal_batch_bug"):
        arrays = cases[options["case"]]
        layer = build(arrays, query_matrix=options["q_as_matrix"], combine_as_self=False)
        lengths, found = arrays["lens"].tolist(), []
        attention = arrays["attn_batch_released"].unflatten(0, (layer.n_heads, -1))
        for b, rows in enumerate(arrays["x"].split(lengths)):
            shuffled = layer
            if not options["q_as_matrix"]:
                order = released_queries(layer.n_heads, b, len(lengths))
                shuffled = with_queries(layer, order)
            y, ours = alone(shuffled, rows)
            found.append(y)
            of_sentence = attention[:, b, : ours.shape[1], : len(rows)]
            assert_near(ours, of_sentence, 1e-9)
        error = (torch.cat(found) - arrays["y_batch_released"]).abs().max().item()
        assert error == pytest.approx(options["max_abs_err_of_permutation_formula"], abs=1e-9)
