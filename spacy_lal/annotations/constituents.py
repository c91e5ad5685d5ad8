"""Constituents in span groups: `doc.spans["constituents"]` has a span per phrase, in preorder. A
group without spans means "annotated, nothing there"; no group means "not annotated"."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup
from spacy.training.alignment_array import AlignmentArray

from ..trees.tree import ROOT, ConstituentTree, LabelledSpan
from .span_groups import LoopIndex, current_spans
from .words import WordIndex

CONSTITUENTS_KEY = "constituents"
"""Key of the constituents' span group in `doc.spans`."""
UNKNOWN_TAG = "XX"
"""Tag, in a tree, of a word without one."""


def set_constituents(
    doc: Doc,
    spans: Iterable[LabelledSpan],
    scores: Sequence[float | None] | None = None,
    log_probs: Sequence[tuple[int, int, float]] = (),
    *,
    unparsed: Sequence[tuple[int, int]] = (),
    key: str = CONSTITUENTS_KEY,
) -> None:
    """Write phrases to `doc.spans[key]`, replacing the group.

    spans: (start, end, label) in tokens, in preorder, unary chains from the top, without the root.
    scores: one for each span or None; kept in the group's `attrs["scores"]`.
    log_probs: (start, end, log-probability) of trees or their pieces; kept in `attrs["log_probs"]`.
    unparsed: (start, end) of sentences that the parser skipped; kept in `attrs["unparsed"]`.
    Raises ValueError if there are more or fewer scores than spans.
    """
    group = [Span(doc, *span) for span in spans]
    scores = [None] * len(group) if scores is None else list(scores)
    if len(scores) != len(group):
        raise ValueError(
            f"doc.spans[{key!r}] needs one score for each span: got {len(scores)} scores "
            f"for {len(group)} spans"
        )
    attrs: dict[str, Any] = {"scores": scores}
    if log_probs:
        attrs["log_probs"] = [list(entry) for entry in log_probs]
    if unparsed:
        attrs["unparsed"] = [list(sentence) for sentence in unparsed]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=group)


def get_constituents(doc: Doc, key: str = CONSTITUENTS_KEY) -> list[LabelledSpan]:
    """Return the phrases in `doc.spans[key]` as (start, end, label) in preorder, [] without it.
    Raises ValueError if tokens were merged or split since."""
    return _in_preorder(doc.spans[key]) if key in doc.spans else []


def _in_preorder(group: SpanGroup) -> list[LabelledSpan]:
    spans = [(span.start, span.end, span.label_) for span in current_spans(group)]
    # A stable sort keeps unary chains as they are; users may have put groups together.
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def project_constituents(
    spans: Iterable[LabelledSpan], there: AlignmentArray, back: AlignmentArray
) -> Iterator[tuple[int, int, str, bool]]:
    """Yield phrases as (start, end, label, exact) over the tokens of another tokenisation.

    there, back: from `Example.alignment`, to the other tokens and from them.
    exact: whether both borders are token borders there. Phrases without counterpart are left out.
    Line breaks between tokens do no harm, unlike in `Example.get_aligned_spans_y2x`.
    """
    for start, end, label in spans:
        tokens = there[start:end]
        if len(tokens):
            first, last = int(tokens[0]), int(tokens[-1]) + 1
            again = back[first:last]
            yield first, last, label, bool(start <= again[0] and again[-1] < end)


def constituent_tree(span: Span, key: str = CONSTITUENTS_KEY) -> ConstituentTree | None:
    """Return the tree over `span`, from the phrases in `doc.spans[key]`.

    A whole sentence (without sentence boundaries: the whole Doc) is rooted in TOP, which may have
    several children, or only words where nothing was annotated. A shorter span's tree is the
    topmost phrase over exactly these tokens, or None. Words are tagged with `token.tag_`, else
    `pos_`, else "XX". Whitespace tokens are ignored.
    `log_prob` is the parser's, unless the sentence has changed since. `parsed` is False without the
    group, and for a skipped sentence. A loop over spans from left to right reads the Doc's phrases
    once (see `LoopIndex`). Raises ValueError if phrases cross, or if tokens were merged or split
    since.
    """
    doc = span.doc
    phrases = _PHRASES.at(doc, key, span.start) or _Phrases(doc)
    words = phrases.index.range(span.start, span.end)
    if span.start < len(doc):
        sentence = doc[span.start].sent if doc.has_annotation("SENT_START") else doc[:]
        if words == phrases.index.range(sentence.start, sentence.end):
            return phrases.sentence(doc, sentence.start, sentence.end)
    return phrases.topmost(doc, *words)


def sentence_trees(doc: Doc, key: str = CONSTITUENTS_KEY) -> list[ConstituentTree]:
    """Return the tree of each sentence (see `constituent_tree`)."""
    phrases = _Phrases(doc, doc.spans.get(key))
    whole = [doc[:]] if len(doc) else []
    sentences = doc.sents if doc.has_annotation("SENT_START") else whole
    return [phrases.sentence(doc, sentence.start, sentence.end) for sentence in sentences]


class _Phrases:
    """Phrases of a Doc in preorder, and places of its words; it doesn't keep the Doc alive."""

    def __init__(self, doc: Doc, group: SpanGroup | None = None):
        self.spans = [] if group is None else _in_preorder(group)
        self.starts = [start for start, _, _ in self.spans]
        self.attrs = {} if group is None else group.attrs
        self.annotated = group is not None
        self.index = WordIndex(doc)

    def sentence(self, doc: Doc, start: int, end: int) -> ConstituentTree:
        unparsed = self.attrs.get("unparsed", ())
        parsed = self.annotated and not any(s < end and start < e for s, e in unparsed)
        words = self.index.range(start, end)
        spans, log_prob = self._within(start, end), self._log_prob(start, end)
        return self._build(doc, *words, spans, ROOT, log_prob, parsed)

    def topmost(self, doc: Doc, start: int, end: int) -> ConstituentTree | None:
        if start == end:
            return None
        # Whitespace around a span doesn't count: phrases may begin or end in it.
        before = self.index.before
        inside = self._within(bisect_left(before, start), bisect_left(before, end + 1) - 1)
        for i, (first, last, _) in enumerate(inside):
            if self.index.range(first, last) == (start, end):
                return self._build(doc, start, end, inside[i:], None)
        return None

    def _within(self, start: int, end: int) -> list[LabelledSpan]:
        candidates = self.spans[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
        return [span for span in candidates if span[1] <= end]

    def _log_prob(self, start: int, end: int) -> float | None:
        log_probs = self.attrs.get("log_probs", [])
        first = bisect_left(log_probs, start, key=itemgetter(0))
        pieces = log_probs[first : bisect_left(log_probs, end, key=itemgetter(0))]
        position, last = self.index.range(start, end)
        for piece_start, piece_end, _ in pieces:
            # tokens may have been merged since
            if piece_end >= len(self.index.before) or self.index.before[piece_start] != position:
                return None
            position = self.index.before[piece_end]
        return sum(value for *_, value in pieces) if pieces and position == last else None

    def _build(
        self,
        doc: Doc,
        start: int,
        end: int,
        spans: list[LabelledSpan],
        root: str | None,
        log_prob: float | None = None,
        parsed: bool = True,
    ) -> ConstituentTree:
        words = [doc[i] for i in self.index.tokens[start:end]]
        phrases = self.index.spans(spans)
        return ConstituentTree.from_spans(
            [word.text for word in words],
            [word.tag_ or word.pos_ or UNKNOWN_TAG for word in words],
            [(first - start, last - start, label) for first, last, label in phrases],
            root,
            log_prob,
            parsed,
        )


_PHRASES = LoopIndex(lambda group: _Phrases(group.doc, group))
