"""Sentences as pieces of a published parser's transformer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..encoders.windows import Window, deepest, overlapping
from ..encoders.word_pieces import Encoding, Special, Tokenizer, special_pieces
from .treebank_words import Text, lal_words

Numbers = NDArray[numpy.int64]

STRIDE = 256
"""Pieces from one window to the next, for words cut one by one."""
SPACE = "▁"
"""The mark of a space in sentence pieces."""


@dataclass(frozen=True)
class PieceSettings:
    """Settings of a transformer's pieces.

    running: read a sentence as running text (benepar), each word as the last piece that it
        overlaps; otherwise words are cut one by one.
    padding: number of the padding piece. window: most pieces read at once, with special pieces;
        None for no limit.
    shift: number of states before the first piece's (T5's decoder: 1).

    For words one by one:
    before, behind: special pieces with a row each. unknown: piece of a word without pieces.
    most: pieces of a word; None for all. plain: words are read as `lal_words`.
    space: whether a space precedes every word. commas: a comma after a digit is a piece of its own,
        as in XLNet's own tokenizer, unlike its tokenizer.json. literal: words never match special
        pieces."""

    padding: int
    running: bool = False
    window: int | None = None
    shift: int = 0
    before: Sequence[int] = ()
    behind: Sequence[int] = ()
    unknown: int = 0
    most: int | None = None
    plain: bool = False
    space: bool = False
    commas: bool = False
    literal: bool = False


class Pieces(NamedTuple):
    """Pieces of a sentence, and the range of states of each row: starts, ends [N]. Running text
    also has states of the special pieces before and after `ids`."""

    ids: list[int]
    starts: Numbers
    ends: Numbers


class PieceReader:
    """Cuts sentences into pieces. tokenizer: contents of a tokenizer.json."""

    def __init__(self, tokenizer: str, settings: PieceSettings) -> None:
        self.settings = settings
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = settings.literal
        self._special = Special([], [], [], [])
        if settings.running:
            self._special = special_pieces(self._tokenizer)
            before, behind, *_ = self._special
            if not behind or not (before or settings.shift):
                raise ValueError(
                    "the tokenizer must put a special piece before and behind a text, and this one "
                    "does not"
                )
            assert settings.window is not None
            self._room = settings.window - len(before) - len(behind) - settings.shift
            if self._room < 2:
                raise ValueError(
                    f"a window of {settings.window} pieces is filled by special pieces alone: the "
                    "encoder needs a longer one"
                )

    def read(self, texts: Sequence[Text]) -> list[Pieces]:
        if self.settings.running:
            return [self._running(text) for text in texts]
        settings = self.settings
        read = [lal_words(text.words) if settings.plain else text.words for text in texts]
        of_word = {word: self._of_word(word) for word in set(chain.from_iterable(read))}
        before, behind = ([[piece] for piece in row] for row in (settings.before, settings.behind))
        found = []
        for words in read:
            rows = [*before, *(of_word[word] for word in words), *behind]
            borders = numpy.asarray([*accumulate(map(len, rows), initial=0)])
            found.append(Pieces([*chain(*rows)], borders[:-1], borders[1:]))
        return found

    def _of_word(self, word: str) -> list[int]:
        text = f" {word}" if self.settings.space else word
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = self._apart(encoding) if self.settings.commas else encoding.ids
        return ids[: self.settings.most] or [self.settings.unknown]

    def _apart(self, encoding: Encoding) -> list[int]:
        """Return pieces, re-cut so that none ends in a digit and a comma."""
        numbers: list[int] = []
        for piece, number in zip(encoding.tokens, encoding.ids, strict=True):
            if not (piece[-1:] == "," and piece[-2:-1].isdigit()):
                numbers.append(number)
                continue
            text = piece[:-1].replace(SPACE, "")
            pieces = self._tokenizer.encode(text, add_special_tokens=False).tokens
            if not piece.startswith(SPACE):
                # there is no space within a word
                pieces = [pieces[0].removeprefix(SPACE), *pieces[1:]]
            for part in filter(None, [*pieces, ","]):
                known = self._tokenizer.token_to_id(part)
                numbers.append(self.settings.unknown if known is None else known)
        return numbers

    def _running(self, text: Text) -> Pieces:
        sizes = [len(word) + space for word, space in zip(text.words, text.spaces, strict=True)]
        starts = numpy.asarray([*accumulate(sizes, initial=0)][:-1])
        ends = starts + [len(word) for word in text.words]
        written = "".join(
            word + " " * space for word, space in zip(text.words, text.spaces, strict=True)
        )
        encoding = self._tokenizer.encode(written, add_special_tokens=False)
        words = 1 + _last_pieces(encoding.offsets, starts, ends)
        rows = numpy.concatenate([[0], words, [len(encoding.ids) + 1]])
        return Pieces(encoding.ids, rows, rows + 1)

    def _cut(self, size: int) -> tuple[list[Window], Numbers]:
        """Return windows of so many pieces, and the window state of each piece [size]."""
        limit = self.settings.window
        if self.settings.running:
            windows = [*overlapping(0, size, numpy.arange(size + 1), self._room)]
            return windows, deepest(windows, size)
        if limit is None or size <= limit:
            return [Window(0, size)], numpy.zeros(size, numpy.int64)
        # each window starts a stride after the one before; only its end is new
        stride = min(STRIDE, limit)
        starts = range(0, size - limit + stride, stride)
        windows = [Window(start, min(start + limit, size)) for start in starts]
        return windows, numpy.maximum(0, (numpy.arange(size) - limit) // stride + 1)

    def batch(self, sentences: Sequence[Pieces]) -> dict[str, Numbers]:
        """Return padded sentences.
        pieces, types, mask: [W, l] of all windows. states: [B, P], places of a sentence's states
            among l + shift states a window. starts, ends: [B, N], the states of each row."""
        before, behind, types_before, types_behind = self._special
        cuts = [self._cut(len(sentence.ids)) for sentence in sentences]
        b, e = len(before), len(behind)
        length = b + e + max(end - start for windows, _ in cuts for start, end in windows)
        height = sum(len(windows) for windows, _ in cuts)
        ids = numpy.full((height, length), self.settings.padding)
        types, mask = numpy.zeros_like(ids), numpy.zeros_like(ids)
        states = []
        width, first = length + self.settings.shift, 0
        for sentence, (windows, owner) in zip(sentences, cuts, strict=True):
            for number, (start, end) in enumerate(windows, first):
                size = b + end - start
                ids[number, : size + e] = [*before, *sentence.ids[start:end], *behind]
                types[number, :b], types[number, size : size + e] = types_before, types_behind
                mask[number, : size + e] = 1
            starts = numpy.asarray([start for start, _ in windows])
            own = numpy.arange(len(sentence.ids)) - starts[owner] + owner * width
            if self.settings.running:
                last = (len(windows) - 1) * width + len(sentence.ids) - starts[-1]
                own = numpy.concatenate([[-1], own, [last]])
            states.append(first * width + self.settings.shift + b + own)
            first += len(windows)
        return {
            "pieces": ids,
            "types": types,
            "mask": mask,
            "states": padded(states),
            "starts": padded([sentence.starts for sentence in sentences]),
            "ends": padded([sentence.ends for sentence in sentences], 1),
        }


def padded(rows: Sequence[Sequence[int] | Numbers], padding: int = 0) -> Numbers:
    """Return padded rows of numbers."""
    found = numpy.full((len(rows), max(map(len, rows))), padding, dtype=numpy.int64)
    for k, row in enumerate(rows):
        found[k, : len(row)] = row
    return found


def _last_pieces(offsets: list[tuple[int, int]], starts: Numbers, ends: Numbers) -> Numbers:
    """Return the last piece ending in each word, else the one spanning it, else len(offsets).
    offsets: borders of pieces; empty pieces are ignored. starts, ends: [n], borders of words."""
    borders = numpy.asarray(offsets, numpy.int64).reshape(-1, 2)
    kept = numpy.flatnonzero(borders[:, 0] != borders[:, 1])
    if not len(kept):
        return numpy.full(len(starts), len(offsets))
    stops = borders[kept, 1]
    within = numpy.searchsorted(stops, ends, "right")
    has_own = stops[within - 1] > starts
    has_own &= within > 0
    return kept[numpy.where(has_own, within - 1, within).clip(max=len(kept) - 1)]
