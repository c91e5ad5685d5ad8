"""Scores in span groups, and repeated looks into a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from spacy.tokens import Doc, SpanGroup

T = TypeVar("T")


def span_scores(group: SpanGroup) -> Sequence[float | None]:
    """The score of every span of a group; None for all if there isn't one for each."""
    scores = group.attrs.get("scores")
    return scores if scores is not None and len(scores) == len(group) else [None] * len(group)


class LoopIndex(Generic[T]):
    """Index that `read` makes of a Doc's group, kept for a loop over tokens from left to right.

    A group doesn't say when it was changed. So it is read again for another group or Doc, after
    spans were added or taken away or tokens split or merged, and for a token that is not behind
    the last one. What goes unnoticed is a span put in the place of another, by index, during a
    loop. The latest group's index alone is kept; it must not keep the Doc alive, as no group does.
    """

    def __init__(self, read: Callable[[SpanGroup], T]) -> None:
        self._read = read
        self._kept: tuple[SpanGroup, int, int, int, T] | None = None

    def at(
        self, doc: Doc, key: str, position: int, again: Callable[[T], bool] = lambda index: False
    ) -> T | None:
        """The index for the token at `position`; None without a group.

        again: whether the index still serves for the last token, if that is asked for again.
        """
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
