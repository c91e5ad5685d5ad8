"""`spacy-lal.ReleasedParser.v1`: a published parser as a Thinc model."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from spacy.tokens import Doc
from thinc.api import Model

from ...batching.batches import READING, ParserScores, SentenceBatch, batch_by_spans
from ...batching.sentences import Sentence
from ...bridge.shim import TorchShim, torch_shim
from ...bridge.weights import Header
from .network import Format, ReleasedSettings, build_network
from .reading import SentenceReader, Text


def _reader(header: Header) -> SentenceReader:
    return SentenceReader(header["reading"], header["tokenizer"])


def build_released_parser_v1(
    format: Format, max_batch_spans: int = 60_000
) -> Model[list[Doc], ParserScores]:
    """A parser that others have trained and published, imported with `spacy lal import`.

    It reads words, and also tags if the parser was trained with tags (`token.tag_`, set by an
    earlier component). It can predict but can't be trained. format: "lal-parser"
    (`lal_constituency`, with heads), "supar-constituency" (`lal_constituency`) or
    "supar-dependency" (`lal_dependency`).
    max_batch_spans: as of other parsers.
    """
    known = ("lal-parser", "supar-constituency", "supar-dependency")
    if format not in known:
        raise ValueError(f"format must be one of {known}, not {format!r}")
    return Model(
        "released_parser",
        _forward,
        init=_init,
        shims=[TorchShim(build_network, _reader)],
        attrs={
            "settings": ReleasedSettings(format),
            "max_batch_spans": max_batch_spans,
            **READING,
        },
    )


def _init(model: Model, X: Any = None, Y: Any = None) -> None:
    if torch_shim(model).header is None:
        raise ValueError(
            "spacy-lal.ReleasedParser.v1 begins with published weights: import them with "
            "`python -m spacy lal import`, and let the config take the component from there"
        )


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    if is_train:
        raise ValueError(
            "an imported parser can't be trained: name its component in frozen_components "
            "of [training]"
        )
    shim = torch_shim(model)
    attrs = model.attrs
    sentences = attrs["reading"].split(docs)

    def score() -> Iterator[SentenceBatch]:
        parsed = [k for k, sentence in enumerate(sentences) if sentence.parsed]
        sizes = [len(sentences[k].words) for k in parsed]
        for group in batch_by_spans(sizes, attrs["max_batch_spans"]):
            members = [parsed[k] for k in group]
            batch = shim.reader.read([_text(docs, sentences[k]) for k in members])
            lengths = torch.tensor([sizes[k] for k in group], device=shim.device)
            yield SentenceBatch(members, lengths, shim.predict(batch.to(shim.device), lengths))

    def backprop(d_scores: ParserScores) -> list[Doc]:
        return []

    return ParserScores(sentences, score()), backprop


def _text(docs: list[Doc], sentence: Sentence) -> Text:
    words = [docs[sentence.doc][i] for i in sentence.words.tolist()]
    return Text([word.text for word in words], [word.tag_ for word in words])
