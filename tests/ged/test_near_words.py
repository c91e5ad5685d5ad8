"""Near words against edit distance by its recurrence, and against all strings one letter apart."""

from __future__ import annotations

from random import Random

import pytest

from spacy_lal.ged import near_words
from spacy_lal.ged.near_words import NearWords


def distance(a: str, b: str) -> int:
    rows = [[i + j if not i * j else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            best = [rows[i - 1][j] + 1, rows[i][j - 1] + 1]
            best.append(rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if min(i, j) > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2]:
                best.append(rows[i - 2][j - 2] + 1)
            rows[i][j] = min(best)
    return rows[-1][-1]


def random_words(rng: Random, letters: str, count: int) -> list[str]:
    return ["".join(rng.choices(letters, k=rng.randint(1, 6))) for _ in range(count)]


@pytest.mark.parametrize("letters", ["bde", "ab𝒳č"])
def test_distance_of_one(letters: str) -> None:
    rng = Random(2)
    words = sorted(set(random_words(rng, letters, 300)))
    near = NearWords(words)
    for string in random_words(rng, letters, 60):
        wanted = {word for word in words if distance(string, word) == 1}
        assert near.of([string], letters) == wanted


def test_other_letters_and_several_strings() -> None:
    """What is added, or in the place of another, is one of the letters; what goes may be any."""
    rng = Random(3)
    words = sorted(set(random_words(rng, "abcé", 400)))
    near = NearWords(words)
    for _ in range(40):
        strings = set(random_words(rng, "abcé", 5))
        wanted = set()
        for string in strings:
            cuts = [(string[:k], string[k:]) for k in range(len(string) + 1)]
            wanted |= {a + b[1:] for a, b in cuts if b}
            wanted |= {a + b[1] + b[0] + b[2:] for a, b in cuts if b[1:]}
            wanted |= {a + c + b[1:] for a, b in cuts if b for c in "ab"}
            wanted |= {a + c + b for a, b in cuts for c in "ab"}
        assert near.of(strings, "ab") == (wanted & {*words}) - strings


def test_equal_hashes_are_no_equal_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words with the same letters have the same hash here."""
    monkeypatch.setattr(near_words, "_BASE", 1)
    words = ["stale", "least", "salte", "tales", "slates"]
    assert NearWords(words).of(["slate"], "s") == {"salte", "slates"}


def test_no_words() -> None:
    assert not NearWords([]).of(["word"], "abc")
    assert not NearWords(["", "a"]).of([], "abc")
    assert not NearWords(["word"]).of([""], "abc")
