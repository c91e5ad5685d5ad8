"""SpanFormer's span vectors and attention, against numbers computed from the paper's equations."""

import pytest
import torch

from spacy_lal.layers.span_attention import SpanTransformer, TransformerSpanSettings
from spacy_lal.structure.chart import pack, spans_within


def biaffine_state(weight):
    """The state of a `Biaffine` with [x;1]^T W [y;1], from W [n_outputs, d_left+1, d_right+1]."""
    return {
        "bilinear": weight[:, :-1, :-1],
        "left": weight[:, :-1, -1],
        "right": weight[:, -1, :-1],
        "bias": weight[:, -1, -1],
    }


def build(arrays, options, normalise):
    d_span = arrays["left"].shape[-1]
    settings = TransformerSpanSettings(
        span_width=d_span,
        biaffine_width=options["big"],
        biaffine_rank=None,
        width=options["d"],
        heads=options["heads"],
        feed_forward_width=1,
        normalise=normalise,
    )
    scorer = SpanTransformer(settings, 1)
    scorer.product.load_state_dict(biaffine_state(arrays["Wbiaffine"]))
    scorer.projection.load_state_dict({"weight": arrays["Wproj"], "bias": arrays["bproj"]})
    attention = scorer.layers[0].attention
    for name, layer in (("Wq", attention.query), ("Wk", attention.key), ("Wv", attention.value)):
        layer.load_state_dict({"weight": arrays[name]})
    return scorer.double().requires_grad_(False)


@pytest.mark.parametrize(
    ("normalise", "output"),
    [("head", "out_LN_per_head"), ("concatenation", "out_LN_after_concat")],
)
def test_span_vectors_and_attention(load_arrays, load_json, normalise, output):
    cases = load_arrays("spanformer")
    for options in load_json("spanformer"):
        arrays, lengths = cases[options["key"]], torch.tensor(options["lens"])
        scorer = build(arrays, options, normalise)
        left, right = arrays["left"].double(), arrays["right"].double()
        mask = spans_within(left.shape[1] - 1, lengths)
        # all spans that are there, and no cell below the diagonal
        assert torch.equal(mask, pack(arrays["mask"]))
        assert int(mask.sum()) == int(arrays["mask"].sum())
        vectors = scorer.span_vectors(left, right)
        attention = scorer.layers[0].attention
        mixture = attention.mixture(vectors, mask)
        found = {
            "span_small": vectors,
            "out_raw": vectors @ mixture,
            output: attention(vectors, mixture),
        }
        for name, value in found.items():
            expected = pack(arrays[name])[mask]
            torch.testing.assert_close(value[mask], expected, rtol=1e-9, atol=1e-9, msg=name)
