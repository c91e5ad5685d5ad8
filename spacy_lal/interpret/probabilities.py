"""Distributions in models: marginals of all spans, attention over layers for each word."""

from dataclasses import dataclass

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import to_numpy

from ..drawing.charts import heat_map_svg, layer_attention_svg, probabilities_svg
from ..ged.component import ErrorDetector
from ..ged.network import layer_attention
from ..parsing.constituency import ConstituencyPipe
from ..pipeline.pipes import only_pipe, through_earlier_pipes
from ..structure.chart import unpack


@dataclass(frozen=True, eq=False)
class SpanProbabilities:
    """Marginals of all spans of a sentence of n words.

    words [n]; tokens: their indices in the Doc [n]. probabilities [n+1, n+1]: at [i, j] that of a
    constituent over words i to j, 0 where i >= j. labels: at the same place the most probable
    label, unary chains joined by "::"; "" where i >= j.
    """

    words: list[str]
    tokens: numpy.ndarray
    probabilities: numpy.ndarray
    labels: list[list[str]]

    def svg(self, *, styled: bool = True) -> str:
        """Draw a chart of all spans; more probable spans have a stronger colour."""
        return probabilities_svg(self.words, self.probabilities, self.labels, styled=styled)


def span_probabilities(nlp: Language | ConstituencyPipe, doc: Doc) -> list[SpanProbabilities]:
    """Return the marginals of each parsed sentence of a Doc. A span's probability is the sum over
    its labels that are constituents. Earlier components run on a copy of the Doc. Raises ValueError
    unless there is one parser of constituents, or if its scores are margins."""
    pipe = only_pipe(nlp, ConstituencyPipe, "parser of constituents")
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


@dataclass(frozen=True, eq=False)
class LayersOfWords:
    """Attention [L, n, J] over L layers, lowest first, of J heads for n words. It sums to one over
    the layers (Kaneko and Komachi 2019, eq. 7 and figure 2)."""

    words: list[str]
    attention: numpy.ndarray

    def svg(self, *, words: bool = False, styled: bool = True) -> str:
        """Draw a heat map of layers by words, or of layers by heads, with means over the words."""
        if not words:
            # a text without words has no mean
            mean = self.attention.sum(1) / max(1, self.attention.shape[1])
            return layer_attention_svg(mean, styled=styled)
        means = numpy.asarray(self.attention, dtype=float).mean(2)[::-1]
        most = float(means.max(initial=0.0))
        rows = [(f"layer {len(means) - k}", row, most) for k, row in enumerate(means)]
        title = "Attention over layers for the words of “" + " ".join(self.words) + "”"
        legend = f"{most or 1.0:.2f}"
        return heat_map_svg("Attention over layers", title, self.words, rows, legend, styled=styled)


def layers_of_words(nlp: Language | ErrorDetector, doc: Doc) -> LayersOfWords:
    """Return a detector's attention over its encoder's layers, for a Doc's words. Earlier
    components run on a copy of the Doc. Raises ValueError unless the pipeline has one detector."""
    pipe = only_pipe(nlp, ErrorDetector, "detector of errors")
    (doc,) = through_earlier_pipes(nlp, pipe, [doc])
    alpha = to_numpy(layer_attention(pipe.model, [doc]))
    words = [token.i for token in doc if not token.is_space]
    return LayersOfWords([doc[i].text for i in words], alpha[:, words])
