"""English: errors that rules of grammar make possible, for all verbs and nouns of a text.

Where a rule asks for one form of a word, learners write another one: the third person, the form
after an auxiliary, gerund and infinitive, number after a quantity, and the order of words in
questions. Lists are in english.toml; what is described is in every grammar for learners (Swan 2016,
"Practical English Usage", sections on these points). Weights within a kind are rough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .confusion import TextCounts
from .error_model import START, ErrorKind, Insertion
from .verbs import Verb, plural, regular, verbs_of

Table = dict[str, dict[str, float]]
AGREEMENT = (("is", "are"), ("was", "were"), ("has", "have"), ("does", "do"))
"""Auxiliary verbs: the form for one, and the form for many."""
NO_VERBS = ("missing_determiners", "wrong_determiners", "verbs", "pronouns", "conjunctions")
"""The lists of words that have no forms by the rules, though it may look so: "be", "bed"."""


def grammar_kinds(counts: TextCounts, given: Mapping[str, Any]) -> dict[str, ErrorKind]:
    """Kinds of errors by name; rates are 1. given: the lists of english.toml."""
    modals = _ones(given["modals"])
    before_base = frozenset(given["modals"]) | {"to"}
    questions = _questions(given["finite"], given["subjects"])
    no_verbs = frozenset(word for name in NO_VERBS for word in given[name])
    verbs = verbs_of(counts.sample, counts.counts, given["irregular"], before_base, no_verbs)
    known = counts.counts
    singular, plurals = _ones(given["singular_subjects"]), _ones(given["plural_subjects"])
    return {
        "agreement": ErrorKind(1.0, _agreement(verbs)),
        "agreement after a pronoun": ErrorKind(
            1.0, {verb.third: {verb.base: 1.0} for verb in verbs}, after=singular
        ),
        "third person after a plural": ErrorKind(
            1.0, {verb.base: {verb.third: 1.0} for verb in verbs}, after=plurals
        ),
        "form after an auxiliary": ErrorKind(
            1.0, _forms(verbs), after=modals | _ones(given["auxiliaries"])
        ),
        "to after a modal": ErrorKind(
            1.0, {verb.base: {f"to {verb.base}": 1.0} for verb in verbs}, after=modals
        ),
        "gerund": ErrorKind(
            1.0,
            {verb.gerund: {f"to {verb.base}": 1.0, verb.base: 1.0} for verb in verbs},
            after=_ones(given["gerund_after"]),
        ),
        "gerund or infinitive": ErrorKind(
            1.0,
            {verb.gerund: {verb.base: 1.0} for verb in verbs}
            | {f"to {verb.base}": {verb.base: 1.0} for verb in verbs},
            after=_ones(given["gerund_or_infinitive_after"]),
        ),
        "infinitive": ErrorKind(
            1.0,
            {f"to {verb.base}": {verb.gerund: 1.0, verb.base: 0.7} for verb in verbs},
            after=_ones(given["infinitive_after"]),
        ),
        "be before a verb": ErrorKind(1.0, {}, _be(verbs)),
        "regular form of an irregular word": ErrorKind(1.0, _regularised(verbs, given, known)),
        "singular after a quantity": ErrorKind(
            1.0, _number(known, given, to_plural=False), after=_ones(given["plural_after"])
        ),
        "plural after one": ErrorKind(
            1.0, _number(known, given, to_plural=True), after=_ones(given["singular_after"])
        ),
        "article before a bare noun": ErrorKind(1.0, {}, _bare(verbs, given, known)),
        "preposition after a verb": ErrorKind(1.0, {}, _prepositions(verbs, given)),
        "a or an": ErrorKind(1.0, {"a": {"an": 1.0}, "an": {"a": 2.0}}),
        "comparison": ErrorKind(1.0, _comparison(given["comparable"], known)),
        "word order": ErrorKind(1.0, swaps=_ones(given["swapped"])),
        "order of a question": ErrorKind(
            1.0,
            questions,
            after=_ones(given["question_words"]),
        ),
    }


def _ones(words: Iterable[str]) -> dict[str, float]:
    return dict.fromkeys(words, 1.0)


def _agreement(verbs: Sequence[Verb]) -> Table:
    table: Table = {verb.third: {verb.base: 1.0} for verb in verbs}
    for one, two in AGREEMENT:
        table[one] = {two: 1.0}
        table[two] = {one: 1.0}
    return table


def _forms(verbs: Sequence[Verb]) -> Table:
    table: Table = {}
    for verb in verbs:
        forms = [verb.base, verb.third, *verb.pasts, verb.gerund]
        for form in (verb.base, *verb.pasts, verb.gerund):
            others = {other: 1.0 for other in forms if other != form}
            table.setdefault(form, {}).update(others)
    return table


def _be(verbs: Sequence[Verb]) -> dict[str, Insertion]:
    bases, thirds = ([verb.base for verb in verbs], [verb.third for verb in verbs])
    pasts = [past for verb in verbs for past in verb.pasts[:1]]
    return {
        "am": Insertion({"I": 1.0}, _ones(bases)),
        "are": Insertion(_ones(["you", "we", "they"]), _ones(bases)),
        "is": Insertion(_ones(["he", "she", "it"]), _ones(thirds)),
        "was": Insertion(dict.fromkeys(["I", "he", "she", "it"], 0.1), _ones(pasts)),
        "were": Insertion(dict.fromkeys(["you", "we", "they"], 0.1), _ones(pasts)),
    }


def _bare(
    verbs: Sequence[Verb], given: Mapping[str, Any], known: Mapping[str, int]
) -> dict[str, Insertion]:
    """An article before abstract and uncountable nouns, where none of their other words is."""
    endings = tuple(given["abstract_endings"])
    abstract = [word for word in sorted(known) if len(word) > 6 and word.endswith(endings)]
    nouns = _ones([*abstract, *given["uncountable"], *given["without_article"]])
    after = _ones([START, *given["inserted_prepositions"], *_all_forms(verbs)])
    return {"the": Insertion(after, nouns), "a": Insertion(after, dict.fromkeys(nouns, 0.3))}


def _prepositions(verbs: Sequence[Verb], given: Mapping[str, Any]) -> dict[str, Insertion]:
    """One between a verb and its object."""
    objects = _ones([*given["missing_determiners"], "me", "him", "them", "us", "it"])
    after = _ones(_all_forms(verbs))
    words = given["inserted_prepositions"]
    return {word: Insertion(after, objects) for word in words}


def _all_forms(verbs: Sequence[Verb]) -> list[str]:
    forms = (form for verb in verbs for form in (verb.base, verb.third, *verb.pasts, verb.gerund))
    return list(dict.fromkeys(forms))


def _regularised(
    verbs: Sequence[Verb], given: Mapping[str, Any], known: Mapping[str, int]
) -> Table:
    """Of irregular forms the regular ones, unless there is such a word."""
    table: Table = {}
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


def _number(known: Mapping[str, int], given: Mapping[str, Any], *, to_plural: bool) -> Table:
    """Singulars and plurals of the words that have both."""
    pairs = [(word, plural(word)) for word in sorted(known) if len(word) > 2 and known[word] >= 3]
    pairs = [(one, many) for one, many in pairs if known.get(many, 0) >= 3]
    pairs += [(one, many) for one, many in given["irregular_plurals"] if one != many]
    return {one: {many: 1.0} for one, many in (pairs if to_plural else map(reversed, pairs))}


def _comparison(adjectives: Iterable[str], known: Mapping[str, int]) -> Table:
    table: Table = {}
    for adjective in adjectives:
        for doubled in (False, True):
            # "-ed", "-er" and "-est" change a word in the same way
            stem = regular(adjective, doubled).pasts[0].removesuffix("d")
            for ending, word in (("r", "more"), ("st", "most")):
                if known.get(stem + ending):
                    others = {f"{word} {adjective}": 1.0, f"{word} {stem}{ending}": 1.0}
                    table[stem + ending] = others
    return table


def _questions(finite: Iterable[str], subjects: Iterable[str]) -> Table:
    """Verb and subject the other way round, as in a statement, or in a question within one."""
    table: Table = {}
    subjects = list(subjects)
    for verb in finite:
        for subject in subjects:
            table[f"{verb} {subject}"] = {f"{subject} {verb}": 1.0}
            table[f"{subject} {verb}"] = {f"{verb} {subject}": 1.0}
    return table
