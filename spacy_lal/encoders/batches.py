"""Windows of pieces in padded batches, and which pieces give the vectors of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy
import torch
from spacy.tokens import Doc
from torch import Tensor

from .pieces import Numbers, WordPieces
from .windows import cut, deepest

Pooling = Literal["first", "last", "mean"]

MOST_PIECES = 1024
"""Of windows that are read together: their number times the pieces of the longest."""
MOST_PADDING = 1.1
"""How many times as large as its pieces a batch may be, once it has a quarter of `MOST_PIECES`."""
STEP = 8
"""Padded lengths in training are multiples of this."""


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


def alike(sizes: list[int]) -> Iterator[list[int]]:
    """The numbers of windows, by size in pieces, in batches."""
    batch: list[int] = []
    total = 0
    for number in sorted(range(len(sizes)), key=sizes.__getitem__):
        size = sizes[number]
        padded = (len(batch) + 1) * size
        if batch and (
            padded > MOST_PIECES
            or (total >= MOST_PIECES // 4 and padded > MOST_PADDING * (total + size))
        ):
            yield batch
            batch, total = [], 0
        batch.append(number)
        total += size
    if batch:
        yield batch
