"""Forms of English words: verbs, plurals, British and American spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from .error_model import VOWELS, key_of

_VARIANTS = (
    # matches "colour" and "favourite", not "course", "journey" and "four"
    (re.compile(r"(?<=[a-z]{3})our(?=(s|ed|ing|ers?|ful|less|able|ites?|hood|ly)?$)"), "or"),
    (re.compile(r"is(e[sd]?|ers?|ing|ations?|ational)$"), r"iz\1"),
    (re.compile(r"([aeiou][^aeiou]+[ae])ll(ed|ing|ers?)$"), r"\1l\2"),  # not "called"
    (re.compile(r"^(focus)s(e[sd]|ing)$"), r"\1\2"),
    (re.compile(r"wards$"), "ward"),
)


def is_variant(one: str, other: str) -> bool:
    """Return whether two words are British and American spellings, or differ by "-wards" and
    "-ward"."""
    return _american(one) == _american(other)


def _american(word: str) -> str:
    word = word.lower()
    for pattern, spelling in _VARIANTS:
        word = pattern.sub(spelling, word)
    return word


class Verb(NamedTuple):
    """Forms of a verb. base: "go"; third: "goes"; pasts: "went", "gone"; gerund: "going"."""

    base: str
    third: str
    pasts: tuple[str, ...]
    gerund: str

    @property
    def forms(self) -> list[str]:
        return [self.base, self.third, *self.pasts, self.gerund]


def verbs_of(
    sample: Iterable[tuple[Sequence[str], Sequence[bool]]],
    counts: Mapping[str, int],
    irregular: Iterable[Sequence[str]],
    before_base: frozenset[str],
    closed: frozenset[str] = frozenset(),
    least: int = 3,
) -> list[Verb]:
    """Return the verbs of a text, in alphabetical order.

    sample: words and spaces of sentences. counts: all words of the text, in lower case.
    irregular: forms of a verb, base and third person first; groups without a gerund are no verbs.
    before_base: words before a verb's base ("to", "will"). A regular verb follows one of these, and
    its other forms occur `least` times, as "to" precedes nouns, too.
    closed: words that are no verbs ("be", "not", which explain "bed" and "noted").
    """
    known = {group[0]: verb for group in irregular if (verb := _irregular(group))}
    pairs = (pair for words, _ in sample for pair in pairwise(map(key_of, words)))
    for base in {two for one, two in pairs if one in before_base} - closed - known.keys():
        if len(base) < 2 or not base.isalpha():
            continue
        longer = regular(base + "e")
        for verb in (regular(base), regular(base, doubled=True)):
            if verb.gerund == longer.gerund and counts.get(longer.base, 0) > counts.get(base, 0):
                continue  # "hoping" is a form of "hope", not of "hop"
            if all(counts.get(form, 0) >= least for form in verb.forms[1:]):
                known[base] = verb
                break
    return [known[base] for base in sorted(known)]


def _irregular(forms: Sequence[str]) -> Verb | None:
    gerunds = [form for form in forms if form.endswith("ing") and form != forms[0]]
    if not gerunds or len(forms) < 3:
        return None
    pasts = tuple(form for form in forms[2:] if form not in gerunds)
    return Verb(forms[0], forms[1], pasts, gerunds[0])


def regular(base: str, doubled: bool = False) -> Verb:
    """Return a verb's regular forms. doubled: whether the last consonant doubles before a vowel."""
    stem = base + base[-1:] if doubled else base
    past = base + "d" if base.endswith("e") else _with_y(base, "ed") or stem + "ed"
    if base.endswith("ie"):
        stem = base[:-2] + "y"
    elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        stem = base[:-1]
    return Verb(base, plural(base), (past,), stem + "ing")


def plural(word: str) -> str:
    """Return the form with the ending of plural nouns and of verbs' third person."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    return _with_y(word, "es") or word + "s"


def _with_y(word: str, ending: str) -> str:
    ends_in_y = word.endswith("y") and word[-2:-1] not in VOWELS
    return word[:-1] + "i" + ending if ends_in_y else ""
