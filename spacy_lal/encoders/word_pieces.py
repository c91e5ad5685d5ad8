"""Words as the pieces that a transformer's tokenizer makes of them."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy
from spacy.tokens import Doc, Token

from .windows import Numbers

try:
    from tokenizers import Encoding, Tokenizer
except ImportError as error:
    raise ImportError(
        "pretrained encoders need tokenizers: pip install 'spacy-lal[encoders]'"
    ) from error

MOST_CHARACTERS = 1000
"""Of a word; what is behind them is not read."""
MOST_KNOWN = 200_000
"""Words whose pieces are remembered."""


class Special(NamedTuple):
    """The pieces that stand around every window, and their token types."""

    before: list[int]
    behind: list[int]
    types_before: list[int]
    types_behind: list[int]


def special_pieces(tokenizer: Tokenizer) -> Special:
    """Those that a tokenizer puts before and behind a text."""
    encoding: Encoding = tokenizer.encode("a")
    inside = [k for k, special in enumerate(encoding.special_tokens_mask) if not special]
    first, behind = (inside[0], inside[-1] + 1) if inside else (len(encoding.ids),) * 2
    ids, types = encoding.ids, encoding.type_ids
    return Special(ids[:first], ids[behind:], types[:first], types[behind:])


class WordPieces:
    """A fast tokenizer that reads word by word.

    tokenizer: the contents of a tokenizer.json. A word is read with the space before it where
    that makes a difference (byte-level BPE), and never with its neighbours.
    """

    def __init__(self, tokenizer: str) -> None:
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.special = special_pieces(self._tokenizer)
        model = json.loads(tokenizer)["model"]
        # of a unigram model its number, of others the piece itself
        unknown = model.get("unk_id")
        if unknown is None and model.get("unk_token"):
            unknown = self._tokenizer.token_to_id(model["unk_token"])
        self._unknown = [] if unknown is None else [unknown]
        self._reads_spaces = self._encode([" a"]) != self._encode(["a"])
        self._known: dict[str, list[int]] = {}

    def of_docs(self, docs: list[Doc], most: int) -> tuple[Numbers, Numbers]:
        """The pieces of all tokens, one after the other, and how many each token has [tokens].

        A whitespace token has none, another one at least one if the tokenizer has a piece for
        the unknown, and at most `most`.
        """
        words = [
            " " + token.text if self._reads_spaces and _after_space(token) else token.text
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
            found = self._encode([word[:MOST_CHARACTERS] for word in new])
            known.update(
                (word, [] if word.isspace() else pieces or self._unknown)
                for word, pieces in zip(new, found, strict=True)
            )
        pieces = [known[word][:most] for word in words]
        counts = numpy.fromiter(map(len, pieces), dtype=numpy.int64, count=len(pieces))
        flat = numpy.fromiter((p for word in pieces for p in word), dtype=numpy.int64)
        return flat, counts

    def _encode(self, words: list[str]) -> list[list[int]]:
        # one by one: a batch would start threads, which a process can't be forked beside
        return [self._tokenizer.encode(word, add_special_tokens=False).ids for word in words]


def _after_space(token: Token) -> bool:
    before = token.nbor(-1) if token.i else None
    return before is not None and bool(before.whitespace_ or before.is_space)
