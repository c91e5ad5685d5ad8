"""What a detector of English errors leaves alone: names, rare words, short forms, the words of
others, groups with a plural verb, subjunctives, commas of taste, fixed phrases, how letters begin
and end."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy
from numpy.typing import NDArray

from .odds import raised
from .spelling import SHORTEST, RightWords
from .suggestions import SPELLING, Suggester

AGREEMENT, NUMBER, TENSE, WORD_FORM = "R:VERB:SVA", "R:NOUN:NUM", "R:VERB:TENSE", "R:MORPH"
"""Types of errors in forms of words."""
NO_MARK, OTHER_MARK, UNNEEDED, NO_LINK = "M:PUNCT", "R:PUNCT", "U:VERB", "U:CONJ"
"""Types of marks that are missing or others, of verbs and conjunctions that are not needed."""
_GROUPS = """
agency alliance army association audience authority band board cabinet club commission committee
company corporation council couple crew crowd department duo family firm force foundation gang
government group guard institute jury league majority management media military ministry minority
navy opposition orchestra organisation organization pair party police press public regiment service
side squad staff team trio union
"""
GROUPS = frozenset(_GROUPS.split())
"""Nouns whose verb may be plural: "the government have"."""
COUNTRIES = frozenset(["UAE", "UK", "US", "USA", "USSR"])
"""Acronyms whose verb is singular."""
_BETWEEN = "all already also both currently never now still"
BETWEEN = frozenset(_BETWEEN.split())
"""Adverbs between a group and its verb."""
_PREPOSITIONS = "among by for from in like of on than to with"
PREPOSITIONS = frozenset(_PREPOSITIONS.split())
"""Words behind which a group is no subject."""
_DEMANDS = "demand insist mandate propose recommend request require stipulate suggest urge"
DEMANDS = frozenset(
    form
    for verb in _DEMANDS.split()
    for stem in [verb.removesuffix("e")]
    for form in (verb, verb + "s", stem + "ed", stem + "ing")
)
"""Verbs behind which a clause has a base form: "they demand that he leave"."""
FAR = 8
"""How many words behind "that" is the verb of its clause, or behind "Dear" the comma."""
LINKS = frozenset(["and", "because", "but", "or", "so"])
"""Words before which a comma is a matter of taste."""
ORDER = frozenset(["firstly", "secondly", "thirdly", "lastly"])
"""Adverbs that need no other form."""
_FIXED = """
be that as it may, brb, come what may, far be it, had it not been, hardly had, idk, if need be,
needs washing, scarcely had, so be it, there being, wants washing, were it not
"""
FIXED = tuple(tuple(phrase.split()) for phrase in _FIXED.split(","))
"""Phrases that are right, however odd."""
_SHORT = """
btw cos coz cuz esp fave haha hahaha heh hmm hrs imo lol lols msg msgs pic pics pls plz poss ppl sry
thru thx tnx vid vids yrs
"""
SHORT_FORMS = frozenset(_SHORT.split())
"""Words of chats and forms, which are like others: "yrs" and "yes"."""
_RIGHT = r"""
(am|is|are|was|were|be|been|being|get|gets|got|getting|become|became|'s|'m|'re) (not |n't )?(so |very |quite )?used to [a-z]+ing
remember(s|ed)? to [a-z]+(?<!ing)(?<!ed)
prefer(s|red)? [a-z]+ing ([a-z]+ )?to [a-z]+ing
object(s|ed)? to [a-z]+ing
(study|studies|studied|studying|read|practise|practises) law
the (poor|homeless|sick|elderly|rich|unemployed|blind|deaf|disabled) (need|have|want|are|were|get|live|deserve)
(are|were) all tall
(arrive|arrives|arrived|come|came) on time
were (i|he|she|it|we|they|you) [^\n?]*? would
off (i|we|you|they|she|he) (go|goes|went)
in (came|went|walked|ran) (the|a|an|my|his|her)
(in|on|at|under|behind|near) the [a-z]+ (stood|hung|lay|sat) (a|an|the)
"""  # noqa: E501
RIGHT = re.compile(rf"(?<![^ \n])(?:{'|'.join(_RIGHT.strip().splitlines())})(?= )")
"""Patterns of such phrases, over words in small letters with a space behind each."""
CLOSES = frozenset(["faithfully", "sincerely", "truly"])
"""Words behind "Yours"."""
SUSPECT = 0.1
"""Least probability of a misspelling at which a word is looked at."""
QUOTED, NAMED = 0.25, 0.3
"""Odds of errors in quotations, and at names but in verbs, beside those of a model. At names fewer
than half of the marks are right, elsewhere three of four."""
LONGEST = 100
"""Tokens of the longest quotation; longer ones lack a mark."""
OPENING, CLOSING = frozenset(['"', "“", "``"]), frozenset(['"', "”", "''"])
"""Quotation marks."""
MARKS_AND_LINKS = OPENING | CLOSING | LINKS
"""Words before which no mark is missing."""


def leave_alone(
    words: Sequence[str], starts: Sequence[int], wrong: NDArray, suggest: Suggester
) -> None:
    """Lower the probabilities of errors [words, labels] of what should be left alone, in place.

    words: of a Doc. starts: where its sentences begin.
    """
    right = *closing_words(words), *fixed_words(words), *right_words(words, starts)
    wrong[list(right)] = 0.0
    for i, type in right_types(words, starts):
        wrong[i, suggest.of_type.get(type, [])] = 0.0
    spelling = suggest.of_type.get(SPELLING, [])
    suspected = numpy.flatnonzero(wrong[:, spelling].sum(1) >= SUSPECT).tolist()
    unknown = unknown_names(words, starts, suspected, suggest.right)
    wrong[numpy.ix_(unknown, spelling)] = 0.0
    no_slips = [i for i in suspected if suggest.right.is_no_slip(words[i])]
    wrong[numpy.ix_(no_slips, suggest.plain_spelling)] = 0.0
    for of, labels, odds in (
        (quoted_words(words), range(len(suggest.labels)), QUOTED),
        (words_at_names(words, starts), suggest.no_verbs, NAMED),
    ):
        if of:
            part = numpy.ix_(of, labels)
            own = wrong[part].sum(1, keepdims=True)
            wrong[part] *= raised(own, odds) / numpy.maximum(own, 1e-9)


def right_types(words: Sequence[str], starts: Sequence[int]) -> Iterator[tuple[int, str]]:
    """Yield words, and types of errors that they don't have."""
    for begin, end in pairwise([*starts, len(words)]):
        sentence = [word.lower() for word in words[begin:end]]
        if sentence[0] == "dear":
            address = range(begin, min(end, begin + FAR + 1))
            yield from ((i, type) for i in address for type in (NO_MARK, OTHER_MARK))
        demand, clause = False, -1
        for k, lower in enumerate(sentence):
            i, text = begin + k, words[begin + k]
            if text in MARKS_AND_LINKS:
                yield from ((i, NO_MARK), (i, OTHER_MARK))
            if text == "and":
                yield i, NO_LINK
            elif lower in ORDER:
                yield i, WORD_FORM
            if k > 1 and words[i - 1].istitle() and words[i - 1] != "I":
                yield i, NUMBER
            if text == "that" and demand and (words[i - 1] in DEMANDS | {",", "and"}):
                clause = k
            demand |= text in DEMANDS
            if k == 0 or not text.islower() or text.endswith("s"):
                continue
            if 0 <= clause < k <= clause + FAR and text not in {"are", "were"}:
                yield i, AGREEMENT
                if text == "be":
                    yield from ((i, TENSE), (i, UNNEEDED))
            last = k - 1 - (k > 1 and sentence[k - 1] in BETWEEN)
            name = words[begin + last]
            group = sentence[last] in GROUPS or (name.isupper() and len(name) > 1)
            before = sentence[max(0, last - 3) : last]
            if group and name not in COUNTRIES and PREPOSITIONS.isdisjoint(before):
                yield i, AGREEMENT


def closing_words(words: Sequence[str]) -> list[int]:
    """Return the words of "Yours sincerely"."""
    ends = (i for i, word in enumerate(words) if i and word.lower() in CLOSES)
    return [k for i in ends if words[i - 1].lower() == "yours" for k in (i - 1, i)]


def right_words(words: Sequence[str], starts: Sequence[int]) -> Iterator[int]:
    """Yield the words of `RIGHT` phrases."""
    for begin, end in pairwise([*starts, len(words)]):
        text = "".join(f"{word.lower()} " for word in words[begin:end])
        for found in RIGHT.finditer(text):
            first, last = (text.count(" ", 0, at) for at in found.span())
            yield from range(begin + first, begin + last + 1)


def fixed_words(words: Sequence[str]) -> list[int]:
    """Return the words of `FIXED` phrases, and short forms."""
    lower = tuple(word.lower() for word in words)
    starts = [(i, phrase) for phrase in FIXED for i, word in enumerate(lower) if word == phrase[0]]
    found = ((i, i + len(p)) for i, p in starts if lower[i : i + len(p)] == p)
    short = [i for i, word in enumerate(lower) if word in SHORT_FORMS]
    return [*short, *(i for begin, end in found for i in range(begin, end))]


def quoted_words(words: Sequence[str]) -> list[int]:
    """Return the words between quotation marks."""
    found: list[int] = []
    opened = None
    for i, word in enumerate(words):
        if word in CLOSING and opened is not None and i - opened <= LONGEST:
            found += range(opened + 1, i)
            opened = None
        elif word in OPENING:
            opened = i
    return found


def words_at_names(words: Sequence[str], starts: Sequence[int]) -> list[int]:
    """Return the words with a capital within a sentence, and their neighbours."""
    begins = set(starts)
    named = [i for i, w in enumerate(words) if w[0].isupper() and w != "I" and i not in begins]
    found = {k for i in named for k in (i - 1, i, i + 1)}
    return sorted(found.intersection(range(len(words))))


def unknown_names(
    words: Sequence[str], starts: Sequence[int], suspected: Sequence[int], known: RightWords
) -> list[int]:
    """Return those of the suspected words with a capital within a sentence that are like no right
    word."""
    begins = set(starts)
    return [
        i
        for i in suspected
        if (word := words[i]).istitle()
        and word.isalpha()
        and len(word) > SHORTEST
        and i not in begins
        and word.lower() not in known
        and known.spelled(word, english=True) is None
    ]
