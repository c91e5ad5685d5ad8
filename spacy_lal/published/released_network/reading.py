"""From words to the numbers that a published parser reads: of words, tags, characters and pieces.

What stands before a sentence and behind it is read, too: rows are START, the words, and, where the
parser has one, STOP.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy
import torch
from torch import Tensor

from ...bridge.tokenizers import Encoding, Tokenizer
from ...layers.char_lstm import MOST_CHARACTERS
from ...trees.brackets import BRACKETS, STRAIGHT_QUOTES, UNBRACKETS

PLAIN = {
    **UNBRACKETS,
    **STRAIGHT_QUOTES,
    **{"``": '"', "''": '"', "`": "'", "–": "--", "—": "--"},
}
"""Words as a transformer's tokenizer knows them, by those of treebanks and typesetters."""


SPACE = "▁"
"""As sentence pieces have it."""


class RowBatch(NamedTuple):
    """Sentences of N rows, padded together; None for what the parser does not read.

    words, tags [B, N]; characters [B, N, C], lengths [B, N]; pieces, mask [B, P], and starts and
    ends [B, N] of the rows in them. What stands in padding has no meaning; rows have characters.
    """

    words: Tensor | None = None
    tags: Tensor | None = None
    characters: Tensor | None = None
    lengths: Tensor | None = None
    pieces: Tensor | None = None
    mask: Tensor | None = None
    starts: Tensor | None = None
    ends: Tensor | None = None

    def to(self, device: torch.device) -> RowBatch:
        return RowBatch(*(None if t is None else t.to(device) for t in self))


class Text(NamedTuple):
    """A sentence: its words and their tags, "" for none."""

    words: list[str]
    tags: list[str]


@dataclass(frozen=True)
class Table:
    """Numbers of words, tags or characters.

    values: by number; None for one that no text has. lower: read in lower case. escape: brackets
    are read as `BRACKETS`. start, stop: the numbers around a sentence; stop is None if nothing
    stands behind it. unknown: of what is not among the values.
    """

    values: list[str | None]
    unknown: int
    start: int
    stop: int | None
    lower: bool = False
    escape: bool = False

    def index(self) -> dict[str, int]:
        return {value: k for k, value in enumerate(self.values) if value is not None}

    def word(self, text: str) -> str:
        text = BRACKETS.get(text, text) if self.escape else text
        return text.lower() if self.lower else text


@dataclass(frozen=True)
class Characters(Table):
    """Numbers of characters. around: what stands before the characters of a word and behind them.

    boundary: how many times START and STOP, the numbers, stand there as characters. most: of a
    word; None for all.
    """

    around: tuple[list[int], list[int]] = ((), ())  # type: ignore[assignment]
    boundary: int = 1
    most: int | None = None


@dataclass(frozen=True)
class Pieces:
    """How a transformer's pieces are read.

    before, behind: special pieces, each a row of its own. unknown: of a word without pieces. most:
    of a word; None for all. plain: words are read as `PLAIN`, and n't as n, which belongs to the
    word before, and 't. space: every word is read behind a space. commas: a comma is a piece of its
    own behind a digit, as XLNet's own tokenizer has it, and its tokenizer.json has not.
    """

    before: list[int]
    behind: list[int]
    unknown: int
    padding: int
    most: int | None = None
    plain: bool = False
    space: bool = False
    commas: bool = False
    literal: bool = False


class SentenceReader:
    """Reads sentences as a published parser does; `reading` and `tokenizer` are of its header."""

    def __init__(self, reading: dict[str, Any], tokenizer: str | None) -> None:
        self.words = Table(**reading["words"]) if reading.get("words") else None
        self.tags = Table(**reading["tags"]) if reading.get("tags") else None
        characters = reading.get("characters")
        self.characters = Characters(**characters) if characters else None
        self.pieces = Pieces(**reading["pieces"]) if reading.get("pieces") else None
        self._of_word = self.words.index() if self.words else {}
        self._of_tag = self.tags.index() if self.tags else {}
        self._of_character = self.characters.index() if self.characters else {}
        if self.pieces is not None:
            assert tokenizer is not None
            self._tokenizer = Tokenizer.from_str(tokenizer)
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
            self._tokenizer.encode_special_tokens = self.pieces.literal

    def read(self, texts: Sequence[Text]) -> RowBatch:
        batch = RowBatch()
        if self.words is not None:
            rows = [_rows(self.words, self._of_word, text.words) for text in texts]
            batch = batch._replace(words=_padded(rows))
        if self.tags is not None:
            rows = [_rows(self.tags, self._of_tag, text.tags) for text in texts]
            batch = batch._replace(tags=_padded(rows))
        if self.characters is not None:
            words = [self._characters(self.characters, text.words) for text in texts]
            lengths = _padded([[len(word) for word in text] for text in words]).clamp(min=1)
            numbers = torch.zeros(*lengths.shape, int(lengths.max()), dtype=torch.long)
            for b, text in enumerate(words):
                for k, word in enumerate(text):
                    numbers[b, k, : len(word)] = torch.tensor(word)
            batch = batch._replace(characters=numbers, lengths=lengths)
        if self.pieces is not None:
            batch = self._with_pieces(self.pieces, batch, texts)
        return batch

    def _characters(self, table: Characters, words: list[str]) -> list[list[int]]:
        """The characters of all rows of a sentence."""
        before, behind = table.around
        around: list[list[int]] = [
            [*before, *[number] * table.boundary, *behind]
            for number in (table.start, table.stop)
            if number is not None
        ]
        of_words = [
            [*before, *(self._of_character.get(c, table.unknown) for c in word), *behind]
            for word in (table.word(word)[:MOST_CHARACTERS] for word in words)
        ]
        rows = [around[0], *of_words, *around[1:]]
        # a word of nothing is unknown
        return [row[: table.most] or [table.unknown] for row in rows]

    def _with_pieces(self, table: Pieces, batch: RowBatch, texts: Sequence[Text]) -> RowBatch:
        read = [_plain(text.words) if table.plain else text.words for text in texts]
        words = list(dict.fromkeys(chain.from_iterable(read)))
        space = " " if table.space else ""
        found = [self._tokenizer.encode(space + w, add_special_tokens=False) for w in words]
        of_word = {
            word: (self._apart(e, table.unknown) if table.commas else e.ids)[: table.most]
            or [table.unknown]
            for word, e in zip(words, found, strict=True)
        }
        rows = [
            [[p] for p in table.before] + [of_word[w] for w in text] + [[p] for p in table.behind]
            for text in read
        ]
        ends = [numpy.cumsum([len(row) for row in text]) for text in rows]
        starts = [numpy.concatenate([[0], ends_of[:-1]]) for ends_of in ends]
        flat = [list(chain.from_iterable(text)) for text in rows]
        return batch._replace(
            pieces=_padded(flat, table.padding),
            mask=_padded([[1] * len(text) for text in flat]),
            starts=_padded(starts),
            ends=_padded(ends),
        )

    def _apart(self, encoding: Encoding, unknown: int) -> list[int]:
        """The pieces, of which none ends in a digit and a comma: what is before is read anew."""
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
                numbers.append(unknown if known is None else known)
        return numbers


def _rows(table: Table, index: dict[str, int], texts: list[str]) -> list[int]:
    numbers = [index.get(table.word(text), table.unknown) for text in texts]
    return [table.start, *numbers, *([] if table.stop is None else [table.stop])]


def _plain(words: list[str]) -> list[str]:
    read: list[str] = []
    for word in words:
        plain = PLAIN.get(word, word)
        if plain == "n't" and read:
            read[-1] += "n"
            plain = "'t"
        read.append(plain)
    return read


def _padded(rows: Sequence[Sequence[int] | numpy.ndarray], padding: int = 0) -> Tensor:
    padded = numpy.full((len(rows), max(map(len, rows))), padding, dtype=numpy.int64)
    for k, row in enumerate(rows):
        padded[k, : len(row)] = row
    return torch.from_numpy(padded)
