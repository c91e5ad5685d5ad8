"""Evidence of errors by how often English words follow each other in correct text."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from hashlib import blake2b

import numpy
import safetensors.numpy
from numpy.typing import NDArray

from ..formats.edit_kinds import irregular

EDGE = ""
"""What stands before the first word of a sentence and behind its last."""
LONGEST = 3
"""Words of the longest n-gram."""
LEVELS, LEVEL_BITS = 16, 4
"""How many sizes a count has, each twice the one before, and bits that hold them."""
CELLS = 1.25
"""Cells of a table for each n-gram."""
LEAST = (5, 3, 5)
"""How often a word, a pair and three words are in the text if a table has them."""
UNSEEN = 0.4
"""What a probability is multiplied with for each word less that it is estimated by."""
IMPROBABLE = -0.066
"""Evidence for a unit of the word's log probability behind the two words before it."""
LIKE, LIKE_FROM = 0.049, 6.6
"""Evidence for a unit of log probability that another form of the word would gain, and from how
much less than nothing it counts."""
CONFUSED, CONFUSED_FROM = 0.062, 4.2
"""The same for another word of its kind: an article, a preposition, …"""
BEGIN = -0.8
"""Evidence without any of these."""

KINDS = [
    "in on at of to for with by from about into over under after before during through between "
    "without within against as than",
    "a an the this these that those some any my your his her its our their no",
    "is are was were be been being am 's 're",
    "have has had having 've",
    "do does did doing done",
    "will would can could may might shall should must",
    "i me he him she her they them we us it",
    "much many few little less fewer more most lot",
    "who which that what where when whose",
    "than then there their",
]
"""Words that learners take for each other."""

_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-"})
_ENDINGS = ("s", "es", "ed", "ing", "d", "ly", "er", "est", "n", "r")
_ODD = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)

Hashes = NDArray[numpy.uint64]
Counts = NDArray[numpy.float64]


@lru_cache(maxsize=1 << 16)
def plain(token: str) -> str:
    """Return a token as it is counted: in small letters, numbers as "0", quotes straight."""
    lower = token.translate(_QUOTES).lower()
    return '"' if lower in ("``", "''") else "0" if lower[:1].isdigit() else lower


@lru_cache(maxsize=1 << 17)
def word_hash(word: str) -> int:
    """Return the hash of a word, the same on every machine."""
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")


def joined(*words: Hashes) -> Hashes:
    """Return the hashes of n-grams, given those of their words [n-grams], the first word first."""
    found = numpy.full(len(words[0]), len(words), numpy.uint64)
    for word in words:
        found = _mixed(found * numpy.uint64(_ODD[2]) + word)
    return found


class NgramCounts:
    """How often n-grams are in a text, to the next power of two, in 20 bits each.

    A static function of hashes: the fingerprint and the size of an n-gram are the exclusive or of
    three cells, and one of 4,096 n-grams that it doesn't have seems to be there.
    """

    def __init__(self, cells: NDArray[numpy.uint16], total: int, seed: int = 0) -> None:
        self.cells, self.total, self.seed = cells, total, seed

    @classmethod
    def of(cls, hashes: Hashes, counts: NDArray[numpy.int64], total: int) -> "NgramCounts":
        """Make a table. hashes: of different n-grams (`joined`). total: words of the text."""
        levels = numpy.log2(numpy.maximum(counts, 1)).astype(numpy.uint16)
        levels = numpy.minimum(levels, LEVELS - 1)
        part = max(2, int(len(hashes) * CELLS) // 3 + 1)
        for seed in range(100):
            places, prints = _places(hashes, part, seed)
            if (order := _peeled(places, 3 * part)) is not None:
                break
        else:
            raise ValueError("the n-grams' hashes are not different")
        values = (prints << numpy.uint16(LEVEL_BITS)) | levels
        cells = numpy.zeros(3 * part, numpy.uint16)
        for keys, own in reversed(order):
            # others' cells are filled, and each key's own cell is still 0
            of_keys = places[:, keys]
            cells[own] = values[keys] ^ numpy.bitwise_xor.reduce(cells[of_keys], 0)
        return cls(cells, total, seed)

    def __call__(self, *words: Hashes) -> Counts:
        """Return the counts of n-grams, 0 of those that are rare; words: as `joined` takes them."""
        places, prints = _places(joined(*words), len(self.cells) // 3, self.seed)
        values = numpy.bitwise_xor.reduce(self.cells[places], 0)
        levels = (values & numpy.uint16(LEVELS - 1)).astype(numpy.float64)
        return numpy.where(values >> numpy.uint16(LEVEL_BITS) == prints, 2.0 ** (levels + 0.5), 0.0)

    def to_bytes(self) -> bytes:
        about = numpy.array([self.total, self.seed], numpy.int64)
        return safetensors.numpy.save({"cells": self.cells, "about": about})

    @classmethod
    def from_bytes(cls, data: bytes) -> "NgramCounts":
        stored = safetensors.numpy.load(data)
        total, seed = stored["about"].tolist()
        return cls(stored["cells"], total, seed)


def counted(sentences: Iterable[Sequence[str]], least: Sequence[int] = LEAST) -> NgramCounts:
    """Return the counts of the words, pairs and threes of sentences; `least`: see `LEAST`."""
    ids: dict[str, int] = {EDGE: 0}
    stream = [0]
    for words in sentences:
        stream += (ids.setdefault(plain(word), len(ids)) for word in words)
        stream.append(0)
    text = numpy.array(stream, numpy.int32)
    of_word = numpy.fromiter(map(word_hash, ids), numpy.uint64, len(ids))
    hashes, counts = [], []
    for n in range(1, LONGEST + 1):
        keys = _windows(text, n, len(ids))
        keys.sort()
        first = numpy.flatnonzero(numpy.diff(keys, prepend=numpy.int64(-1)))
        count = numpy.diff(first, append=len(keys))
        kept = keys[first[count >= least[n - 1]]]
        parts = []
        for _ in range(n):
            kept, last = numpy.divmod(kept, len(ids))
            parts.append(of_word[last])
        hashes.append(joined(*reversed(parts)))
        counts.append(count[count >= least[n - 1]])
    every, first = numpy.unique(numpy.concatenate(hashes), return_index=True)
    return NgramCounts.of(every, numpy.concatenate(counts)[first], len(text))


def evidence(
    words: Sequence[str], starts: Sequence[int], at: Sequence[int], counts: NgramCounts
) -> NDArray[numpy.float64]:
    """Return the log odds that n-grams add to those of some words being wrong [words `at`].

    words: a Doc's tokens. starts: where its sentences begin. A word has more of it the less
    probable it is behind the two before it, and the more probable the words around it are with
    another of its forms or kind.
    """
    edge = word_hash(EDGE)
    windows = numpy.full((len(at), 5), edge, numpy.uint64)
    bounds = [*starts, len(words)]
    for row, i in enumerate(at):
        sentence = bisect_right(bounds, i)
        start, end = bounds[sentence - 1 : sentence + 1]
        for k in range(max(start, i - 2), min(end, i + 3)):
            windows[row, k - i + 2] = word_hash(plain(words[k]))
    log_p, gains = _log_probability(counts, windows[:, :3]), of_others(words, at, windows, counts)
    found = BEGIN + IMPROBABLE * log_p
    for gain, weight, least in zip(
        gains, (LIKE, CONFUSED), (LIKE_FROM, CONFUSED_FROM), strict=True
    ):
        has = numpy.isfinite(gain)
        found[has] += weight * (gain[has] + least)
    return found


def of_others(
    words: Sequence[str], at: Sequence[int], windows: Hashes, counts: NgramCounts
) -> tuple[Counts, Counts]:
    """Return by how much the log probability of words' windows grows with the best of their other
    forms, and of other words of their kind; minus infinity where there is none."""
    own = _of_window(counts, windows)
    gains = []
    for table in (forms, confused):
        rows, others = [], []
        for row, i in enumerate(at):
            for other in table(plain(words[i])):
                rows.append(row)
                others.append(word_hash(other))
        best = numpy.full(len(at), -numpy.inf)
        if rows:
            changed = windows[rows]
            changed[:, 2] = others
            known = counts(changed[:, 2]) > 0
            if known.any():
                numpy.maximum.at(best, numpy.array(rows)[known], _of_window(counts, changed[known]))
        gains.append(best - own)
    return gains[0], gains[1]


def confused(word: str) -> set[str]:
    """Return the other words of a word's kinds."""
    return _kinds().get(word, set()) - {word}


@lru_cache(maxsize=1 << 14)
def forms(word: str) -> frozenset[str]:
    """Return strings that may be other forms of a word, or of one that it is made of."""
    if not word.isalpha() or len(word) < 2:
        return frozenset()
    found = set[str]().union(*map(_regular, _stems(word)))
    for group in irregular():
        if word in group:
            found.update(group)
    return frozenset(found - {word})


@cache
def _kinds() -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = {}
    for kind in KINDS:
        for word in kind.split():
            found.setdefault(word, set()).update(kind.split())
    return found


def _regular(stem: str) -> set[str]:
    found = {stem, *(stem + end for end in _ENDINGS)}
    found |= {stem + stem[-1] + "ed", stem + stem[-1] + "ing"}
    if stem[-1] == "e":
        found.add(stem[:-1] + "ing")
    if stem[-1] == "y":
        found |= {stem[:-1] + end for end in ("ies", "ied", "ily")}
    return found | ({stem[:-1] + "y"} if stem.endswith("le") else set())


def _stems(word: str) -> set[str]:
    """Return the strings of which a word may be a form."""
    found = {word}
    for end in _ENDINGS:
        if word.endswith(end):
            found.add(word[: -len(end)])
    for end in ("ed", "ing"):
        if word.endswith(end) and word[: -len(end)][-1:] == word[: -len(end)][-2:-1]:
            found.add(word[: -len(end) - 1])
    if word.endswith("ing"):
        found.add(word[:-3] + "e")
    for end in ("ies", "ied", "ily"):
        if word.endswith(end):
            found.add(word[:-3] + "y")
    if word.endswith("y"):
        found.add(word[:-1] + "le")
    return {stem for stem in found if len(stem) > 1}


def _of_window(counts: NgramCounts, windows: Hashes) -> Counts:
    """Return the log probability of a window's third word and the two behind it. What is beyond
    the sentence's end is as probable with each word there."""
    found = sum(_log_probability(counts, windows[:, k : k + 3]) for k in range(3))
    return numpy.asarray(found)


def _log_probability(counts: NgramCounts, windows: Hashes) -> Counts:
    """Return the log probability of the last of three words [n-grams, 3]."""
    a, b, c = windows.T
    of_three, of_two = counts(a, b, c), counts(b, c)
    by_two = of_three / numpy.maximum(counts(a, b), numpy.maximum(of_three, 1.0))
    by_one = UNSEEN * of_two / numpy.maximum(counts(b), numpy.maximum(of_two, 1.0))
    alone = UNSEEN**2 * numpy.maximum(counts(c), 0.5) / counts.total
    chosen = numpy.where(of_two > 0, by_one, alone)
    return numpy.log(numpy.where(of_three > 0, by_two, chosen))


def _windows(text: NDArray[numpy.int32], n: int, base: int) -> NDArray[numpy.int64]:
    """Return each n-gram of a text as one number; an edge is only its first or last word."""
    if base**n >= 1 << 63:
        raise ValueError(f"{base:,} different words are too many")
    size = max(0, len(text) - n + 1)
    keys, inside = numpy.zeros(size, numpy.int64), numpy.ones(size, bool)
    for k in range(n):
        part = text[k : k + size]
        keys = keys * base + part
        if 0 < k < n - 1:
            inside &= part != 0
    return keys[inside]


def _mixed(hashes: Hashes) -> Hashes:
    hashes = (hashes ^ (hashes >> numpy.uint64(32))) * numpy.uint64(_ODD[0])
    return (hashes ^ (hashes >> numpy.uint64(29))) * numpy.uint64(_ODD[1])


def _places(
    hashes: Hashes, part: int, seed: int
) -> tuple[NDArray[numpy.int64], NDArray[numpy.uint16]]:
    """Return the three cells of each n-gram [3, n-grams], one in each part, and fingerprints."""
    seeded = _mixed(hashes + numpy.uint64(seed))
    other = _mixed(seeded)
    low, half = numpy.uint64(0xFFFFFFFF), numpy.uint64(32)
    threes = (seeded & low, seeded >> half, other & low)
    size = numpy.uint64(part)
    places = [(h * size >> half).astype(numpy.int64) + k * part for k, h in enumerate(threes)]
    return numpy.stack(places), (other >> numpy.uint64(52)).astype(numpy.uint16)


def _peeled(
    places: NDArray[numpy.int64], size: int
) -> list[tuple[NDArray[numpy.int64], NDArray[numpy.int64]]] | None:
    """Return n-grams and a cell of each that none of the later ones has; None if there are none.
    Within one step no two have the same own cell, and none's own cell is another's."""
    left = numpy.ones(places.shape[1], bool)
    degree = numpy.bincount(places.ravel(), minlength=size)
    total = numpy.zeros(size, numpy.int64)
    keys = numpy.arange(places.shape[1])
    for row in places:
        numpy.add.at(total, row, keys)
    steps = []
    while left.any():
        alone = numpy.flatnonzero(degree == 1)
        if not len(alone):
            return None
        found, first = numpy.unique(total[alone], return_index=True)
        own = alone[first]
        steps.append((found, own))
        left[found] = False
        for row in places[:, found]:
            numpy.subtract.at(degree, row, 1)
            numpy.subtract.at(total, row, found)
    return steps
