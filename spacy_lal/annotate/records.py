"""Annotated texts as plain dicts, for whatever engine carries them: Python objects in and out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import RLock
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc, SpanGroup
from spacy.vocab import Vocab

from ..annotations import CONSTITUENTS_KEY, set_constituents, set_dependencies
from ..annotations.frames import FRAMES_KEY, FrameSpans, get_frames, set_frames
from ..annotations.grammar_errors import (
    CORRECT,
    ERRORS_KEY,
    error_scores,
    grammar_errors,
    set_errors,
)
from ..annotations.span_groups import span_scores
from .batches import BATCH_TOKENS, Found, annotated
from .loading import load
from .pieces import MAX_CHARS, Record, pieces

DIGITS = 6
"""Of scores; a processor's threads make a difference from the seventh on."""

WORDS = {"tags": "TAG", "pos": "POS", "lemmas": "LEMMA"}
"""Layers with one string a token, and what spaCy calls them."""

FIELDS = (
    *("id", "offset", "text", "words", "starts", "sentences", *WORDS, "heads", "relations"),
    *("constituents", "unparsed", "frames", "errors", "error_scores", "error"),
)
"""What records of annotated texts have, besides fields that are carried through."""


def annotate_batch(
    records: Iterable[Record],
    model: str | Path | Language,
    *,
    max_chars: int = MAX_CHARS,
    batch_tokens: int = BATCH_TOKENS,
) -> list[Record]:
    """Records with a "text", annotated (see `doc_record`), in order; fields are carried through.

    model: a pipeline, or its name or folder, which is loaded once a process. A text of more than
    `max_chars` characters becomes several records (see `pieces`). A text that fails comes back as
    it is, with the "error", and so does a record without a text. Threads of a process take turns.
    """
    with _ONE_AT_A_TIME:
        nlp = model if isinstance(model, Language) else _load(str(model))
        # all at once: what makes the records may use the pipeline, whose batches free their strings
        parts = [part for record in records for part in _pieces(record, max_chars)]
        texts = (part for part in parts if "error" not in part)
        found = annotated(nlp, texts, doc_record, batch_tokens=batch_tokens)
        return [part if "error" in part else _result(next(found)) for part in parts]


def _pieces(record: Record, max_chars: int) -> Iterable[Record]:
    if not isinstance(record.get("text"), str):
        return [{**record, "error": "no text in 'text'"}]
    return pieces({name: record[name] for name in record if name != "error"}, max_chars)


def _result(found: Found[Record]) -> Record:
    return {**found.record, "error": found.error} if found.value is None else found.value


# Strings are freed at the end of a batch, from a vocabulary that all threads share.
_ONE_AT_A_TIME = RLock()


@lru_cache(maxsize=1)
def _load(model: str) -> Language:
    return load(model)


def doc_record(record: Record, doc: Doc) -> Record:
    """The record with what its Doc has; a layer that nobody annotated is not there.

    "words" are all tokens, whitespace too, and "starts" where they begin in "text", in characters;
    "sentences", "constituents", "errors" and the spans of "frames" are {"start", "end"} in tokens
    with, except for sentences, "label" and "score" (None where there is none); "unparsed", if there
    are any, are sentences without a tree because the parser left them alone; "heads" are tokens, a
    root its own. Entities, morphology and whatever else a Doc may have are not in a record.
    """
    found: Record = {
        **record,
        "words": [token.text for token in doc],
        "starts": [token.idx for token in doc],
    }
    if doc.has_annotation("SENT_START"):
        found["sentences"] = [{"start": sent.start, "end": sent.end} for sent in doc.sents]
    for layer, attribute in WORDS.items():
        if doc.has_annotation(attribute):
            found[layer] = [getattr(token, f"{attribute.lower()}_") for token in doc]
    if doc.has_annotation("DEP"):
        found["heads"] = [token.head.i for token in doc]
        found["relations"] = [token.dep_ for token in doc]
    if CONSTITUENTS_KEY in doc.spans:
        group = doc.spans[CONSTITUENTS_KEY]
        found["constituents"] = _constituents(group)
        if unparsed := group.attrs.get("unparsed"):
            found["unparsed"] = [{"start": start, "end": end} for start, end in unparsed]
    if FRAMES_KEY in doc.spans:
        found["frames"] = [
            {
                "predicate": frame.predicate.i,
                "roleset": frame.roleset,
                "spans": [
                    _span(span.start, span.end, span.label_, score)
                    for span, score in zip(
                        (frame.verb, *frame.arguments),
                        (frame.verb_score, *frame.scores),
                        strict=True,
                    )
                ],
            }
            for frame in get_frames(doc)
        ]
    if ERRORS_KEY in doc.spans:
        found["errors"] = [
            _span(error.span.start, error.span.end, error.label, error.score)
            for error in grammar_errors(doc)
        ]
        if (scores := error_scores(doc)) is not None:
            found["error_scores"] = [round(float(score), DIGITS) for score in scores]
    return found


def record_doc(record: Record, vocab: Vocab) -> Doc:
    """The Doc that `doc_record` read, without the log-probabilities of its trees.

    Raises ValueError if the words are not those of the text, and for a record without words.
    """
    if record.get("words") is None:
        raise ValueError(f"record {record.get('id')!r} has no words: {record.get('error')}")
    text, words, starts = record["text"], record["words"], record["starts"]
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    nexts = [*starts[1:], len(text)] if words else []
    sentences = record.get("sentences")
    begins = None if sentences is None else {sentence["start"] for sentence in sentences}
    doc = Doc(
        vocab,
        words=words,
        spaces=[end < after for end, after in zip(ends, nexts, strict=True)],
        # not one by one: each of spaCy's setters looks at the whole Doc
        sent_starts=None if begins is None else [i in begins for i in range(len(words))],
        **{layer: record[layer] for layer in WORDS if record.get(layer) is not None},
    )
    if doc.text != text:
        raise ValueError(f"record {record.get('id')!r}: its words are not those of its text")
    if record.get("heads") is not None:
        set_dependencies(doc, record["heads"], record["relations"])
    if (phrases := record.get("constituents")) is not None:
        unparsed = [(place["start"], place["end"]) for place in record.get("unparsed") or ()]
        set_constituents(doc, *_spans(phrases), unparsed=unparsed)
    if (frames := record.get("frames")) is not None:
        found = [(frame, *_spans(frame["spans"])) for frame in frames]
        set_frames(
            doc,
            [FrameSpans(frame["predicate"], frame["roleset"], spans) for frame, spans, _ in found],
            [scores for *_, scores in found],
        )
    if (errors := record.get("errors")) is not None:
        labels = [CORRECT] * len(doc)
        for error in errors:
            count = error["end"] - error["start"]
            labels[error["start"] : error["end"]] = [error["label"]] * count
        set_errors(doc, labels, record.get("error_scores"))
    return doc


def _constituents(group: SpanGroup) -> list[Record]:
    """In preorder, see `get_constituents`."""
    found = [
        _span(span.start, span.end, span.label_, score)
        for span, score in zip(group, span_scores(group), strict=True)
    ]
    return sorted(found, key=lambda span: (span["start"], -span["end"]))


def _span(start: int, end: int, label: str, score: float | None) -> Record:
    score = None if score is None else round(float(score), DIGITS)
    return {"start": start, "end": end, "label": label, "score": score}


def _spans(spans: Sequence[Record]) -> tuple[list[tuple[int, int, str]], list[Any]]:
    return [(s["start"], s["end"], s["label"]) for s in spans], [s["score"] for s in spans]
