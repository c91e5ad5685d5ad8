"""English: what learners take for what in closed classes and frequent confusions.

The lists are of errors that grammars for teachers describe (Swan and Smith 2001, "Learner English";
Swan 2016, "Practical English Usage"); weights are rough. Everything else comes from clean text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from .confusion import (
    FORM,
    PUNCTUATION,
    SPACING,
    SPELLING,
    TextCounts,
    calibrated,
    families_of,
    neighbour_insertions,
    spacing_errors,
)
from .error_model import ANY, CAPITAL, LOWER, NOISE, SWAP, ErrorKind, ErrorModel, Insertion
from .grammar import grammar_kinds
from .letters import is_variant
from .verbs import plural

Table = dict[str, dict[str, float]]


@cache
def lists() -> dict[str, Any]:
    """The lists of english.toml by name."""
    text = files(__package__).joinpath("english.toml").read_text(encoding="utf8")
    return tomllib.loads(text)


def _groups(groups: list[list[str]], weight: float = 1.0) -> Table:
    """Each phrase for any other one of its group."""
    table: Table = {}
    for group in groups:
        for one in group:
            others = {two: weight / (len(group) - 1) for two in group if two != one}
            table.setdefault(one, {}).update(others)
    return table


ENGLISH_SHARES: Mapping[str, float] = {
    "missing determiner": 5.0,
    "wrong determiner": 3.0,
    "unnecessary determiner": 1.8,
    "article before a bare noun": 0.7,
    "a or an": 1.0,
    "missing preposition": 3.0,
    "wrong preposition": 6.5,
    "unnecessary preposition": 1.8,
    "preposition after a verb": 0.7,
    "verb": 7.0,
    "agreement": 2.5,
    "agreement after a pronoun": 1.0,
    "third person after a plural": 0.7,
    "form after an auxiliary": 3.0,
    "to after a modal": 0.4,
    "gerund": 1.2,
    "infinitive": 1.0,
    "gerund or infinitive": 0.4,
    "be before a verb": 0.7,
    "regular form of an irregular word": 0.8,
    FORM: 9.0,
    "singular after a quantity": 1.2,
    "plural after one": 0.6,
    "comparison": 0.5,
    "pronoun": 3.5,
    "conjunction": 1.8,
    "word choice": 7.0,
    "homophone": 4.0,
    "unnecessary word": 2.0,
    PUNCTUATION: 9.0,
    SPACING: 1.2,
    **{how: 12.0 * weight / sum(SPELLING.values()) for how, weight in SPELLING.items()},
    LOWER: 1.0,
    CAPITAL: 0.5,
    SWAP: 1.2,
    "word order": 1.5,
    "order of a question": 0.5,
}
"""Of errors of each kind, in percent: about what is published of corrected learners' essays."""


CLOSED = (
    "missing_determiners",
    "wrong_determiners",
    "verbs",
    "pronouns",
    "conjunctions",
    "inserted_prepositions",
    "wrong_prepositions",
)
"""The lists of closed classes: errors in their words are kinds of their own, not forms."""
INSERTED = ("inserted_prepositions", "inserted_determiners", "inserted_others")
"""The lists of words that learners write where there should be none."""


def english_model(counts: TextCounts) -> ErrorModel:
    """Errors of English, from clean text and the lists here, with kinds as `ENGLISH_SHARES` says.

    Raises ValueError if the text has no words.
    """
    if not counts.counts:
        raise ValueError("no words in the text to learn errors from")
    given = lists()
    closed = frozenset(word.lower() for name in CLOSED for word in given[name])
    inserted = neighbour_insertions(
        counts.sample, {word for name in INSERTED for word in given[name]}
    )

    def insertions(name: str) -> dict[str, Insertion]:
        return {word: inserted[word] for word in given[name] if word in inserted}

    families = {
        word: {other: weight for other, weight in others.items() if not is_variant(word, other)}
        for word, others in families_of(counts, closed).items()
    }
    forms = _with(families, _groups(given["irregular"], 2.0))
    forms = _with(forms, {word: {plural(word): 1.5} for word in given["uncountable"]})
    spacing = {
        phrase: others
        for phrase, others in spacing_errors(counts).items()
        if " " in phrase or phrase not in closed
    }
    kinds = {
        "missing determiner": ErrorKind(1.0, given["missing_determiners"]),
        "wrong determiner": ErrorKind(1.0, given["wrong_determiners"]),
        "unnecessary determiner": ErrorKind(1.0, {}, insertions("inserted_determiners")),
        "missing preposition": ErrorKind(1.0, given["missing_prepositions"]),
        "wrong preposition": ErrorKind(1.0, given["wrong_prepositions"]),
        "unnecessary preposition": ErrorKind(1.0, {}, insertions("inserted_prepositions")),
        "verb": ErrorKind(1.0, given["verbs"]),
        FORM: ErrorKind(1.0, _with(forms, given["more"])),
        "pronoun": ErrorKind(1.0, given["pronouns"]),
        "conjunction": ErrorKind(1.0, given["conjunctions"]),
        "word choice": ErrorKind(1.0, _groups(given["word_choice"])),
        "homophone": ErrorKind(1.0, _groups(given["homophones"])),
        "unnecessary word": ErrorKind(1.0, {}, insertions("inserted_others")),
        PUNCTUATION: ErrorKind(
            1.0, given["punctuation"], {",": Insertion({ANY: 1.0, "": 0.0}, given["comma_before"])}
        ),
        SPACING: ErrorKind(1.0, spacing),
    }
    kinds |= grammar_kinds(counts, given)
    model = ErrorModel(
        "en",
        kinds,
        noise=dict.fromkeys(NOISE, 1.0),
        words=counts.well_known(),
        closed=closed,
        letters=given["letters"],
    )
    return calibrated(model, counts.sample, ENGLISH_SHARES)


def _with(one: Mapping[str, Mapping[str, float]], two: Mapping[str, Mapping[str, float]]) -> Table:
    """Both tables in one; where both have a weight, the second's counts."""
    both: Table = {word: dict(others) for word, others in one.items()}
    for word, others in two.items():
        both.setdefault(word, {}).update(others)
    return both
