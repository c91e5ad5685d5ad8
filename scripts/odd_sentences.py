"""Sentences that no treebank has, on which parsers must not change unnoticed.

python scripts/odd_sentences.py OUT.spacy

500 sentences of 1 to 60 words: known and unknown words, quotes, brackets, numbers, letters of many
scripts, combining marks, zero-width characters; some without spaces.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import NamedTuple

KNOWN = [
    *("The", "the", "dog", "sea", "garden", "in", "a", "by", "sleeps", "playing", "A", "enjoys"),
    *("She", "tennis", "house", "Yes", "small"),
]
TAGS = ["DT", "NN", "VBZ", "PRP", "IN", ".", "-LRB-", "JJ", "``", "XX", "UH", "CD"]
QUOTES = ["``", "''", '"', "'", "`", *"“”„‘’«»‹›"]
BRACKETS = [*"()[]{}", "-LRB-", "-RRB-", "-LSB-", "-RCB-"]
PARTS = ["n't", "'s", "'", "--", "–", "—", "...", "…", "/", "\\/", "#", "*", "|", "%", "$"]
NUMBERS = ["3", "3.5", "1,200", "1990s", "½", "²", "-7", "10:45", "1/2", "٣", "Ⅷ"]
SCRIPTS = [
    *("café", "NAÏVE", "ﬁne", "茶", "東京", "русский", "עברית"),
    *("عربي", "हिन्दी", "👍🏽", "👨‍👩‍👧", "ǅ"),
]
INSIDE = ["\u200b", "\u00ad", "\u0301", "\u200d", "\ufeff", "-", "'", ",", "_"]
SPECIAL = ["[SEP]", "[UNK]", "<s>", "<sep>", "<unk>", "|<>", "TOP", "a" * 90, "..." * 20]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZßñøœĳ0123"


class Odd(NamedTuple):
    """A sentence: words, their tags, and whether a space follows each."""

    words: list[str]
    tags: list[str]
    spaces: list[bool]


def odd_sentences(number: int = 500, longest: int = 60, seed: int = 5) -> list[Odd]:
    """Return always the same sentences, of lengths from 1 to `longest` in turn."""
    chance = random.Random(seed)
    found = []
    for k in range(number):
        n = k % longest + 1
        words = [_word(chance) for _ in range(n)]
        gap = chance.choice([0.0, 0.7, 1.0])
        spaces = [chance.random() < gap for _ in words]
        found.append(Odd(words, chance.choices(TAGS, k=n), spaces))
    return found


def _word(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.35:
        return chance.choice(KNOWN)
    if kind < 0.6:
        letters = "".join(chance.choices(LETTERS, k=chance.choice([1, 2, 3, 5, 8, 14])))
        if chance.random() < 0.2:
            middle = len(letters) // 2
            letters = letters[: middle + 1] + chance.choice(INSIDE) + letters[middle + 1 :]
        return letters
    if kind < 0.61:
        return chance.choice(SPECIAL)
    return chance.choice(chance.choice([QUOTES, BRACKETS, PARTS, NUMBERS, SCRIPTS]))


def main(output: Path) -> None:
    import spacy
    from spacy.tokens import Doc, DocBin

    vocab = spacy.blank("en").vocab
    docs = [
        Doc(vocab, s.words, s.spaces, sent_starts=[True] + [False] * (len(s.words) - 1))
        for s in odd_sentences()
    ]
    DocBin(docs=docs).to_disk(output)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
