"""Where in a sentence which errors are possible, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ..formats.m2 import words_of
from .error_model import CAPITAL, LETTER_NOISE, LOWER, START, SWAP, Choice, ErrorModel
from .letters import SHORTEST, is_variant, misspelled

REPLACE, INSERT = "replace", "insert"
"""What a `Site` does with its tokens besides noise."""


@dataclass(frozen=True)
class Site:
    """A place where an error is possible.

    weight: how probable it is. how: REPLACE, INSERT or one of `NOISE`. start, end: the tokens it
    changes, none for INSERT. text: the phrase that is replaced as the model has it, or the word to
    insert, "" for noise. choice: what replaces the phrase.
    """

    weight: float
    how: str
    start: int
    end: int
    text: str = ""
    choice: Choice = ((), (), 0.0)


@dataclass(frozen=True)
class Change:
    """Tokens [start, end) of the correct sentence become `new`; none if start == end."""

    start: int
    end: int
    new: tuple[str, ...]


def find_sites(words: Sequence[str], spaces: Sequence[bool], model: ErrorModel) -> list[Site]:
    """All sites of a sentence.

    Tokens change only if the model's tables or its well-known words have them. Words are put
    before words, and only where there is whitespace.
    """
    first = first_word(words)
    keys = _keys(words, first, model)
    sites: list[Site] = []
    for start, key in enumerate(keys):
        _replacements(keys, start, model, sites)
        _swaps(words, keys, start, model, sites)
        word = words[start]
        if word[:1].isalpha() and (start == 0 or spaces[start - 1]):
            previous = keys[start - 1] if start else START
            if not previous.isspace():
                _insertions(previous, key, start, model, sites)
        if usual := usual_form(word, start == first, model):
            _noise(words, usual, start, first, model, sites)
    return sites


def _keys(words: Sequence[str], first: int, model: ErrorModel) -> list[str]:
    """The words as tables have them; names and abbreviations as they are, to be in no table.

    Such are words in capitals among others that aren't, and those with a capital that is unusual.
    """
    shouted = _is_shouted(words)
    keys = []
    for at, word in enumerate(words):
        kept = False
        if len(word) > 1 and at != first and word[0].isupper() and not shouted:
            lower = word[0].lower() + word[1:]
            kept = word.isupper() or (lower in model.words and word not in model.words)
        keys.append(word if kept else key_of(word))
    return keys


def _replacements(keys: list[str], start: int, model: ErrorModel, sites: list[Site]) -> None:
    phrase = keys[start]
    previous = keys[start - 1] if start else START
    longest = model.longer.get(phrase, 1)
    for end in range(start + 1, min(start + longest, len(keys)) + 1):
        if end > start + 1:
            phrase += " " + keys[end - 1]
        if found := model.phrases.get(phrase):
            sites.append(Site(found[2], REPLACE, start, end, phrase, found))
        for after, choice in model.phrases_after.get(phrase, ()):
            if weight := after.get(previous, 0.0):
                sites.append(Site(weight * choice[2], REPLACE, start, end, phrase, choice))


def _insertions(
    previous: str, following: str, start: int, model: ErrorModel, sites: list[Site]
) -> None:
    tables = model.insertions_before
    for table in (following, "*"):
        for inserted, rate, insertion in tables.get(table, ()):
            weight = rate * insertion.weight(previous, following)
            # a doubled word would not tell which of them is the unnecessary one
            if weight > 0 and inserted not in (previous, following):
                sites.append(Site(weight, INSERT, start, start, inserted))


def _swaps(
    words: Sequence[str], keys: list[str], at: int, model: ErrorModel, sites: list[Site]
) -> None:
    """The word at `at` before its predecessor, or behind its successor."""
    weight = model.swaps.get(keys[at])
    if not weight:
        return
    for start in (at - 1, at):
        pair = words[start : start + 2] if start >= 0 else ()
        if len(pair) == 2 and all(map(str.isalpha, pair)) and keys[start] != keys[start + 1]:
            sites.append(Site(weight, SWAP, start, start + 2))


def _noise(
    words: Sequence[str],
    usual: str,
    start: int,
    first: int,
    model: ErrorModel,
    sites: list[Site],
) -> None:
    """`usual`: the word at `start` as it is written within a sentence."""
    key = usual.lower()
    for how, weight in model.noise.items():
        if weight <= 0:
            continue
        if how in LETTER_NOISE:
            if len(usual) >= SHORTEST and key not in model.closed:
                sites.append(Site(weight * (len(usual) - SHORTEST + 1), how, start, start + 1))
        elif how == SWAP:
            after = words[start + 1] if start + 1 < len(words) else ""
            both = {key, after.lower()}
            if after in model.words and len(both) == 2 and not both & model.closed:
                sites.append(Site(weight, how, start, start + 2))
        elif start != first and (
            usual[0].isupper() if how == LOWER else usual[0].islower() and key not in model.closed
        ):
            sites.append(Site(weight, how, start, start + 1))


def change_at(site: Site, words: Sequence[str], model: ErrorModel, rng: Random) -> Change | None:
    """The error that is made there; None if it would change nothing."""
    old = tuple(words[site.start : site.end])
    new: tuple[str, ...]
    if site.how == INSERT:
        new = tuple(words_of(site.text))
        if len(words) > 1 and _is_shouted(words):
            new = tuple(word.upper() for word in new)  # among capitals
    elif site.how == REPLACE:
        others, weights, _ = site.choice
        new = with_case_of(old, tuple(words_of(rng.choices(others, weights)[0])))
    elif site.how == SWAP:
        new = (old[1], old[0])
    elif site.how == LOWER:
        new = (old[0][0].lower() + old[0][1:],)
    elif site.how == CAPITAL:
        new = (old[0][0].upper() + old[0][1:],)
    else:
        other = misspelled(old[0], site.how, model.letters, rng)
        if other is None or (model.lang == "en" and is_variant(old[0], other)):
            return None
        new = (other,)
    return None if new == old else Change(site.start, site.end, new)


def _is_shouted(words: Sequence[str]) -> bool:
    return not any(letter.islower() for word in words for letter in word)


def key_of(word: str) -> str:
    """A word as tables have it."""
    return "I" if word == "I" else word.lower().replace("’", "'")


def usual_form(word: str, is_first: bool, model: ErrorModel) -> str:
    """A well-known word as it is written within a sentence; "" if it isn't well known."""
    if word in model.words:
        return word
    lower = word[:1].lower() + word[1:]
    return lower if is_first and lower in model.words else ""


def first_word(words: Sequence[str]) -> int:
    """The index of the first token with a letter, or of no token if there is none."""
    for index, word in enumerate(words):
        if any(letter.isalpha() for letter in word):
            return index
    return len(words)


def with_case_of(old: Sequence[str], new: tuple[str, ...]) -> tuple[str, ...]:
    """`new` in capitals if all of `old` is, or with an initial one if `old` has; but for "I" and
    "A", which don't say which of these they are."""
    if len(old[0]) < 2 or not new:
        return new
    if all(word.isupper() for word in old):
        return tuple(word.upper() for word in new)
    if old[0][0].isupper():
        return (new[0][:1].upper() + new[0][1:], *new[1:])
    return new
