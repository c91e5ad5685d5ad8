"""How probable every span of a sentence is as a constituent, whether the tree has it or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from torch import Tensor

from ..batching.batches import SentenceBatch
from ..layers.label_factors import label_scores
from ..parsing.constituency import ConstituencyPipe
from ..parsing.network import Scores, TwoStageScores
from ..structure.chart import packed_spans, span_position, unpack
from ..structure.tree_distribution import TreeDistribution
from .earlier_pipes import through_earlier_pipes


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


def span_probabilities(nlp: Language | ConstituencyPipe, doc: Doc) -> list[SpanProbabilities]:
    """The marginals of each sentence of a Doc that the parser of constituents parses.

    A span's probability is the sum over its labels, groups that are no constituents left out. The
    components before the parser are run on a copy of the Doc. Raises ValueError if there is not
    one parser of constituents, or if its scores are margins, which are no probabilities.
    """
    pipe = _pipe(nlp)
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


def _pipe(nlp: Language | ConstituencyPipe) -> ConstituencyPipe:
    if isinstance(nlp, ConstituencyPipe):
        return nlp
    if not isinstance(nlp, Language):
        name = getattr(nlp, "name", nlp)
        raise ValueError(f"{name!r} is no parser of constituents, nor a pipeline with one")
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ConstituencyPipe)]
    if len(pipes) != 1:
        raise ValueError(
            f"expected one parser of constituents in the pipeline {nlp.pipe_names}, "
            f"found {[pipe.name for pipe in pipes]}: pass nlp.get_pipe of one of them"
        )
    return pipes[0]


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
