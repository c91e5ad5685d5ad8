"""`spacy-lal.ReleasedParser.v1`: a published parser as a Thinc model."""

from collections.abc import Callable, Iterator
from typing import Any, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model

from ...batching.batches import READING, ParserScores, SentenceBatch, batch_by_spans
from ...batching.sentences import Sentence
from ...bridge.shim import TorchShim
from ...bridge.weights import Header
from .network import Format, ReleasedSettings, build_network
from .reading import SentenceReader, Text


class ReleasedShim(TorchShim):
    """Owns a published parser and what reads sentences for it."""

    def __init__(self) -> None:
        super().__init__(build_network)
        self._reader: tuple[Header, SentenceReader] | None = None

    def __getstate__(self) -> dict[str, Any]:
        # made anew where a pickle or a copy is used, as of any transformer
        return self.__dict__ | {"_reader": None, "_model": None, "weights": self.to_bytes()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        weights = state.pop("weights")
        self.__dict__.update(state)
        self.from_bytes(weights)

    @property
    def reader(self) -> SentenceReader:
        header = cast(Header, self.header)
        made = self._reader
        if made is None or made[0] is not header:
            made = self._reader = (header, SentenceReader(header["reading"], header["tokenizer"]))
        return made[1]


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
        shims=[ReleasedShim()],
        attrs={
            "settings": ReleasedSettings(format),
            "max_batch_spans": max_batch_spans,
            **READING,
        },
    )


def _init(model: Model, X: Any = None, Y: Any = None) -> None:
    if cast(ReleasedShim, model.shims[0]).header is None:
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
    shim = cast(ReleasedShim, model.shims[0])
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
