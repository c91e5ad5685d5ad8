"""How probable every span of a sentence is as a constituent, whether the tree has it or not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from ..parsing.constituency import ConstituencyPipe
from ..structure.chart import unpack
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
    pipe.require_probabilities("a span's probability")
    (doc,) = through_earlier_pipes(nlp, pipe, [doc])
    scores = pipe.model.predict([doc])
    names = numpy.array(["", *pipe.labels], dtype=object)
    found: dict[int, SpanProbabilities] = {}
    for batch in scores.batches:
        with torch.no_grad():
            tables = pipe.trees(batch.scores, batch.lengths).span_labels()
        n = batch.scores.tags.shape[1]
        square, best = (unpack(table.cpu(), n).numpy() for table in tables)
        for row, member in enumerate(batch.members):
            words = scores.sentences[member].words
            here = slice(len(words) + 1)
            labels = names[numpy.triu(best[row, here, here], 1)].tolist()
            texts = [doc[i].text for i in words.tolist()]
            found[member] = SpanProbabilities(texts, words, square[row, here, here], labels)
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
