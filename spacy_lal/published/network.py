"""`spacy-lal.ReleasedParser.v1`: parsers that others have published, on the network of this
package."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast, get_args

from spacy.tokens import Doc
from thinc.api import Model
from torch import Tensor, nn, tensor

from ..batching.batches import READING, ParserScores, SentenceBatch, batch_by_spans, walk_back
from ..batching.sentences import split_sentences
from ..bridge.shim import TorchShim
from ..bridge.weights import Header
from ..encoders.batches import alike
from ..layers.input_encoders import row_mask
from ..parsing.network import OneStageNetwork, TwoStageNetwork
from ..parsing.settings import DependencySettings, EncoderSettings, ParserSettings
from ..parsing.spans import BiaffineSpanSettings
from .input_encoder import PublishedInput
from .reading import RowBatch, SentenceReader
from .treebank_words import text_of

Format = Literal["benepar", "lal-parser", "supar-constituency", "supar-dependency"]
SLOPE = 0.1
"""Slope of supar's leaky ReLU."""


@dataclass(frozen=True)
class ReleasedSettings:
    """What a component asks of a parser's settings.

    escaped: see `build_released_parser_v1`. free_relations: the relation to the root is one as
    others are, also between words. encoder: no heads, for `interpret` can't read those that a
    released network may have.
    """

    format: Format
    escaped: bool = False
    encoder: ClassVar[EncoderSettings] = EncoderSettings(heads=0)

    @property
    def predicts_tags(self) -> bool:
        return self.format == "benepar"

    @property
    def free_relations(self) -> bool:
        return self.format != "benepar"

    @property
    def spans(self) -> str | None:
        return "spacy-lal.BiaffineSpans.v1" if self.format == "supar-constituency" else None

    @property
    def dependencies(self) -> str | None:
        has_none = self.format in ("benepar", "supar-constituency")
        return None if has_none else "spacy-lal.BiaffineDependencies.v1"


class OneStage(OneStageNetwork):
    """Numbers of rows, lengths [B] -> `OneStageScores`: the LAL parser (Mrini et al. 2020), benepar
    (Kitaev and Klein 2018; Kitaev et al. 2019) and supar's heads (Dozat and Manning 2017).

    A sentence's scores are those that the original gives it alone; in a batch the released LAL
    parser gives heads the queries of others. What differs from the network of this package:
    benepar's layer norms divide by the biased deviation, and its tags are those of the annotations;
    supar has leaky ReLUs.
    """

    def __init__(self, header: Header, settings: ParserSettings) -> None:
        n_labels, n_tags, n_relations = (len(header[name]) for name in NAMES)
        super().__init__(settings, 0, n_labels + 1, n_tags, n_relations)
        self.tags: nn.Module | None = None
        width, d_tag = self.encoder.output_dim, header["tag_width"]
        if header["format"] == "benepar":
            for layer in (*self.encoder.attention_layers, *self.encoder.feed_forward_layers):
                layer.layer_norm = nn.LayerNorm(width)
            assert self.scorer is not None
            self.scorer.layer_norm = nn.LayerNorm(self.scorer.hidden.out_features)
        if d_tag is not None:
            norm = nn.LayerNorm(d_tag)
            self.tags = nn.Sequential(
                nn.Linear(width, d_tag), norm, nn.ReLU(), nn.Linear(d_tag, n_tags)
            )
        if header["format"] == "supar-dependency":
            assert self.dependencies is not None
            self.dependencies.slope = SLOPE

    def annotate(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return annotate(self, cast(RowBatch, x), lengths, self.tags)


class TwoStages(TwoStageNetwork):
    """Numbers of rows, lengths [B] -> `TwoStageScores`: supar's CRF (Zhang et al. 2020)."""

    def __init__(self, header: Header, settings: ParserSettings) -> None:
        assert settings.spans is not None
        super().__init__(settings, settings.spans, 0, len(header["labels"]) + 1, 0)

    def annotate(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return annotate(self, cast(RowBatch, x), lengths, None)


def annotate(
    network: Any, batch: RowBatch, lengths: Tensor, tags: nn.Module | None
) -> tuple[Tensor, Tensor, Tensor]:
    rows = network.input_encoder(batch, lengths)
    annotations = network.encoder(rows, row_mask(lengths, rows.shape[1] - 2))
    words = annotations[:, 1:-1]
    # as of a treebank without tags: one for all words
    scores = words.new_zeros(*words.shape[:2], 1) if tags is None else tags(words)
    return scores, annotations, network.encoder.fenceposts(annotations)


NAMES = ("labels", "tags", "relations")
"""What a parser has outputs for, in the header and among the model's attributes."""


def build_network(header: Header) -> nn.Module:
    """The network of a header."""
    values = header["settings"]
    settings = ParserSettings(
        PublishedInput.from_json(values["input_encoder"]),  # type: ignore[arg-type]
        EncoderSettings.from_json(values["encoder"]),
        values["hidden_width"],
        values["dependencies"] and DependencySettings.from_json(values["dependencies"]),
        values["spans"] and BiaffineSpanSettings.from_json(values["spans"]),
    )
    return (OneStage if settings.spans is None else TwoStages)(header, settings)


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
    format: Format, escaped: bool = False, max_batch_spans: int = 60_000
) -> Model[list[Doc], ParserScores]:
    """A parser that others have trained and published, imported with `spacy lal import`.

    Its sizes, encoder, tokenizer and vocabularies are stored with the weights. format: "benepar" or
    "supar-constituency" (`lal_constituency`), "lal-parser" (the same, with heads), or
    "supar-dependency" (`lal_dependency`). benepar's can be trained further, but not from scratch;
    the others can predict only, and read tags if they were trained with tags (`token.tag_`, set by
    an earlier component).

    escaped: for benepar, Docs' tokens are written as treebanks write English ("-LRB-", "``");
    otherwise typographic quotes and dashes that are a token by themselves are read as the plain ones
    of treebanks. max_batch_spans: as of `spacy-lal.LabelAttentionParser.v1`.
    """
    if format not in get_args(Format):
        raise ValueError(f"format must be one of {get_args(Format)}, not {format!r}")
    return Model(
        "released_parser",
        _forward,
        init=_init,
        shims=[ReleasedShim()],
        attrs={
            "settings": ReleasedSettings(format, escaped),
            "max_batch_spans": max_batch_spans,
            **{name: [] for name in NAMES},
            **READING,
        },
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    if cast(ReleasedShim, model.shims[0]).header is None:
        raise ValueError(
            "spacy-lal.ReleasedParser.v1 begins with published weights: import them with "
            "`python -m spacy lal import`, and let the config take the component from there"
        )


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    shim = cast(ReleasedShim, model.shims[0])
    attrs = model.attrs
    settings: ReleasedSettings = attrs["settings"]
    if is_train and settings.format != "benepar":
        raise ValueError(
            "an imported parser can't be trained, unless it is benepar's: name its component in "
            "frozen_components of [training]"
        )
    sentences = split_sentences(
        docs, attrs["sentences"], attrs["max_sentence_length"], attrs["long_sentences"]
    )
    parsed = [k for k, sentence in enumerate(sentences) if sentence.parsed]
    words = [len(sentences[k].words) for k in parsed]
    texts = [text_of(docs[sentences[k].doc], sentences[k]) for k in parsed]
    read = shim.reader.read(texts, escaped=settings.escaped)

    def score() -> Iterator[SentenceBatch]:
        for numbers in alike([sentence.size for sentence in read]):
            for part in batch_by_spans([words[k] for k in numbers], attrs["max_batch_spans"]):
                group = [numbers[k] for k in part]
                batch = shim.reader.batch([read[k] for k in group]).to(shim.device)
                lengths = tensor([words[k] for k in group], device=shim.device)
                if is_train:
                    scores = shim.begin_update(batch, lengths, dropout=attrs["dropout_rate"])
                else:
                    scores = shim.predict(batch, lengths)
                yield SentenceBatch([parsed[k] for k in group], lengths, scores)

    # when predicting, each batch's charts go as soon as they are decoded
    scores = ParserScores(sentences, list(score()) if is_train else score())

    def backprop(d_scores: ParserScores) -> list[Doc]:
        walk_back(scores, d_scores)
        return []

    return scores, backprop
