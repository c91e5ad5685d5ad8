"""English phrases that are wrong wherever they stand: "have went", "enjoy to swim", "afraid from".

english_phrases.toml has their patterns. In a million words of edited English they match next to
nothing.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

from ..annotations.grammar_errors import is_missing
from ..artificial_errors.english import plural, regular
from ..formats.edit_kinds import irregular
from .articles import with_articles


class Phrase(NamedTuple):
    """Wrong tokens, the type of their error, and what should stand in their place, or, where words
    are missing, before them; None if that isn't known."""

    start: int
    end: int
    type: str
    right: str | None


class Pattern(NamedTuple):
    """A pattern, its type, what makes the right words, and its lists' pairs, as "went": "gone"."""

    regex: re.Pattern[str]
    type: str
    right: str | None
    pairs: dict[str, str]


class Patterns(NamedTuple):
    """All patterns; one that matches where any of them may, and those that it doesn't cover, since
    they name a group; past forms by participles; verbs whose last consonant doubles."""

    patterns: list[Pattern]
    any: re.Pattern[str]
    uncovered: list[Pattern]
    pasts: dict[str, str]
    doubled: frozenset[str]


LONGEST = 40
"""Letters of the longest words that patterns read."""
PASTS = {"cost": "cost", "do": "did", "have": "had", "ride": "rode"}
"""Pasts that the list of irregular words lacks."""
_BEFORE = r"(?<![^ \n])"
_GROUP = re.compile(r"(?<!\\)\((?!\?)|\(\?P<\w+>")
_I = re.compile(r"(?<!\S)i(?!\S)")
_LINE = re.compile(r"[^\n]+")


@cache
def english_phrases() -> Patterns:
    """Return the patterns of english_phrases.toml."""
    data = tomllib.loads(files(__package__).joinpath("english_phrases.toml").read_text("utf8"))
    # what is right, or the entry itself
    lists = {
        name: {(words := entry.split(maxsplit=1))[0]: words[-1] for entry in text.split(",")}
        for name, text in data["lists"].items()
    }
    choices = {name: "|".join(map(re.escape, of)) for name, of in lists.items()}
    patterns, alternatives = [], []
    for of in data["patterns"]:
        named = re.compile(r"(?<!\?P)<(\w+)>")
        regex = named.sub(lambda name: f"(?:{choices[name[1]]})", of["pattern"])
        pairs = {k: v for name in named.findall(of["pattern"]) for k, v in lists[name].items()}
        compiled = re.compile(rf"{_BEFORE}{regex}", re.MULTILINE)
        patterns.append(Pattern(compiled, of["type"], of.get("right"), pairs))
        if "(?P=" not in regex:
            alternatives.append(_GROUP.sub("(?:", regex))
    pasts = {participle: past for past, participle in lists["participle"].items()}
    some = re.compile(f"{_BEFORE}(?:{'|'.join(alternatives)})", re.MULTILINE)
    uncovered = [of for of in patterns if "(?P=" in of.regex.pattern]
    return Patterns(patterns, some, uncovered, pasts, frozenset(lists["doubled"]))


def wrong_phrases(words: Sequence[str], starts: Sequence[int]) -> Iterator[Phrase]:
    """Yield the wrong phrases of words in small letters, but for "I" and the first word of a
    sentence: others may be names. No word is in two of them.

    words: of a Doc. starts: where its sentences begin.
    """
    begins = set(starts)
    # a word is what stands between two spaces, so patterns don't reach into the next sentence
    lower = [f"{word.lower()} " if len(word) <= LONGEST else "_ " for word in words]
    lower = [straight(word) for word in lower]
    lower = ["\n" + word if i in begins else word for i, word in enumerate(lower)]
    ends = list(accumulate(map(len, lower)))
    text = "".join(lower)
    known, taken = english_phrases(), set[int]()
    for start, end in (line.span() for line in _LINE.finditer(text)):
        # most sentences have none: one search for all is several times as fast
        patterns = known.patterns if known.any.search(text, start, end) else known.uncovered
        for pattern in patterns:
            for match in pattern.regex.finditer(text, start, end):
                first, last = (bisect_right(ends, at) for at in match.span("wrong"))
                # the group ends before a space, which belongs to its last word
                span = range(first, last + 1)
                small = (words[i] in (words[i].lower(), "I") or i in begins for i in span)
                if taken.isdisjoint(span) and all(small):
                    taken.update(span)
                    made = _right(match, pattern, known)
                    behind = first if is_missing(pattern.type) else last + 1
                    if made and behind < len(words):
                        made = with_articles(made, words[behind])
                    if made and first in begins and words[first].istitle():
                        made = made[0].upper() + made[1:]
                    yield Phrase(first, last + 1, pattern.type, made)


def _stated(do: str, subject: str, base: str, doubled: bool) -> str:
    """Return what "does it cost" and the like are in a statement: "it costs"."""
    third = "has" if base == "have" else plural(base)
    verb = {"do": base, "does": third, "did": _past(base, doubled)}[do]
    return _I.sub("I", f"{subject} {verb}")


def _past(base: str, doubled: bool) -> str:
    """Return the past form of a verb."""
    for forms in irregular():
        if forms[0] == base and len(forms) > 2:
            # but "read", "reads", "reading"
            return base if forms[2].endswith("ing") else forms[2]
    return PASTS.get(base) or regular(base, doubled).pasts[0]


def straight(text: str) -> str:
    """Return a text whose apostrophes are straight."""
    return text.replace("’", "'")


def _right(found: re.Match[str], pattern: Pattern, known: Patterns) -> str | None:
    """Return the right words; those with "=" are made of the last wrong one, those with a backslash
    of the pattern's groups."""
    last = found["wrong"].split()[-1]
    match pattern.right:
        case "=pair":
            return pattern.pairs[last]
        case "=gerund":
            return regular(last, last in known.doubled).gerund
        case "=past":
            return last if last.endswith("ed") else known.pasts.get(last)
        case "=plural":
            return plural(last)
        case "=singular":
            return last[:-3] + "y" if last.endswith("ies") else last[:-1]
        case "=possessive":
            return f"{last}'s"
        case "=have":
            return f"have {last}"
        case "=last":
            return last
        case "=stated":
            return _stated(found["v"], found["s"], found["b"], found["b"] in known.doubled)
        case right:
            return _I.sub("I", found.expand(right)) if right and "\\" in right else right
