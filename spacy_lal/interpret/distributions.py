"""Distributions inside of models: marginals of all spans, attention over layers for each word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import to_numpy
from torch import Tensor

from ..batching.batches import SentenceBatch
from ..drawing.charts import layer_attention_svg, layers_of_words_svg, probabilities_svg
from ..ged.gec_detector import ErrorDetector
from ..ged.model import layer_attention
from ..layers.label_factors import label_scores
from ..parsing.constituency import ConstituencyPipe
from ..parsing.network import Scores, TwoStageScores
from ..pipeline.pipes import only_pipe, through_earlier_pipes
from ..structure.chart import packed_spans, span_position, unpack
from ..structure.tree_distribution import TreeDistribution


@dataclass(frozen=True, eq=False)
class SpanProbabilities:
    """The marginals of all spans of a sentence of n words.

    words [n]; tokens: their indices in the Doc [n]. probabilities [n+1, n+1]: at [i, j] that words
    i to j are a constituent, 0 where i >= j. labels: the most probable label of each span, chains
    joined by "::", at the same place; "" where i >= j.
    """

    words: list[str]
    tokens: numpy.ndarray
    probabilities: numpy.ndarray
    labels: list[list[str]]

    def svg(self, *, styled: bool = True) -> str:
        """A chart of all spans, each as dark as it is probable."""
        return probabilities_svg(self.words, self.probabilities, self.labels, styled=styled)


def span_probabilities(nlp: Language | ConstituencyPipe, doc: Doc) -> list[SpanProbabilities]:
    """The marginals of each sentence of a Doc that the parser of constituents parses.

    A span's probability is the sum over its labels, groups that are no constituents left out. The
    components before the parser are run on a copy of the Doc. Raises ValueError if there is not
    one parser of constituents, or if its scores are margins, which are no probabilities.
    """
    pipe = only_pipe(nlp, ConstituencyPipe, "parser of constituents")
    if not pipe.objective.probabilistic:
        raise ValueError(
            f"{pipe.name!r} has no probabilities: it was trained with spacy-lal.margin_objective"
        )
    (doc,) = through_earlier_pipes(nlp, pipe, [doc])
    scores = pipe.model.predict([doc])
    found: dict[int, SpanProbabilities] = {}
    for batch in scores.batches:
        for row, member in enumerate(batch.members):
            words = scores.sentences[member].words
            names = ["", *pipe.labels]
            table, best = _tables(batch, row, pipe._sub_head)
            labels = [
                [names[k] if i < j else "" for j, k in enumerate(line)]
                for i, line in enumerate(best.tolist())
            ]
            texts = [doc[i].text for i in words.tolist()]
            found[member] = SpanProbabilities(texts, words, table.numpy(), labels)
    return [found[k] for k in sorted(found)]


@torch.no_grad()
def _tables(batch: SentenceBatch[Scores], row: int, sub_head: int | None) -> tuple[Tensor, Tensor]:
    """Probabilities and best labels of all spans of a sentence, both [n+1, n+1]."""
    of, lengths = batch.scores, batch.lengths[row : row + 1].cpu()
    n = int(lengths)
    chart, total = _chart(of, row, n)
    marginals = TreeDistribution(total.unsqueeze(0), lengths).marginals[0]
    shares = torch.softmax(chart, -1)
    shares[:, 0] = 0.0
    if sub_head is not None:
        shares[:, sub_head] = 0.0
    constituent = (shares.sum(-1) * marginals).clamp(0, 1)
    tables = (constituent, shares.argmax(-1).to(constituent.dtype))
    square, labels = (unpack(t.unsqueeze(0), n)[0] for t in tables)
    return square, labels.long()


def _chart(of: Scores, row: int, n: int) -> tuple[Tensor, Tensor]:
    """Label scores of all spans of a sentence [S, L] and what each adds to a tree's score [S]."""
    starts, ends = packed_spans(n)
    here = span_position(of.tags.shape[1], starts, ends).to(of.tags.device)
    if isinstance(of, TwoStageScores):
        rows = torch.full_like(starts, row).to(of.tags.device)
        labels = label_scores(of.factors, rows, starts.to(rows.device), ends.to(rows.device))
        return labels.cpu(), of.spans[row, here].cpu()
    assert of.labels is not None
    chart = of.labels[row, here].cpu()
    return chart, torch.logsumexp(chart, -1)


@dataclass(frozen=True, eq=False)
class LayersOfWords:
    """Attention over L layers, lowest first, of J heads for each of n tokens (Kaneko and Komachi
    2019, eq. 7 and figure 2).

    words [n]; attention [L, n, J], which sums to one over the layers.
    """

    words: list[str]
    attention: numpy.ndarray

    def svg(self, *, words: bool = False, styled: bool = True) -> str:
        """A heat map of layers by heads, on average over the words; with `words`, by words."""
        if words:
            return layers_of_words_svg(self.words, self.attention, styled=styled)
        # a text without words has no mean
        mean = self.attention.sum(1) / max(1, self.attention.shape[1])
        return layer_attention_svg(mean, styled=styled)


def layers_of_words(nlp: Language | ErrorDetector, doc: Doc) -> LayersOfWords:
    """The attention of a detector over its encoder's layers, for a Doc's words without whitespace.

    The components before the detector are run on a copy of the Doc. Raises ValueError if there is
    not one detector in the pipeline.
    """
    pipe = only_pipe(nlp, ErrorDetector, "detector of errors")
    (doc,) = through_earlier_pipes(nlp, pipe, [doc])
    alpha = to_numpy(layer_attention(pipe.model, [doc]))
    words = [token.i for token in doc if not token.is_space]
    return LayersOfWords([doc[i].text for i in words], alpha[:, words])
