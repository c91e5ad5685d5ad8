"""Where results live on a Doc, how they are written there, and typed views of them.

Everything is a span group, so that `Doc.to_bytes`, `DocBin`, pickle, `Doc.copy` and worker
processes carry results without further ado; extensions only read.

`doc.spans["constituents"]`: one span per phrase in preorder, `label_` its category.
`doc.spans["srl"]`: frames, see annotations/frames.py.
`doc.spans["errors"]`: grammatical errors, see annotations/grammar_errors.py.
A group without spans means "annotated, nothing there"; no group means "not annotated".
"""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training.alignment_array import AlignmentArray

from ..trees.tree import ConstituentTree, LabelledSpan
from .frames import FRAMES_KEY as FRAMES_KEY
from .frames import PREDICATE as PREDICATE
from .frames import Frame, frame_at, get_frames, predicates, still_there
from .frames import FrameSpans as FrameSpans
from .frames import set_frames as set_frames
from .grammar_errors import ERRORS_KEY, GrammarError, error_scores, grammar_errors
from .passes import LeftToRight

CONSTITUENTS_KEY = "constituents"
"""The key of the span group in `doc.spans` that holds the constituents."""
ROOT = "TOP"
"""The label of the node above a sentence's tree."""
UNKNOWN_TAG = "XX"
"""The tag, in a tree, of a word whose tag is not set."""

Scores = Sequence[float | None]


# Constituents


def set_constituents(
    doc: Doc,
    spans: Iterable[LabelledSpan],
    scores: Scores | None = None,
    log_probs: Sequence[tuple[int, int, float]] = (),
    *,
    unparsed: Sequence[tuple[int, int]] = (),
    key: str = CONSTITUENTS_KEY,
) -> None:
    """Write phrases to `doc.spans[key]`, replacing what is there.

    spans: (start, end, label) in tokens of `doc`, in preorder: outer before inner, a unary chain
        topmost first. Without the root node, which every sentence has anyway.
    scores: one for each span, None where there is none; kept in the group's `attrs["scores"]`.
    log_probs: (start, end, log-probability) of trees over these tokens, of sentences or, where a
        sentence was parsed in pieces, of each; kept in `attrs["log_probs"]`.
    unparsed: (start, end) of sentences that were left alone, which have no phrases for that reason;
        kept in `attrs["unparsed"]`.
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
    """The phrases in `doc.spans[key]` as (start, end, label) in preorder; none if it isn't set."""
    return _in_preorder(doc.spans[key]) if key in doc.spans else []


def _in_preorder(group: SpanGroup) -> list[LabelledSpan]:
    spans = [(span.start, span.end, span.label_) for span in group]
    # A stable sort keeps unary chains as they are; users may have put groups together.
    return sorted(spans, key=lambda span: (span[0], -span[1]))


def project_constituents(
    spans: Iterable[LabelledSpan], there: AlignmentArray, back: AlignmentArray
) -> Iterator[tuple[int, int, str, bool]]:
    """Phrases of one tokenisation as (start, end, label, exact) over the tokens of another.

    there, back: of `Example.alignment`, from and to the tokens that `spans` count. exact: whether
    both borders are token borders on the other side, too. Looks at borders, not at texts as
    `Example.get_aligned_spans_y2x` does, so a line break between tokens does no harm. Phrases
    without any counterpart are left out.
    """
    for start, end, label in spans:
        tokens = there[start:end]
        if len(tokens):
            first, last = int(tokens[0]), int(tokens[-1]) + 1
            again = back[first:last]
            yield first, last, label, bool(start <= again[0] and again[-1] < end)


def constituent_tree(span: Span, key: str = CONSTITUENTS_KEY) -> ConstituentTree | None:
    """The tree over `span`, from the phrases in `doc.spans[key]`.

    For a whole sentence (without sentence boundaries: the whole Doc) it is rooted in TOP, which
    may have several children and, where nothing was annotated, has only words. For a shorter
    span it is the topmost phrase over exactly these tokens, or None if there isn't any.
    Its `log_prob` is the parser's, for a sentence that still is the one which was parsed. `parsed`
    is False where the Doc has no such group, and for a sentence that the parser left alone.
    Words are tagged with `token.tag_`, else `pos_`, else "XX". Whitespace tokens aren't part of
    trees: they neither appear in them nor make a difference to what "exactly" means. A loop over
    sentences, or spans that each begin behind the one before, reads the Doc's phrases once; other
    calls each read all of them (`annotations/passes.py`).
    Raises ValueError if phrases cross.
    """
    doc = span.doc
    view = _TREES.view(doc, key, span.start) or _TreeView(doc)
    start, end = _sentence_at(doc, span.start)
    if start < end and view.leaf_range(start, end) == view.leaf_range(span.start, span.end):
        return view.sentence(start, end)
    return view.phrase(span.start, span.end)


def sentence_trees(doc: Doc, key: str = CONSTITUENTS_KEY) -> list[ConstituentTree]:
    """The tree of each sentence (see `constituent_tree`)."""
    view = _TreeView(doc, doc.spans.get(key))
    return [view.sentence(start, end) for start, end in _sentences(doc)]


class _TreeView:
    """What all trees of a Doc share: its phrases in order and where whitespace tokens are."""

    def __init__(self, doc: Doc, group: SpanGroup | None = None):
        # views are kept (see annotations/passes.py), and must not keep Docs
        self._doc = weakref.ref(doc)
        self.spans = [] if group is None else _in_preorder(group)
        self.starts = [start for start, _, _ in self.spans]
        self.attrs = {} if group is None else group.attrs
        self.annotated = group is not None
        # leaf[i]: how many words (tokens other than whitespace) come before token i; a Vocab that
        # has no language, into which Docs may be read, doesn't know `is_space`
        self.leaf = list(accumulate((not token.text.isspace() for token in doc), initial=0))

    @property
    def doc(self) -> Doc:
        doc = self._doc()
        assert doc is not None
        return doc

    def leaf_range(self, start: int, end: int) -> tuple[int, int]:
        return self.leaf[start], self.leaf[end]

    def sentence(self, start: int, end: int) -> ConstituentTree:
        within, log_prob = self._within(start, end), self._log_prob(start, end)
        unparsed = self.attrs.get("unparsed", ())
        parsed = self.annotated and not any(s < end and start < e for s, e in unparsed)
        return self._build(start, end, within, ROOT, log_prob, parsed)

    def _log_prob(self, start: int, end: int) -> float | None:
        """That of the sentence's tree: the sum of its pieces', if they cover it and no more."""
        words = self.leaf_range(start, end)
        log_probs = self.attrs.get("log_probs", [])
        first = bisect_left(log_probs, start, key=itemgetter(0))
        pieces = log_probs[first : bisect_left(log_probs, end, key=itemgetter(0))]
        position = words[0]
        for piece_start, piece_end, _ in pieces:
            if piece_end > len(self.doc):  # tokens were merged since
                return None
            before, after = self.leaf_range(piece_start, piece_end)
            if before != position:
                return None
            position = after
        return sum(value for *_, value in pieces) if pieces and position == words[1] else None

    def phrase(self, start: int, end: int) -> ConstituentTree | None:
        # Whitespace around a span doesn't count: look for phrases that begin or end in it, too.
        first, last = self.leaf_range(start, end)
        if first == last:
            return None
        start, end = bisect_left(self.leaf, first), bisect_left(self.leaf, last)
        while end < len(self.doc) and self.doc[end].text.isspace():
            end += 1
        inside = self._within(start, end)
        for i, (span_start, span_end, _) in enumerate(inside):
            if self.leaf_range(span_start, span_end) == (first, last):
                return self._build(start, end, inside[i:], None)
        return None

    def _within(self, start: int, end: int) -> list[LabelledSpan]:
        candidates = self.spans[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
        return [span for span in candidates if span[1] <= end]

    def _build(
        self,
        start: int,
        end: int,
        spans: list[LabelledSpan],
        root: str | None,
        log_prob: float | None = None,
        parsed: bool = True,
    ) -> ConstituentTree:
        words = [token for token in self.doc[start:end] if not token.text.isspace()]
        first = self.leaf[start]
        phrases = [(self.leaf[s] - first, self.leaf[e] - first, label) for s, e, label in spans]
        return ConstituentTree.from_spans(
            [token.text for token in words],
            [token.tag_ or token.pos_ or UNKNOWN_TAG for token in words],
            [phrase for phrase in phrases if phrase[0] < phrase[1]],
            root,
            log_prob,
            parsed,
        )


def _sentences(doc: Doc) -> Iterator[tuple[int, int]]:
    if doc.has_annotation("SENT_START"):
        yield from ((sentence.start, sentence.end) for sentence in doc.sents)
    elif len(doc):
        yield 0, len(doc)


def _sentence_at(doc: Doc, token: int) -> tuple[int, int]:
    """Where the sentence of a token begins and ends; there is none past the last token."""
    if token >= len(doc):
        return token, token
    if not doc.has_annotation("SENT_START"):
        return 0, len(doc)
    sentence = doc[token].sent
    return sentence.start, sentence.end


# Dependencies


def set_dependencies(doc: Doc, heads: Sequence[int], relations: Sequence[str]) -> None:
    """Write the head and the relation of every token; sentences become those of the trees.

    heads: token indices, a root is its own head. relations: "" for "not annotated".
    In trees of many words that are non-projective beyond all languages, spaCy loses sight of where
    they begin, and would again whenever the Doc is read back. There the first word of the tree is
    hung on its root.
    Raises ValueError if there are not as many as tokens, or a head is no token of the Doc.
    """
    if not len(heads) == len(relations) == len(doc):
        raise ValueError(
            f"a Doc needs one head and one relation for each token: got {len(heads)} heads "
            f"and {len(relations)} relations for {len(doc)} tokens"
        )
    if any(not 0 <= head < len(doc) for head in heads):
        raise ValueError(
            f"heads must be numbers of the Doc's tokens, from 0 to {len(doc) - 1}: got "
            f"{list(heads)}"
        )
    if not len(doc):
        return
    tokens = numpy.arange(len(doc))
    values: Any = numpy.empty((len(doc), 2), dtype="int64")
    values[:, 0] = numpy.asarray(heads) - tokens
    values[:, 1] = numpy.asarray(
        [doc.vocab.strings.add(relation) for relation in relations], dtype="uint64"
    ).view("int64")
    doc.from_array([HEAD, DEP], values.view("uint64"))
    first, root = _beginnings(numpy.asarray(heads))
    missed = (values[root, 1] != 0) & (doc.to_array([SENT_START])[first] != 1)
    if missed.any():
        values[first[missed], 0] = (root - first)[missed]
        doc.from_array([HEAD, DEP], values.view("uint64"))


def _beginnings(heads: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    """The first token and the root of every tree."""
    above = heads
    for _ in range(len(heads).bit_length()):
        above = above[above]
    root, first = numpy.unique(above, return_index=True)
    trees = heads[root] == root  # the others are cycles
    return first[trees], root[trees]


# Getters live at module level: lambdas can't be sent to worker processes.


def _wrong_tokens(group: SpanGroup) -> set[int]:
    return {i for span in group for i in range(span.start, span.end)}


_TREES = LeftToRight(lambda group: _TreeView(group.doc, group))
_PREDICATES = LeftToRight(predicates)
_WRONG = LeftToRight(_wrong_tokens)


def _doc_trees(doc: Doc) -> list[ConstituentTree]:
    return sentence_trees(doc)


def _doc_frames(doc: Doc) -> list[Frame]:
    return get_frames(doc)


def _token_frame(token: Token) -> Frame | None:
    def holds(view: dict) -> bool:
        return token.i in view and still_there(token.doc.spans[FRAMES_KEY], view[token.i])

    view = _PREDICATES.view(token.doc, FRAMES_KEY, token.i, holds)
    if view is None or token.i not in view:
        return None
    return frame_at(token.doc.spans[FRAMES_KEY], (position for position, _ in view[token.i]))


def _doc_errors(doc: Doc) -> list[GrammarError]:
    return grammar_errors(doc)


def _is_error(token: Token) -> bool:
    wrong = _WRONG.view(token.doc, ERRORS_KEY, token.i)
    return wrong is not None and token.i in wrong


def _error_score(token: Token) -> float | None:
    scores = error_scores(token.doc)
    return None if scores is None else scores[token.i]


def _span_tree(span: Span) -> ConstituentTree | None:
    return constituent_tree(span)


def install_extensions() -> None:
    """Register the views `Doc._.trees`, `Span._.tree`, `Doc._.frames`, `Token._.frame`,
    `Doc._.grammar_errors`, `Token._.is_error` and `Token._.error_score`.

    `Token._.frame` is the first frame whose predicate is the token, or None. `Token._.error_score`
    is the probability that the token is a grammatical error, None where it is not known. A loop
    over a Doc's tokens or sentences reads each of its span groups once (`passes.py`). A name
    already taken stays.
    """
    views: list[tuple[Any, str, Any]] = [
        (Doc, "trees", _doc_trees),
        (Span, "tree", _span_tree),
        (Doc, "frames", _doc_frames),
        (Token, "frame", _token_frame),
        (Doc, "grammar_errors", _doc_errors),
        (Token, "is_error", _is_error),
        (Token, "error_score", _error_score),
    ]
    for kind, name, getter in views:
        if not kind.has_extension(name):
            kind.set_extension(name, getter=getter)
