"""Misspellings, by hand."""

from __future__ import annotations

import pickle

import pytest

from spacy_lal.ged import spelling
from spacy_lal.ged.spelling import RightWords

WORDS = [
    *("the", "later", "house", "friend", "letter", "receive", "monday", "necessary"),
    *("mouse", "horse", "their"),
]
RIGHT = RightWords(WORDS)


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("leter", "letter"),
        ("hosue", "house"),
        ("Recieve", "Receive"),
        ("freind", "friend"),
        ("neccesary", "necessary"),
        ("thier", "their"),
        ("Munday", "Monday"),
        ("house", None),
        ("xyzzy", None),
        ("te", None),
        ("leter" * 10_000, None),
        ("l3ter", None),
    ],
)
def test_words_by_hand(word: str, right: str | None) -> None:
    assert RIGHT.spelled(word) == right


def test_a_pickle_has_no_index() -> None:
    """The copy makes its own."""
    used = RightWords(WORDS)
    assert used.spelled("leter") == "letter"
    copied = pickle.loads(pickle.dumps(used))
    assert "index" in vars(used)
    assert "index" not in vars(copied)
    assert copied.spelled("Recieve") == "Receive"


def test_words_that_no_list_has() -> None:
    words = ["The", "leter", "Leter", "their", "l3ter", "thier", "te", "xyzzy", "leterś"]
    assert RIGHT.misspelt(words) == [1, 5]


def test_right_words_that_are_meant_as_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """One letter apart, and several times as frequent."""
    monkeypatch.setattr(spelling, "TIMES", 2)
    words = RightWords(["dream", "cream", "the", "a", "dram", "rare", "cram"])
    assert words.meant("dram") == "dream"
    assert words.meant("Cram") == "Cream"
    assert words.meant("the") is words.meant("rare") is words.meant("dreamm") is None


def test_regular_forms_of_rare_words_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "RARE", 3)
    monkeypatch.setattr(spelling, "TIMES", 2)
    listed = ["hosted", "city", "dog", "ostler", "sepulchral", "host", "apparel", "appareled"]
    words = RightWords([*listed, "sulky", "sulkies"])
    rare = ["ostlers", "sepulchrally", "apparelled", "sulkier"]
    assert words.misspelt([*rare, "citys", "hostd"]) == [0, 1, 2, 3, 4, 5]
    assert words.misspelt([*rare, "citys", "hostd"], english=True) == [4, 5]


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("goodfriend", "good friend"),
        ("Goodfriend", "Good friend"),
        ("goodd", "good"),
        ("ofriend", "friend"),
        ("afriend", "a friend"),
        ("Afriend", "A friend"),
        ("ihave", "I have"),
        ("Ihave", "I have"),
        ("ahave", "have"),
        ("iifriend", "friend"),
    ],
)
def test_two_words_as_one(word: str, right: str | None) -> None:
    """After words that differ by one letter; only in English."""
    often = [f"{letter * 9}" for letter in "bcdfghjklm"] * 10
    words = RightWords(["good", "i", "have", *often, "friend"])
    assert words.spelled(word, english=True) == right
    assert " " not in (words.spelled(word) or "")


def test_plurals_are_looked_for_first() -> None:
    words = RightWords(["church", "churches", "city", "cities", "dog", "dogs"])
    for word, right in {"churchs": "churches", "Citys": "Cities", "dogss": "dogs"}.items():
        assert words.spelled(word, english=True) == right
    assert words.spelled("churchs") == "church"


def test_a_letter_three_times_is_one_or_two() -> None:
    words = RightWords(["so", "soon", "pretty", "www"])
    found = [words.spelled(word, english=True) for word in ("soooo", "Prettty", "ewww", "plllz")]
    assert found == ["so", "Pretty", None, None]
    # German has such words
    assert words.spelled("ewww") == "www"
