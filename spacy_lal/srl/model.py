"""LISA as a Thinc model: from Docs, and heads given with them, to scores, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor

from ..batching.batches import (
    READING,
    ParserScores,
    SentenceBatch,
    d_vectors,
    initialize_tok2vec,
    padded,
    padded_batches,
    read_docs,
)
from ..batching.sentences import Sentence, heads_in_words
from ..bridge.shim import TorchShim, to_rows, torch_shim
from .heads import to_self_loops
from .network import LisaScores, build_network
from .settings import LisaSettings

NAMES = ("joint", "roles", "tags", "relations")
"""What the model has outputs for, in the header and in the component's `cfg`."""


class LisaInput(NamedTuple):
    """Docs and, for each, what to attend to in the place of predicted heads.

    heads: of every token the index of its head in the Doc, itself for a root, -1 where it is to be
    predicted; None for a Doc without. predicates: tokens, which only a model with an indicator
    reads.
    """

    docs: list[Doc]
    heads: Sequence[numpy.ndarray | None]
    predicates: Sequence[Collection[int]] = ()


LisaPrediction = ParserScores[LisaScores]


@dataclass
class LisaBatch(SentenceBatch[LisaScores]):
    """predicates: of a model with an indicator, the word that each row is encoded for [B], -1 in
    sentences without; a sentence has as many rows as predicates. heads: those given [B,n] (see
    `to_self_loops`), -1 where there is none."""

    predicates: Tensor | None = None
    heads: Tensor | None = None


def lisa_model(
    tok2vec: Model[list[Doc], list[Floats2d]], max_batch_spans: int, settings: LisaSettings
) -> Model[LisaInput, LisaPrediction]:
    """A Thinc model around a `LisaNetwork`; see `parser_model` for what the component sets."""
    return Model(
        "lisa",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[TorchShim(build_network)],
        attrs={
            "settings": settings,
            "max_batch_spans": max_batch_spans,
            **{name: [] for name in NAMES},
            **READING,
        },
    )


def has_syntax(model: Model) -> bool:
    """Whether one of the model's heads is a parser."""
    settings: LisaSettings = model.attrs["settings"]
    return settings.syntax_layer is not None


def has_indicator(model: Model) -> bool:
    """Whether a sentence is encoded once for each predicate."""
    settings: LisaSettings = model.attrs["settings"]
    return settings.indicator_width is not None


def _init(model: Model, X: LisaInput | None = None, Y: Any = None) -> None:
    width = initialize_tok2vec(model, X.docs if X is not None else None)
    names = {name: model.attrs[name] for name in NAMES}
    settings: LisaSettings = model.attrs["settings"]
    torch_shim(model).initialize({"d_in": width, **names, "settings": settings.to_json()})


def _forward(
    model: Model[LisaInput, LisaPrediction], inputs: LisaInput, is_train: bool
) -> tuple[LisaPrediction, Callable[[LisaPrediction], list[Doc]]]:
    docs = inputs.docs
    shim = torch_shim(model)
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)
    given = any(heads is not None for heads in inputs.heads)
    indicator = has_indicator(model)

    def score() -> Iterator[LisaBatch]:
        batches = padded_batches(docs, sentences, flat, model.attrs["max_batch_spans"])
        for members, lengths, x in batches:
            heads = predicates = None
            if indicator:
                rows, predicates = _by_predicate([sentences[k] for k in members], inputs.predicates)
                members, predicates = [members[row] for row in rows], predicates.to(x.device)
                lengths, x = lengths[rows], x[rows]
            if given:
                in_words = (_in_words(sentences[k], inputs.heads) for k in members)
                heads = to_self_loops(padded(x, in_words))
            if is_train:
                rate = model.attrs["dropout_rate"]
                scores = shim.begin_update(x, lengths, heads, predicates, dropout=rate)
            else:
                scores = shim.predict(x, lengths, heads, predicates)
            yield LisaBatch(members, lengths, scores, predicates, heads)

    prediction = ParserScores(sentences, list(score()) if is_train else score())

    def backprop(d_prediction: LisaPrediction) -> list[Doc]:
        d_flat = d_vectors(prediction, d_prediction, flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return prediction, backprop


def _by_predicate(
    sentences: list[Sentence], predicates: Sequence[Collection[int]]
) -> tuple[list[int], Tensor]:
    """The sentence of each row, and which of its words the row is for, -1 for none."""
    rows, words = [], []
    for row, sentence in enumerate(sentences):
        doc_predicates = predicates[sentence.doc] if predicates else ()
        found = [
            i for i, token in enumerate(sentence.words.tolist()) if token in doc_predicates
        ] or [-1]
        rows += [row] * len(found)
        words += found
    return rows, torch.tensor(words)


def _in_words(
    sentence: Sentence, heads: Sequence[numpy.ndarray | None]
) -> numpy.ndarray | list[int]:
    given = heads[sentence.doc]
    return [] if given is None else heads_in_words(given, sentence)
