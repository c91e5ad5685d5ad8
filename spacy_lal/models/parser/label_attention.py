"""`spacy-lal.LabelAttentionParser.v1` and the parts a config composes it from."""

from __future__ import annotations

from typing import Any, Literal

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import ParserScores
from .model import parser_model

Spec = dict[str, Any]


def bilstm_rows(
    hidden_width: int = 300,
    depth: int = 3,
    tag_depth: int = 1,
    tag_width: int = 64,
    mixed_precision: bool = False,
) -> Spec:
    """Rows from a BiLSTM over each sentence (`spacy-lal.BiLSTMRows.v1`).

    hidden_width: of each direction. tag_depth: after how many of the `depth` layers tags are
    predicted; the layers above read the expected tag embedding, `tag_width` wide. 0: the parser
    predicts and writes no tags, as that of Zhang et al. 2020, and tag_width has no meaning. A
    depth of 0 as well leaves the words' vectors as they are, for those of a pretrained encoder.
    mixed_precision: train with bfloat16 products, which some processors do far faster.
    """
    return {
        "kind": "bilstm",
        "d_hidden": hidden_width,
        "depth": depth,
        "tag_depth": tag_depth,
        "d_tag": tag_width,
        "mixed_precision": mixed_precision,
    }


def position_rows(width: int = 256, max_length: int = 512) -> Spec:
    """Content and position halves, as Mrini et al. 2020 (`spacy-lal.PositionRows.v1`)."""
    return {"kind": "positions", "d_model": width, "max_length": max_length}


def label_attention_encoder(
    heads: int = 64,
    key_width: int = 64,
    value_width: int = 64,
    projection_width: int = 16,
    self_attention_layers: int = 0,
    self_attention_heads: int = 8,
    self_attention_key_width: int = 64,
    feed_forward_width: int = 1024,
    partition_width: int | None = None,
    label_feed_forward: bool = False,
    arrangement: Literal["stack", "concatenate"] = "concatenate",
    scale: Literal["key", "model"] = "key",
    query: Literal["vector", "matrix"] = "vector",
    combine: Literal["concatenate", "project"] = "concatenate",
    residual_dropout: bool = False,
    label_partitioned: bool = True,
    halves: Literal["head", "whole"] = "head",
) -> Spec:
    """Self-attention layers and the Label Attention Layer (`spacy-lal.LabelAttentionEncoder.v1`).

    The rows of the tables 1, 2 and 5 of Mrini et al. 2020 are values of these settings.

    heads: label attention heads; 0 leaves the layer out. key_width, value_width,
    projection_width: d_k, d_v, d_proj of a head. self_attention_layers: before label attention
    (table 5), each with a feed-forward layer of feed_forward_width. partition_width: width of
    the position half where content and position are partitioned; label_partitioned: in label
    attention too. label_feed_forward: a position-wise feed-forward layer after label attention,
    residual_dropout: dropout in its heads' residual (table 1). query: one query vector a head, or
    a query matrix; combine: concatenate the heads, or project them back to the model's width as
    self-attention does (table 2).
    arrangement: annotate with label attention's output ("stack", Mrini et al. 2020) or with the
    rows and it side by side ("concatenate"), which is for rows whose halves are two directions, not
    content and position; with `spacy-lal.BranchRows.v1` the other branch stands beside it. halves:
    fenceposts take half of every head's output, or half of the heads (Vu-Tran et al., figure 2 and
    eqs. 13-15). scale: divide attention scores by the root of the key's width (the paper) or of the
    model's (its released code).
    """
    for name, value, known in (
        ("query", query, ("vector", "matrix")),
        ("combine", combine, ("concatenate", "project")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {known}, not {value!r}")
    return {
        "n_layers": self_attention_layers,
        "n_heads": self_attention_heads,
        "d_key": self_attention_key_width,
        "d_ff": feed_forward_width,
        "d_positional": partition_width,
        "n_label_heads": heads,
        "d_label_key": key_width,
        "d_label_value": value_width,
        "d_label_proj": projection_width,
        "label_d_positional": partition_width if label_partitioned else None,
        "label_feed_forward": label_feed_forward,
        "label_query_matrix": query == "matrix",
        "label_combine": combine,
        "drops_label_residual": residual_dropout,
        "arrangement": arrangement,
        "halves": halves,
        "scale": scale,
    }


def biaffine_dependencies(
    arc_width: int = 400,
    relation_width: int = 100,
    relation_of: Literal["pair", "dependent"] = "pair",
    read: Literal["words", "fenceposts"] = "words",
) -> Spec:
    """Biaffine scores of heads and relations (`spacy-lal.BiaffineDependencies.v1`).

    arc_width, relation_width: of the projections. relation_of: score relations of dependent and
    head (the paper) or of the dependent alone (its released code). read: the annotations of the
    words, or the fenceposts that spans are made of (the released code).
    """
    if read not in ("words", "fenceposts"):
        raise ValueError(f"read must be 'words' or 'fenceposts', not {read!r}")
    return {
        "d_arc": arc_width,
        "d_relation": relation_width,
        "relation_of": relation_of,
        "read": read,
    }


def build_label_attention_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    rows: Spec,
    encoder: Spec,
    hidden_width: int = 250,
    max_batch_spans: int = 60_000,
    dependencies: Spec | None = None,
) -> Model[list[Doc], ParserScores]:
    """The label attention parser of Mrini et al. 2020: constituents, or constituents and heads.

    tok2vec: word vectors of the Docs' tokens; a listener or any other Tok2Vec model.
    rows: a BiLSTM (`spacy-lal.BiLSTMRows.v1`) or content and positions
        (`spacy-lal.PositionRows.v1`). encoder: `spacy-lal.LabelAttentionEncoder.v1`.
    hidden_width: of the span scorer. max_batch_spans: sentences are padded together as long as
        their charts hold no more than this number of spans. dependencies: for the joint model,
        `spacy-lal.BiaffineDependencies.v1`.

    See `parser_model`.
    """
    return parser_model(
        tok2vec,
        rows=rows,
        encoder=encoder,
        d_hidden=hidden_width,
        max_batch_spans=max_batch_spans,
        dependencies=dependencies,
    )


def build_label_attention_dependency_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    rows: Spec,
    encoder: Spec,
    dependencies: Spec,
    max_batch_spans: int = 60_000,
) -> Model[list[Doc], ParserScores]:
    """The dependency half of the label attention parser: the same without a span scorer.

    See `build_label_attention_parser_v1`.
    """
    return parser_model(
        tok2vec,
        rows=rows,
        encoder=encoder,
        max_batch_spans=max_batch_spans,
        dependencies=dependencies,
    )
