"""`spacy-lal.ReleasedParser.v1`: published parsers on this package's network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from spacy.tokens import Doc
from thinc.api import Model
from torch import Tensor, nn, tensor

from ..batching.batches import READING, ParserScores, SentenceBatch, batch_by_spans, walk_back
from ..bridge.shim import TorchShim, torch_shim
from ..bridge.weights import Header
from ..encoders.windows import alike
from ..layers.input_encoders import ReadWords
from ..parsing.network import NAMES, Abilities, ParserNetwork, ParserSettings
from .input_encoder import PublishedInput
from .reading import SentenceReader, text_of

Format = Literal["benepar", "lal-parser", "supar-constituency", "supar-dependency"]
SLOPE = 0.1
"""Slope of supar's leaky ReLU."""


@dataclass(frozen=True)
class ReleasedFormat:
    """What is known before weights are read. escaped: see `build_released_parser_v1`."""

    format: Format
    escaped: bool = False

    @property
    def abilities(self) -> Abilities:
        """The abilities of the network."""
        heads = self.format in ("lal-parser", "supar-dependency")
        return Abilities(
            predicts_tags=self.format == "benepar",
            finds_trees=self.format != "supar-dependency",
            finds_heads=heads,
            two_stages=self.format == "supar-constituency",
            free_relations=heads,
        )


@dataclass(frozen=True)
class ReleasedSettings(ParserSettings):
    """Settings of a published parser's network. tag_width: that of the tag scorer, or None."""

    name: ClassVar[str] = "released"
    input_encoder: PublishedInput  # type: ignore[assignment]
    format: Format = "lal-parser"
    tag_width: int | None = None


class ReleasedNetwork(ParserNetwork):
    """Numbers of rows, lengths [B] -> scores of the LAL parser (Mrini et al. 2020), of benepar
    (Kitaev and Klein 2018; Kitaev et al. 2019), or of supar's parsers (Zhang et al. 2020; Dozat and
    Manning 2017).

    Scores of a sentence don't depend on its batch; in the released LAL parser, heads get queries of
    other sentences. benepar's layer norms divide by the biased deviation, and its tags come from
    annotations; supar has leaky ReLUs.
    """

    def __init__(self, header: Header) -> None:
        settings = ReleasedSettings.from_json(header["settings"])
        n_labels, n_tags, n_relations = (len(header[name]) for name in NAMES)
        super().__init__(settings, 0, n_labels + 1, n_tags, n_relations)
        width, d_tag = self.encoder.output_dim, settings.tag_width
        if settings.format == "benepar":
            for layer in (*self.encoder.attention_layers, *self.encoder.feed_forward_layers):
                layer.layer_norm = nn.LayerNorm(width)
            assert self.scorer is not None
            self.scorer.layer_norm = nn.LayerNorm(self.scorer.hidden.out_features)
        elif settings.format == "supar-dependency":
            assert self.dependencies is not None
            self.dependencies.slope = SLOPE
        self.tags: nn.Module | None = None
        if d_tag is not None:
            hidden, output = nn.Linear(width, d_tag), nn.Linear(d_tag, n_tags)
            self.tags = nn.Sequential(hidden, nn.LayerNorm(d_tag), nn.ReLU(), output)

    def annotate(
        self,
        x: Any,
        lengths: Tensor,
        given: Tensor | None = None,
        read: ReadWords | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        tags, annotations, fenceposts = super().annotate(x, lengths, given, read)
        if self.tags is not None:
            tags = self.tags(annotations[:, 1:-1])
        return tags, annotations, fenceposts


def build_released_parser_v1(
    format: Format, escaped: bool = False, max_batch_spans: int = 60_000
) -> Model[list[Doc], ParserScores]:
    """A published parser, imported with `spacy lal import`.

    Sizes, encoder, tokenizer and vocabularies are stored with the weights.
    format: "benepar" or "supar-constituency" (`lal_constituency`), "lal-parser" (the same, with
        heads), or "supar-dependency" (`lal_dependency`). Parsers of benepar can be trained further,
        but not from scratch; other parsers only predict, and read `token.tag_` if they were trained
        with tags.
    escaped: for benepar, whether tokens are written as in English treebanks ("-LRB-", "``");
        otherwise single typographic quotes and dashes are read as the plain ones of treebanks.
    max_batch_spans: as in `spacy-lal.LabelAttentionParser.v1`."""
    return Model(
        "released_parser",
        _forward,
        init=_init,
        shims=[TorchShim(ReleasedNetwork, SentenceReader)],
        attrs={
            "settings": ReleasedFormat(format, escaped),
            "max_batch_spans": max_batch_spans,
            **{name: [] for name in NAMES},
            **READING,
        },
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    if torch_shim(model).header is None:
        raise ValueError(
            "spacy-lal.ReleasedParser.v1 begins with published weights: import them with "
            "`python -m spacy lal import`, and let the config take the component from there"
        )


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    shim = torch_shim(model)
    attrs = model.attrs
    settings: ReleasedFormat = attrs["settings"]
    if is_train and settings.format != "benepar":
        raise ValueError(
            "an imported parser can't be trained, unless it is benepar's: name its component in "
            "frozen_components of [training]"
        )
    sentences = attrs["reading"].split(docs)
    parsed = [k for k, sentence in enumerate(sentences) if sentence.parsed]
    words = [len(sentences[k].words) for k in parsed]
    texts = [text_of(docs[sentences[k].doc], sentences[k]) for k in parsed]
    read = shim.reader.read(texts, escaped=settings.escaped)

    def score() -> Iterator[SentenceBatch]:
        for numbers in alike([sentence.size for sentence in read]):
            for part in batch_by_spans([words[k] for k in numbers], attrs["max_batch_spans"]):
                group = [numbers[k] for k in part]
                batch = shim.reader.batch([read[k] for k in group], shim.device)
                lengths = tensor([words[k] for k in group], device=shim.device)
                dropout = attrs["dropout_rate"]
                scores = shim.run(batch, lengths, is_train=is_train, dropout=dropout)
                yield SentenceBatch([parsed[k] for k in group], lengths, scores)

    # in prediction, each batch's charts are freed once decoded
    scores = ParserScores(sentences, list(score()) if is_train else score())

    def backprop(d_scores: ParserScores) -> list[Doc]:
        walk_back(scores, d_scores)
        return []

    return scores, backprop
