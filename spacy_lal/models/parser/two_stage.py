"""`spacy-lal.TwoStageParser.v1`: a CRF over binary trees, then labels, and its span scorers."""

from __future__ import annotations

from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import ParserScores
from .model import parser_model

Spec = dict[str, Any]


def branch_rows(
    width: int = 256,
    max_length: int = 512,
    content: Literal["tag", "word"] = "tag",
    bilstm: Spec | None = None,
) -> Spec:
    """Two branches, one of which goes around label attention (`spacy-lal.BranchRows.v1`).

    The input of Vu-Tran et al. (section 2.2, figure 1). The first branch is tok2vec's vectors, of a
    pretrained encoder, or with `bilstm` (`spacy-lal.BiLSTMRows.v1`) a BiLSTM over them. The second,
    `width` wide, is half content, half learned positions, and what label attention reads; content:
    the word's predicted part-of-speech tag ("tag"), or its vector ("word"; the paper's table 3).
    """
    if content not in ("tag", "word"):
        raise ValueError(f"content must be 'tag' or 'word', not {content!r}")
    settings = None if bilstm is None else {k: v for k, v in bilstm.items() if k != "kind"}
    return {
        "kind": "branches",
        "d_model": width,
        "max_length": max_length,
        "content": content,
        "bilstm": settings,
    }


def biaffine_spans(
    span_width: int = 500, label_width: int = 100, label_rank: int | None = None
) -> Spec:
    """Biaffine scores of spans and, in a second stage, of labels (`spacy-lal.BiaffineSpans.v1`).

    Zhang et al. 2020, section 3.3, whose widths are the defaults; 1024 and 250 in Vu-Tran et al.
    span_width, label_width: of the perceptrons over fenceposts. label_rank: share this number of
    rank-one matrices among the labels, instead of a full matrix for each.
    """
    return {
        "kind": "biaffine",
        "d_span": span_width,
        "d_label": label_width,
        "label_rank": label_rank,
    }


def transformer_spans(
    span_width: int = 500,
    biaffine_width: int = 480,
    biaffine_rank: int | None = 64,
    width: int = 48,
    heads: int = 3,
    layers: int = 1,
    feed_forward_width: int = 96,
    normalise: Literal["head", "concatenation"] = "head",
    label_width: int = 100,
    label_rank: int | None = None,
) -> Spec:
    """SpanFormer's scores of spans, and biaffine ones of labels (`spacy-lal.TransformerSpans.v1`).

    Floquet et al., sections 2.2 and 3.1. span_width: of the perceptrons over fenceposts;
    biaffine_width: of a span's vector, and biaffine_rank how many rank-one matrices its components
    share (null gives each a full one, biaffine_width (span_width + 1)^2 numbers, 120 million with
    the paper's widths); width: what it is projected to, in which `layers` transformer layers with
    `heads` heads work. normalise: layer normalisation of each head's output, or of their
    concatenation.
    label_width, label_rank: as in `spacy-lal.BiaffineSpans.v1`.
    """
    if layers < 0:
        raise ValueError(f"layers must not be negative, got {layers}")
    return {
        "kind": "transformer",
        "d_span": span_width,
        "d_biaffine": biaffine_width,
        "rank": biaffine_rank,
        "d": width,
        "n_heads": heads,
        "n_layers": layers,
        "d_ff": feed_forward_width,
        "normalise": normalise,
        "d_label": label_width,
        "label_rank": label_rank,
    }


def build_two_stage_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    rows: Spec,
    encoder: Spec,
    spans: Spec,
    max_batch_spans: int = 60_000,
) -> Model[list[Doc], ParserScores]:
    """The two-stage parser of Zhang et al. 2020: a CRF over unlabelled binary trees, then labels.

    With `spacy-lal.BranchRows.v1` and a label attention encoder it is that of Vu-Tran et al., with
    `spacy-lal.TransformerSpans.v1` SpanFormer (Floquet et al.).

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    rows: `spacy-lal.BiLSTMRows.v1`, `spacy-lal.PositionRows.v1` or `spacy-lal.BranchRows.v1`.
    encoder: `spacy-lal.LabelAttentionEncoder.v1`; heads = 0 and no self-attention leave it out.
    spans: `spacy-lal.BiaffineSpans.v1` or `spacy-lal.TransformerSpans.v1`. max_batch_spans:
    sentences are padded together as long as their charts hold no more than this number of spans.

    See `parser_model`.
    """
    return parser_model(tok2vec, max_batch_spans, rows=rows, encoder=encoder, spans=spans)
