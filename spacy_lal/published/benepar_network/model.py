"""`spacy-lal.BeneparParser.v1`: the Berkeley Neural Parser as a Thinc model."""

from collections.abc import Callable, Iterator
from typing import Any, cast

from spacy.tokens import Doc
from thinc.api import Model
from torch import tensor

from ...batching.batches import READING, ParserScores, SentenceBatch, batch_by_spans, walk_back
from ...bridge.shim import TorchShim, torch_shim
from ...bridge.weights import Header
from ...encoders.batches import alike
from ...encoders.transformers import padding_of
from .characters import CharacterReader
from .network import BeneparNetwork, reads_shifted
from .settings import BeneparReading
from .text import text_of


def _reader(header: Header) -> Any:
    if header["characters"] is not None:
        return CharacterReader(header["characters"])
    from .pieces import PieceReader

    config = header["transformer"]
    shift = int(reads_shifted(config))
    return PieceReader(header["tokenizer"], header["window"], padding_of(config), shift)


def build_benepar_parser_v1(
    escaped: bool = False, max_batch_spans: int = 60_000
) -> Model[list[Doc], ParserScores]:
    """The parser of Kitaev and Klein 2018 and Kitaev et al. 2019, with weights of benepar 0.2.

    It is made by `python -m spacy lal import benepar`, which takes sizes, encoder, tokenizer and
    vocabularies from a checkpoint; all of them are stored with the weights. It can be trained
    further, but not from scratch.

    escaped: Docs' tokens are written as treebanks write English ("-LRB-", "``"); otherwise
    typographic quotes and dashes that are a token by themselves are read as the treebanks' plain
    ones. max_batch_spans: as of `spacy-lal.LabelAttentionParser.v1`.
    """
    return Model(
        "benepar_parser",
        _forward,
        init=_init,
        shims=[TorchShim(BeneparNetwork, _reader)],
        attrs={
            "settings": BeneparReading(escaped),
            "max_batch_spans": max_batch_spans,
            "labels": [],
            "tags": [],
            **READING,
        },
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    if torch_shim(model).header is None:
        raise ValueError(
            "spacy-lal.BeneparParser.v1 begins with published weights: import them with "
            "`python -m spacy lal import benepar`, and let the config take the component from there"
        )


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    shim = torch_shim(model)
    attrs = model.attrs
    sentences = attrs["reading"].split(docs)
    parsed = [k for k, sentence in enumerate(sentences) if sentence.parsed]
    escaped = attrs["settings"].escaped
    read = shim.reader.read(
        [text_of(docs[sentences[k].doc], sentences[k], escaped=escaped) for k in parsed]
    )

    def score() -> Iterator[SentenceBatch]:
        words = [len(sentences[k].words) for k in parsed]
        sizes = (
            words
            if cast(Header, shim.header)["characters"]
            else [len(pieces.ids) for pieces in read]
        )
        for numbers in alike(sizes):
            for part in batch_by_spans([words[k] for k in numbers], attrs["max_batch_spans"]):
                group = [numbers[k] for k in part]
                inputs, rows = shim.reader.batch([read[k] for k in group])
                on = shim.device
                lengths = tensor([words[k] for k in group], device=on)
                given = tuple(t.to(on) for t in inputs), rows.to(on), lengths
                if is_train:
                    scores = shim.begin_update(*given, dropout=attrs["dropout_rate"])
                else:
                    scores = shim.predict(*given)
                yield SentenceBatch([parsed[k] for k in group], lengths, scores)

    # when predicting, each batch's charts go as soon as they are decoded
    scores = ParserScores(sentences, list(score()) if is_train else score())

    def backprop(d_scores: ParserScores) -> list[Doc]:
        walk_back(scores, d_scores)
        return []

    return scores, backprop
