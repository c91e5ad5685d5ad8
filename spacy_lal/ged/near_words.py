"""Words that differ from a string by one letter, found among many without trying every letter.

Two strings of one length that differ in one letter are the same without it, and a string with a
letter more is the other one without it. So an index of all words without each of their letters
finds both (as SymSpell, Garbe 2012). Each entry is a hash and the number of a word, 12 bytes.
Swapped letters are found by the hash of the whole word.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy
from numpy.typing import NDArray

from ..formats.parallel import apart

_BASE = 0x9E3779B97F4A7C15
"""Base of the hashes. It is odd, so none of its powers is 0 modulo 2**64."""


class NearWords:
    """Finds the words that are a string with one letter left out, added or replaced, or with two
    neighbours swapped."""

    def __init__(self, words: Iterable[str]) -> None:
        self.words = [word for word in words if word]
        whole, less = [], []
        for length, numbers in _by_length(self.words).items():
            hashes = _hashes([self.words[number] for number in numbers], length)
            of_words = numpy.array(numbers, numpy.int32)
            whole.append((hashes.whole, of_words))
            less.append((hashes.less.ravel(), of_words.repeat(length)))
        self._whole, self._less = _Index(whole), _Index(less)

    def of(self, strings: Collection[str], letters: Collection[str]) -> set[str]:
        """Return the words near any of the strings, but none of these. letters: those that may be
        added, or stand in the place of another."""
        found = set[str]()
        texts = [string for string in strings if string]
        for length, numbers in _by_length(texts).items():
            whole, less, swapped = _hashes([texts[number] for number in numbers], length)
            near = [*self._whole.find(numpy.concatenate([less, swapped], 1))]
            near += self._less.find(numpy.concatenate([less, whole[:, None]], 1))
            for row, number in near:
                word = self.words[number]
                if word not in found and _is_near(texts[numbers[row]], word, letters):
                    found.add(word)
        return found.difference(strings)


def _is_near(one: str, other: str, letters: Collection[str]) -> bool:
    _, old, new = apart(one, other)
    if len(new) == 1 and len(old) < 2:
        return new in letters
    return (len(old), new) == (1, "") or (len(old) == 2 and old == new[::-1])


class _Hashes(NamedTuple):
    """Hashes of k strings of n letters."""

    whole: NDArray[numpy.uint64]
    """[k]"""
    less: NDArray[numpy.uint64]
    """[k, n], of the string without each letter."""
    swapped: NDArray[numpy.uint64]
    """[k, n - 1], of the string with each letter and the next swapped."""


def _hashes(strings: Sequence[str], length: int) -> _Hashes:
    """Return hashes: sums of letters times powers of `_BASE`, modulo 2**64."""
    letters = numpy.array(strings, dtype=f"U{length}").view(numpy.uint32)
    letters = letters.reshape(len(strings), length).astype(numpy.uint64)
    powers = numpy.full(length, _BASE, numpy.uint64)
    powers[0] = 1
    powers = numpy.multiply.accumulate(powers)
    here = letters * powers
    before = here.cumsum(1)
    # letters behind one that is left out move forward
    moved = letters[:, 1:] * powers[:-1]
    behind = numpy.zeros_like(here)
    behind[:, :-1] = moved[:, ::-1].cumsum(1)[:, ::-1]
    whole = before[:, -1]
    steps = (letters[:, 1:] - letters[:, :-1]) * (powers[:-1] - powers[1:])
    return _Hashes(whole, before - here + behind, whole[:, None] + steps)


class _Index:
    """The numbers of words by hashes. parts: hashes and numbers."""

    def __init__(self, parts: Iterable[tuple[NDArray[numpy.uint64], NDArray[numpy.int32]]]) -> None:
        nothing = numpy.empty(0, numpy.uint64), numpy.empty(0, numpy.int32)
        hashes, numbers = map(numpy.concatenate, zip(nothing, *parts, strict=True))
        order = hashes.argsort()
        self.hashes, self.numbers = hashes[order], numbers[order]

    def find(self, wanted: NDArray[numpy.uint64]) -> Iterator[tuple[int, int]]:
        """Yield the row of each hash of `wanted` [k, n] that is here, and the number of a word."""
        if not len(self.hashes):
            return
        flat = wanted.ravel()
        first = self.hashes.searchsorted(flat)
        hits = numpy.flatnonzero(self.hashes.take(first, mode="clip") == flat)
        rows, first = hits // wanted.shape[1], first[hits]
        last = self.hashes.searchsorted(flat[hits], "right")
        for row, start, end in zip(rows.tolist(), first.tolist(), last.tolist(), strict=True):
            yield from ((row, number) for number in self.numbers[start:end].tolist())


def _by_length(strings: Iterable[str]) -> dict[int, list[int]]:
    found = defaultdict(list)
    for number, string in enumerate(strings):
        found[len(string)].append(number)
    return found
