"""`spacy-lal.LabelAttentionParser.v1` and the parts a config composes it from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor

from ..structure.chart import chart_size
from .bridge import TorchShim, to_rows, to_tensor, torch_shim
from .parser_network import Scores, build_network
from .sentences import Sentence, split_sentences

Spec = dict[str, Any]


@dataclass
class SentenceBatch:
    """Scores of sentences of similar length, padded together.

    members: index of each sentence in `ParserScores.sentences` [B]; lengths: its words [B].
    scores: see `Scores`.
    """

    members: list[int]
    lengths: Tensor
    scores: Scores


@dataclass
class ParserScores:
    """What the model predicts for a batch of Docs; `d_scores` for it has the same shape.

    batches: a list in training; from `predict`, computed one after another as they are asked for,
    once.
    """

    sentences: list[Sentence]
    batches: Iterable[SentenceBatch]


def bilstm_rows(
    hidden_width: int = 300,
    depth: int = 3,
    tag_depth: int = 1,
    tag_width: int = 64,
    mixed_precision: bool = False,
) -> Spec:
    """Rows from a BiLSTM over each sentence (`spacy-lal.BiLSTMRows.v1`).

    hidden_width: of each direction. tag_depth: after how many of the `depth` layers tags are
    predicted; the layers above read the expected tag embedding, `tag_width` wide.
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
    rows and it side by side ("concatenate", Vu-Tran et al.). scale: divide attention scores by
    the root of the key's width (the paper) or of the model's (its released code).
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

    The model splits Docs into sentences itself, after tok2vec, so that a listener sees the batch
    as it came. The component sets the attributes `sentences`, `max_sentence_length` and
    `long_sentences`, and before initialisation `labels`, `tags` and `relations`.
    """
    return _parser(
        tok2vec,
        rows=rows,
        encoder=encoder,
        hidden_width=hidden_width,
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
    return _parser(
        tok2vec,
        rows=rows,
        encoder=encoder,
        hidden_width=None,
        max_batch_spans=max_batch_spans,
        dependencies=dependencies,
    )


def _parser(
    tok2vec: Model[list[Doc], list[Floats2d]], **settings: Any
) -> Model[list[Doc], ParserScores]:
    return Model(
        "label_attention_parser",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[TorchShim(build_network)],
        attrs={
            **settings,
            "labels": [],
            "tags": [],
            "relations": [],
            "sentences": "split",
            "max_sentence_length": 512,
            "long_sentences": "split",
            "dropout_rate": 0.0,
        },
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X)
    width = tok2vec.maybe_get_dim("nO")
    if width is None:
        if not X:
            raise ValueError("the width of tok2vec is not known: initialize with example Docs")
        width = tok2vec.predict(X[:1])[0].shape[1]
    header = {
        "d_in": int(width),
        "labels": model.attrs["labels"],
        "tags": model.attrs["tags"],
        "rows": model.attrs["rows"],
        "encoder": model.attrs["encoder"],
        "d_hidden": model.attrs["hidden_width"],
        "relations": model.attrs["relations"],
        "dependencies": model.attrs["dependencies"],
    }
    torch_shim(model).initialize(header)


def batch_by_spans(
    lengths: list[int], max_spans: int, *, least_words: int = 500, most_padding: float = 1.1
) -> list[list[int]]:
    """Indices of sentences of similar length, in batches.

    A batch's padded charts hold at most `max_spans` spans. Once it has `least_words` words, it
    takes no sentence that would make it more than `most_padding` times as large as its words.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batches: list[list[int]] = []
    words = 0
    for index in order:
        # lengths ascend, so the newcomer sets the padded length of the whole batch
        n = lengths[index]
        count = len(batches[-1]) + 1 if batches else 1
        too_large = count * chart_size(n) > max_spans
        too_padded = words >= least_words and count * n > most_padding * (words + n)
        if not batches or too_large or too_padded:
            batches.append([])
            words = 0
        batches[-1].append(index)
        words += n
    return batches


def read_docs(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[list[Sentence], Tensor, Callable[[list[Floats2d]], list[Doc]]]:
    """The sentences of all docs, the vectors of all tokens [tokens, d_in], tok2vec's backprop."""
    attrs = model.attrs
    sentences = split_sentences(
        docs, attrs["sentences"], attrs["max_sentence_length"], attrs["long_sentences"]
    )
    vectors, backprop = model.get_ref("tok2vec")(docs, is_train)
    flat = to_tensor(model, vectors, torch_shim(model).device).requires_grad_(is_train)
    return sentences, flat, backprop


def padded_batches(
    docs: list[Doc], sentences: list[Sentence], flat: Tensor, max_spans: int
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """The sentences to be parsed, in batches of similar length: members, lengths, vectors.

    flat: the vectors of all tokens [tokens, d_in]. Of each batch: the index of its sentences in
    `sentences`, their words [B], the words' vectors [B, n, d_in]. See `batch_by_spans`.
    """
    first_token = numpy.cumsum([0, *map(len, docs)])
    parsed = [k for k, sentence in enumerate(sentences) if sentence.parsed]
    lengths = [len(sentences[k].words) for k in parsed]
    for group in batch_by_spans(lengths, max_spans):
        members = [parsed[k] for k in group]
        size = max(lengths[k] for k in group)
        # padding repeats token 0; nothing of a sentence's result depends on it
        tokens = numpy.zeros((len(members), size), dtype=numpy.int64)
        for row, k in enumerate(members):
            sentence = sentences[k]
            tokens[row, : len(sentence.words)] = first_token[sentence.doc] + sentence.words
        of_words = torch.tensor([lengths[k] for k in group], device=flat.device)
        yield members, of_words, flat[torch.from_numpy(tokens).to(flat.device)]


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    shim = torch_shim(model)
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)

    def score() -> Iterator[SentenceBatch]:
        batches = padded_batches(docs, sentences, flat, model.attrs["max_batch_spans"])
        for members, lengths, x in batches:
            if is_train:
                scores = shim.begin_update(x, lengths, dropout=model.attrs["dropout_rate"])
            else:
                scores = shim.predict(x, lengths)
            yield SentenceBatch(members, lengths, scores)

    # when predicting, each batch's charts go as soon as they are decoded
    scores = ParserScores(sentences, list(score()) if is_train else score())

    def backprop(d_scores: ParserScores) -> list[Doc]:
        outputs, gradients = [], []
        for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
            for output, gradient in zip(batch.scores, d_batch.scores, strict=True):
                if output is not None:
                    outputs.append(output)
                    gradients.append(gradient)
        if outputs:
            torch.autograd.backward(outputs, gradients)
        d_flat = flat.grad if flat.grad is not None else torch.zeros_like(flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return scores, backprop
