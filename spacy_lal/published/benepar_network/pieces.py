"""Sentences as the pieces of a pretrained encoder's tokenizer (Kitaev et al. 2019, section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy
from numpy.typing import NDArray
from torch import Tensor, from_numpy

from ...encoders.windows import Window, deepest, overlapping
from ...encoders.word_pieces import Tokenizer, special_pieces
from .text import Text

Numbers = NDArray[numpy.int64]


class Pieces(NamedTuple):
    """A sentence's pieces without special ones, and the piece of each of its words [n].

    That of a word of which the tokenizer left nothing is the next one; len(ids) if there is none.
    """

    ids: list[int]
    words: Numbers


class PieceReader:
    """Reads sentences as running text, and gives each word the last piece that it overlaps.

    tokenizer: the contents of a tokenizer.json. window: most pieces that the encoder reads at once,
    special ones included; a longer sentence is read in windows that overlap. padding: the piece
    behind a text. shift: how many states the encoder has before that of the first piece (T5's
    decoder: 1).
    """

    def __init__(self, tokenizer: str, window: int, padding: int, shift: int) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.padding, self.shift = padding, shift
        self._before, self._behind, *self._types = special_pieces(self._tokenizer)
        if not (shift or self._before or self._behind):
            raise ValueError(
                "the tokenizer must put a special piece before and behind a text, and this one "
                "puts none"
            )
        self._room = window - len(self._before) - len(self._behind) - shift
        if self._room < 2:
            raise ValueError(
                f"a window of {window} pieces is filled by special pieces alone: the encoder "
                "needs a longer one"
            )

    def read(self, texts: Sequence[Text]) -> list[Pieces]:
        joined = [
            "".join(w + " " * space for w, space in zip(*text, strict=True)) for text in texts
        ]
        encodings = [self._tokenizer.encode(text, add_special_tokens=False) for text in joined]
        return [
            Pieces(e.ids, _last_pieces(e.offsets, *_borders(text)))
            for e, text in zip(encodings, texts, strict=True)
        ]

    def batch(self, sentences: Sequence[Pieces]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Inputs of the encoder, and which of its states are START, words and STOP.

        Inputs: pieces, types, mask [W, l] of all windows. Rows [B, n+2] number the states of all
        windows, l + shift in each; 0 behind a sentence.
        """
        cuts = [
            [*overlapping(0, size, numpy.arange(size + 1), self._room)] or [Window(0, 0)]
            for size in (len(s.ids) for s in sentences)
        ]
        b, e = len(self._before), len(self._behind)
        length = b + e + max(end - start for windows in cuts for start, end in windows)
        height = sum(map(len, cuts))
        ids = numpy.full((height, length), self.padding)
        types, mask = numpy.zeros_like(ids), numpy.zeros_like(ids)
        rows = numpy.zeros((len(sentences), 2 + max(len(s.words) for s in sentences)), numpy.int64)
        states = length + self.shift
        first = 0
        for row, (sentence, windows) in enumerate(zip(sentences, cuts, strict=True)):
            for number, (start, end) in enumerate(windows, first):
                size = b + end - start
                ids[number, : size + e] = [*self._before, *sentence.ids[start:end], *self._behind]
                types[number, :b], types[number, size : size + e] = self._types
                mask[number, : size + e] = 1
            place = _places(sentence, windows, self.shift + b, states)
            rows[row, 1 : len(place) + 1] = place
            # the special piece before a text, or the last one behind it; and the other way round
            lasts = [self.shift + b + end - start + e - 1 for start, end in windows]
            rows[row, 0] = self.shift + b - 1 if self.shift + b else lasts[0]
            rows[row, len(place) + 1] = lasts[-1] - e + 1 if e else 0
            rows[row, len(place) + 1] += (len(windows) - 1) * states
            rows[row, : len(place) + 2] += first * states
            first += len(windows)
        return (from_numpy(ids), from_numpy(types), from_numpy(mask)), from_numpy(rows)


def _borders(text: Text) -> tuple[Numbers, Numbers]:
    """Where words begin and end in the text, in characters."""
    sizes = [len(word) + space for word, space in zip(*text, strict=True)]
    starts = numpy.asarray([*accumulate(sizes, initial=0)][:-1])
    return starts, starts + numpy.asarray([len(word) for word in text.words])


def _last_pieces(offsets: list[tuple[int, int]], starts: Numbers, ends: Numbers) -> Numbers:
    """The last piece that ends within each word; of a word without, the one that reaches over it.

    offsets: where pieces begin and end. starts, ends [n]: of words. Pieces without characters count
    for nothing.
    """
    borders = numpy.asarray(offsets, numpy.int64).reshape(-1, 2)
    kept = numpy.flatnonzero(borders[:, 0] != borders[:, 1])
    if not len(kept):
        return numpy.full(len(starts), len(offsets))
    stops = borders[kept, 1]
    within = numpy.searchsorted(stops, ends, "right")
    has_own = stops[within - 1] > starts
    has_own &= within > 0
    return kept[numpy.where(has_own, within - 1, within).clip(max=len(kept) - 1)]


def _places(sentence: Pieces, windows: list[Window], before: int, states: int) -> Numbers:
    """The states of words [n], numbered over the windows of the sentence, `states` in each."""
    if len(windows) == 1:
        return before + sentence.words
    owner = deepest(windows, len(sentence.ids))
    starts = numpy.asarray([start for start, _ in windows])
    mine = owner[sentence.words.clip(max=len(sentence.ids) - 1)]
    return mine * states + before + sentence.words - starts[mine]
