"""English phrases that are wrong wherever they stand: "have went", "enjoy to swim", "afraid from".

english_phrases.toml has their patterns. In a million words of edited English they match next to
nothing.
"""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import NamedTuple

from spacy.tokens import Doc

from ..artificial_errors.english import regular
from ..batching.sentences import sentence_starts


class Phrase(NamedTuple):
    """Wrong tokens, the type of their error, and what should stand in their place, or, where words
    are missing, before them; None if that isn't known."""

    start: int
    end: int
    type: str
    right: str | None


class Patterns(NamedTuple):
    """Patterns with their types and what makes the right words; entries of lists, as
    "went": "gone"; verbs whose last consonant doubles."""

    patterns: list[tuple[re.Pattern[str], str, str | None]]
    pairs: dict[str, str]
    doubled: frozenset[str]


@cache
def english_phrases() -> Patterns:
    """Return the patterns of english_phrases.toml."""
    data = tomllib.loads(files(__package__).joinpath("english_phrases.toml").read_text("utf8"))
    lists = {
        name: [entry.split() for entry in text.split(",")] for name, text in data["lists"].items()
    }
    choices = {name: "|".join(re.escape(entry[0]) for entry in of) for name, of in lists.items()}
    patterns = []
    for of in data["patterns"]:
        text = re.sub(r"(?<!\?P)<(\w+)>", lambda name: f"(?:{choices[name[1]]})", of["pattern"])
        patterns.append(
            (re.compile(rf"(?<![^ \n]){text}", re.MULTILINE), of["type"], of.get("right"))
        )
    pairs = {entry[0]: entry[1] for of in lists.values() for entry in of if len(entry) == 2}
    return Patterns(patterns, pairs, frozenset(entry[0] for entry in lists["doubled"]))


def wrong_phrases(doc: Doc) -> Iterator[Phrase]:
    """Yield the wrong phrases of a Doc whose words are in small letters, but for the first one of a
    sentence: others may be names. No token is in two of them."""
    begins = set(sentence_starts(doc, "split"))
    # a token is what stands between two spaces, so patterns don't reach into the next sentence
    words = [f"{token.lower_} " for token in doc]
    words = ["\n" + word if i in begins else word for i, word in enumerate(words)]
    ends = list(accumulate(map(len, words)))
    text = "".join(words)
    known, taken = english_phrases(), set[int]()
    for pattern, type, right in known.patterns:
        for match in pattern.finditer(text):
            start, end = (bisect_right(ends, at) for at in match.span("wrong"))
            # the group ends before a space, which belongs to its last token
            span = doc[start : end + 1]
            free = taken.isdisjoint(range(start, end + 1))
            if free and all(token.is_lower or token.i in begins for token in span):
                taken.update(range(start, end + 1))
                made = _right(match["wrong"].split(), right, known)
                made = made.capitalize() if made and span[0].is_title else made
                yield Phrase(start, end + 1, type, made)


def _right(wrong: list[str], right: str | None, known: Patterns) -> str | None:
    """Return the right words: "gerund" and others are forms of the last wrong one."""
    last = wrong[-1]
    if right == "=pair":
        return known.pairs[last]
    if right == "=gerund":
        return regular(last, last in known.doubled).gerund
    if right == "=past":
        pasts = {participle: past for past, participle in known.pairs.items()}
        return last if last.endswith("ed") else pasts.get(last)
    return last if right == "=last" else right
