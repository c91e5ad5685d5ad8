"""What pictures are drawn from: sentences as plain values.

They are read from Docs and parts of them, from trees, and from the dicts that
`spacy_lal.annotate.records.doc_record` makes, whose fields may be written by hand as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.tokens import Doc, Span

from ..annotate.records import check_record, doc_record
from ..annotations.constituents import UNKNOWN_TAG
from ..annotations.grammar_errors import ERRORS_KEY
from ..trees.tree import ROOT_LABELS, ConstituentTree
from .widths import right_to_left

Phrase = tuple[int, int, str, float | None]
"""(start, end, label, probability) in words of the sentence."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class RoleFrame:
    """The predicate's word and roleset; its roles, V among them, in the order of the text."""

    predicate: int
    roleset: str
    roles: list[Phrase]


@dataclass(frozen=True)
class Sentence:
    """A sentence of n words, without whitespace tokens; all places count its words.

    tokens: where the words are in the Doc [n]. spaces: what stands behind each word, " " or "" [n].
    phrases: in preorder; frames, heads (a root's is itself), relations, errors with their
    corrections, and the probability of every word to be wrong: None where nobody annotated them.
    """

    words: list[str]
    tags: list[str]
    tokens: list[int]
    spaces: list[str]
    phrases: list[Phrase] | None = None
    frames: list[RoleFrame] | None = None
    heads: list[int] | None = None
    relations: list[str] = field(default_factory=list)
    errors: list[Phrase] | None = None
    corrections: list[str | None] = field(default_factory=list)
    error_scores: list[float] | None = None

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def direction(self) -> str:
        """ "rtl" for a script that is written from right to left, else "ltr"."""
        return "rtl" if right_to_left("".join(self.words)) else "ltr"

    def covered(self, start: int, end: int) -> str:
        return " ".join(self.words[start:end])


def sentences(item: Any) -> list[Sentence]:
    """The sentences of a Doc, a Span, a tree or a record.

    Raises ValueError for anything else, and for a record that `check_record` refuses.
    """
    if isinstance(item, ConstituentTree):
        return [_of_tree(item)]
    if isinstance(item, (Doc, Span)):
        return _of_doc(item)
    if isinstance(item, Mapping):
        check_record(item)
        return list(_of_record(item))
    raise ValueError(f"a picture is of a Doc, Span, ConstituentTree or record, not {type(item)}")


def _of_tree(tree: ConstituentTree) -> Sentence:
    spans = tree.spans()
    if spans and spans[0][2] in ROOT_LABELS:
        spans = spans[1:]
    phrases: list[Phrase] = [(start, end, label, None) for start, end, label in spans]
    tagged = tree.tagged
    words, tags = [word for word, _ in tagged], [tag for _, tag in tagged]
    return Sentence(words, tags, list(range(len(words))), [" "] * len(words), phrases)


def _of_doc(item: Doc | Span) -> list[Sentence]:

    doc = item if isinstance(item, Doc) else item.doc
    record = doc_record({}, doc)
    if ERRORS_KEY in doc.spans:
        corrections = doc.spans[ERRORS_KEY].attrs.get("corrections")
        if corrections is not None and len(corrections) == len(record["errors"]):
            for error, correction in zip(record["errors"], corrections, strict=True):
                error["correction"] = correction
    return list(_of_record(record, *((item.start, item.end) if isinstance(item, Span) else ())))


def _of_record(record: Record, start: int = 0, end: int | None = None) -> Iterator[Sentence]:
    """The sentences of a record; of tokens from `start` to `end` only what lies within."""
    total = len(record["words"])
    end = total if end is None else end
    bounds = [(s["start"], s["end"]) for s in record.get("sentences") or ()] or [(0, total)]
    for first, last in bounds:
        first, last = max(first, start), min(last, end)
        if first < last:
            sentence = _sentence(record, first, last)
            if sentence.words:
                yield sentence


def _sentence(record: Record, first: int, last: int) -> Sentence:
    words = record["words"]
    tokens = [i for i in range(first, last) if words[i].strip() or not words[i]]
    place = dict(zip(tokens, range(len(tokens)), strict=True))
    # whitespace counts as the place of the next word
    at, position = {}, 0
    for i in range(first, last + 1):
        at[i] = position
        position += i in place
    tags = record.get("tags") or record.get("pos") or [UNKNOWN_TAG] * len(words)

    def phrase(span: Record) -> Phrase | None:
        start, end = span["start"], span["end"]
        if start < first or end > last or at[start] == at[end]:
            return None
        return at[start], at[end], str(span["label"]), span.get("score")

    def phrases(spans: Sequence[Record]) -> list[Phrase]:
        return [found for span in spans if (found := phrase(span)) is not None]

    constituents, errors, heads = (record.get(k) for k in ("constituents", "errors", "heads"))
    wrong = [span for span in errors or () if phrase(span) is not None]
    scores, frames = record.get("error_scores"), record.get("frames")
    return Sentence(
        [words[i] for i in tokens],
        [tags[i] or UNKNOWN_TAG for i in tokens],
        tokens,
        [_space(record, i) for i in tokens],
        None
        if constituents is None
        else sorted(phrases(constituents), key=lambda span: (span[0], -span[1])),
        None if frames is None else list(_frames(frames, place, phrases)),
        None if heads is None else [place.get(heads[i], place[i]) for i in tokens],
        [] if heads is None else [record["relations"][i] for i in tokens],
        None if errors is None else phrases(wrong),
        [span.get("correction") for span in wrong],
        None if scores is None else [scores[i] for i in tokens],
    )


def _space(record: Record, i: int) -> str:
    """What stands behind a token; a space if the record doesn't say where its tokens begin."""
    starts, words = record.get("starts"), record["words"]
    if starts is None or i + 1 == len(words):
        return " "
    return " " if starts[i] + len(words[i]) < starts[i + 1] else ""


def _frames(
    frames: Sequence[Record], place: Mapping[int, int], phrases: Any
) -> Iterator[RoleFrame]:
    for frame in frames:
        if frame["predicate"] in place:
            roles = sorted(phrases(frame["spans"]), key=lambda span: (span[0], -span[1]))
            yield RoleFrame(place[frame["predicate"]], frame.get("roleset") or "", roles)
