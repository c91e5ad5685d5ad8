"""The forms of English verbs, found in clean text and a list of irregular ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .letters import VOWELS
from .sites import key_of


@dataclass(frozen=True)
class Verb:
    """base: "go"; third: "goes"; pasts: "went", "gone"; gerund: "going"."""

    base: str
    third: str
    pasts: tuple[str, ...]
    gerund: str


def verbs_of(
    sample: Iterable[tuple[Sequence[str], Sequence[bool]]],
    counts: Mapping[str, int],
    irregular: Iterable[Sequence[str]],
    before_base: frozenset[str],
    closed: frozenset[str] = frozenset(),
    least: int = 3,
) -> list[Verb]:
    """The verbs of a text, in alphabetical order.

    sample: words and spaces of sentences. counts: of all words of the text, lower-case.
    irregular: forms of a verb, its base first and then its third person; groups without a gerund
        aren't of a verb.
    before_base: words that a verb's base follows ("to", "will"). A regular verb is a word that does
        so, and of which the text has the other forms `least` times: "to" is before nouns, too.
    closed: words that are no verbs ("be", "not": of "bed" and "noted").
    """
    known = {group[0]: verb for group in irregular if (verb := _irregular(group))}
    after: dict[str, None] = {}
    for words, _ in sample:
        for one, two in pairwise(map(key_of, words)):
            if one in before_base:
                after[two] = None
    for base in after:
        if base in known or base in closed or len(base) < 2 or not base.isalpha():
            continue
        longer = regular(base + "e")
        for verb in (regular(base), regular(base, doubled=True)):
            if verb.gerund == longer.gerund and counts.get(longer.base, 0) > counts.get(base, 0):
                continue  # "hoping" is of "hope", not of "hop"
            forms = (verb.third, *verb.pasts, verb.gerund)
            if all(counts.get(form, 0) >= least for form in forms):
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
    """The forms by the rules of spelling. doubled: the last consonant before an ending's vowel."""
    stem = base + base[-1:] if doubled else base
    if base.endswith("ie"):
        gerund = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")):
        gerund = base[:-1] + "ing"
    else:
        gerund = stem + "ing"
    if base.endswith("e"):
        past = base + "d"
    else:
        past = _with_y(base, "ed") or stem + "ed"
    return Verb(base, plural(base), (past,), gerund)


def plural(word: str) -> str:
    """With the ending that a noun's plural and a verb's third person share."""
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return word + "es"
    return _with_y(word, "es") or word + "s"


def _with_y(word: str, ending: str) -> str:
    ends_in_y = word.endswith("y") and word[-2:-1] not in VOWELS
    return word[:-1] + "i" + ending if ends_in_y else ""
