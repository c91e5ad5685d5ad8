"""Views of one token or span after the other, without reading the whole Doc for each.

Nothing is stored on a Doc, and a span group doesn't say when it was last changed: to be sure of one
answer is to read all spans. So what was read of a group is kept, outside of the Doc, for as long as
its tokens are asked for from left to right: a loop over a Doc reads each group once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from spacy.tokens import Doc, SpanGroup

T = TypeVar("T")


class _Kept(NamedTuple, Generic[T]):
    group: SpanGroup
    spans: int
    tokens: int
    last: int
    view: T


class LeftToRight(Generic[T]):
    """What `read` makes of a Doc's group, read again whenever it may have changed.

    That is for another group or Doc, after spans were added or taken away or tokens split or
    merged, and whenever a token is asked for that is not behind the last one. So what goes
    unnoticed is a span that is put in the place of another, by index, during a loop, and for
    tokens not yet reached. Only the latest group's view is kept. A group doesn't keep its Doc
    alive, and what `read` returns must not either.
    """

    def __init__(self, read: Callable[[SpanGroup], T]) -> None:
        self._read = read
        self._kept: _Kept[T] | None = None

    def view(
        self,
        doc: Doc,
        key: str,
        position: int,
        holds: Callable[[T], bool] = lambda view: False,
    ) -> T | None:
        """The view for the token or the beginning of a span at `position`; None without a group.

        holds: says, if the position is that of the last time, whether the view still serves.
        """
        if key not in doc.spans:
            return None
        group = doc.spans[key]
        kept = self._kept
        if (
            kept is None
            or kept.group is not group
            or (kept.spans, kept.tokens) != (len(group), len(doc))
            or position < kept.last
            or (position == kept.last and not holds(kept.view))
        ):
            kept = _Kept(group, len(group), len(doc), position, self._read(group))
        self._kept = kept._replace(last=position)
        return kept.view
