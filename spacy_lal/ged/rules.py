"""What is right and wrong in English by rule, whatever a detector's model says."""

from collections.abc import Sequence

import numpy
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..annotations.escapes import plain_doc
from ..annotations.grammar_errors import is_missing
from .articles import article_forms
from .capitals import with_right_capitals
from .code import words_of_code
from .contractions import without_apostrophe
from .left_alone import leave_alone
from .phrases import Phrase, wrong_phrases
from .suggestions import ORTHOGRAPHY, Suggester

CONTRACTION, ARTICLE = "R:CONTR", "R:DET"
"""Types of a contraction without its apostrophe, and of "a" before a vowel."""
UNNEEDED, NO_ARTICLE = "U:PREP", "M:DET"
"""Types of a preposition that should not be there, and of an article that should."""
SILENCING = {
    *("R:ADJ:FORM", "R:PART", "R:VERB", "R:VERB:FORM", "R:WO"),
    *("U:PART", "U:VERB", "U:VERB:FORM"),
}
"""Types of wrong phrases whose neighbours are right."""
NEAR = 6
"""How many words behind a noun may be its verb."""


def judge_by_rules(
    doc: Doc, words: Sequence[str], starts: Sequence[int], wrong: NDArray, suggest: Suggester
) -> list[Phrase]:
    """Return what is wrong by rule; set the probabilities of what is right by rule to zero, and
    lower those of what is left alone.

    words: the Doc's. starts: where its sentences begin. wrong: probabilities of errors [words,
    labels].
    """
    plain = plain_doc(doc)
    code = {*words_of_code(plain)}
    wrong[[*code]] = 0.0
    plain_words = words if plain is doc else [token.text for token in plain]
    leave_alone(plain_words, starts, wrong, suggest)
    # these need no probabilities
    forms = article_forms(doc)
    wrong[numpy.ix_([*forms], suggest.articles)] = 0.0
    found = [Phrase(i, i + 1, ARTICLE, text) for i, text in forms.items() if text != doc[i].text]
    found += (Phrase(i, i + 1, CONTRACTION, w) for i, w in without_apostrophe(doc).items())
    phrases = list(wrong_phrases(words, starts))
    found += phrases
    found = [phrase for phrase in found if code.isdisjoint(range(phrase.start, phrase.end))]
    taken = code | {i for phrase in found for i in range(phrase.start, phrase.end)}
    capitals = with_right_capitals(plain, starts).items()
    found += (Phrase(i, i + 1, ORTHOGRAPHY, word) for i, word in capitals if i not in taken)
    # where "to" is missing, "explain" is right
    right = [p.start - 1 for p in found if p.start and is_missing(p.type)]
    # what is wrong with a phrase isn't wrong with its neighbours
    right += (i for p in phrases if p.type in SILENCING for i in (p.start - 1, p.end))
    # "such a" has the article of the next word, and "these" its plural
    ends = (" a", " an", "these")
    right += (p.end for p in phrases if p.right and p.right.lower().endswith(ends))
    # "many of students": "many students" or "many of the students", not both
    less = [p.end for p in phrases if p.type == UNNEEDED and p.end < len(doc)]
    wrong[numpy.ix_(less, suggest.of_type.get(NO_ARTICLE, []))] = 0.0
    # "informations was" is right when "information" stands there
    ones = [p for p in phrases if p.right and words[p.start] == p.right + "s"]
    verbs = (i for p in ones for i in range(p.end, p.end + NEAR))
    right += (i for i in verbs if i < len(doc) and words[i] in ("is", "was", "has"))
    wrong[[i for i in right if 0 <= i < len(doc)]] = 0.0
    return found
