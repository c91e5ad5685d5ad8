"""Right words that a misspelling is like."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from math import log2
from typing import Any

from ..artificial_errors.english import plural
from ..formats.parallel import apart
from .near_words import NearWords

SHORTEST = 3
"""Letters of the shortest word that may be a misspelling of another."""
LONGEST = 30
"""Letters of the longest: the number of strings to look up grows with the square."""
PLAIN = 4
"""Letters of the shortest word that is wrong if no list has it."""
COMMON = 2000
"""Number of words so frequent that a learner may write two of them as one."""
NOT_NOUNS = 100
"""Number of words so frequent that none of them is a noun that "a" may stand before."""
FREQUENT, TIMES = 8000, 8
"""A word is a slip for one of so many most frequent words that is so many times as frequent."""
RARE = 20_000
"""Number of words that are frequent enough that their right forms are among the words, too."""
_ENDINGS = "s es ed d ing ly er ers est able ness"
ENDINGS = tuple(_ENDINGS.split())
"""Endings of English words."""
KEPT = 1 << 13
"""Number of words of which is kept what they are like."""
UNLIKE = 6.0
"""How many times as frequent a word is, as a power of two, that is as likely as one with a letter
less in another place."""
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
"""Letters that misspellings have in every language."""
_RUN = re.compile(r"(.)\1\1+", re.IGNORECASE)
"""A letter that stands there three times or more."""
_VOWELS = frozenset("aeiouy")


def letters_of(words: Sequence[str]) -> frozenset[str]:
    """Return the letters of a language: besides `LETTERS` those that one word in 1,000 has."""
    counts = Counter(letter for word in words for letter in set(word))
    return LETTERS | {letter for letter, count in counts.items() if 1000 * count >= len(words)}


class RightWords:
    """The right words of a language, by which misspellings are known.

    words: the most frequent first. letters: those that misspellings have. What a word is like is
    kept: the same misspellings come again.
    """

    def __init__(self, words: Sequence[str], letters: Collection[str] = LETTERS) -> None:
        self.ranks = {word: rank for rank, word in enumerate(words)}
        self.letters = letters
        self._kept: dict[tuple[str, int], frozenset[str]] = {}

    @cached_property
    def index(self) -> NearWords:
        """Finds the words that a string is like; made when it is first needed."""
        return NearWords(self.ranks)

    def __getstate__(self) -> dict[str, Any]:
        # it is made faster than read
        return {name: of for name, of in self.__dict__.items() if name != "index"}

    def __contains__(self, word: object) -> bool:
        return word in self.ranks

    def spelled(self, word: str, *, english: bool = False) -> str | None:
        """Return the most likely right word for a misspelling; None if the word is right or like no
        other.

        A word that differs by one letter goes before those that differ by two. Doubled letters,
        swapped ones and vowels are the likeliest slips, and the first letter is seldom wrong.
        english: whether English plurals ("churchs") are looked for first, and two frequent words
        without the space between them before words that differ by two letters. "a" or "I" in front
        of a right word ("alecture") is a word without its space, too. Of a letter that stands there
        three times one or two are right.
        """
        lower, ranks = word.lower(), self.ranks
        if lower in ranks or not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
            return None
        if (
            english
            and lower[-1] == "s"
            and lower[:-1] in ranks
            and (many := plural(lower[:-1])) in ranks
        ):
            return many.capitalize() if word[0].isupper() else many
        if english and _RUN.search(lower):
            # "soooo", "prettty"
            made = (_RUN.sub(letters, word) for letters in (r"\1\1", r"\1"))
            return next((text for text in made if text.lower() in ranks), None)
        for slips in (1, 2):
            if known := self._near(lower, slips):
                best = min(known, key=lambda one: (self._unlike(lower, one), one))
                joined = best == lower[1:] and lower[0] != lower[1]
                if english and joined and lower[0] == "i":
                    return f"I {best}"
                # "athe" is no article and another
                if english and joined and lower[0] == "a" and ranks[best] >= NOT_NOUNS:
                    return f"{word[0]} {best}"
                return best.capitalize() if word[0].isupper() else best
            if english and slips == 1 and (two := _parted(lower, ranks)):
                return two.capitalize() if word[0].isupper() else two
        return None

    def meant(self, word: str, rank: int | None = None) -> str | None:
        """Return the frequent word that a right, but rare word may be a slip for, as "dram" for
        "dream": they differ by one letter. rank: the word's own, or another in its place."""
        lower, ranks = word.lower(), self.ranks
        rank = ranks.get(lower) if rank is None else rank
        if rank is None or not SHORTEST <= len(word) <= LONGEST or not word.isalpha():
            return None
        most = min(FREQUENT, rank // TIMES)
        known = [one for one in self._near(lower, 1) if ranks[one] < most]
        best = min(known, key=lambda one: (self._unlike(lower, one), one), default=None)
        return best.capitalize() if best and word[0].isupper() else best

    def is_no_slip(self, word: str) -> bool:
        """Whether a right word is rare, but no slip for a frequent one."""
        rare = len(word) >= PLAIN and self.ranks.get(word.lower(), -1) >= FREQUENT
        return rare and self.meant(word) is None

    def misspelt(self, words: Sequence[str], *, english: bool = False) -> list[int]:
        """Return the indices of words that are like a right word, but none. Names, acronyms and
        foreign words, by their letters, are not among them. english: nor are regular forms of rare
        words, which no list has all of ("apparelled"), unless they may be slips."""
        return [
            i
            for i, word in enumerate(words)
            if len(word) >= PLAIN
            and word.islower()
            and all(letter in self.letters for letter in word)
            and self.spelled(word) is not None
            and not (english and self._is_form_of_rare(word))
        ]

    def _is_form_of_rare(self, word: str) -> bool:
        ranks = [self.ranks[stem] for stem in _stems(word) if stem in self.ranks]
        return bool(ranks) and min(ranks) >= RARE and self.meant(word, min(ranks)) is None

    def _unlike(self, word: str, right: str) -> float:
        return _cost(word, right) + log2(self.ranks[right] + 2)

    def _near(self, word: str, slips: int) -> frozenset[str]:
        """Return the right words that differ from a word by one letter, or by two, one of which is
        a likely slip."""
        if (found := self._kept.get((word, slips))) is None:
            if len(self._kept) >= KEPT:
                self._kept.clear()
            strings = [word] if slips == 1 else _slips(word)
            found = self._kept[word, slips] = frozenset(self.index.of(strings, self.letters))
        return found


def _parted(word: str, ranks: Mapping[str, int]) -> str | None:
    """Return two frequent words that make this one, the shorter of three letters at least, or "a"
    or "i"; the most frequent pair of several."""
    cuts = [(word[:k], word[k:]) for k in range(1, len(word))]
    pairs = [
        (ranks[a] + ranks[b], f"{a} {b}")
        for a, b in cuts
        if (len(a) >= SHORTEST or a in {"a", "i"}) and len(b) >= SHORTEST
        if max(ranks.get(a, COMMON), ranks.get(b, COMMON)) < COMMON
    ]
    return min(pairs)[1] if pairs else None


def _stems(word: str) -> Iterator[str]:
    """Yield what an English word may be a form of, and longer forms of it."""
    yield from (word + ending for ending in ("s", "ed", "ing", "ly"))
    for ending in ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) >= SHORTEST:
            yield from (stem, stem + "e")
            if stem[-1] == "i":
                yield stem[:-1] + "y"
            if stem[-1] == stem[-2]:
                yield stem[:-1]


def _slips(word: str) -> set[str]:
    """Return the word with a letter less or doubled, two swapped, or another vowel."""
    cuts = [(word[:k], word[k:]) for k in range(len(word))]
    found = {a + b[1:] for a, b in cuts} | {a + b[0] + b for a, b in cuts}
    found |= {a + b[1] + b[0] + b[2:] for a, b in cuts if b[1:]}
    return found | {a + c + b[1:] for a, b in cuts if b[0] in _VOWELS for c in _VOWELS}


def _cost(word: str, right: str) -> float:
    start, old, new = apart(word, right)
    if len(old + new) == 1:
        # one letter more or less, beside one that it doubles
        longer = max(word, right, key=len)
        cost = 0.5 if (old + new) in longer[max(0, start - 1) : start] else 1.2
    elif len(old) == len(new) == 1:
        cost = 1.0 if {old, new} <= _VOWELS else 1.5
    else:
        cost = 0.7 if old == new[::-1] else 2.5
    return UNLIKE * (cost + 1.5 * (start == 0))
