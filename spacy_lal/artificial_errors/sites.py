"""Sites of possible errors in a sentence, and the changes there."""

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import NamedTuple

from ..formats.m2 import words_of
from .error_model import (
    ANY,
    LETTER_NOISE,
    START,
    VOWELS,
    Choice,
    ErrorModel,
    Noise,
    Weights,
    key_of,
)

REPLACE, INSERT = "replace", "insert"
"""Kinds of a `Site` besides noise."""
SHORTEST = 4
"""Length of the shortest word that is misspelled, in letters."""


_VARIANTS = (
    # matches "colour" and "favourite", not "course", "journey" and "four"
    (re.compile(r"(?<=[a-z]{3})our(?=(s|ed|ing|ers?|ful|less|able|ites?|hood|ly)?$)"), "or"),
    (re.compile(r"is(e[sd]?|ers?|ing|ations?|ational)$"), r"iz\1"),
    (re.compile(r"([aeiou][^aeiou]+[ae])ll(ed|ing|ers?)$"), r"\1l\2"),  # not "called"
    (re.compile(r"^(focus)s(e[sd]|ing)$"), r"\1\2"),
    (re.compile(r"wards$"), "ward"),
)


class Site(NamedTuple):
    """A place where an error is possible.

    weight: relative probability. how: REPLACE, INSERT or a `Noise`. start, end: the tokens that
    change, none for INSERT. text: the replaced phrase in the model's form, or the inserted word, ""
    for noise. choice: replacements of the phrase. kind: of the error, "" if its words decide it.
    """

    weight: float
    how: str
    start: int
    end: int
    text: str = ""
    choice: Choice = ((), (), 0.0)
    kind: str = ""


class Change(NamedTuple):
    """A change of the tokens [start, end) of the correct sentence to `new`, an error of a kind."""

    start: int
    end: int
    new: tuple[str, ...]
    kind: str = ""


def find_sites(words: Sequence[str], spaces: Sequence[bool], model: ErrorModel) -> list[Site]:
    """Return all sites of a sentence. Only tokens in the model's tables or well-known words change.
    Words are inserted only before words after whitespace."""
    first = first_word(words)
    keys = _keys(words, first, model)
    sites: list[Site] = []
    for at, word in enumerate(words):
        sites.extend(_replacements(keys, at, model))
        sites.extend(_swaps(words, keys, at, model))
        if word[:1].isalpha() and (at == 0 or spaces[at - 1]):
            sites.extend(_insertions(keys, at, model))
        if usual := usual_form(word, at == first, model):
            sites.extend(_noise(words, usual, at, first, model))
    return sites


def _keys(words: Sequence[str], first: int, model: ErrorModel) -> list[str]:
    """Return the words as tables have them; names and abbreviations keep their case. These are
    words in capitals among others, and words with an unusual capital."""
    shouted = _is_shouted(words)
    keys = []
    for at, word in enumerate(words):
        kept = False
        if len(word) > 1 and at != first and word[0].isupper() and not shouted:
            unusual = word not in model.words and uncapitalised(word) in model.words
            kept = word.isupper() or unusual
        keys.append(word if kept else key_of(word))
    return keys


def _replacements(keys: list[str], start: int, model: ErrorModel) -> Iterator[Site]:
    previous = keys[start - 1] if start else START
    longest = model.longest.get(keys[start], 1)
    for end in range(start + 1, min(start + longest, len(keys)) + 1):
        phrase = " ".join(keys[start:end])
        for after, choice in model.phrases.get(phrase, ()):
            if weight := after.get(previous, 0.0) if after else 1.0:
                yield Site(weight * choice[2], REPLACE, start, end, phrase, choice)


def _swaps(words: Sequence[str], keys: list[str], at: int, model: ErrorModel) -> Iterator[Site]:
    if weight := model.swaps.get(keys[at]):
        for start in range(max(at - 1, 0), min(at, len(words) - 2) + 1):
            pair = words[start : start + 2]
            if all(map(str.isalpha, pair)) and keys[start] != keys[start + 1]:
                yield Site(weight, Noise.SWAP, start, start + 2)


def _insertions(keys: list[str], at: int, model: ErrorModel) -> Iterator[Site]:
    previous, following = keys[at - 1] if at else START, keys[at]
    if previous.isspace():
        return
    for table in (following, ANY):
        for inserted, rate, insertion in model.insertions_before.get(table, ()):
            weight = rate * insertion.weight(previous, following)
            # in a doubled word, neither is clearly the unnecessary one
            if weight > 0 and inserted not in (previous, following):
                yield Site(weight, INSERT, at, at, inserted)


def _noise(
    words: Sequence[str], usual: str, at: int, first: int, model: ErrorModel
) -> Iterator[Site]:
    """Yield noise. usual: the word at `at` in its case within a sentence."""
    key = usual.lower()
    for how, weight in model.noise.items():
        end = at + 1
        if how in LETTER_NOISE:
            possible = len(usual) >= SHORTEST and key not in model.closed
            weight *= len(usual) - SHORTEST + 1
        elif how == Noise.SWAP:
            after = words[at + 1] if at + 1 < len(words) else ""
            both = {key, after.lower()}
            possible = after in model.words and len(both) == 2 and not both & model.closed
            end = at + 2
        elif how == Noise.LOWER:
            possible = at != first and usual[0].isupper()
        else:
            possible = at != first and usual[0].islower() and key not in model.closed
        if possible and weight > 0:
            yield Site(weight, how, at, end)


def change_at(site: Site, words: Sequence[str], model: ErrorModel, rng: Random) -> Change | None:
    """Return the error at the site; None if it would change nothing."""
    old = tuple(words[site.start : site.end])
    new: tuple[str, ...]
    if site.how == INSERT:
        new = tuple(words_of(site.text))
        if len(words) > 1 and _is_shouted(words):
            new = tuple(word.upper() for word in new)
    elif site.how == REPLACE:
        others, weights, _ = site.choice
        new = with_case_of(old, tuple(words_of(rng.choices(others, weights)[0])))
    elif site.how == Noise.SWAP:
        new = old[::-1]
    elif site.how in LETTER_NOISE:
        other = misspelled(old[0], site.how, model.letters, rng)
        if other is None or (model.lang == "en" and is_variant(old[0], other)):
            return None
        new = (other,)
    else:
        initial = old[0][0]
        new = ((initial.lower() if site.how == Noise.LOWER else initial.upper()) + old[0][1:],)
    kind = "SPELL" if site.how in LETTER_NOISE else site.kind
    return None if new == old else Change(site.start, site.end, new, kind)


def misspelled(word: str, how: str, letters: Mapping[str, Weights], rng: Random) -> str | None:
    """Return `word` with one misspelling of kind `how`; None if there is none. letters: confusions
    for SUBSTITUTE. The first letter stays, as it is seldom wrong."""
    if how == Noise.SUBSTITUTE:
        found = {
            (place, old, new): weight
            for place in range(1, len(word))
            for old in (word[place : place + n] for n in range(1, min(4, len(word) - place) + 1))
            for new, weight in letters.get(old, {}).items()
            if new != old
        }
        if not sum(found.values()):
            return None
        place, old, new = rng.choices(list(found), list(found.values()))[0]
        return word[:place] + new + word[place + len(old) :]
    changed = []
    for place in range(1, len(word) - (how == Noise.TRANSPOSE)):
        before, letter, rest = word[:place], word[place], word[place + 1 :]
        if how == Noise.TRANSPOSE:
            changed.append(before + rest[0] + letter + rest[1:])
        elif how == Noise.OMIT:
            changed.append(before + rest)
        # DOUBLE, where languages have double letters, but never three
        elif before[-1] in VOWELS and letter not in VOWELS and rest[:1] != letter:
            changed.append(before + letter * 2 + rest)
    changed = [other for other in changed if other != word]
    return rng.choice(changed) if changed else None


def is_variant(one: str, other: str) -> bool:
    """Return whether two words are British and American spellings, or differ by "-wards" and
    "-ward"."""
    return _american(one) == _american(other)


def _american(word: str) -> str:
    word = word.lower()
    for pattern, spelling in _VARIANTS:
        word = pattern.sub(spelling, word)
    return word


def _is_shouted(words: Sequence[str]) -> bool:
    return not any(letter.islower() for word in words for letter in word)


def usual_form(word: str, is_first: bool, model: ErrorModel) -> str:
    """Return a well-known word in its case inside a sentence; "" for other words."""
    if word in model.words:
        return word
    lower = uncapitalised(word)
    return lower if is_first and lower in model.words else ""


def uncapitalised(word: str) -> str:
    return word[:1].lower() + word[1:]


def first_word(words: Sequence[str]) -> int:
    """Return the index of the first token with a letter, the number of tokens if none has one."""
    found = (at for at, word in enumerate(words) if any(map(str.isalpha, word)))
    return next(found, len(words))


def with_case_of(old: Sequence[str], new: tuple[str, ...]) -> tuple[str, ...]:
    """Return `new` in capitals if all of `old` is, or with an initial capital if `old` has one. "I"
    and "A" give no capital, as they are ambiguous."""
    if len(old[0]) < 2 or not new:
        return new
    if all(word.isupper() for word in old):
        return tuple(word.upper() for word in new)
    if old[0][0].isupper():
        return (new[0][:1].upper() + new[0][1:], *new[1:])
    return new
