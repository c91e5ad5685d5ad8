"""Numbers of words, tags, characters and pieces that a published parser reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor

from ..trees.brackets import BRACKETS
from .sentence_pieces import Numbers, PieceReader, Pieces, PieceSettings, padded
from .treebank_words import Text, benepar_text, replaced

MOST_CHARACTERS = 1000
"""Most characters of a word; the original programs have no limit."""


RowBatch = dict[str, Tensor]
"""Padded sentences of N rows (START, words and, in some parsers, STOP), for the inputs in use.
words, tags: [B, N]. characters, lengths: [W, C] and [W] of different words. spelled: [B, N], the
    word of each row. Pieces: see `PieceReader.batch`."""


class SentenceNumbers(NamedTuple):
    """A sentence of N rows; arrays of unused inputs are empty."""

    words: list[int]
    tags: list[int]
    characters: list[tuple[int, ...]]
    pieces: Pieces | None

    @property
    def size(self) -> int:
        """Return the cost of the sentence: its pieces, else its rows."""
        if self.pieces is not None:
            return len(self.pieces.ids)
        return max(len(self.words), len(self.characters))


@dataclass(frozen=True)
class Table:
    """Numbers of words, tags or characters.

    values: by number; None for a number in no text. unknown: number of other values.
    start, stop: numbers around a sentence; stop is None if nothing follows. lower: read lower case.
    escape: brackets are read as `BRACKETS`.
    around: numbers before and after each word's characters. boundary: repetitions of start and stop
        in their rows of characters. most: greatest number of characters of a word; None for all.
    """

    values: Sequence[str | None]
    unknown: int
    start: int
    stop: int | None
    lower: bool = False
    escape: bool = False
    around: tuple[Sequence[int], Sequence[int]] = ((), ())
    boundary: int = 1
    most: int | None = None

    @cached_property
    def _index(self) -> dict[str, int]:
        return {value: k for k, value in enumerate(self.values) if value is not None}

    def _numbers(self, texts: Sequence[str]) -> list[int]:
        return [self._index.get(text, self.unknown) for text in texts]

    def _read(self, words: Sequence[str]) -> list[str]:
        read = replaced(words, BRACKETS if self.escape else {})
        return [word.lower() for word in read] if self.lower else read

    def rows(self, words: Sequence[str]) -> list[int]:
        """Return a number for each row."""
        behind = [] if self.stop is None else [self.stop]
        return [self.start, *self._numbers(self._read(words)), *behind]

    def spelled(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the characters of each row."""
        before, behind = self.around
        inside = [self._numbers(word[:MOST_CHARACTERS]) for word in self._read(words)]
        inside.insert(0, [self.start] * self.boundary)
        if self.stop is not None:
            inside.append([self.stop] * self.boundary)
        # an empty word is unknown
        return [(*before, *row, *behind)[: self.most] or (self.unknown,) for row in inside]


class SentenceReader:
    """Reader of sentences as in a published parser. settings, tokenizer: parts of its header."""

    def __init__(self, settings: dict[str, Any], tokenizer: str | None) -> None:
        tables = {name: Table(**settings[name]) for name in TABLES if name in settings}
        self.words, self.tags, self.characters = map(tables.get, TABLES)
        self.benepar: bool = settings.get("benepar", False)
        self.pieces: PieceReader | None = None
        if tokenizer is not None:
            self.pieces = PieceReader(tokenizer, PieceSettings(**settings["pieces"]))

    def read(self, texts: Sequence[Text], *, escaped: bool = False) -> list[SentenceNumbers]:
        """Return the numbers of sentences; escaped: see `benepar_text`."""
        if self.benepar:
            texts = [benepar_text(text, escaped=escaped) for text in texts]
        pieces = self.pieces.read(texts) if self.pieces else [None] * len(texts)
        return [
            SentenceNumbers(
                self.words.rows(text.words) if self.words else [],
                self.tags.rows(text.tags) if self.tags else [],
                self.characters.spelled(text.words) if self.characters else [],
                of_text,
            )
            for text, of_text in zip(texts, pieces, strict=True)
        ]

    def batch(self, sentences: Sequence[SentenceNumbers], device: torch.device) -> RowBatch:
        """Return padded sentences."""
        found: dict[str, Numbers] = {}
        if self.words is not None:
            found["words"] = padded([sentence.words for sentence in sentences])
        if self.tags is not None:
            found["tags"] = padded([sentence.tags for sentence in sentences])
        if self.characters is not None:
            rows = [sentence.characters for sentence in sentences]
            numbers = {word: k for k, word in enumerate(dict.fromkeys(w for r in rows for w in r))}
            found["characters"] = padded([*numbers])
            found["lengths"] = numpy.asarray([len(word) for word in numbers])
            found["spelled"] = padded([[numbers[word] for word in row] for row in rows])
        if self.pieces is not None:
            found |= self.pieces.batch([s.pieces for s in sentences if s.pieces is not None])
        return {name: torch.from_numpy(array).to(device) for name, array in found.items()}


TABLES = ("words", "tags", "characters")
"""Inputs with a `Table` of numbers."""
