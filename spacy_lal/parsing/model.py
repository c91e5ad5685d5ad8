"""A parser as a Thinc model: from Docs to padded sentences, their scores, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import (
    READING,
    ParserScores,
    SentenceBatch,
    d_vectors,
    initialize_tok2vec,
    padded_batches,
    read_docs,
)
from ..bridge.shim import TorchShim, to_rows, torch_shim
from .network import build_network
from .settings import ParserSettings


def parser_model(
    tok2vec: Model[list[Doc], list[Floats2d]], max_batch_spans: int, settings: ParserSettings
) -> Model[list[Doc], ParserScores]:
    """A Thinc model around a `ParserNetwork`.

    It splits Docs into sentences itself, after tok2vec, so that a listener sees the batch as it
    came, and pads sentences together as long as their charts hold `max_batch_spans` spans. The
    component sets the attributes `sentences`, `max_sentence_length` and `long_sentences`, and
    before initialisation `labels`, `tags` and `relations`.
    """
    return Model(
        # stored with the weights; a warm start goes by it
        "label_attention_parser",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[TorchShim(build_network)],
        attrs={
            "settings": settings,
            "max_batch_spans": max_batch_spans,
            "labels": [],
            "tags": [],
            "relations": [],
            **READING,
        },
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    width = initialize_tok2vec(model, X)
    names = {name: model.attrs[name] for name in ("labels", "tags", "relations")}
    settings: ParserSettings = model.attrs["settings"]
    torch_shim(model).initialize({"d_in": width, **names, "settings": settings.to_json()})


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
        d_flat = d_vectors(scores, d_scores, flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return scores, backprop
