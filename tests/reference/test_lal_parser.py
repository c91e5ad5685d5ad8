"""Encoder, fenceposts and span scores against outputs of the released parser, in all variants."""

import pytest
import torch
from torch.nn.utils.rnn import pad_sequence

from spacy_lal.layers.encoder import LabelAttentionEncoder
from spacy_lal.layers.released import encoder_state, span_scorer_state
from spacy_lal.layers.span_scorer import SpanScorer
from spacy_lal.structure.chart import pack, unpack


def build(hparams, n_label_heads, parameters, dtype=torch.float64):
    """Encoder and span scorer with released hyperparameters and parameters."""
    d_positional = hparams["d_model"] // 2
    encoder = LabelAttentionEncoder(
        hparams["d_model"],
        n_layers=hparams["num_layers"],
        n_heads=hparams["num_heads"],
        d_key=hparams["d_kv"],
        d_ff=hparams["d_ff"],
        d_positional=d_positional if hparams["partitioned"] else None,
        n_label_heads=n_label_heads if hparams["use_lal"] else 0,
        d_label_key=hparams["lal_d_kv"],
        d_label_proj=hparams["lal_d_proj"],
        label_d_positional=d_positional if hparams["lal_partitioned"] else None,
        label_query_matrix=hparams["lal_q_as_matrix"],
        label_combine="project" if hparams["lal_combine_as_self"] else "concatenate",
        label_feed_forward=hparams["lal_pwff"],
        scale="model",
    )
    encoder.load_state_dict(encoder_state(parameters, hparams["num_layers"]))
    n_outputs, d_hidden = parameters["f_label.3.weight"].shape
    scorer = SpanScorer(encoder.output_dim, d_hidden, n_outputs + 1)
    scorer.load_state_dict(span_scorer_state(parameters))
    return encoder.to(dtype).eval(), scorer.to(dtype).eval()


@pytest.fixture(scope="module")
def variants(load_arrays, load_json):
    """{variant: (hyperparameters, label heads, parameters, sentences)}."""
    found = {}
    options = load_json("lal_parser")["variants"]
    for variant, arrays in load_arrays("lal_parser").items():
        groups = {}
        for name, value in arrays.items():
            group, _, rest = name.partition("/")
            groups.setdefault(group, {})[rest] = value
        sentences = [group for name, group in groups.items() if "emb" in group]
        found[variant] = (
            options[variant]["hparams"],
            options[variant]["d_l"],
            groups["param"],
            sentences,
        )
    return found


def assert_near(actual, expected, tolerance):
    if expected.dtype == torch.float32:  # rounded when it was stored
        tolerance = max(tolerance, 1e-6)
    torch.testing.assert_close(
        actual.double(),
        expected.double(),
        rtol=0,
        atol=tolerance * max(1.0, expected.abs().max().item()),
    )


def outputs(encoder, scorer, rows, mask):
    rows = rows.to(scorer.hidden.weight.dtype)
    with torch.no_grad():
        attention = None
        if encoder.label_attention is not None:
            attention = encoder.attention(rows, mask)
        annotations = encoder(rows, mask)
        fenceposts = encoder.fenceposts(annotations)
        return attention, annotations, fenceposts, scorer(fenceposts)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-9), (torch.float32, 1e-4)], ids=str
)
def test_sentences(variants, dtype, tolerance):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        encoder, scorer = build(hparams, n_label_heads, parameters, dtype)
        for expected in sentences:
            rows = expected["emb"].unsqueeze(0)
            mask = torch.ones(rows.shape[:2], dtype=torch.bool)
            attention, annotations, fenceposts, scores = outputs(encoder, scorer, rows, mask)
            if attention is not None:
                assert_near(attention[0], expected["attn"], tolerance)
            assert_near(annotations[0], expected["annotations"], tolerance)
            assert_near(fenceposts[0], expected["fencepost"], tolerance)
            assert_near(scores[0], pack(expected["chart"].unsqueeze(0))[0], tolerance)


def test_last_self_attention_without_label_attention(variants):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        if hparams["use_lal"]:
            continue
        encoder, _ = build(hparams, n_label_heads, parameters)
        *before, last = encoder.attention_layers
        for expected in sentences:
            rows = expected["emb"].unsqueeze(0)
            mask = torch.ones(rows.shape[:2], dtype=torch.bool)
            with torch.no_grad():
                for attention, feed_forward in zip(
                    before, encoder.feed_forward_layers, strict=False
                ):
                    rows = feed_forward(attention(rows, mask))
                assert_near(last.attention(rows, mask)[0], expected["attn"], 1e-9)


def test_batch_equals_single(variants):
    for hparams, n_label_heads, parameters, sentences in variants.values():
        encoder, scorer = build(hparams, n_label_heads, parameters)
        lengths = [expected["emb"].shape[0] for expected in sentences]
        rows = pad_sequence(
            [expected["emb"] for expected in sentences], batch_first=True, padding_value=3.0
        )
        mask = pad_sequence([torch.ones(n, dtype=torch.bool) for n in lengths], batch_first=True)
        together = outputs(encoder, scorer, rows, mask)
        for index, n in enumerate(lengths):
            alone = outputs(
                encoder, scorer, rows[index : index + 1, :n], mask[index : index + 1, :n]
            )
            for batched, single in zip(together[1:3], alone[1:3], strict=True):
                assert_near(batched[index, : single.shape[1]], single[0], 1e-12)
            chart = unpack(together[3][index : index + 1], rows.shape[1] - 2)[:, : n - 1, : n - 1]
            assert_near(pack(chart), alone[3], 1e-12)
