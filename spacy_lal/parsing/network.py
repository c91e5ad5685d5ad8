"""A parser as one PyTorch module, built from a JSON-able header."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor, nn

from ..bridge.weights import Header
from ..layers.dependency_scorer import DependencyScorer
from ..layers.input_encoders import row_mask
from ..layers.label_factors import LabelFactors
from ..layers.span_scorer import SpanScorer
from .settings import ParserSettings
from .spans import SpanSettings


class OneStageScores(NamedTuple):
    """What the network says of padded sentences; None where it has no such scorer.

    tags [B, n, T]; labels: packed charts of label scores [B, S, L], label 0 "no constituent";
    arcs [B, n, n+1], the score of head h (0 the root) for word d + 1 at [d, h]; relations
    [B, n, n+1, R] of these arcs, or [B, n, 1, R] if they don't depend on the head.
    """

    tags: Tensor
    labels: Tensor | None = None
    arcs: Tensor | None = None
    relations: Tensor | None = None


class TwoStageScores(NamedTuple):
    """What a network of two stages says of padded sentences.

    tags [B, n, T]; spans, packed charts [B, S]; and what label scores of chosen spans are computed
    from, left and right [B, n+1, .] and weight (see `LabelFactors`). The weight is a parameter;
    among the outputs, its gradient comes back the way all others do.
    """

    tags: Tensor
    spans: Tensor
    left: Tensor
    right: Tensor
    weight: Tensor

    @property
    def factors(self) -> LabelFactors:
        """What `label_scores` takes."""
        return LabelFactors(self.left, self.right, self.weight)


Scores = OneStageScores | TwoStageScores


class ParserNetwork(nn.Module):
    """Word vectors [B, n, d_in], lengths [B] -> annotations and fenceposts (Mrini et al. 2020,
    section 3).

    The input encoder (`layers/input_encoders.py`), then the encoder with its Label Attention Layer
    (`layers/encoder.py`). A subclass scores what it reads off them.
    """

    def __init__(self, settings: ParserSettings, d_in: int, n_tags: int) -> None:
        super().__init__()
        self.input_encoder = settings.input_encoder.build(d_in, n_tags)
        around = self.input_encoder.d_around
        self.encoder = settings.encoder.build(self.input_encoder.output_dim - around, around)

    def annotate(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Tag scores [B, n, T], annotations [B, n+2, d] of START, words, STOP; fenceposts
        [B, n+1, d]."""
        rows, tags = self.input_encoder(x, lengths)
        if tags is None:
            # as of a treebank without tags: one for all words, with nothing to learn
            tags = x.new_zeros(*x.shape[:2], 1)
        annotations = self.encoder(rows, row_mask(lengths, x.shape[1]))
        return tags, annotations, self.encoder.fenceposts(annotations)


class OneStageNetwork(ParserNetwork):
    """Word vectors [B, n, d_in], lengths [B] -> `OneStageScores`.

    Arcs and relations are scored from annotations, or from fenceposts, as the released code does.
    """

    def __init__(
        self, settings: ParserSettings, d_in: int, n_labels: int, n_tags: int, n_relations: int
    ) -> None:
        super().__init__(settings, d_in, n_tags)
        width = self.encoder.output_dim
        self.scorer: SpanScorer | None = None
        if settings.hidden_width is not None:
            self.scorer = SpanScorer(width, settings.hidden_width, n_labels)
        self.dependencies: DependencyScorer | None = None
        if settings.dependencies is not None:
            self.read_fenceposts = settings.dependencies.read == "fenceposts"
            self.dependencies = settings.dependencies.build(width, n_relations)

    def forward(self, x: Tensor, lengths: Tensor) -> OneStageScores:
        tags, annotations, fenceposts = self.annotate(x, lengths)
        labels = arcs = relations = None
        if self.scorer is not None:
            labels = self.scorer(fenceposts)
        if self.dependencies is not None:
            words = fenceposts if self.read_fenceposts else annotations[:, :-1]
            arcs, relations = self.dependencies(words)
        return OneStageScores(tags, labels, arcs, relations)


class TwoStageNetwork(ParserNetwork):
    """Word vectors [B, n, d_in], lengths [B] -> `TwoStageScores` (Zhang et al. 2020)."""

    def __init__(
        self, settings: ParserSettings, spans: SpanSettings, d_in: int, n_labels: int, n_tags: int
    ) -> None:
        super().__init__(settings, d_in, n_tags)
        width = self.encoder.output_dim
        self.spans = spans.build(width)
        self.labels = spans.build_labels(width, n_labels)

    def forward(self, x: Tensor, lengths: Tensor) -> TwoStageScores:
        tags, _, fenceposts = self.annotate(x, lengths)
        left, right, weight = self.labels(fenceposts)
        return TwoStageScores(tags, self.spans(fenceposts, lengths), left, right, weight)


def build_network(header: Header) -> OneStageNetwork | TwoStageNetwork:
    """The network of a header: d_in, `settings`, and the names of labels, tags and relations."""
    settings = ParserSettings.from_json(header["settings"])
    n_labels, n_tags = len(header["labels"]) + 1, max(1, len(header["tags"]))
    d_in = header["d_in"]
    if settings.spans is not None:
        return TwoStageNetwork(settings, settings.spans, d_in, n_labels, n_tags)
    n_relations = max(1, len(header["relations"]))
    return OneStageNetwork(settings, d_in, n_labels, n_tags, n_relations)
