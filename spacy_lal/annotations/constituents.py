"""Constituents in span groups: `doc.spans["constituents"]` has a span per phrase, in preorder. A
group without spans means "annotated, nothing there"; no group means "not annotated"."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import dropwhile
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
    """Return the phrases in `doc.spans[key]` as (start, end, label) in preorder, or [].
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

    there, back: alignments of an `Example`, to the other tokens and from them.
    exact: whether both borders are borders of other tokens. Phrases over no other token are left
    out. Line breaks between tokens do no harm, unlike in `Example.get_aligned_spans_y2x`.
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
    `log_prob` is the parser's; None if the sentence has changed since. `parsed` is False without
    the group, and for a sentence that the parser skipped. A loop over spans from left to right
    reads the Doc's phrases once (see `LoopIndex`). Raises ValueError if phrases cross, or if tokens
    were merged or split since.
    """
    doc = span.doc
    phrases = _PHRASES.at(doc, key, span.start) or _Phrases(doc)
    words = phrases.index.range(span.start, span.end)
    if span.start < len(doc):
        sentence = doc[span.start].sent if doc.has_annotation("SENT_START") else doc[:]
        if words == phrases.index.range(sentence.start, sentence.end):
            return phrases.sentence(sentence)
    return phrases.topmost(doc, *words)


def sentence_trees(doc: Doc, key: str = CONSTITUENTS_KEY) -> list[ConstituentTree]:
    """Return the tree of each sentence (see `constituent_tree`)."""
    phrases = _Phrases(doc, doc.spans.get(key))
    whole = [doc[:]] if len(doc) else []
    return list(map(phrases.sentence, doc.sents if doc.has_annotation("SENT_START") else whole))


class _Phrases:
    """Phrases of a Doc's words in preorder, and places of the words; it doesn't keep the Doc
    alive."""

    def __init__(self, doc: Doc, group: SpanGroup | None = None):
        self.index = WordIndex(doc)
        self.spans = [] if group is None else self.index.spans(_in_preorder(group))
        self.starts = [start for start, _, _ in self.spans]
        attrs: dict[str, Any] = {"unparsed": [(0, len(doc))]}
        self.attrs = attrs if group is None else group.attrs

    def sentence(self, sentence: Span) -> ConstituentTree:
        start, end = sentence.start, sentence.end
        skipped = any(s < end and start < e for s, e in self.attrs.get("unparsed", ()))
        words = self.index.range(start, end)
        log_prob = self._log_prob(start, end)
        return self._tree(sentence.doc, *words, self._within(*words), ROOT, log_prob, not skipped)

    def topmost(self, doc: Doc, start: int, end: int) -> ConstituentTree | None:
        phrases = self._within(start, end)
        inside = list(dropwhile(lambda phrase: phrase[:2] != (0, end - start), phrases))
        return self._tree(doc, start, end, inside) if inside else None

    def _within(self, start: int, end: int) -> list[LabelledSpan]:
        found = self.spans[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
        return [(first - start, last - start, label) for first, last, label in found if last <= end]

    def _log_prob(self, start: int, end: int) -> float | None:
        log_probs, before = self.attrs.get("log_probs", []), self.index.before
        first = bisect_left(log_probs, start, key=itemgetter(0))
        pieces = log_probs[first : bisect_left(log_probs, end, key=itemgetter(0))]
        # tokens may have been merged since
        starts = [before[s] for s, _, _ in pieces if s < len(before)]
        ends = [before[e] for _, e, _ in pieces if e < len(before)]
        whole = [*starts, before[end]] == [before[start], *ends]
        return sum(value for *_, value in pieces) if pieces and whole else None

    def _tree(
        self,
        doc: Doc,
        start: int,
        end: int,
        phrases: list[LabelledSpan],
        root: str | None = None,
        log_prob: float | None = None,
        parsed: bool = True,
    ) -> ConstituentTree:
        tokens = [doc[i] for i in self.index.tokens[start:end]]
        words = [token.text for token in tokens]
        tags = [token.tag_ or token.pos_ or UNKNOWN_TAG for token in tokens]
        return ConstituentTree.from_spans(words, tags, phrases, root, log_prob, parsed)


_PHRASES = LoopIndex(lambda group: _Phrases(group.doc, group))
