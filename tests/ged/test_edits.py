"""Edits of words as labels, by hand; GECToR's tags (Omelianchuk et al. 2020)."""

from __future__ import annotations

from random import Random

import pytest

from spacy_lal.ged.edits import edited, edits_of, similar


@pytest.mark.parametrize(
    ("words", "type", "correction", "edits"),
    [
        ("carrys", "R:VERB:SVA", "carries", ["-2+ies"]),
        ("go", "R:VERB:SVA", "goes", ["-0+es"]),
        ("is", "R:VERB:SVA", "are", ["=are"]),
        ("went", "R:VERB:FORM", "go", ["=go"]),
        ("their", "R:DET", "the", ["=the"]),
        ("dog", "M:DET", "the", ["+the"]),
        ("Dog", "M:DET", "The", ["+the"]),
        ("very", "U:ADV", "", [""]),
        ("monday", "R:ORTH", "Monday", ["^"]),
        ("alot", "R:ORTH", "a lot", ["=a lot"]),
        ("some body", "R:ORTH", "somebody", ["><", "><"]),
        ("be still", "R:WO", "still be", ["<>", "<>"]),
        ("to going", "R:VERB:FORM", "go", ["", ""]),
        ("has went", "R:VERB:TENSE", "have gone", ["=have", "=gone"]),
        ("beautifull", "R:SPELL", "beautiful", [""]),
        ("informations", "R:NOUN:NUM", "information", ["-1+"]),
    ],
)
def test_edits_by_hand(words: str, type: str, correction: str, edits: list[str]) -> None:
    assert edits_of(words.split(), type, correction) == edits
    assert edits_of(words.split(), type, None) == [None] * len(words.split())


def test_an_edit_makes_the_correction() -> None:
    rng = Random(1)
    letters = "abcde"
    for _ in range(2000):
        word, right = ("".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(2))
        right = rng.choice([right, word[: rng.randint(1, 9)] + right[:3]])
        if word == right:
            continue
        for old, new in ((word, right), (word.capitalize(), right.capitalize())):
            (edit,) = edits_of([old], "R:OTHER", new)
            assert edit
            assert edited(old, edit) == new


def test_edits_that_can_not_be_made() -> None:
    assert edited("go", "-2+x") is None
    assert edited("the", "=the") is None
    assert edited("be", "<>") is None
    assert edited("THEIR", "=the") == "THE"
    assert edited("CARRYS", "-2+ies") == "CARRIES"


def test_similar_strings_by_all_pairs() -> None:
    """Against edit distance with swaps, by its recurrence."""

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

    near, _ = similar("bed")
    rng = Random(2)
    for _ in range(500):
        other = "".join(rng.choices("bde", k=rng.randint(1, 5)))
        assert (other in near) == (distance("bed", other) == 1)
