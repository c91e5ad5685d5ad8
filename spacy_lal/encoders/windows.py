"""Windows of Docs that a transformer reads one by one."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc, Span

from ..batching.batches import similar
from ..batching.sentences import SentencePolicy, sentence_starts

Numbers = NDArray[numpy.int64]
MOST_PIECES = 1024
"""Size of a batch of windows, in pieces: their number times the length of the longest."""


class Window(NamedTuple):
    """Tokens start to end, counted over all Docs, that are read together."""

    start: int
    end: int


def cut(docs: list[Doc], counts: Numbers, room: int) -> list[Window]:
    """Returns windows of at most `room` pieces over all tokens that have pieces, in order.

    counts: pieces of each token [tokens], each at most room // 2. A Doc is cut at its sentence
    boundaries, with as many sentences in a window as fit, or else at blank lines. Longer parts are
    read in windows that overlap by a quarter.
    """
    ends = numpy.concatenate([[0], counts.cumsum()])
    windows: list[Window] = []
    offset = 0
    for doc in docs:
        if doc.has_annotation("SENT_START"):
            starts = sentence_starts(doc, "existing")
            bounds = _packed([offset + start for start in (*starts, len(doc))], ends, room)
        else:
            blank = [t.i + 1 for t in doc if t.is_space and t.text.count("\n") > 1]
            bounds = [offset, *(offset + start for start in blank), offset + len(doc)]
        for start, end in pairwise(bounds):
            if ends[end] > ends[start]:
                windows += overlapping(start, end, ends, room)
        offset += len(doc)
    return windows


def _packed(bounds: list[int], ends: Numbers, room: int) -> list[int]:
    """Returns the bounds that remain when neighbours share a window where they fit."""
    kept = bounds[:1]
    for here, after in pairwise(bounds[1:]):
        if ends[after] - ends[kept[-1]] > room:
            kept.append(here)
    return [*kept, bounds[-1]] if len(bounds) > 1 else bounds


def overlapping(start: int, end: int, ends: Numbers, room: int) -> Iterator[Window]:
    """Yields windows of at most `room` pieces over the tokens start to end, which overlap by a
    quarter. ends: number of pieces before each token, and in all [tokens + 1]."""
    while ends[end] - ends[start] > room:
        stop = int(numpy.searchsorted(ends, ends[start] + room, "right")) - 1
        yield Window(start, stop)
        start = int(numpy.searchsorted(ends, ends[stop] - room // 4, "left"))
    yield Window(start, end)


def sentence_spans(doc: Doc, policy: SentencePolicy) -> list[Span]:
    """Returns the sentences of a Doc, which cover it."""
    starts = sentence_starts(doc, policy)
    return [doc[start:end] for start, end in pairwise([*starts, len(doc)])]


def deepest(windows: list[Window], n_tokens: int) -> Numbers:
    """Returns for each token the window with the most context around it; -1 for none."""
    found = numpy.full(n_tokens, -1)
    farthest = numpy.full(n_tokens, -1)
    for number, (start, end) in enumerate(windows):
        inside = numpy.arange(end - start)
        distance = numpy.minimum(inside, inside[::-1])
        better = distance > farthest[start:end]
        farthest[start:end][better] = distance[better]
        found[start:end][better] = number
    return found


def alike(sizes: list[int], most: int = MOST_PIECES) -> list[list[int]]:
    """Returns batches of windows of similar size, as indices, of at most so many padded pieces."""
    return similar(sizes, most, lambda size: size)
