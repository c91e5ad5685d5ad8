"""Docs cut into windows that a transformer reads one by one, and these in padded batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from torch import Tensor

from ..batching.sentences import SentencePolicy, sentence_starts

if TYPE_CHECKING:
    from .word_pieces import WordPieces

Numbers = NDArray[numpy.int64]
Pooling = Literal["first", "last", "mean"]

MOST_PIECES = 1024
"""Of windows that are read together: their number times the pieces of the longest."""
MOST_PADDING = 1.1
"""How many times as large as its pieces a batch may be, once it has a quarter of `MOST_PIECES`."""
STEP = 8
"""Padded lengths in training are multiples of this."""


class Window(NamedTuple):
    """Tokens start to end, counted over all Docs, that are read together."""

    start: int
    end: int


def cut(docs: list[Doc], counts: Numbers, room: int) -> list[Window]:
    """Windows of at most `room` pieces over all tokens that have some, in order.

    counts: pieces of each token [tokens], each at most room // 2. A Doc with sentence boundaries is
    cut at these, and as many sentences are read together as there is room for; without, it is cut
    at blank lines. What is still too long is read in windows that overlap by a quarter.
    """
    ends = numpy.concatenate([[0], counts.cumsum()])
    windows: list[Window] = []
    offset = 0
    for doc in docs:
        bounds = [offset + start for start in (*_starts(doc), len(doc))]
        if doc.has_annotation("SENT_START"):
            bounds = _packed(bounds, ends, room)
        for start, end in pairwise(bounds):
            if ends[end] > ends[start]:
                windows += overlapping(start, end, ends, room)
        offset += len(doc)
    return windows


def _starts(doc: Doc) -> list[int]:
    if doc.has_annotation("SENT_START"):
        return sentence_starts(doc, "existing")
    if not len(doc):
        return []
    blank = [t.i + 1 for t in doc[:-1] if t.is_space and t.text.count("\n") > 1]
    return [0, *blank]


def _packed(bounds: list[int], ends: Numbers, room: int) -> list[int]:
    """Of bounds, those that are kept when neighbours share a window where they fit."""
    kept = bounds[:1]
    for here, after in pairwise(bounds[1:]):
        if ends[after] - ends[kept[-1]] > room:
            kept.append(here)
    return [*kept, bounds[-1]] if len(bounds) > 1 else bounds


def overlapping(start: int, end: int, ends: Numbers, room: int) -> Iterator[Window]:
    """Windows of at most `room` pieces over the tokens start to end, which overlap by a quarter.

    ends: how many pieces there are before each token, and in all [tokens + 1].
    """
    while ends[end] - ends[start] > room:
        stop = int(numpy.searchsorted(ends, ends[start] + room, "right")) - 1
        yield Window(start, stop)
        start = int(numpy.searchsorted(ends, ends[stop] - room // 4, "left"))
    yield Window(start, end)


def sentence_spans(doc: Doc, policy: SentencePolicy) -> list[Span]:
    """The sentences of a Doc, which cover it."""
    starts = sentence_starts(doc, policy)
    return [doc[start:end] for start, end in pairwise([*starts, len(doc)])]


def deepest(windows: list[Window], n_tokens: int) -> Numbers:
    """For each token the number of the window that has it farthest from its edges; -1 for none."""
    found = numpy.full(n_tokens, -1)
    farthest = numpy.full(n_tokens, -1)
    for number, (start, end) in enumerate(windows):
        inside = numpy.arange(end - start)
        distance = numpy.minimum(inside, inside[::-1])
        better = distance > farthest[start:end]
        farthest[start:end][better] = distance[better]
        found[start:end][better] = number
    return found


class PieceBatch(NamedTuple):
    """Windows of like length, padded together.

    pieces, types, mask [B, l]: the ids of pieces, their token types, and 1 where there is one.
    rows [k]: the wanted pieces, counted over the flattened batch; tokens [k]: whose they are,
    counted over all Docs. With "first" and "last" a token has one, with "mean" all of its own.
    """

    pieces: Tensor
    types: Tensor
    mask: Tensor
    rows: Tensor
    tokens: Tensor


def piece_batches(
    docs: list[Doc],
    pieces: WordPieces,
    window: int,
    pooling: Pooling,
    padding: int,
    *,
    few_shapes: bool,
) -> list[PieceBatch]:
    """The windows of all Docs, those of like length together.

    window: of pieces, special ones included. padding: the id that stands behind a window.
    few_shapes: pad lengths to multiples of 8, and batches to about a multiple of 256 pieces. oneDNN
    makes and keeps a program for every shape of bfloat16 products that it meets; endless shapes
    take gigabytes and most of the time.
    """
    special = pieces.special
    before, around = len(special.before), len(special.before) + len(special.behind)
    flat, counts = pieces.of_docs(docs, (window - around) // 2)
    ends = numpy.concatenate([[0], counts.cumsum()])
    windows = cut(docs, counts, window - around)
    owner = deepest(windows, len(counts))
    sizes = [int(ends[w.end] - ends[w.start]) + around for w in windows]
    batches = []
    for numbers in alike(sizes):
        length = sizes[numbers[-1]]
        height = len(numbers)
        if few_shapes:
            # no longer than a window, which may be all positions that the transformer has
            length = min(-(-length // STEP) * STEP, window)
            step = max(1, 256 // length)
            height = -(-height // step) * step
        ids = numpy.full((height, length), padding)
        types = numpy.zeros((height, length), dtype=numpy.int64)
        mask = numpy.zeros((height, length), dtype=numpy.int64)
        # rows of mere padding attend to one piece, for attention to nothing is not a number
        mask[len(numbers) :, 0] = 1
        rows, tokens = [], []
        for row, number in enumerate(numbers):
            w, size = windows[number], sizes[number]
            behind = size - len(special.behind)
            ids[row, :before], types[row, :before] = special.before, special.types_before
            ids[row, before:behind] = flat[ends[w.start] : ends[w.end]]
            ids[row, behind:size], types[row, behind:size] = special.behind, special.types_behind
            mask[row, :size] = 1
            own = w.start + numpy.flatnonzero(owner[w.start : w.end] == number)
            wanted, whose = _wanted(own, ends, counts, pooling)
            rows.append(row * length + before + wanted - ends[w.start])
            tokens.append(whose)
        arrays = (ids, types, mask, numpy.concatenate(rows), numpy.concatenate(tokens))
        batches.append(PieceBatch(*map(torch.from_numpy, arrays)))
    return batches


def _wanted(
    tokens: Numbers, ends: Numbers, counts: Numbers, pooling: Pooling
) -> tuple[Numbers, Numbers]:
    """Of these tokens that have pieces, the pieces that give their vectors, and whose they are."""
    tokens = tokens[counts[tokens] > 0]
    if pooling == "first":
        return ends[tokens], tokens
    if pooling == "last":
        return ends[tokens + 1] - 1, tokens
    whose = numpy.repeat(tokens, counts[tokens])
    inside = numpy.arange(len(whose)) - numpy.repeat(
        counts[tokens].cumsum() - counts[tokens], counts[tokens]
    )
    return ends[whose] + inside, whose


def alike(sizes: list[int], most: int = MOST_PIECES) -> Iterator[list[int]]:
    """The numbers of windows, by size in pieces, in batches of at most so many, padded."""
    batch: list[int] = []
    total = 0
    for number in sorted(range(len(sizes)), key=sizes.__getitem__):
        size = sizes[number]
        padded = (len(batch) + 1) * size
        if batch and (
            padded > most or (total >= most // 4 and padded > MOST_PADDING * (total + size))
        ):
            yield batch
            batch, total = [], 0
        batch.append(number)
        total += size
    if batch:
        yield batch
