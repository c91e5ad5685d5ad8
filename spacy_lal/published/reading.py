"""What a published parser reads: words, escaped as in treebanks or as written, and the numbers of
words, tags, characters and pieces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc
from torch import Tensor

from ..batching.sentences import Sentence
from ..bridge.weights import Header
from ..encoders.windows import Window, deepest, overlapping
from ..encoders.word_pieces import MOST_CHARACTERS, Encoding, Special, Tokenizer, special_pieces
from ..structure.sequence import padded
from ..trees.brackets import BRACKETS, STRAIGHT_QUOTES, UNBRACKETS

Numbers = NDArray[numpy.int64]
RowBatch = dict[str, Tensor]
"""Padded sentences of N rows (START, words and, in some parsers, STOP), for the inputs in use.
words, tags: [B, N]. characters, lengths: [W, C] and [W] of different words. spelled: [B, N], the
    word of each row. Pieces: see `PieceReader.batch`."""

TABLES = ("words", "tags", "characters")
"""Inputs with a `Table` of numbers."""
STRIDE = 256
"""Pieces from one window to the next, for words cut one by one."""
SPACE = "▁"
"""The mark of a space in sentence pieces."""

DASHES = {"–": "--", "—": "--"}
"""Typographic dashes and their treebank forms."""
PLAIN = UNBRACKETS | STRAIGHT_QUOTES | DASHES | {"``": '"', "''": '"', "`": "'"}
"""Words and the forms in which the LAL parser's transformer reads them."""
OF_BENEPAR = STRAIGHT_QUOTES | {"`": "'", "—": "--"}
"""Tokens that benepar's spaCy plug-in replaces."""
INSIDE = {"\\/": "/", "\\*": "*", **UNBRACKETS, "``": '"', "`": "'", "''": '"'}
"""Escapes within words that benepar replaces, in this order."""

OPENING = ("-LRB-", "-LCB-", "-LSB-", "``", "`", "$", "#")
"""Ends of words without a space after them."""
CLOSING = ("-RRB-", "-RCB-", "-RSB-", "''", *"%.,!?:;")
"""Beginnings of words without a space before them."""
NO_HYPHENS = (*UNBRACKETS, "--")
"""Beginnings and ends that contain a dash and belong to no word."""
CLITICS = frozenset(["'", "'s", "'ll", "'re", "'d", "'m", "'ve", "n't"])
"""Words without a space before them."""


class Text(NamedTuple):
    """Words of a sentence [n], whether a space follows each [n], and tags, "" for none."""

    words: Sequence[str]
    spaces: Sequence[bool] = ()
    tags: Sequence[str] = ()


def text_of(doc: Doc, sentence: Sentence) -> Text:
    """Return a sentence; its whitespace tokens become spaces after words."""
    tokens = [doc[int(i)] for i in sentence.words]
    return Text(
        [token.text for token in tokens],
        [
            bool(token.whitespace_) or (token.i + 1 < len(doc) and doc[token.i + 1].is_space)
            for token in tokens
        ],
        [token.tag_ for token in tokens],
    )


def benepar_text(text: Text, *, escaped: bool) -> Text:
    """Return a sentence as benepar reads it; escaped: in treebank form, so spaces are guessed."""
    if escaped:
        return Text(unescaped(text.words), guessed_spaces(text.words), text.tags)
    return text._replace(words=replaced(text.words, OF_BENEPAR))


def lal_words(words: Sequence[str]) -> list[str]:
    """Return words as the LAL parser's transformer reads them, such as "do", "n't" as "don",
    "'t"."""
    read = replaced(words, PLAIN)
    for k in range(1, len(read)):
        if read[k] == "n't":
            read[k - 1 : k + 1] = [read[k - 1] + "n", "'t"]
    return read


def replaced(words: Sequence[str], table: Mapping[str, str]) -> list[str]:
    """Return the words with the table's replacements."""
    return [table.get(word, word) for word in words]


def unescaped(words: Sequence[str]) -> list[str]:
    """Return words without a treebank's escapes (benepar's rules)."""
    written = []
    for word in replaced(words, STRAIGHT_QUOTES | DASHES):
        for escape, character in INSIDE.items():
            word = word.replace(escape, character)
        written.append(word)
    return written


def guessed_spaces(words: Sequence[str]) -> list[bool]:
    """Return whether a space follows each of these escaped English words (benepar's rules)."""
    after = [
        not word.endswith(OPENING) and (not word.endswith("-") or word.endswith(NO_HYPHENS))
        for word in words
    ]
    for k in range(1, len(words)):
        word, both = words[k].lower(), (words[k - 1].lower(), words[k].lower())
        hyphen = word.startswith("-") and not words[k].startswith(NO_HYPHENS)
        if hyphen or words[k].startswith(CLOSING) or word in CLITICS or both == ("can", "not"):
            after[k - 1] = False
    return after


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
            assert settings.window is not None
            self._room = settings.window - len(before) - len(behind) - settings.shift
            if not behind or not (before or settings.shift) or self._room < 2:
                raise ValueError(
                    "the tokenizer must put a special piece before and behind a text, which leave "
                    f"space in a window of {settings.window} pieces"
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
        parts = [word + " " * space for word, space in zip(text.words, text.spaces, strict=True)]
        starts = numpy.asarray([*accumulate(map(len, parts), initial=0)][:-1])
        ends = starts + [len(word) for word in text.words]
        encoding = self._tokenizer.encode("".join(parts), add_special_tokens=False)
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


class SentenceReader:
    """Reader of sentences as in a published parser."""

    def __init__(self, header: Header) -> None:
        settings: dict[str, Any] = header["reading"]
        tables = {name: Table(**settings[name]) for name in TABLES if name in settings}
        self.words, self.tags, self.characters = map(tables.get, TABLES)
        self.benepar: bool = settings.get("benepar", False)
        self.pieces: PieceReader | None = None
        if "pieces" in settings:
            self.pieces = PieceReader(header["tokenizer"], PieceSettings(**settings["pieces"]))

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
