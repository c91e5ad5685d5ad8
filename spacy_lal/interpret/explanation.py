"""`explain`: the label attention heads over the sentences of a Doc (docs/usage/explain.md says what
the numbers mean)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

import numpy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import minibatch
from torch import Tensor

from ..batching.batches import padded_batches, read_docs
from ..batching.sentences import Sentence
from ..bridge.shim import torch_shim
from ..drawing.charts import heat_map_svg, ranked, span_contributions_svg
from ..layers.input_encoders import row_mask
from ..layers.label_attention import LabelAttention
from ..parsing.component import ParserPipe
from ..parsing.constituency import ConstituencyPipe
from ..parsing.dependency import LabelAttentionDependency
from ..parsing.network import ParserNetwork, abilities, given_tags
from ..pipeline.pipes import one_of, only_pipe, through_earlier_pipes
from ..trees.tree import LabelledSpan

START, STOP = "<START>", "<STOP>"
"""Words for the rows before the first and after the last word of a sentence."""

Normalisation = Literal["normalised", "softmax"]
ExplainedDoc = list[tuple[Sentence, "Explanation"]]


def head_sums(annotations: Tensor, n_heads: int) -> Tensor:
    """Return the sum of each head's features in every fencepost: [B,n+2,H*d_proj] -> [B,n+1,H].

    annotations: label attention's output alone.
    Fencepost k has the first half of a head's features from row k, the second from row k + 1. Spans
    are differences of fenceposts, so that the sum of head h's features in the vector of span (i, j)
    is sums[j, h] - sums[i, h].
    """
    heads = annotations.unflatten(-1, (n_heads, -1))
    middle = heads.shape[-1] // 2
    return heads[..., :middle].sum(-1)[:, :-1] + heads[..., middle:].sum(-1)[:, 1:]


def span_contributions(
    sums: Tensor, starts: Tensor, ends: Tensor, method: Normalisation = "normalised"
) -> Tensor:
    """Return the share of each head in the vectors of S spans: [n+1,H] -> [S,H].

    The heads' sums of a span are scaled to [0, 1]. "normalised" divides them by their total.
    "softmax" takes their softmax, as the code of Mrini et al. 2020 does, where no share of 112
    heads can exceed e / (e + 111) = 2.4 %; the paper leaves the normalisation open. Both methods
    rank the heads alike. Equal sums have equal shares; the released code divides by zero there.
    """
    if method not in get_args(Normalisation):
        raise ValueError(f"method must be one of {get_args(Normalisation)}, not {method!r}")
    span_sums = sums[ends] - sums[starts]
    least = span_sums.amin(-1, keepdim=True)
    spread = span_sums.amax(-1, keepdim=True) - least
    scaled = torch.where(spread > 0, (span_sums - least) / spread, 1.0)
    if method == "softmax":
        return scaled.softmax(-1)
    return scaled / scaled.sum(-1, keepdim=True)


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
    sums: sums of each head's features at the fenceposts [n+1, H] (`head_sums`), or None.
    """

    words: list[str]
    tokens: numpy.ndarray
    attention: numpy.ndarray
    spans: list[LabelledSpan]
    contributions: numpy.ndarray | None
    sums: Tensor | None = None

    @property
    def shares(self) -> numpy.ndarray:
        """The contributions. Raises ValueError without them."""
        if self.contributions is None:
            raise ValueError("no contributions of heads here: see spacy_lal.explain")
        return self.contributions

    def shares_of(self, spans: Sequence[tuple[int, int]], method: Normalisation) -> numpy.ndarray:
        """Return the heads' contributions to any spans, predicted or not: [S, H]. Raises ValueError
        without contributions."""
        if self.sums is None:
            raise ValueError("no contributions of heads here: see spacy_lal.explain")
        starts, ends = torch.tensor(spans, dtype=torch.long).reshape(-1, 2).T
        return span_contributions(self.sums, starts, ends, method).numpy()

    def span_attention(self, start: int, end: int) -> numpy.ndarray:
        """Return the attention of each head from a span's words: [H, n+2]. A head with one query
        vector has the same attention for all spans."""
        if self.attention.ndim == 2:
            return self.attention
        return self.attention[:, start + 1 : end + 1].mean(1)

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
        rows = [(f"head {h}", attention[h], float(attention[h].max(initial=0.0))) for h in heads]
        title = "Label attention: heads by words of “" + " ".join(self.words[1:-1]) + "”"
        legend = "each row's greatest"
        return heat_map_svg("Label attention", title, self.words, rows, legend, styled=styled)

    def contributions_svg(
        self, *, span: tuple[int, int] | None = None, k: int = 8, styled: bool = True
    ) -> str:
        """Draw bars of the k heads that contribute most to one constituent. span:
        (start, end) in words of the sentence; by default the first constituent. Raises ValueError
        without contributions, or without a constituent over the span."""
        rows = {(start, end): row for row, (start, end, _) in enumerate(self.spans)}
        row = 0 if span is None else rows.get((span[0], span[1]))
        if row is None or not rows:
            raise ValueError(f"no constituent at words {span}: there are {[*rows]}")
        start, end, label = self.spans[row]
        covered = " ".join(self.words[start + 1 : end + 1])
        return span_contributions_svg(self.shares[row], label, covered, k=k, styled=styled)


def explain(
    nlp: Language | ParserPipe, doc: Doc, *, method: Normalisation | None = "normalised"
) -> list[Explanation]:
    """Return attention and contributions of the label attention heads, by sentence.

    A sentence cut in pieces has an `Explanation` for each; a skipped sentence
    (`long_sentences = "flat"`) has none. The Doc is not changed.
    nlp: pipeline with a label attention parser, whose earlier components run on a copy of the Doc;
        or that component, for a Doc that has gone through the earlier ones.
    method: normalisation of contributions (see `span_contributions`): "normalised", as in Mrini et
        al. 2020, "softmax", as in its released code, or None for no contributions.
    Raises ValueError without a label attention parser, and for contributions with
    `label_feed_forward` or without `combine = "concatenate"`, where features belong to no head.
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
    for batch in minibatch(docs, batch_size):
        yield from _explain_batch(pipe, through_earlier_pipes(nlp, pipe, batch), method)


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


@torch.no_grad()
def _explain_batch(
    pipe: ParserPipe, docs: list[Doc], method: Normalisation | None
) -> list[ExplainedDoc]:
    network, layer = _with_label_attention(pipe, method is not None)
    sentences, flat, _ = read_docs(pipe.model, docs, is_train=False)
    _, parses = pipe.predict(docs)
    found: dict[int, Explanation] = {}
    for members, lengths, x in padded_batches(
        docs, sentences, flat, pipe.model.attrs["max_batch_spans"]
    ):
        mask = row_mask(lengths, x.shape[1])
        tags = given_tags(pipe.model, docs, [sentences[k] for k in members], x)
        rows = network.encoder.encode(network.input_encoder(x, lengths, tags)[0], mask)
        attention = layer.attention(rows, mask).cpu()
        contributions = None
        if method is not None:
            sums = head_sums(layer(rows, mask).double(), layer.n_heads).cpu()
        for row, (k, n) in enumerate(zip(members, lengths.tolist(), strict=True)):
            parse, words, doc = parses[k], sentences[k].words, docs[sentences[k].doc]
            starts, ends = torch.from_numpy(parse.starts), torch.from_numpy(parse.ends)
            places = zip(starts.tolist(), ends.tolist(), parse.labels.tolist(), strict=True)
            if method is not None:
                shares = span_contributions(sums[row, : n + 1], starts, ends, method)
                contributions = shares.numpy()
            of_words = attention[row, :, : n + 2, : n + 2]
            found[k] = Explanation(
                [START, *(doc[i].text for i in words.tolist()), STOP],
                words,
                (of_words if of_words.shape[1] > 1 else of_words.squeeze(1)).numpy(),
                [(start, end, pipe.labels[label - 1]) for start, end, label in places],
                contributions,
                None if method is None else sums[row, : n + 1],
            )
    explained: list[ExplainedDoc] = [[] for _ in docs]
    for k, explanation in sorted(found.items()):
        explained[sentences[k].doc].append((sentences[k], explanation))
    return explained


def _with_label_attention(pipe: ParserPipe, sums: bool) -> tuple[ParserNetwork, LabelAttention]:
    """Return a parser's network and label attention. sums: whether features must belong to heads,
    as where spans' vectors are differences of fenceposts with half of each head."""
    network = cast(ParserNetwork, torch_shim(pipe.model).module)
    encoder, layer = network.encoder, network.encoder.label_attention
    if layer is None or not abilities(pipe.model).label_heads:
        raise ValueError(
            "this parser has no label attention that can be read: "
            "heads = 0 in its encoder's settings, or its weights are published ones"
        )
    halved = network.spans is None and encoder.halves_heads
    plain = layer.combine == "concatenate" and encoder.label_feed_forward is None
    if sums and not (halved and plain):
        raise ValueError(
            'no contributions of heads: they need combine = "concatenate", label_feed_forward = '
            "false, halves of heads, and no two-stage parser; method=None gives attention alone"
        )
    return network, layer
