"""Reading of span groups: spans that still fit the tokens, their scores, and a cache for loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from spacy.tokens import Doc, Span, SpanGroup

T = TypeVar("T")


def current_spans(group: SpanGroup) -> list[Span]:
    """Return the spans of a group. Raises ValueError if tokens of the Doc were merged or split
    after the group was written: spans keep their places in the text, and some are no longer at the
    borders of their tokens."""
    doc = group.doc
    starts = [token.idx for token in doc]
    ends = [0, *(token.idx + len(token) for token in doc)]
    try:
        spans = list(group)
        fit = all(
            span.start == span.end
            or (span.start_char == starts[span.start] and span.end_char == ends[span.end])
            for span in spans
        )
    except IndexError:  # spaCy's E035: the span ends behind the last token
        fit = False
    if not fit:
        raise stale(group.name)
    return spans


def stale(key: str) -> ValueError:
    """Return the error for annotation that no longer fits the tokens."""
    return ValueError(
        f"tokens of the Doc were merged or split after doc.spans[{key!r}] was written, so the "
        "annotation no longer fits them. Merge or split tokens before the component that writes it "
        "(as with nlp.add_pipe('merge_entities', before=…)), or annotate the Doc again."
    )


def span_scores(group: SpanGroup) -> Sequence[float | None]:
    """Return the score of every span of a group; all are None unless each span has a score."""
    scores = group.attrs.get("scores")
    return scores if scores is not None and len(scores) == len(group) else [None] * len(group)


class LoopIndex(Generic[T]):
    """Cache of the index that `read` makes of a Doc's group, for loops from left to right.

    Groups don't report changes. So the group is read again if the group, the Doc, or the number of
    spans or tokens is another, and for a token not behind the last one. A span replaced by index
    during a loop goes unnoticed. The cache must not keep the Doc alive.
    """

    def __init__(self, read: Callable[[SpanGroup], T]) -> None:
        self._read = read
        self._kept: tuple[SpanGroup, int, int, int, T] | None = None

    def at(
        self, doc: Doc, key: str, position: int, again: Callable[[T], bool] = lambda index: False
    ) -> T | None:
        """Return the index for the token at `position`, None without a group. again: whether the
        index may serve once more for the last token."""
        if key not in doc.spans:
            return None
        group = doc.spans[key]
        if self._kept is not None:
            kept, spans, tokens, last, index = self._kept
            same = kept is group and (spans, tokens) == (len(group), len(doc))
            if same and (position > last or (position == last and again(index))):
                self._kept = group, spans, tokens, position, index
                return index
        index = self._read(group)
        self._kept = group, len(group), len(doc), position, index
        return index
