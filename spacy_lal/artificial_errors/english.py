"""English errors: lists for closed classes and frequent confusions, and rules for verbs and nouns.

Rules cover the third person, forms after auxiliaries, gerund and infinitive, number after a
quantity, and word order in questions. The lists in english.toml have errors from grammars for
teachers and learners (Swan and Smith 2001, "Learner English"; Swan 2016, "Practical English
Usage"); weights are rough. All else comes from clean text.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import chain, pairwise, permutations
from typing import Any, NamedTuple

from ..formats.edit_kinds import irregular
from .clean_text import (
    ALL_NOISE,
    FORM,
    PUNCTUATION,
    SPACING,
    Families,
    TextCounts,
    calibrated,
    families_of,
    neighbour_insertions,
    spacing_errors,
)
from .error_model import ANY, START, VOWELS, ErrorKind, ErrorModel, Insertion, key_of
from .sites import is_variant


@cache
def lists() -> dict[str, Any]:
    """Return the lists of english.toml by name."""
    text = files(__package__).joinpath("english.toml").read_text(encoding="utf8")
    return tomllib.loads(text) | {"irregular": irregular()}


def english_model(counts: TextCounts) -> ErrorModel:
    """Return a model of English errors, from clean text and the lists and `shares` of english.toml.
    Raises ValueError if the text has no words."""
    given = lists()
    tables: dict[str, Families] = given["replacements"]
    closed = frozenset(word.lower() for table in tables.values() for word in table)
    inserted = neighbour_insertions(counts.sample, set(chain(*given["insertions"].values())))
    families = {
        word: {other: weight for other, weight in others.items() if not is_variant(word, other)}
        for word, others in families_of(counts, closed).items()
    }
    uncountable = {word: {plural(word): 1.5} for word in given["uncountable"]}
    spacing = {
        phrase: others
        for phrase, others in spacing_errors(counts).items()
        if " " in phrase or phrase not in closed
    }
    comma = Insertion({ANY: 1.0, "": 0.0}, given["comma_before"])
    tables = tables | {
        FORM: _merged(families, _groups(given["irregular"], 2.0), uncountable, given["more"]),
        "word choice": _groups(given["word_choice"]),
        "homophone": _groups(given["homophones"]),
        SPACING: spacing,
    }
    kinds = {name: ErrorKind(replacements=table) for name, table in tables.items()}
    for name, words in given["insertions"].items():
        found = {word: inserted[word] for word in words if word in inserted}
        kinds[name] = ErrorKind(insertions=found)
    kinds |= {PUNCTUATION: ErrorKind(1.0, given["punctuation"], {",": comma})}
    kinds |= grammar_kinds(counts, given)
    known = counts.well_known()
    model = ErrorModel("en", kinds, ALL_NOISE, known, closed, given["letters"])
    return calibrated(model, counts.sample, given["shares"])


def grammar_kinds(counts: TextCounts, given: Mapping[str, Any]) -> dict[str, ErrorKind]:
    """Return kinds of grammatical errors. given: the lists of english.toml."""
    known = counts.counts
    # words that seem to have forms, such as "be" and "bed"
    no_verbs = frozenset(
        word
        for name, table in given["replacements"].items()
        for word in table
        if not name.endswith("preposition")
    )
    modals = given["modals"]
    before_base = frozenset([*modals, "to"])
    verbs = verbs_of(counts.sample, known, given["irregular"], before_base, no_verbs)
    after = given["after"] | {
        "form after an auxiliary": modals + given["auxiliaries"],
        "to after a modal": modals,
    }
    thirds: Families = {verb.third: {verb.base: 1.0} for verb in verbs}
    with_to = {verb.base: f"to {verb.base}" for verb in verbs}
    bare = {verb.gerund: {verb.base: 1.0} for verb in verbs}
    bare |= {to_base: {base: 1.0} for base, to_base in with_to.items()}
    questions = (
        _groups([[f"{verb} {subject}", f"{subject} {verb}"]])
        for verb in given["finite"]
        for subject in given["subjects"]
    )
    numbers = [(one, plural(one)) for one in sorted(known) if len(one) > 2 and known[one] >= 3]
    numbers = [(one, many) for one, many in numbers if known.get(many, 0) >= 3]
    numbers += [(one, many) for one, many in given["irregular_plurals"] if one != many]
    others = (
        {form: _ones(other for other in verb.forms if other != form)}
        for verb in verbs
        for form in verb.forms
        if form != verb.third
    )
    tables: dict[str, Families] = {
        "agreement": thirds | _groups(given["agreement"]),
        "agreement after a pronoun": thirds,
        "third person after a plural": {verb.base: {verb.third: 1.0} for verb in verbs},
        "form after an auxiliary": _merged(*others),
        "to after a modal": {base: {to_base: 1.0} for base, to_base in with_to.items()},
        "gerund": {v.gerund: {with_to[v.base]: 1.0, v.base: 1.0} for v in verbs},
        "gerund or infinitive": bare,
        "infinitive": {with_to[v.base]: {v.gerund: 1.0, v.base: 0.7} for v in verbs},
        "regular form of an irregular word": _regularised(verbs, given, known),
        "singular after a quantity": {many: {one: 1.0} for one, many in numbers},
        "plural after one": {one: {many: 1.0} for one, many in numbers},
        "a or an": {"a": {"an": 1.0}, "an": {"a": 2.0}},
        "comparison": _comparison(given["comparable"], known),
        "order of a question": _merged(*questions),
    }
    forms = _ones(form for verb in verbs for form in verb.forms)
    objects = _ones([*given["replacements"]["missing determiner"], "me", "him", "them", "us", "it"])
    prepositions = given["insertions"]["unnecessary preposition"]
    return {
        **{
            name: ErrorKind(1.0, table, after=_ones(after.get(name, ())))
            for name, table in tables.items()
        },
        "be before a verb": ErrorKind(insertions=_be(verbs)),
        "article before a bare noun": ErrorKind(insertions=_bare(forms, given, known)),
        "preposition after a verb": ErrorKind(
            insertions=dict.fromkeys(prepositions, Insertion(forms, objects))
        ),
        "word order": ErrorKind(swaps=_ones(given["swapped"])),
    }


def _ones(words: Iterable[str]) -> dict[str, float]:
    return dict.fromkeys(words, 1.0)


def _groups(groups: Iterable[Iterable[str]], weight: float = 1.0) -> Families:
    table: Families = {}
    for group in map(list, groups):
        for one, two in permutations(group, 2):
            if one != two:
                table.setdefault(one, {})[two] = weight / (len(group) - 1)
    return table


def _merged(*tables: Mapping[str, Mapping[str, float]]) -> Families:
    merged: Families = {}
    for table in tables:
        for word, others in table.items():
            merged.setdefault(word, {}).update(others)
    return merged


def _be(verbs: Iterable[Verb]) -> dict[str, Insertion]:
    bases, thirds = _ones(verb.base for verb in verbs), _ones(verb.third for verb in verbs)
    pasts = _ones(past for verb in verbs for past in verb.pasts[:1])
    return {
        "am": Insertion({"I": 1.0}, bases),
        "are": Insertion(_ones(["you", "we", "they"]), bases),
        "is": Insertion(_ones(["he", "she", "it"]), thirds),
        "was": Insertion(dict.fromkeys(["I", "he", "she", "it"], 0.1), pasts),
        "were": Insertion(dict.fromkeys(["you", "we", "they"], 0.1), pasts),
    }


def _bare(
    forms: Iterable[str], given: Mapping[str, Any], known: Iterable[str]
) -> dict[str, Insertion]:
    """Return insertions of an article before abstract and uncountable nouns."""
    endings = tuple(given["abstract_endings"])
    abstract = [word for word in sorted(known) if len(word) > 6 and word.endswith(endings)]
    nouns = _ones([*abstract, *given["uncountable"], *given["without_article"]])
    after = _ones([START, *given["insertions"]["unnecessary preposition"], *forms])
    return {"the": Insertion(after, nouns), "a": Insertion(after, dict.fromkeys(nouns, 0.3))}


def _regularised(
    verbs: Iterable[Verb], given: Mapping[str, Any], known: Mapping[str, int]
) -> Families:
    """Return regular forms for irregular ones, except existing words."""
    table: Families = {}
    for verb in verbs:
        (made,) = regular(verb.base).pasts
        regulars = {verb.base, made, *regular(verb.base, doubled=True).pasts}
        for past in set(verb.pasts) - regulars if not known.get(made) else ():
            table[past] = {made: 1.0}
    for one, many in given["irregular_plurals"]:
        for weight, word in ((1.0, one), (0.5, many)):
            if not word.endswith("s") and not known.get(plural(word)):
                table.setdefault(many, {})[plural(word)] = weight
    return {word: table[word] for word in sorted(table)}


def _comparison(adjectives: Iterable[str], known: Mapping[str, int]) -> Families:
    table: Families = {}
    for adjective in adjectives:
        for doubled in (False, True):
            # "-ed", "-er" and "-est" have the same spelling rules
            stem = regular(adjective, doubled).pasts[0].removesuffix("d")
            for ending, word in (("r", "more"), ("st", "most")):
                if known.get(stem + ending):
                    table[stem + ending] = _ones([f"{word} {adjective}", f"{word} {stem}{ending}"])
    return table


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
    known = {group[0]: verb for group in irregular if (verb := irregular_verb(group))}
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


def irregular_verb(forms: Sequence[str]) -> Verb | None:
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
