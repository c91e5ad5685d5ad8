"""Sentences that no treebank has: what parsers find in them must be the same all the same.

python scripts/odd_sentences.py OUT.spacy

500 sentences of 1 to 60 words: known and unknown words, quotes, brackets, numbers, letters of many
scripts, marks that combine, zero-width characters; some as they come in a text without spaces.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
    "café",
    "NAÏVE",
    "ﬁne",
    "茶",
    "東京",
    "русский",
    "עברית",
    "عربي",
    "हिन्दी",
    "👍🏽",
    "👨‍👩‍👧",
    "ǅ",
]
INSIDE = ["\u200b", "\u00ad", "\u0301", "\u200d", "\ufeff", "-", "'", ",", "_"]
SPECIAL = ["[SEP]", "[UNK]", "<s>", "<sep>", "<unk>", "|<>", "TOP", "a" * 90, "..." * 20]
LETTERS = "abcdefghijklmnopqrstuvwxyzABCXYZßñøœĳ0123"


class Odd(NamedTuple):
    """A sentence: words, their tags, and whether a space is behind each."""

    words: list[str]
    tags: list[str]
    spaces: list[bool]


def odd_sentences(number: int = 500, longest: int = 60, seed: int = 5) -> list[Odd]:
    """The same ones every time; lengths go round from 1 to `longest`."""
    chance = random.Random(seed)
    found = []
    for k in range(number):
        n = k % longest + 1
        words = [_word(chance) for _ in range(n)]
        gap = chance.choice([0.0, 0.7, 1.0])
        spaces = [chance.random() < gap for _ in words]
        found.append(Odd(words, chance.choices(TAGS, k=n), spaces))
    return found


def conllu_sentences(path: Path) -> list[Odd]:
    """Those of a treebank, in the place of odd ones: words and tags, as if all had spaces."""
    found = []
    for block in path.read_text("utf-8").strip().split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
        rows = [row for row in rows if row[0].isdigit()]
        words, tags = ([row[column] for row in rows] for column in (1, 4))
        found.append(Odd(words, tags, [True] * len(rows)))
    return found


def asked(arguments: Sequence[str]) -> list[Odd] | None:
    """The sentences that `--odd` or `--conllu FILE` asks for."""
    if "--conllu" in arguments:
        return conllu_sentences(Path(arguments[arguments.index("--conllu") + 1]))
    return odd_sentences() if "--odd" in arguments else None


def spans_of(tree: Any, children: Callable[[Any], Sequence[Any] | None]) -> list[list[Any]]:
    """The phrases of a tree in preorder, as [start, end, label]: what has children that have some.

    tree: a node with children and `label`, an attribute or a method. children: those of a node;
    None of a word.
    """
    found: list[list[Any]] = []

    def walk(node: Any, start: int) -> int:
        below = children(node)
        if below is None or (len(below) == 1 and children(below[0]) is None and _is_tag(node)):
            return start + 1
        label = node.label() if callable(node.label) else node.label
        own = [start, start, label]
        found.append(own)
        for child in below:
            start = walk(child, start)
        own[1] = start
        return start

    walk(tree, 0)
    return found


def _is_tag(node: Any) -> bool:
    """Whether the one child of a node is its word: nltk's words are no nodes."""
    return callable(node.label)


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
