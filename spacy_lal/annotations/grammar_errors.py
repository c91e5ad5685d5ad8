"""Grammatical errors on a Doc: labels of tokens, kept in a span group.

`doc.spans["errors"]`: a span for every run of adjacent tokens that have the same label. As with all
groups here, one without spans means "annotated, nothing there"; no group means "not annotated".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from .span_groups import span_scores

ERRORS_KEY = "errors"
"""The key of the span group in `doc.spans` that holds the grammatical errors."""
ERROR = "ERROR"
"""The label of an error whose type is not known."""
CORRECT = ""
"""The label of a token that is no error."""


def set_errors(
    doc: Doc,
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    *,
    key: str = ERRORS_KEY,
) -> None:
    """Write the errors among the tokens to `doc.spans[key]`, replacing what is there.

    labels: of every token, `CORRECT` or an error's type (`ERROR` where there is but one).
    scores: of every token the probability that it is an error. They are kept in
        `attrs["token_scores"]`, all of them; `attrs["scores"]` has one for each span, that of its
        most probable token, None without scores.
    Raises ValueError if there are not as many as tokens.
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
    """A run of wrong tokens, the type of the error, and the probability of its most probable token,
    None where there is none."""

    span: Span
    label: str
    score: float | None


def grammar_errors(doc: Doc, key: str = ERRORS_KEY) -> list[GrammarError]:
    """The errors in `doc.spans[key]`, in its order; none if it isn't set."""
    if key not in doc.spans:
        return []
    group = doc.spans[key]
    return [
        GrammarError(span, span.label_ or ERROR, score)
        for span, score in zip(group, span_scores(group), strict=True)
    ]


def get_errors(doc: Doc, key: str = ERRORS_KEY) -> list[str]:
    """The label of every token, `CORRECT` for those outside of all spans in `doc.spans[key]`.

    Of spans that overlap, as users may have made, the first one labels a token.
    """
    labels = [CORRECT] * len(doc)
    if key in doc.spans:
        for span in reversed(list(doc.spans[key])):
            labels[span.start : span.end] = [span.label_ or ERROR] * (span.end - span.start)
    return labels


def error_scores(doc: Doc, key: str = ERRORS_KEY) -> list[float] | None:
    """The probability of every token to be an error; None if there are none, or not as many.

    There are fewer or more after tokens were split or merged, and in Docs put together.
    """
    if key not in doc.spans:
        return None
    scores = doc.spans[key].attrs.get("token_scores")
    return scores if scores is not None and len(scores) == len(doc) else None
