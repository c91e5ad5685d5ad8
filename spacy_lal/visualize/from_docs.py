"""Sentences for pictures, from Docs, trees, and records (see `spacy_lal.annotate.records`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc, Span

from ..annotate.records import check_record, doc_record
from ..annotations.constituents import UNKNOWN_TAG
from ..annotations.frames import get_frames
from ..annotations.grammar_errors import ERRORS_KEY
from ..drawing.sentence import Phrase, RoleFrame, Sentence
from ..trees.tree import ConstituentTree

Record = Mapping[str, Any]


def sentences(item: Any, helping: bool = True) -> list[Sentence]:
    """Return the sentences of a Doc, a Span, a tree or a record. Raises ValueError for others.
    helping: with the frames of auxiliaries without arguments (see `Frame.helps`); of Docs only."""
    if isinstance(item, ConstituentTree):
        return [item.sentence()]
    if isinstance(item, (Doc, Span)):
        return _of_doc(item, helping)
    if isinstance(item, Mapping):
        check_record(item)
        return list(_of_record(item))
    raise ValueError(f"a picture is of a Doc, Span, ConstituentTree or record, not {type(item)}")


def _of_doc(item: Doc | Span, helping: bool) -> list[Sentence]:
    doc = item if isinstance(item, Doc) else item.doc
    record = doc_record({}, doc)
    if not helping and "frames" in record:
        kept = [frame.helps for frame in get_frames(doc)]
        record["frames"] = [f for f, helps in zip(record["frames"], kept, strict=True) if not helps]
    if ERRORS_KEY in doc.spans:
        corrections = doc.spans[ERRORS_KEY].attrs.get("corrections")
        if corrections is not None and len(corrections) == len(record["errors"]):
            for error, correction in zip(record["errors"], corrections, strict=True):
                error["correction"] = correction
    return list(_of_record(record, *((item.start, item.end) if isinstance(item, Span) else ())))


def _of_record(record: Record, start: int = 0, end: int | None = None) -> Iterator[Sentence]:
    total = len(record["words"])
    end = total if end is None else end
    bounds = [(s["start"], s["end"]) for s in record.get("sentences") or ()] or [(0, total)]
    for first, last in bounds:
        sentence = _sentence(record, max(first, start), min(last, end))
        if sentence.words:
            yield sentence


def _sentence(record: Record, first: int, last: int) -> Sentence:
    words = record["words"]
    tokens = [i for i in range(first, last) if words[i].strip() or not words[i]]
    place = {token: k for k, token in enumerate(tokens)}

    def phrases(spans: Sequence[Record]) -> list[Phrase]:
        found: list[Phrase] = []
        for span in spans:
            inside = [place[i] for i in range(span["start"], span["end"]) if i in place]
            if first <= span["start"] and span["end"] <= last and inside:
                found.append((inside[0], inside[-1] + 1, str(span["label"]), span.get("score")))
        return found

    def preorder(spans: Sequence[Record]) -> list[Phrase]:
        return sorted(phrases(spans), key=lambda span: (span[0], -span[1]))

    tags = record.get("tags") or record.get("pos") or [UNKNOWN_TAG] * len(words)
    constituents, frames, heads, errors, scores = map(
        record.get, ("constituents", "frames", "heads", "errors", "error_scores")
    )
    wrong = [span for span in errors or () if phrases([span])]
    return Sentence(
        [words[i] for i in tokens],
        [tags[i] or UNKNOWN_TAG for i in tokens],
        tokens,
        _spaces(record, tokens),
        phrases=None if constituents is None else preorder(constituents),
        frames=None
        if frames is None
        else [
            RoleFrame(
                place[frame["predicate"]], frame.get("roleset") or "", preorder(frame["spans"])
            )
            for frame in frames
            if frame["predicate"] in place
        ],
        heads=None if heads is None else [place.get(heads[i], place[i]) for i in tokens],
        relations=[] if heads is None else [record["relations"][i] for i in tokens],
        errors=None if errors is None else phrases(wrong),
        corrections=[span.get("correction") for span in wrong],
        error_scores=None if scores is None else [scores[i] for i in tokens],
    )


def _spaces(record: Record, tokens: Sequence[int]) -> list[str]:
    """Return " " or "" behind each word; always " " without the words' places in the text."""
    starts, words = record.get("starts"), record["words"]
    if starts is None or not tokens:
        return [" "] * len(tokens)
    starts = [*starts, starts[-1] + len(words[-1]) + 1]
    following = [*tokens[1:], tokens[-1] + 1]
    return [
        " " if starts[i] + len(words[i]) < starts[j] else ""
        for i, j in zip(tokens, following, strict=True)
    ]
