"""Annotated texts as plain dicts: schema, check, and conversion from and to Docs. `AnnotatedText`
is the schema of JSON lines, Parquet columns, the page's answers and records for pictures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from ..annotations import (
    CONSTITUENTS_KEY,
    install_extensions,
    set_constituents,
    set_dependencies,
    set_errors,
)
from ..annotations.frames import FRAMES_KEY, FrameSpans, get_frames, set_frames
from ..annotations.grammar_errors import (
    CORRECT,
    ERRORS_KEY,
    Correction,
    GrammarError,
    error_scores,
    grammar_errors,
    is_missing,
)
from ..annotations.span_groups import current_spans, span_scores
from ..formats.files import first_error

Record = dict[str, Any]
"""Text with "text", "id", "offset" (in characters of the original), kept fields and layers."""
DIGITS = 6
"""Decimals of scores; threads change the seventh."""
WORDS = {
    "tags": ("TAG", "tag_"),
    "pos": ("POS", "pos_"),
    "lemmas": ("LEMMA", "lemma_"),
    "morphs": ("MORPH", "morph"),
}
"""Layers with one string per token, their names in spaCy, and the attributes of tokens."""
PROBE = "This is it."
"""Text that shows which layers a pipeline writes."""
Layers = Collection[str] | None
"""Names of a pipeline's layers; None if they aren't known."""


class Part(BaseModel):
    """Part of a record. Values must have the types of the fields; other fields are allowed."""

    model_config = ConfigDict(strict=True, extra="allow")


class Place(Part):
    """Tokens from `start` up to, but without, `end`."""

    start: int
    end: int


class LabelledPlace(Place):
    """Tokens with a label and its probability."""

    label: str
    score: float | None = None


class SuggestionRecord(Part):
    """What may stand in the place of an error, and the probability that it is right."""

    text: str
    probability: float


class ErrorRecord(LabelledPlace):
    """A wrong place, with suggestions, the most probable first."""

    suggestions: Sequence[SuggestionRecord] | None = None


class FrameRecord(Part):
    """A predicate's token and roleset, and the spans of its roles, including V."""

    predicate: int
    roleset: str = ""
    spans: Sequence[LabelledPlace]


class AnnotatedText(Part):
    """Text with its annotation; missing layers are None.

    words: all tokens, with whitespace. starts: character offset of each token in the text. heads:
    index of every token's head; a root is its own head. morphs: `Key=Value|…`. entities: names, by
    another component. unparsed: sentences that the parser
    skipped.
    error_scores: error probability of every token."""

    id: str | int | None = None
    offset: int = 0
    text: str = ""
    words: Sequence[str]
    starts: Sequence[int] | None = None
    sentences: Sequence[Place] | None = None
    tags: Sequence[str] | None = None
    pos: Sequence[str] | None = None
    lemmas: Sequence[str] | None = None
    morphs: Sequence[str] | None = None
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None
    entities: Sequence[LabelledPlace] | None = None
    constituents: Sequence[LabelledPlace] | None = None
    unparsed: Sequence[Place] | None = None
    frames: Sequence[FrameRecord] | None = None
    errors: Sequence[ErrorRecord] | None = None
    error_scores: Sequence[float] | None = None

    @model_validator(mode="after")
    def _check_places(self) -> AnnotatedText:
        words = len(self.words)
        for name in ("starts", *WORDS, "heads", "relations", "error_scores"):
            values = getattr(self, name)
            if values is not None and len(values) != words:
                raise ValueError(f"'{name}' has {len(values)} values for {words} words")
        if self.heads is not None and self.relations is None:
            raise ValueError("'heads' need 'relations'")
        tokens = [(f"heads[{i}]", head) for i, head in enumerate(self.heads or ())]
        spans: list[tuple[str, Place]] = []
        for name in ("sentences", "entities", "constituents", "unparsed", "errors"):
            spans += [(f"{name}[{i}]", s) for i, s in enumerate(getattr(self, name) or ())]
        for i, frame in enumerate(self.frames or ()):
            tokens.append((f"frames[{i}].predicate", frame.predicate))
            spans += [(f"frames[{i}].spans[{k}]", span) for k, span in enumerate(frame.spans)]
        for place, token in tokens:
            if not 0 <= token < words:
                raise ValueError(f"{place} must be a word's place, from 0 to {words - 1}: {token}")
        for place, span in spans:
            if not 0 <= span.start < span.end <= words:
                outside = f"span {span.start}-{span.end} is empty or outside {words} words"
                raise ValueError(f"{place}: {outside}")
        return self


FIELDS = (*AnnotatedText.model_fields, "error")
"""Fields of records without kept ones; "error" belongs to failed texts."""


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ValueError, naming the first field that doesn't match `AnnotatedText`."""
    try:
        AnnotatedText.model_validate(dict(record))
    except ValidationError as error:
        raise ValueError(f"a record: {first_error(error)}") from None


def layers_of(nlp: Language) -> Layers:
    """Return the layers that a pipeline writes to `PROBE`; None if it fails there."""
    pipes = [id(pipe) for _, pipe in nlp.pipeline]
    known, layers = _PROBED.get(nlp, (None, None))
    if known != pipes:
        try:
            layers = doc_record({}, nlp(PROBE)).keys() - {"words", "starts", "unparsed"}
        except Exception:
            layers = None
        _PROBED[nlp] = pipes, layers
    return layers


_PROBED = WeakKeyDictionary[Language, tuple[list[int], Layers]]()


def doc_record(record: Record, doc: Doc, layers: Layers = None) -> Record:
    """Return the record with those layers of `AnnotatedText` that its Doc has, or with exactly
    `layers`, blank or empty where the Doc lacks them, and "unparsed" if there are any."""
    return {
        **record,
        "words": [token.text for token in doc],
        "starts": [token.idx for token in doc],
        **dict(_layers(doc, layers)),
    }


def _layers(doc: Doc, layers: Layers) -> Iterator[tuple[str, list[Any]]]:
    def has(layer: str, annotated: bool) -> bool:
        return annotated if layers is None else layer in layers

    starts = doc.has_annotation("SENT_START")
    if has("sentences", starts):
        found = doc.sents if starts else [doc[:]]
        yield "sentences", [{"start": sent.start, "end": sent.end} for sent in found]
    # spaCy says that a Doc without tokens has all annotation
    for layer, (name, attribute) in WORDS.items():
        if has(layer, doc.has_annotation(name)):
            yield layer, [str(getattr(token, attribute)) for token in doc]
    if has("heads", doc.has_annotation("DEP")):
        yield "heads", [token.head.i for token in doc]
        yield "relations", [token.dep_ for token in doc]
    if has("entities", doc.has_annotation("ENT_IOB")):
        yield "entities", [_span(entity, None) for entity in doc.ents]
    if has("constituents", CONSTITUENTS_KEY in doc.spans):
        there = CONSTITUENTS_KEY in doc.spans
        group = doc.spans[CONSTITUENTS_KEY] if there else SpanGroup(doc)
        phrases = map(_span, current_spans(group), span_scores(group))
        yield "constituents", sorted(phrases, key=lambda span: (span["start"], -span["end"]))
        if unparsed := group.attrs.get("unparsed"):
            yield "unparsed", [{"start": start, "end": end} for start, end in unparsed]
    if has("frames", FRAMES_KEY in doc.spans):
        frames = []
        for frame in get_frames(doc):
            spans = [_span(span, score) for span, score in frame.scored]
            place = {"predicate": frame.predicate.i, "roleset": frame.roleset}
            frames.append(place | {"spans": spans})
        yield "frames", frames
    if has("errors", ERRORS_KEY in doc.spans):
        errors = grammar_errors(doc)
        yield (
            "errors",
            [_span(e.span, e.score) | {"label": e.label} | _suggested(e) for e in errors],
        )
    scores = error_scores(doc)
    if has("error_scores", scores is not None):
        yield "error_scores", [round(float(score), DIGITS) for score in scores or [0.0] * len(doc)]


def _span(span: Any, score: float | None) -> Record:
    score = None if score is None else round(float(score), DIGITS)
    return {"start": span.start, "end": span.end, "label": span.label_, "score": score}


def _suggested(error: GrammarError) -> Record:
    """Return suggestions of an error, if it has any."""
    found = [{"text": text, "probability": round(p, DIGITS)} for text, p in error.suggestions]
    return {"suggestions": found} if found else {}


def _corrections(error: Record, words: Sequence[str]) -> list[Correction]:
    """Return the corrections whose suggestions an error's record has."""
    behind = " ".join(words[error["start"] : error["end"]]) if is_missing(error["label"]) else ""
    return [
        Correction(
            one["text"].removesuffix(f" {behind}") if behind else one["text"], one["probability"]
        )
        for one in error.get("suggestions") or ()
    ]


def record_doc(record: Record, vocab: Vocab) -> Doc:
    """Return a record's Doc, without the log-probabilities of its trees. Raises ValueError if the
    words are not those of the text, and for a record without words."""
    if record.get("words") is None:
        raise ValueError(f"record {record.get('id')!r} has no words: {record.get('error')}")
    install_extensions()
    text, words, starts = record["text"], record["words"], record["starts"]
    ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
    nexts = [*starts[1:], len(text)] if words else []
    sentences = record.get("sentences")
    begins = None if sentences is None else {sentence["start"] for sentence in sentences}
    doc = Doc(
        vocab,
        words=words,
        spaces=[end < after for end, after in zip(ends, nexts, strict=True)],
        # at once: each of spaCy's setters walks through the Doc
        sent_starts=None if begins is None else [i in begins for i in range(len(words))],
        **{layer: record[layer] for layer in WORDS if record.get(layer) is not None},
    )
    if doc.text != text:
        raise ValueError(f"record {record.get('id')!r}: its words are not those of its text")
    if record.get("heads") is not None:
        set_dependencies(doc, record["heads"], record["relations"])
    if (entities := record.get("entities")) is not None:
        doc.set_ents([Span(doc, *span) for span in _spans(entities)[0]])
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
        begins = {error["start"] for error in errors}
        right = {error["start"]: _corrections(error, words) for error in errors}
        known = right if any(right.values()) else None
        set_errors(doc, labels, record.get("error_scores"), begins=begins, corrections=known)
    return doc


def _spans(spans: Sequence[Record]) -> tuple[list[tuple[int, int, str]], list[Any]]:
    return [(s["start"], s["end"], s["label"]) for s in spans], [s["score"] for s in spans]
