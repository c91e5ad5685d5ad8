"""Word pieces for transformers, in batches of windows."""

import json
import re
from typing import Literal, NamedTuple

import numpy
import torch
from spacy.tokens import Doc, Token
from torch import Tensor

from ..trees.brackets import plain_word
from .windows import Numbers, alike, cut, deepest

try:
    from tokenizers import Encoding, Tokenizer
except ImportError as error:
    raise ImportError(
        "pretrained encoders need tokenizers: pip install 'spacy-lal[encoders]'"
    ) from error

Pooling = Literal["first", "last"]

STEP = 8
"""Divisor of padded lengths in training, in pieces."""
METASPACE = {
    "type": "Metaspace",
    "replacement": "▁",
    "prepend_scheme": "never",
    "split": True,
}
"""A pre-tokenizer that makes a piece's mark of a space, and adds none."""
INSIDE = re.compile(r"(?<=[^\W_])_+(?=[^\W_])")
"""The "_" between parts of a word."""
MOST_CHARACTERS = 1000
"""Most characters of a word that are read."""
MOST_KNOWN = 200_000
"""Most words with cached pieces."""


class Special(NamedTuple):
    """The pieces that stand around every window, and their token types."""

    before: list[int]
    behind: list[int]
    types_before: list[int]
    types_behind: list[int]


def special_pieces(tokenizer: Tokenizer) -> Special:
    """Returns the pieces that a tokenizer puts before and behind a text."""
    encoding: Encoding = tokenizer.encode("a")
    inside = [k for k, special in enumerate(encoding.special_tokens_mask) if not special]
    first, behind = (inside[0], inside[-1] + 1) if inside else (len(encoding.ids),) * 2
    ids, types = encoding.ids, encoding.type_ids
    return Special(ids[:first], ids[behind:], types[:first], types[behind:])


class WordPieces:
    """A fast tokenizer that reads word by word. tokenizer: the contents of a tokenizer.json.
    compounds: whether parts of words with "_" between them are read with spaces between them.
    Byte-level BPE reads a word with the space before it, and so does `METASPACE`."""

    def __init__(self, tokenizer: str, compounds: bool = False) -> None:
        self.compounds = compounds
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special = special_pieces(self._tokenizer)
        model = json.loads(tokenizer)["model"]
        # a unigram model has its number, others have the piece itself
        unknown = model.get("unk_id")
        if unknown is None and model.get("unk_token"):
            unknown = self._tokenizer.token_to_id(model["unk_token"])
        self._unknown = [] if unknown is None else [unknown]
        self._reads_spaces = self._encode([" a"]) != self._encode(["a"])
        # sentencepiece reads a text as if a space stood before it
        self._space_before_text = json.loads(tokenizer).get("pre_tokenizer") == METASPACE
        self._known: dict[str, list[int]] = {}

    def of_docs(self, docs: list[Doc], most: int) -> tuple[Numbers, Numbers]:
        """Returns the pieces of all tokens in order, and the number of each token's [tokens].

        A whitespace token has no pieces; another token has at most `most`, and at least one if the
        tokenizer has a piece for unknown text.
        """
        words = [
            " " + token.text if self._reads_spaces and self._after_space(token) else token.text
            for doc in docs
            for token in doc
        ]
        known = self._known
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            if len(known) > MOST_KNOWN:
                # another thread may be reading the old one
                known = self._known = {}
                new = list(dict.fromkeys(words))
            # the space before a word is no part of its escape
            plain = (
                " " * word.startswith(" ") + plain_word(word.removeprefix(" ")) for word in new
            )
            if self.compounds:
                plain = (INSIDE.sub(" ", word) for word in plain)
            found = self._encode([word[:MOST_CHARACTERS] for word in plain])
            known.update(
                (word, [] if word.isspace() else pieces or self._unknown)
                for word, pieces in zip(new, found, strict=True)
            )
        pieces = [known[word][:most] for word in words]
        counts = numpy.fromiter(map(len, pieces), dtype=numpy.int64, count=len(pieces))
        flat = numpy.fromiter((p for word in pieces for p in word), dtype=numpy.int64)
        return flat, counts

    def _encode(self, words: list[str]) -> list[list[int]]:
        # one by one: a batch would start threads, beside which a process can't fork
        return [self._tokenizer.encode(word, add_special_tokens=False).ids for word in words]

    def _after_space(self, token: Token) -> bool:
        if not token.i:
            return self._space_before_text
        before = token.nbor(-1)
        return bool(before.whitespace_ or before.is_space)


class PieceBatch(NamedTuple):
    """Windows of similar length, padded together.

    pieces, types, mask [B, l]: the ids of pieces, their token types, and 1 where there is a piece.
    rows [k]: the wanted pieces, one a token, counted over the flattened batch; tokens [k]: their
    tokens, counted over all Docs.
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
    """Returns the windows of all Docs in batches of similar length.

    window: size in pieces, special ones included. padding: id of the padding piece. few_shapes: pad
    lengths to multiples of 8, and batches to about a multiple of 256 pieces, since oneDNN keeps a
    program for every shape of bfloat16 products: endless shapes take gigabytes and time.
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
        # rows of mere padding attend to one piece, since attention to nothing is nan
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
            own = own[counts[own] > 0]
            wanted = ends[own] if pooling == "first" else ends[own + 1] - 1
            rows.append(row * length + before + wanted - ends[w.start])
            tokens.append(own)
        arrays = (ids, types, mask, numpy.concatenate(rows), numpy.concatenate(tokens))
        batches.append(PieceBatch(*map(torch.from_numpy, arrays)))
    return batches
