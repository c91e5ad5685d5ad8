"""Semantic frames in span groups: `doc.spans["srl"]` has each frame's V, then its arguments.

All spans of a frame have its id; frames may overlap. A group without spans means "annotated,
nothing there"; no group means "not annotated".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from spacy.tokens import Doc, Span, SpanGroup, Token

from ..drawing.html import roles_html, text_style
from ..drawing.sentence import Phrase, RoleFrame, Sentence
from ..trees.tree import LabelledSpan
from .span_groups import current_spans, span_scores
from .words import WordIndex

FRAMES_KEY = "srl"
"""Key of the frames' span group in `doc.spans`."""
PREDICATE = "V"
"""Label of a frame's predicate."""
CONTINUATION = "C-"
"""Prefix of the label of an argument's later piece."""

_AUXILIARIES = {
    *("am", "are", "be", "been", "being", "is", "was", "were", "'m", "'re", "'s"),
    *("had", "has", "have", "having", "'d", "'ve", "did", "do", "does", "got"),
}
_SENSE = re.compile(r"(?<=.)\.(?:\d+|[A-Z]+)$")


class FrameSpans(NamedTuple):
    """Frame by token indices: spans of V and the arguments. `predicate` is the roleset's token."""

    predicate: int
    roleset: str
    spans: Sequence[LabelledSpan]


class Argument(NamedTuple):
    """Semantic role with its pieces in text order; mostly it has one piece."""

    label: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """Predicate with its arguments, as read from a Doc.

    predicate: token that has the roleset; mostly the first token of `verb`.
    arguments: in text order where `set_frames` wrote them, with R-X, the continuations C-X, and
        `C-V`, the second part of a predicate in two pieces.
    verb: span labelled V, whatever its part of speech.
    scores: score of each argument, or None. verb_score: score of `verb`.
    """

    predicate: Token
    roleset: str
    arguments: tuple[Span, ...]
    verb: Span
    scores: tuple[float | None, ...]
    verb_score: float | None

    @property
    def lemma(self) -> str:
        """Lemma of the roleset ("give" of "give.01", "have" of "have.LV"), of the token, or ""."""
        return _SENSE.sub("", self.roleset) or self.predicate.lemma_

    @property
    def helps(self) -> bool:
        """Whether the predicate only helps another verb: an auxiliary without arguments. Where the
        Doc has no relations, forms of be, have, do and get count as auxiliaries."""
        relation = self.predicate.dep_.partition(":")[0]
        auxiliary = relation == "aux" if relation else self.predicate.lower_ in _AUXILIARIES
        return auxiliary and not self.arguments

    @property
    def spans(self) -> tuple[Span, ...]:
        """V and the arguments in text order, outer before inner."""
        return tuple(sorted((self.verb, *self.arguments), key=lambda span: (span.start, -span.end)))

    @property
    def scored(self) -> list[tuple[Span, float | None]]:
        """V and then the arguments, each with its score."""
        return [(self.verb, self.verb_score), *zip(self.arguments, self.scores, strict=True)]

    def merged(self) -> tuple[Argument, ...]:
        """Return V and the arguments in text order, with continuations joined; R-X stays apart."""
        spans = self.spans
        return tuple(
            Argument(label, tuple(spans[i] for i in pieces))
            for label, pieces in join_continuations(span.label_ for span in spans)
        )

    def _repr_html_(self) -> str:
        doc, index = self.predicate.doc, WordIndex(self.predicate.doc)
        first, last = index.range(*self._sentence())
        words = [doc[i] for i in index.tokens[first:last]]
        roles: list[Phrase] = []
        for span, score in self.scored:
            start, end = index.range(span.start, span.end)
            if start < end:
                roles.append((start - first, end - first, span.label_, score))
        roles.sort(key=lambda role: (role[0], -role[1]))
        predicate = index.before[self.predicate.i] - first
        sentence = Sentence(
            [word.text for word in words],
            [],
            [word.i for word in words],
            [" " if a.idx + len(a) < b.idx else "" for a, b in pairwise(words)],
            frames=[RoleFrame(predicate, self.roleset, roles)],
        )
        return f"<style>{text_style()}</style>\n{roles_html([sentence])}"

    def _sentence(self) -> tuple[int, int]:
        doc, spans = self.predicate.doc, self.spans
        if not doc.has_annotation("SENT_START"):
            return 0, len(doc)
        start = doc[min(self.predicate.i, spans[0].start)].sent.start
        return start, doc[max(self.predicate.i, *(span.end - 1 for span in spans))].sent.end

    def __str__(self) -> str:
        """Return the predicate's sentence with its roles: "[ARG0: The cat] [V: sat] down ." Nested
        roles have nested brackets. A Doc without sentence boundaries is returned whole; arguments
        in other sentences extend the text to these."""
        start, end = self._sentence()
        before, after = defaultdict[int, str](str), defaultdict[int, str](str)
        for span in self.spans:
            if words := [token.i for token in span if not token.text.isspace()]:
                before[words[0]] += f"[{span.label_}: "
                after[words[-1]] += "]"
        return " ".join(
            f"{before[token.i]}{token.text}{after[token.i]}"
            for token in self.predicate.doc[start:end]
            if not token.text.isspace()
        )


def join_continuations(labels: Iterable[str]) -> list[tuple[str, list[int]]]:
    """Return arguments as (label, positions of their pieces) from labels in text order. C-X is a
    further piece of the latest X before it. Without one, it is an X itself, as in srl-eval.pl
    (Carreras and Màrquez 2005, "Introduction to the CoNLL-2005 Shared Task")."""
    arguments: list[tuple[str, list[int]]] = []
    latest: dict[str, list[int]] = {}
    for i, label in enumerate(labels):
        base = label.removeprefix(CONTINUATION)
        if base != label and base in latest:
            latest[base].append(i)
        else:
            latest[base] = [i]
            arguments.append((base, latest[base]))
    return arguments


def set_frames(
    doc: Doc,
    frames: Iterable[FrameSpans],
    scores: Sequence[Sequence[float | None]] | None = None,
    *,
    key: str = FRAMES_KEY,
) -> None:
    """Write frames to `doc.spans[key]`, replacing the group. scores: a list for each frame, one
    score for each of its spans; kept in `attrs["scores"]`. Raises ValueError for a frame without
    exactly one V, or if scores and spans don't match."""
    frames = list(frames)
    if scores is not None and [len(frame.spans) for frame in frames] != list(map(len, scores)):
        raise ValueError("scores must have one list for each frame, with one for each of its spans")
    spans: list[Span] = []
    ordered: list[float | None] = []
    for i, frame in enumerate(frames):
        verbs = [span for span in frame.spans if span[2] == PREDICATE]
        if len(verbs) != 1:
            raise ValueError(
                f"a frame must have one span labelled {PREDICATE}: the frame of "
                f"{frame.roleset!r} at token {frame.predicate} has {len(verbs)}"
            )
        frame_id = _frame_id(frame.predicate, verbs[0][0], frame.roleset)
        own = scores[i] if scores is not None else [None] * len(frame.spans)
        for span, score in sorted(
            zip(frame.spans, own, strict=True), key=lambda pair: (pair[0][2] != PREDICATE, pair[0])
        ):
            spans.append(Span(doc, *span, span_id=frame_id))
            ordered.append(score)
    doc.spans[key] = SpanGroup(doc, name=key, attrs={"scores": ordered}, spans=spans)


def give_predicates(doc: Doc, gold: Doc, *, key: str = FRAMES_KEY) -> None:
    """Write the predicates of `gold`, which has the same tokens, as frames with V alone."""
    own = ((frame.predicate.i, frame.roleset) for frame in get_frames(gold, key))
    set_frames(doc, [FrameSpans(i, sense, [(i, i + 1, PREDICATE)]) for i, sense in own], key=key)


def get_frames(doc: Doc, key: str = FRAMES_KEY, *, helping: bool = True) -> list[Frame]:
    """Return the frames in `doc.spans[key]`, in the group's order; [] without the group. A span
    labelled V opens a frame, so that frames with equal ids, as after `Doc.from_docs`, stay apart.
    All scores are None unless the group has one for each span. helping: with the frames that only
    help (see `Frame.helps`). Raises ValueError if tokens were merged or split since."""
    if key not in doc.spans:
        return []
    spans, scores = current_spans(doc.spans[key]), span_scores(doc.spans[key])
    frames = [frame_at(spans, scores, positions) for positions in _group(spans)]
    return [frame for frame in frames if helping or not frame.helps]


def frame_positions(group: SpanGroup) -> dict[int, list[int]]:
    """Return each predicate's first frame, as indices of its spans in the group, V first."""
    spans = current_spans(group)
    found: dict[int, list[int]] = {}
    for frame in _group(spans):
        found.setdefault(_predicate(spans[frame[0]]).i, frame)
    return found


def frame_at(
    spans: Sequence[Span] | SpanGroup, scores: Sequence[float | None], positions: Sequence[int]
) -> Frame:
    """Return the frame of the spans at these positions, V first."""
    verb, *arguments = (spans[i] for i in positions)
    verb_score, *others = (scores[i] for i in positions)
    _, roleset = _parse_frame_id(verb.id_)
    return Frame(_predicate(verb), roleset, tuple(arguments), verb, tuple(others), verb_score)


def _group(spans: Sequence[Span]) -> list[list[int]]:
    found: list[list[int]] = []
    latest: dict[int, list[int]] = {}
    for i, span in enumerate(spans):
        if span.label_ == PREDICATE:
            latest[span.id] = [i]
            found.append(latest[span.id])
        elif span.id in latest:
            latest[span.id].append(i)
    return found


def _predicate(verb: Span) -> Token:
    position = verb.start + _parse_frame_id(verb.id_)[0]
    # a foreign id may point anywhere
    return verb.doc[position] if 0 <= position < len(verb.doc) else verb[0]


def _frame_id(predicate: int, verb: int, roleset: str) -> str:
    """Return "7:give.01", or "9@7:give.01" if the V that begins at 7 has its predicate at 9. The
    difference of the two positions stays true when Docs are put together."""
    place = f"{predicate}" if predicate == verb else f"{predicate}@{verb}"
    return f"{place}:{roleset}"


def _parse_frame_id(frame_id: str) -> tuple[int, str]:
    """Return the number of tokens from the beginning of V to the predicate, and the roleset."""
    place, colon, roleset = frame_id.partition(":")
    if not colon:
        return 0, frame_id
    predicate, _, verb = place.partition("@")
    if predicate.isdecimal() and verb.isdecimal():
        return int(predicate) - int(verb), roleset
    return 0, roleset
