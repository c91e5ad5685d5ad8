"""`explain`: the label attention heads over the sentences of a Doc.

A contribution is the sum of a head's features in a span's vector, compared with other heads. It is
not an effect: signed features may cancel in the sum, and the span scorer makes labels of them. With
`arrangement = "concatenate"`, as in `en_lal_sm`, span vectors also contain the rows beneath label
attention; contributions don't measure that part.

A head with one query vector (`query = "vector"`, as in the paper and `en_lal_sm`) adds one context
per sentence to every row. Then `attention` is the same for all spans and no evidence for one of
them. The context would cancel in a span's difference of rows, but the layer norm divides each row
by its own deviation. `contributions` therefore compare changes of the same projected rows, with
each head's context added and normalised, between the span's borders. Heads with contexts small
against the rows have nearly equal shares. Only with matrix queries does a head attend separately
from each word.
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
from ..parsing.network import abilities
from ..pipeline.pipes import one_of, only_pipe, through_earlier_pipes
from ..trees.tree import LabelledSpan
from .contributions import Normalisation, sentence_heads, span_contributions

START, STOP = "<START>", "<STOP>"
"""Words for the rows before the first and after the last word of a sentence."""

ExplainedDoc = list[tuple[Sentence, "Explanation"]]


@dataclass(frozen=True, eq=False)
class Explanation:
    """The H label attention heads over a sentence, or a piece of a long one, of n words.

    words: START, the n words (tokens other than whitespace), STOP.
    tokens: the words' indices in the Doc [n].
    attention: of each head over `words`, [H, n+2]; with matrix queries [H, n+2, n+2], from each
        word (second axis) to each word. Heads count from 0.
    spans: predicted constituents in preorder, (start, end, label) in words from 0 to n, which cover
        `words[start + 1 : end + 1]`; a unary chain is one span with labels joined by "::".
    contributions: share of each head in each span's vector, [spans, H], or None.
    """

    words: list[str]
    tokens: numpy.ndarray
    attention: numpy.ndarray
    spans: list[LabelledSpan]
    contributions: numpy.ndarray | None

    def span_attention(self, start: int, end: int) -> numpy.ndarray:
        """Return the attention of each head from a span's words: [H, n+2]. A head with one query
        vector has the same attention for all spans."""
        if self.attention.ndim == 2:
            return self.attention
        span_attention: numpy.ndarray = self.attention[:, start + 1 : end + 1].mean(1)
        return span_attention

    def attention_svg(
        self, *, heads: Sequence[int] | None = None, k: int = 8, styled: bool = True
    ) -> str:
        """Draw a heat map of the heads' attention, with matrix queries averaged over the words.

        heads: by default the k that contribute most to the sentence's constituents, or without
            contributions the k with the greatest weights. Raises ValueError for an unknown head.
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
        """Draw bars of each head's contribution to one constituent, k top heads marked. span:
        (start, end) in words of the sentence; by default the first constituent. Raises ValueError
        without contributions, or without a constituent over the span."""
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
    """Return attention and contributions of the label attention heads, by sentence.

    The module's docstring explains the numbers. A sentence cut in pieces has an `Explanation` for
    each; a skipped sentence (`long_sentences = "flat"`) has none. The Doc is not changed.
    nlp: pipeline with a label attention parser, whose earlier components run on a copy of the Doc;
        or that component, for a Doc that has gone through the earlier ones.
    method: normalisation of contributions (see `span_contributions`): "normalised", as in Mrini et
        al. 2020, "softmax", as in its released code, or None for no contributions.
    Raises ValueError without label attention or such a parser, and for contributions with
    `label_feed_forward` or without `combine = "concatenate"`, since these features belong to no
    head.
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
    """Yield (sentence, explanation) pairs for each of many Docs (see `explain`)."""
    pipe = label_attention_pipe(nlp)
    stream = iter(docs)
    while batch := list(islice(stream, batch_size)):
        yield from _explain_batch(pipe, through_earlier_pipes(nlp, pipe, batch), method)


def ranked(values: numpy.ndarray) -> list[int]:
    """Return indices from the greatest value to the least, those of equal values in order."""
    order: list[int] = numpy.argsort(-values, kind="stable").tolist()
    return order


def label_attention_pipe(nlp: Language | ParserPipe) -> ParserPipe:
    """Return a pipeline's label attention parser, preferably of constituents. Raises ValueError if
    there is none, or more than one."""
    kinds, what = (ConstituencyPipe, LabelAttentionDependency), "label attention parser"
    if not isinstance(nlp, Language):
        return cast(ParserPipe, only_pipe(nlp, kinds, what))
    found = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, kinds)]
    found = [pipe for pipe in found if abilities(pipe.model).label_heads] or found
    found = [pipe for pipe in found if isinstance(pipe, ConstituencyPipe)] or found
    return cast(ParserPipe, one_of(found, nlp, what))


def constituency_pipe(nlp: Language | ParserPipe) -> ConstituencyPipe:
    """Return the label attention parser of constituents. Raises ValueError unless there is one."""
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
