"""`explain`: the label attention heads over the sentences of a Doc.

The meaning of their numbers depends on the parser.

A contribution is the sum of a head's features in the vector of a span, set against those of the
other heads. It is not an effect: features are signed, so that large ones may cancel in their sum,
and it is the span scorer that makes labels of them. With `arrangement = "concatenate"`, as in
`en_lal_sm`, a span's vector has two parts: the rows beneath label attention, and label
attention's output. Contributions compare heads within the second part; how much that part as a
whole matters beside the rows they do not say.

A head with one query vector (`query = "vector"`, the paper's and `en_lal_sm`'s) has one context
for the whole sentence, added to every row before the layer norm. A span's vector is a difference
of rows, in which the context would cancel if the layer norm didn't divide each row by its own
deviation. So in such a parser `attention` is one distribution a sentence and head, the
same for all of its spans: what a head attends to is no evidence for one span rather than another.
`contributions` compare how much the same projected rows, each head's context added and
normalised, change from one border of the span to the other. Heads whose contexts are small
against the rows have nearly equal sums, and nearly equal shares whatever the span. Only with
matrix queries does a head attend anew from each word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc

from ..batching.sentences import Sentence
from ..drawing.charts import attention_svg, span_contributions_svg
from ..parsing.component import ParserPipe
from ..parsing.constituency import ConstituencyPipe
from ..parsing.dependency import LabelAttentionDependency
from ..parsing.settings import abilities
from ..pipeline.pipes import one_of, only_pipe, through_earlier_pipes
from ..trees.tree import LabelledSpan
from .contributions import Normalisation, sentence_heads, span_contributions

START, STOP = "<START>", "<STOP>"
"""In place of words: the row before a sentence's first word, and the row after its last."""

ExplainedDoc = list[tuple[Sentence, "Explanation"]]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The H label attention heads over one sentence of n words, or one piece of a long sentence.

    words: START, the n words (tokens other than whitespace), STOP. tokens: the words' indices in
    the Doc [n]. attention: of each head over `words`, [H, n+2]; with matrix queries [H, n+2, n+2],
    from each word (second axis) to each word. Heads count from 0.
    spans: the predicted constituents in preorder, (start, end, label) in words from 0 to n, so
    that they cover `words[start + 1 : end + 1]`; a unary chain is one span, its labels joined by
    "::". contributions: the share of each head in each span's vector, [number of spans, H]; None
    if they were not asked for.
    """

    words: list[str]
    tokens: numpy.ndarray
    attention: numpy.ndarray
    spans: list[LabelledSpan]
    contributions: numpy.ndarray | None

    def span_attention(self, start: int, end: int) -> numpy.ndarray:
        """Attention of each head from the words of a span: [H, n+2].

        With one query vector a head that is the same for all spans of the sentence.
        """
        if self.attention.ndim == 2:
            return self.attention
        span_attention: numpy.ndarray = self.attention[:, start + 1 : end + 1].mean(1)
        return span_attention

    def attention_svg(
        self, *, heads: Sequence[int] | None = None, k: int = 8, styled: bool = True
    ) -> str:
        """Heat map of the heads' attention, with matrix queries on average over the words.

        heads: which; by default the k that contribute most to the sentence's constituents, or, if
        contributions were not computed, the k with the greatest attention weights.
        Raises ValueError for a head that is none.
        """
        attention = self.span_attention(0, len(self.words) - 2)
        if heads is None:
            values = attention.max(1)
            if self.contributions is not None and len(self.contributions):
                values = self.contributions.mean(0)
            heads = ranked(values)[:k]
        if wrong := [head for head in heads if not 0 <= head < len(attention)]:
            raise ValueError(f"no heads {wrong}: heads are 0 to {len(attention) - 1}")
        return attention_svg(self.words, attention, heads, styled=styled)

    def contributions_svg(
        self, *, span: tuple[int, int] | None = None, k: int = 5, styled: bool = True
    ) -> str:
        """Bars of each head's contribution to one constituent.

        span: (start, end) in words of the sentence; by default the first constituent. k: how many
        top heads are marked. Raises ValueError if there are no contributions, or no constituent
        over these words.
        """
        if self.contributions is None or not self.spans:
            raise ValueError("no contributions of heads here: see spacy_lal.explain")
        places = [(start, end) for start, end, _ in self.spans]
        if span is not None and tuple(span) not in places:
            raise ValueError(f"no constituent at words {span[0]} to {span[1]}: there are {places}")
        row = 0 if span is None else places.index((span[0], span[1]))
        start, end, label = self.spans[row]
        covered = " ".join(self.words[start + 1 : end + 1])
        return span_contributions_svg(self.contributions[row], label, covered, k=k, styled=styled)


def explain(
    nlp: Language | ParserPipe, doc: Doc, *, method: Normalisation | None = "normalised"
) -> list[Explanation]:
    """Attention and contributions of the label attention heads, for each sentence of a Doc.

    The module's docstring says what the numbers mean. nlp: a pipeline with a label
    attention parser, or that component. A pipeline's components before the parser are run on a
    copy of the Doc; with the component alone, the Doc must have gone through them. The Doc is not
    changed. A sentence cut in pieces has an `Explanation` for each, one that
    `long_sentences = "flat"` leaves unparsed has none.

    method: how contributions are normalised, see `span_contributions`: "normalised", as in Mrini
    et al. 2020, "softmax", as in its released code, or None for no contributions. They belong to
    heads only if the heads lie side by side in span vectors, without a feed-forward layer above:
    ValueError if `label_feed_forward` is on, or combine is not "concatenate". ValueError as well
    if there is no label attention at all, or no such parser.
    """
    (explained,) = explain_docs(nlp, [doc], method=method)
    return [explanation for _, explanation in explained]


def explain_docs(
    nlp: Language | ParserPipe,
    docs: Iterable[Doc],
    *,
    method: Normalisation | None = "normalised",
    batch_size: int = 64,
) -> Iterator[ExplainedDoc]:
    """`explain` for many Docs, with the sentences: for each Doc, (sentence, explanation) pairs."""
    pipe = label_attention_pipe(nlp)
    stream = iter(docs)
    while batch := list(islice(stream, batch_size)):
        yield from _explain_batch(pipe, through_earlier_pipes(nlp, pipe, batch), method)


def ranked(values: numpy.ndarray) -> list[int]:
    """Indices from the greatest value to the least, equal ones in order."""
    order: list[int] = numpy.argsort(-values, kind="stable").tolist()
    return order


def label_attention_pipe(nlp: Language | ParserPipe) -> ParserPipe:
    """The label attention parser of a pipeline; that of constituents if there are others, too.

    Raises ValueError if there is none, or more than one.
    """
    kinds, what = (ConstituencyPipe, LabelAttentionDependency), "label attention parser"
    if not isinstance(nlp, Language):
        return cast(ParserPipe, only_pipe(nlp, kinds, what))
    found = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, kinds)]
    found = [pipe for pipe in found if abilities(pipe.model).label_heads] or found
    found = [pipe for pipe in found if isinstance(pipe, ConstituencyPipe)] or found
    return cast(ParserPipe, one_of(found, nlp, what))


def constituency_pipe(nlp: Language | ParserPipe) -> ConstituencyPipe:
    """The label attention parser of a pipeline, which must find constituents.

    Raises ValueError if it doesn't, if there is none, or more than one.
    """
    pipe = label_attention_pipe(nlp)
    if not isinstance(pipe, ConstituencyPipe):
        raise ValueError(f"the parser {pipe.name!r} finds no constituents, only heads")
    return pipe


def _explain_batch(
    pipe: ParserPipe, docs: list[Doc], method: Normalisation | None
) -> list[ExplainedDoc]:
    sentences, found = sentence_heads(pipe.model, docs, sums=method is not None)
    _, parses = pipe.predict(docs)
    explanations: dict[int, Explanation] = {}
    for k, attention, sums in found:
        parse, words, doc = parses[k], sentences[k].words, docs[sentences[k].doc]
        starts, ends = torch.from_numpy(parse.starts), torch.from_numpy(parse.ends)
        places = zip(starts.tolist(), ends.tolist(), parse.labels.tolist(), strict=True)
        contributions = None
        if sums is not None and method is not None:
            contributions = span_contributions(sums, starts, ends, method).numpy()
        explanations[k] = Explanation(
            [START, *(doc[i].text for i in words.tolist()), STOP],
            words,
            (attention if attention.shape[1] > 1 else attention.squeeze(1)).numpy(),
            [(start, end, pipe.labels[label - 1]) for start, end, label in places],
            contributions,
        )
    explained: list[ExplainedDoc] = [[] for _ in docs]
    for k, explanation in sorted(explanations.items()):
        explained[sentences[k].doc].append((sentences[k], explanation))
    return explained
