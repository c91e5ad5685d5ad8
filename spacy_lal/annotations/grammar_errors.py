"""Grammatical errors in span groups: a span in `doc.spans["errors"]` is a run of equal labels. A
group without spans means "annotated, nothing there"; no group means "not annotated"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from .span_groups import current_spans, span_scores, stale

ERRORS_KEY = "errors"
"""Key of the grammatical errors' span group in `doc.spans`."""
ERROR = "ERROR"
"""Label of an error of unknown type."""
CORRECT = ""
"""Label of a correct token."""


def set_errors(
    doc: Doc,
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    *,
    key: str = ERRORS_KEY,
) -> None:
    """Write the tokens' errors to `doc.spans[key]`, replacing the group.

    labels: of every token, `CORRECT` or an error's type (`ERROR` where types are unknown).
    scores: error probability of every token, kept in `attrs["token_scores"]`; `attrs["scores"]` has
        the greatest of each span, None without scores.
    Raises ValueError unless every token has a label and, with scores, a score.
    """
    if len(labels) != len(doc) or (scores is not None and len(scores) != len(doc)):
        counts = f"{len(labels)} labels"
        if scores is not None:
            counts += f" and {len(scores)} scores"
        raise ValueError(
            "a Doc needs one label, and one score if there are any, for each token: got "
            f"{counts} for {len(doc)} tokens"
        )
    scores = None if scores is None else [float(score) for score in scores]
    runs = list(_runs(labels))
    run_scores = [None if scores is None else max(scores[start:end]) for start, end, _ in runs]
    attrs: dict[str, Any] = {"scores": run_scores}
    if scores is not None:
        attrs["token_scores"] = scores
    spans = [Span(doc, *run) for run in runs]
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def _runs(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    end = 0
    for label, tokens in groupby(labels):
        start, end = end, end + len(list(tokens))
        if label != CORRECT:
            yield start, end, label


class GrammarError(NamedTuple):
    """Run of wrong tokens, its error type, and the greatest probability of a token, or None."""

    span: Span
    label: str
    score: float | None


def grammar_errors(doc: Doc, key: str = ERRORS_KEY) -> list[GrammarError]:
    """Return the errors in `doc.spans[key]`, in its order, [] without it. Raises ValueError if
    tokens were merged or split since."""
    if key not in doc.spans:
        return []
    group = doc.spans[key]
    return [
        GrammarError(span, span.label_ or ERROR, score)
        for span, score in zip(current_spans(group), span_scores(group), strict=True)
    ]


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
    """Return the error probability of every token, None without. Raises ValueError if tokens were
    merged or split since."""
    if key not in doc.spans:
        return None
    current_spans(doc.spans[key])
    scores = doc.spans[key].attrs.get("token_scores")
    if scores is not None and len(scores) != len(doc):
        raise stale(key)
    return scores
