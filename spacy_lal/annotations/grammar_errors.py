"""Grammatical errors in span groups: each span in `doc.spans["errors"]` is an error. A group
without spans means "annotated, nothing there"; no group means "not annotated"."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
    begins: Collection[int] = (),
) -> None:
    """Write the tokens' errors to `doc.spans[key]`, replacing the group.

    labels: of every token, `CORRECT` or an error's type (`ERROR` where types are unknown). A run of
        the same type is one error.
    begins: tokens at which another error begins, also within such a run.
    scores: error probability of every token, kept in `attrs["token_scores"]`; `attrs["scores"]` has
        the greatest one in each span, or None.
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
    first = 0
    for end, label in enumerate(labels, start=1):
        if end < len(labels) and labels[end] == label and end not in begins:
            continue
        if label != CORRECT:
            spans.append(Span(doc, first, end, label))
            known = attrs["token_scores"][first:end] if scores is not None else []
            attrs["scores"].append(max(known, default=None))
        first = end
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


class GrammarError(NamedTuple):
    """Run of wrong tokens, its error type, and its greatest error probability, or None."""

    span: Span
    label: str
    score: float | None


def grammar_errors(doc: Doc, key: str = ERRORS_KEY) -> list[GrammarError]:
    """Return the errors in `doc.spans[key]`, in the order of the group; [] without the group.
    Raises ValueError if tokens were merged or split since."""
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
    """Return each token's error probability, or None. Raises ValueError if tokens were merged or
    split since."""
    if key not in doc.spans:
        return None
    current_spans(doc.spans[key])
    scores = doc.spans[key].attrs.get("token_scores")
    if scores is not None and len(scores) != len(doc):
        raise stale(key)
    return scores
