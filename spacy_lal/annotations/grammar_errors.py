"""Grammatical errors in span groups: each span in `doc.spans["errors"]` is an error. A group
without spans means "annotated, nothing there"; no group means "not annotated"."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from .span_groups import current_spans, span_scores, stale

ERRORS_KEY = "errors"
"""Key of the grammatical errors' span group in `doc.spans`."""
ERROR = "ERROR"
"""Label of an error of unknown type."""
CORRECT = ""
"""Label of a correct token."""


class Correction(NamedTuple):
    """Words with spaces between them, "" for none, and the probability that they are right, given
    that there is an error."""

    text: str
    probability: float


EDIT = " "
"""What stands between type and edit in a detector's labels (`ged.edits`)."""


def type_of(label: str) -> str:
    """Return the type of a label with or without an edit."""
    return label.partition(EDIT)[0]


def is_unnecessary(label: str) -> bool:
    """Whether the tokens with this label are to be left out."""
    return label.partition(":")[0] == "U"


def is_missing(label: str) -> bool:
    """Whether words are missing before the tokens with this label."""
    return label.partition(":")[0] == "M"


def set_errors(
    doc: Doc,
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    *,
    key: str = ERRORS_KEY,
    begins: Collection[int] = (),
    corrections: Mapping[int, Sequence[Correction]] | None = None,
) -> None:
    """Write the tokens' errors to `doc.spans[key]`, replacing the group.

    labels: of every token, `CORRECT` or an error's type (`ERROR` where types are unknown). A run of
        the same type is one error.
    begins: tokens at which another error begins, also within such a run.
    scores: error probability of every token, kept in `attrs["token_scores"]`; `attrs["scores"]` has
        the greatest one in each span, or None.
    corrections: of the errors that begin at these tokens, the best first; None if none are known.
        An error of type "M", or "M:" and more, lacks words before it, and its correction is these
        words. `attrs["corrections"]` has the best one of each span, or None,
        `attrs["suggestions"]` all.
    Raises ValueError unless every token has a label and, with scores, a score.
    """
    if not len(labels) == len(doc) == len(labels if scores is None else scores):
        counts = f"{len(labels)} labels" + ("" if scores is None else f" and {len(scores)} scores")
        raise ValueError(
            "a Doc needs one label, and one score if there are any, for each token: got "
            f"{counts} for {len(doc)} tokens"
        )
    attrs: dict[str, Any] = {"scores": []}
    if scores is not None:
        attrs["token_scores"] = [float(score) for score in scores]
    spans: list[Span] = []
    found: list[list[Any]] = []
    first = 0
    for end, label in enumerate(labels, start=1):
        if end < len(labels) and labels[end] == label and end not in begins:
            continue
        if label != CORRECT:
            spans.append(Span(doc, first, end, label))
            known = attrs["token_scores"][first:end] if scores is not None else []
            attrs["scores"].append(max(known, default=None))
            found.append([list(one) for one in (corrections or {}).get(first, ())])
        first = end
    if corrections is not None:
        attrs["corrections"] = [of[0][0] if of else None for of in found]
        attrs["suggestions"] = found
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


class GrammarError(NamedTuple):
    """Run of wrong tokens, its error type, its greatest error probability, or None, and what might
    stand in its place, the most probable first."""

    span: Span
    label: str
    score: float | None
    suggestions: tuple[Correction, ...] = ()


def grammar_errors(doc: Doc, key: str = ERRORS_KEY) -> list[GrammarError]:
    """Return the errors in `doc.spans[key]`, in the order of the group; [] without the group.
    Raises ValueError if tokens were merged or split since."""
    if key not in doc.spans:
        return []
    group = doc.spans[key]
    return [
        GrammarError(span, span.label_ or ERROR, score, _suggestions(span, known))
        for span, score, known in zip(
            current_spans(group), span_scores(group), span_corrections(group), strict=True
        )
    ]


def span_corrections(group: SpanGroup) -> list[list[Correction]]:
    """Return the corrections of every span of a group, by `attrs["suggestions"]` or else
    `attrs["corrections"]`."""
    best = group.attrs.get("corrections", ())
    found = group.attrs.get("suggestions") or [[(one, 1.0)] * (one is not None) for one in best]
    if len(found) != len(group):
        return [[] for _ in range(len(group))]
    return [[Correction(*one) for one in of] for of in found]


def _suggestions(span: Span, corrections: Sequence[Correction]) -> tuple[Correction, ...]:
    """Return corrections as what stands in the place of the span's text."""
    if not is_missing(span.label_):
        return tuple(corrections)
    return tuple(
        Correction(f"{text} {span.text}", probability) for text, probability in corrections
    )


def get_errors(doc: Doc, key: str = ERRORS_KEY) -> list[str]:
    """Return the label of every token, `CORRECT` outside of spans. Of overlapping spans, which
    users may have made, the first one labels a token. Raises ValueError if tokens were merged or
    split since."""
    labels = [CORRECT] * len(doc)
    if key in doc.spans:
        for span in reversed(current_spans(doc.spans[key])):
            labels[span.start : span.end] = [span.label_ or ERROR] * (span.end - span.start)
    return labels


def error_scores(doc: Doc, key: str = ERRORS_KEY) -> list[float] | None:
    """Return each token's error probability, or None. Raises ValueError if tokens were merged or
    split since."""
    if key not in doc.spans:
        return None
    current_spans(doc.spans[key])
    scores = doc.spans[key].attrs.get("token_scores")
    if scores is not None and len(scores) != len(doc):
        raise stale(key)
    return scores
