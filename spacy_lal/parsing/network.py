"""A parser as settings, as a PyTorch module, and as a Thinc model that reads Docs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..batching.batches import ParserScores, SentenceBatch, padded, score_sentences, sentence_model
from ..batching.sentences import Sentence
from ..bridge.shim import torch_shim
from ..bridge.weights import Header
from ..layers.biaffine import LabelFactors, Matrices, label_scores
from ..layers.biaffine_spans import BiaffineLabels, BiaffineSpanSettings
from ..layers.bilstm import Steps
from ..layers.dependency_scorer import DependencyScorer, DependencySettings
from ..layers.encoder import LabelAttentionEncoder
from ..layers.input_encoders import BiLSTMInput, InputEncoder, ReadWords, SharedInput, row_mask
from ..layers.integers import Linear
from ..layers.label_attention import EncoderSettings
from ..layers.precision import Precision
from ..layers.settings import Settings
from ..layers.span_attention import TransformerSpanSettings
from ..layers.span_scorer import SpanScorer
from ..structure.distributions import LabelledTrees, TwoStageTrees


@dataclass(frozen=True)
class Abilities:
    """Abilities of a parsing model's network.

    predicts_tags: part-of-speech tags. reads_tags: it reads the Doc's tags. finds_trees: it scores
        the labels of spans. finds_heads: it scores arcs and relations. two_stages: it scores
        unlabelled trees, then their labels.
    spans_attend: spans see each other. label_heads: number of label attention heads that can be
        read. free_relations: the relation "root" may also hold between words.
    """

    predicts_tags: bool = True
    reads_tags: bool = False
    finds_trees: bool = False
    finds_heads: bool = False
    two_stages: bool = False
    spans_attend: bool = False
    label_heads: int = 0
    free_relations: bool = False


def abilities(model: Model) -> Abilities:
    """The abilities of the network of a Thinc model."""
    return model.attrs["settings"].abilities


@dataclass(frozen=True)
class ParserSettings(Settings):
    """Settings of a parser's network.
    hidden_width: width of the span label scorer; None leaves it out. None also leaves out the
        scorers of heads and relations (`dependencies`) and of two-stage spans (`spans`)."""

    name: ClassVar[str] = "parser"
    input_encoder: InputEncoder
    encoder: EncoderSettings
    hidden_width: int | None = None
    dependencies: DependencySettings | None = None
    spans: BiaffineSpanSettings | TransformerSpanSettings | None = None

    @property
    def linear(self) -> type[nn.Linear]:
        """The class of scorers' first layers: rounded only if what they read is the same in every
        batch, to the bit."""
        exact = isinstance(self.input_encoder, BiLSTMInput | SharedInput) and self.encoder.sums_wide
        return Linear if exact else nn.Linear

    @property
    def abilities(self) -> Abilities:
        """The abilities of the network."""
        return Abilities(
            predicts_tags=self.input_encoder.predicts_tags,
            reads_tags=self.input_encoder.reads_doc_tags,
            finds_trees=self.hidden_width is not None or self.spans is not None,
            finds_heads=self.dependencies is not None,
            two_stages=self.spans is not None,
            spans_attend=isinstance(self.spans, TransformerSpanSettings),
            label_heads=self.encoder.heads,
        )


class OneStageScores(NamedTuple):
    """Scores of padded sentences; those without a scorer in the network are None.

    tags: [B, n, T].
    labels: packed charts [B, S, L], label 0 "no constituent".
    arcs: [B, n, n+1]; [d, h] scores head h (0 the root) of word d + 1.
    governor, governed, relation_weight: factors of the scores of relations (`LabelFactors`), views
        of n+1 heads, or of n words if relations are independent of the head, and of n dependents.
        The weight is a parameter, as in `TwoStageScores`.
    """

    tags: Tensor
    labels: Tensor | None = None
    arcs: Tensor | None = None
    governor: Tensor | None = None
    governed: Tensor | None = None
    relation_weight: Matrices | None = None

    def relations_of(self, heads: Tensor) -> Tensor:
        """Return the scores [B, n, R] of all words' relations to these heads [B, n], 0 the root."""
        factors = LabelFactors(
            *cast(LabelFactors, (self.governor, self.governed, self.relation_weight))
        )
        batch, n = heads.shape
        sentences = torch.arange(batch, device=heads.device).repeat_interleave(n)
        words = torch.arange(n, device=heads.device).repeat(batch)
        governors = heads.flatten() if factors.left.shape[1] > n else words
        return label_scores(factors, sentences, governors, words).view(batch, n, -1)

    def trees(self, lengths: Tensor, **options: Any) -> LabelledTrees:
        """Return the distribution over trees; options as in `LabelledTrees`."""
        assert self.labels is not None
        return LabelledTrees(self.labels, lengths, arcs=self.arcs, **options)


class TwoStageScores(NamedTuple):
    """Scores of padded sentences by a two-stage network.

    tags: [B, n, T]. spans: packed charts [B, S].
    left, right, weight: factors [B, n+1, .] of label scores (`LabelFactors`). The weight, a
        parameter, is an output so that its gradient returns with those of other outputs.
    """

    tags: Tensor
    spans: Tensor
    left: Tensor
    right: Tensor
    weight: Tensor

    def trees(self, lengths: Tensor, **options: Any) -> TwoStageTrees:
        """Return the distribution over trees; options are ignored."""
        factors = LabelFactors(self.left, self.right, self.weight)
        return TwoStageTrees(self.spans, partial(label_scores, factors), lengths)


Scores = OneStageScores | TwoStageScores


class ParserNetwork(nn.Module):
    """Word vectors [B, n, d_in], lengths [B] -> `OneStageScores` (Mrini et al. 2020, section 3) or
    `TwoStageScores` (Zhang et al. 2020). Arcs read annotations or, as in the released code,
    fenceposts."""

    def __init__(
        self, settings: ParserSettings, d_in: int, n_labels: int, n_tags: int, n_relations: int
    ) -> None:
        super().__init__()
        self.input_encoder = settings.input_encoder.build(d_in, n_tags)
        around = self.input_encoder.d_around
        d_model = self.input_encoder.output_dim - around
        self.encoder = LabelAttentionEncoder(settings.encoder, d_model, around)
        width = self.encoder.output_dim
        self.scorer: SpanScorer | None = None
        self.dependencies: DependencyScorer | None = None
        self.spans: nn.Module | None = None
        if settings.hidden_width is not None:
            self.scorer = SpanScorer(width, settings.hidden_width, n_labels, settings.linear)
        if settings.dependencies is not None:
            self.read_fenceposts = settings.dependencies.read == "fenceposts"
            self.dependencies = DependencyScorer(
                settings.dependencies, width, n_relations, linear=settings.linear
            )
        if settings.spans is not None:
            self.spans = settings.spans.build(width)
            self.labels = BiaffineLabels(settings.spans, width, n_labels)

    def read(self, words: Tensor, steps: Steps) -> ReadWords | None:
        """Read words ahead, see `TagReader.read`."""
        return self.input_encoder.read(words, steps)

    def annotate(
        self,
        x: Tensor,
        lengths: Tensor,
        given: Tensor | None = None,
        read: ReadWords | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return tags [B, n, T], annotations [B, n+2, d] (START, STOP), fenceposts [B, n+1, d].
        given: numbers of given tags [B, n], see `given_tags`. read: what is read ahead."""
        of_words = (x, lengths, given) if read is None else (x, lengths, given, read)
        rows, tags = self.input_encoder(*of_words)
        n = rows.shape[1] - 2
        if tags is None:
            # one tag for all words, as in a treebank without tags
            tags = rows.new_zeros(len(rows), n, 1)
        annotations = self.encoder(rows, row_mask(lengths, n))
        return tags, annotations, self.encoder.fenceposts(annotations)

    def forward(
        self,
        x: Tensor,
        lengths: Tensor,
        given: Tensor | None = None,
        read: ReadWords | None = None,
    ) -> Scores:
        tags, annotations, fenceposts = self.annotate(x, lengths, given, read)
        if self.spans is not None:
            return TwoStageScores(tags, self.spans(fenceposts, lengths), *self.labels(fenceposts))
        labels = arcs = None
        relations: tuple[Tensor | None, ...] = (None, None, None)
        if self.scorer is not None:
            labels = self.scorer(fenceposts)
        if self.dependencies is not None:
            words = fenceposts if self.read_fenceposts else annotations[:, :-1]
            arcs, relations = self.dependencies(words)
        return OneStageScores(tags, labels, arcs, *relations)


def build_network(header: Header) -> ParserNetwork:
    """Return the network of a header: d_in, `settings`, names of labels, tags and relations."""
    labels, tags, relations = (len(header[name]) for name in NAMES)
    settings = ParserSettings.from_json(header["settings"])
    return ParserNetwork(settings, header["d_in"], labels + 1, max(1, tags), max(1, relations))


NAMES = ("labels", "tags", "relations")
"""Kinds of names with one output each, in the header and the model's attributes."""


def parser_model(
    tok2vec: Model[list[Doc], list[Floats2d]],
    max_batch_spans: int,
    settings: ParserSettings,
    prediction: Precision,
) -> Model[list[Doc], ParserScores]:
    """Return a Thinc model around a `ParserNetwork`."""
    name = "label_attention_parser"
    return sentence_model(
        name, tok2vec, _forward, build_network, NAMES, settings, max_batch_spans, prediction
    )


def _forward(
    model: Model[list[Doc], ParserScores], docs: list[Doc], is_train: bool
) -> tuple[ParserScores, Callable[[ParserScores], list[Doc]]]:
    run = partial(
        torch_shim(model).run,
        is_train=is_train,
        dropout=model.attrs["dropout_rate"],
        prediction=model.attrs["prediction"],
    )

    def score(
        sentences: list[Sentence],
        members: list[int],
        lengths: Tensor,
        x: Tensor,
        read: ReadWords | None = None,
    ) -> SentenceBatch:
        given = given_tags(model, docs, [sentences[k] for k in members], x)
        return SentenceBatch(members, lengths, run(x, lengths, given, read))

    return score_sentences(model, docs, is_train, score)


def given_tags(
    model: Model, docs: list[Doc], sentences: list[Sentence], like: Tensor
) -> Tensor | None:
    """Return the numbers of sentences' tags [B, n], -1 for unknown ones, if the network reads given
    tags. like: [B, n, ...]. Raises ValueError for a Doc without tags."""
    if not abilities(model).reads_tags:
        return None
    header = torch_shim(model).header or {}
    index = {tag: k for k, tag in enumerate(header["tags"])}
    for doc in (docs[sentence.doc] for sentence in sentences):
        if not doc.has_annotation("TAG"):
            raise ValueError(
                f"the Doc {doc.text[:40]!r} has no tags, and the parser's input_encoder has tags = "
                '"doc": put a tagger before the parser (in training, name it in '
                "[training] annotating_components), or give the Doc tags"
            )
    rows = ([index.get(docs[s.doc][i].tag_, -1) for i in s.words.tolist()] for s in sentences)
    return padded(like, rows)


def build_label_attention_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    hidden_width: int = 250,
    max_batch_spans: int = 60_000,
    dependencies: DependencySettings | None = None,
    prediction: Precision = "float32",
) -> Model[list[Doc], ParserScores]:
    """The label attention parser of Mrini et al. 2020: constituents, or constituents and heads.

    tok2vec: word vectors of the Docs' tokens, from a listener or any other Tok2Vec model.
    input_encoder: a BiLSTM (`spacy-lal.BiLSTMRows.v1`) or content and positions
        (`spacy-lal.PositionRows.v1`). encoder: `spacy-lal.LabelAttentionEncoder.v1`.
    hidden_width: width of the span scorer.
    max_batch_spans: the most spans in the charts of sentences that are padded together.
    dependencies: `spacy-lal.BiaffineDependencies.v1` for the joint model.
    prediction: products outside of training: "int8" (rounded row by row, exact sums; on CPUs),
        "bfloat16" (which depend on the processor) or "float32". A trained pipeline's config can
        change it.
    """
    settings = ParserSettings(input_encoder, encoder, hidden_width, dependencies)
    return parser_model(tok2vec, max_batch_spans, settings, prediction)


def build_label_attention_dependency_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    dependencies: DependencySettings,
    max_batch_spans: int = 60_000,
    prediction: Precision = "float32",
) -> Model[list[Doc], ParserScores]:
    """The label attention parser without a span scorer; see `build_label_attention_parser_v1`."""
    settings = ParserSettings(input_encoder, encoder, dependencies=dependencies)
    return parser_model(tok2vec, max_batch_spans, settings, prediction)


def build_two_stage_parser_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    input_encoder: InputEncoder,
    encoder: EncoderSettings,
    spans: BiaffineSpanSettings | TransformerSpanSettings,
    max_batch_spans: int = 60_000,
    prediction: Precision = "float32",
) -> Model[list[Doc], ParserScores]:
    """The two-stage parser of Zhang et al. 2020: a CRF over unlabelled binary trees, then labels.

    With `spacy-lal.BranchRows.v1` and a label attention encoder it is the parser of Vu-Tran et al.;
    with `spacy-lal.TransformerSpans.v1` it is SpanFormer (Floquet et al.).

    input_encoder: `spacy-lal.BiLSTMRows.v1`, `spacy-lal.PositionRows.v1` or
        `spacy-lal.BranchRows.v1`.
    encoder: `spacy-lal.LabelAttentionEncoder.v1`; heads = 0 and no self-attention leave it out.
    spans: `spacy-lal.BiaffineSpans.v1` or `spacy-lal.TransformerSpans.v1`. The other settings are
        those of `build_label_attention_parser_v1`.
    """
    settings = ParserSettings(input_encoder, encoder, spans=spans)
    return parser_model(tok2vec, max_batch_spans, settings, prediction)
