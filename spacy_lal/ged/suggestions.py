"""What should stand in the place of wrong words, by the probabilities of a detector's labels."""

import re
from collections.abc import Sequence

from numpy.typing import NDArray

from ..annotations.grammar_errors import EDIT, Correction, is_missing, is_unnecessary
from ..artificial_errors.english import plural
from ..formats.edit_kinds import related
from ..formats.parallel import in_common
from .articles import with_articles
from .capitals import NAMES
from .edits import JOIN, PAIRS, edited, in_case
from .phrases import straight
from .spelling import RightWords, letters_of

MOST = 3
"""Most suggestions for an error."""
LEAST = 0.05
"""Least probability of a suggestion."""
TRIED = 0.01
"""Least probability of an edit that is tried, given that there is an error."""
MOST_FREQUENT = 5_000
"""Words that have the letters of a language; rarer ones may be foreign."""
ORTHOGRAPHY = "R:ORTH"
"""Type of capitals, and of two words written as one, whatever made the correction."""
SPELLING = "R:SPELL"
"""Type of a misspelling, whatever else the word may be."""
_OF_WORDS = "MORPH NOUN NOUN:NUM VERB VERB:FORM VERB:SVA VERB:TENSE ADJ ADV OTHER PREP"
OF_WORDS = frozenset(f"R:{kind}" for kind in _OF_WORDS.split())
"""Types of one wrong word, which a misspelling may be taken for."""
_SLIPS = """
bed bad, brian brain, buy by, fine find, form from, hear here, here hear, hole whole, know now,
lake like, life live, loose lose, now know, of off, off of, ore or, quiet quite, safe save,
than then, then than, thing think, though thought, to too, too to, weather whether, were where,
where were, who how, how who
"""
SLIPS = frozenset(tuple(pair.split()) for pair in _SLIPS.split(","))
"""Words, and others of a letter or two more, less or in another place, with quite another meaning:
one in the place of the other is a slip of the pen, not a wrong preposition or verb."""
OTHER_WORDS = {"R:VERB", "R:ADV", "R:CONJ", "R:OTHER"}
"""Types of a word in whose place stands quite another one: "make" for "do", "so" for "very"."""
CONTENT = {"R:NOUN", "R:ADJ"}
"""The same, if the two begin with other letters, and neither contains the other: "hour" for "time",
but "affect" for "effect"."""
SELDOM = 0.5
"""Share of such a correction's probability that is left: annotators seldom make it."""
POSSESSIVES = {
    **{("you", "'re"): "your", ("they", "'re"): "their", ("it", "'s"): "its"},
    **{("he", "'s"): "his", ("who", "'s"): "whose"},
}
"""Pronouns with the end of a contraction, and the possessives that sound like them."""
POSSESSIVE = {"R:DET", "R:OTHER", "R:PRON"}
"""Types of both that say so."""
NEGATIONS = ("im", "in", "ir", "il", "dis")
"""What may stand for "un"."""
NUMBER, AGREEMENT = "R:NOUN:NUM", "R:VERB:SVA"
"""Types of a noun's number and of its verb's."""
DEMONSTRATIVES = {"this": False, "that": False, "these": True, "those": True}
"""Determiners, and whether they stand before a plural."""
INFLECTED = {"VERB", "NOUN"}
"""Kinds of errors in forms of one word."""
PERSONS = (
    {"i", "me", "my", "mine", "myself"},
    {"you", "your", "yours", "yourself", "yourselves", "u", "ur"},
    {"we", "us", "our", "ours", "ourselves"},
    {"he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself"}
    | {"they", "them", "their", "theirs", "themselves"},
)
"""English pronouns: one may stand for another of its person."""
NEAR = 5
"""Words within which a reflexive's subject stands."""
SUBJECTS = {"myself": "i", "yourself": "you", "yourselves": "you", "ourselves": "we"}
"""Reflexives, and a word that must stand before them."""
OBJECTS = {"me", "him", "us", "them"}
"""Pronouns for which "that" doesn't stand."""
NEVER_BEHIND = {
    **{"i": {"are", "has", "is"}, "we": {"am", "has", "is"}, "they": {"am", "has", "is"}},
    **{"he": {"am", "are"}, "she": {"am", "are"}, "it": {"am", "are"}},
}
"""Verbs that don't agree with a subject before them."""
OBJECT_FORMS = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
"""Subject pronouns, and what stands for them behind a preposition."""
OWNERS = {"my", "your", "his", "her", "its", "our", "their"}
"""Words behind which no form of a verb stands but that in -ing."""
PREPOSITIONS = {"about", "at", "by", "for", "from", "of", "to", "with", "without"}
"""Words of which a subject pronoun is hardly ever the object."""
PLURAL_SUBJECTS = {"i", "you", "we", "they"}
"""Subjects whose verb has no -s."""
BEFORE_VERBS = {"to", "i", "you", "we", "they"}
"""Corrections before which the base form of a verb is right."""
PLURAL = {"are", "were", "have"}
"""Forms that a team's or a company's name may have in British English."""
PLURAL_OF_NAMES = 0.7
"""Probability that they are wrong behind a name, at most."""
_PERSON = {word: k for k, of in enumerate(PERSONS) for word in of}
_CUT = re.compile(r"[^aeiou]*[aeiouy][^aeiouwxy]")


class Suggester:
    """labels: a detector's, with edits. words: right words, most frequent first. Where edits make
    "a" and "an", it is the next word that decides between them."""

    def __init__(self, labels: Sequence[str], words: Sequence[str]) -> None:
        self.labels = [label.partition(EDIT)[::2] for label in labels]
        # other languages have no "an"
        self.english = {"=a", "=an"} <= {edit for _, edit in self.labels}
        self.articles = [k for k, (_, edit) in enumerate(self.labels) if edit in {"=a", "=an"}]
        # labels by type
        self.of_type: dict[str, list[int]] = {}
        for k, (type, _) in enumerate(self.labels):
            self.of_type.setdefault(type, []).append(k)
        self.no_verbs = [
            k for k, (type, _) in enumerate(self.labels) if not type.startswith("R:VERB")
        ]
        self.plain_spelling = [k for k in self.of_type.get(SPELLING, []) if not self.labels[k][1]]
        self.right = RightWords(words, letters_of(words[:MOST_FREQUENT]))
        self.corrects = any(edit for _, edit in self.labels)
        # insertions before a word, and what stands in its place
        self.of = {
            missing: [k for k, (type, _) in enumerate(self.labels) if is_missing(type) == missing]
            for missing in (False, True)
        }
        # labels that don't say what is right
        self.open = {
            missing: [k for k in of if _leaves_open(*self.labels[k])]
            for missing, of in self.of.items()
        }

    def __call__(
        self, words: Sequence[str], types: dict[int, str], probabilities: NDArray
    ) -> tuple[dict[int, list[Correction]], set[int]]:
        """Return corrections of wrong words, the most probable first, and the words that change
        places with the word before, or belong to it, whose correction has both. Each error's type
        becomes that of the best correction. Two words that should be one are right if that is none.

        words: of a Doc. types: of errors, by word, in order. probabilities: of the labels [words,
        labels]. A correction has the probabilities of all labels that make it. What can't be made,
        or makes no known word, leaves its probability to the others. A label that doesn't say what
        is right keeps its own.
        """
        found: dict[int, list[Correction]] = {}
        seconds: set[int] = set()
        for i, type in [*types.items()]:
            if i in seconds or i not in types:
                continue
            row, own = probabilities[i].tolist(), self.of[is_missing(type)]
            total = sum(row)
            made: dict[str, float] = {}
            makes: dict[str, str] = {}
            top = max(own, key=row.__getitem__)
            tried = (k for k in own if row[k] >= TRIED * total)
            best = sorted(tried, key=lambda k: -row[k]) or [top]
            together = self._together(words, i, types, *self.labels[best[0]])
            if together is not None:
                pair, others = together
                if not pair:
                    # two words that make none are right
                    del types[i], types[i + 1]
                    continue
                made[pair] = 1.0
                types.update(dict.fromkeys(others, type))
                seconds.update(others)
            for k in best if not made else ():
                text = self._text(words, i, *self.labels[k])
                if text and self.english and self.labels[k][0].endswith("DET"):
                    # what is missing stands before this word, what is wrong in its place
                    behind = i + (not is_missing(type))
                    text = with_articles(text, "".join(words[behind : behind + 1]))
                if text is not None and not (self.english and _is_odd(words, i, text)):
                    made[text] = made.get(text, 0.0) + row[k]
                    makes.setdefault(text, self.labels[k][0])
            left = 0.0 if together else sum(row[k] for k in self.open[is_missing(type)])
            share = sum(row[k] for k in own) / total / (sum(made.values()) + left or 1.0)
            if self.english and words[i].lower() in PLURAL and self._behind_name(words[:i]):
                share *= PLURAL_OF_NAMES
            same = None if is_missing(type) else words[i]
            known = [
                Correction(text, p * share * self._trust(words[i], text, makes.get(text)))
                for text, p in made.items()
                if text != same
            ]
            known = sorted((of for of in known if of.probability >= LEAST), key=lambda of: -of[1])
            if known:
                found[i] = known[:MOST]
                types[i] = makes.get(known[0].text, type)
                old, new = words[i].lower(), known[0].text.lower()
                if new.replace(" ", "") == old:
                    types[i] = ORTHOGRAPHY
                elif self.english and (old, new) in SLIPS:
                    types[i] = SPELLING
            other = self.english and types[i] in OF_WORDS
            if other and self.right.misspelt(words[i : i + 1], english=True):
                types[i] = SPELLING
            # "for finish": "to finish" or "for finishing", not both
            before_verbs = known and known[0].text.lower() in BEFORE_VERBS
            if before_verbs and types.get(i + 1) == "R:VERB:FORM":
                del types[i + 1]
                seconds.add(i + 1)
        if self.english:
            _keep_one_of_both(words, types, found, probabilities.sum(1))
        return found, seconds

    def _together(
        self, words: Sequence[str], at: int, types: dict[int, str], type: str, edit: str
    ) -> tuple[str, range] | None:
        """Return what should stand in the place of a word and of those behind it, and the places of
        these; "" if two words should be one that isn't known; None if the word is wrong alone.

        type, edit: the most probable label."""
        if at + 1 not in types:
            return None
        word, other, *behind = (straight(word) for word in words[at : at + 3])
        whose = POSSESSIVES.get((word.lower(), other.lower()))
        if self.english and whose and {types[at], types[at + 1]} <= POSSESSIVE:
            return whose.capitalize() if word.istitle() else whose, range(at + 1, at + 2)
        if edit not in PAIRS or types[at + 1] != type:
            return None
        if edit == JOIN:
            joined = word + other
            return joined if joined.lower() in self.right else "", range(at + 1, at + 2)
        if self.english and (word.lower() in ("do", "does", "did") or other in ("na", "ta")):
            # "what did I do" becomes "what I did"; "outta" is one word
            return None
        if behind == ["n't"]:
            return f"{other} n't {word}", range(at + 1, at + 3)
        return f"{other} {word}", range(at + 1, at + 2)

    def _behind_name(self, before: Sequence[str]) -> bool:
        """Whether the last word is a name: a sentence may begin with any word."""
        if not before or not before[-1].istitle():
            return False
        inside = len(before) > 1 and before[-2][-1:].isalnum()
        return inside or before[-1].lower() in NAMES or before[-1].lower() not in self.right

    def _trust(self, word: str, text: str, type: str | None) -> float:
        """Return the share of a correction's probability that is left to it."""
        old, new = word.lower(), text.lower()
        if not self.english or (old, new) in SLIPS or "'" in text:
            return 1.0
        alike = old in new or new in old or in_common(old, new) > 1
        return SELDOM if type in OTHER_WORDS or (type in CONTENT and not alike) else 1.0

    def _text(self, words: Sequence[str], at: int, type: str, edit: str) -> str | None:
        word = words[at]
        if edit:
            made = edited(word, edit)
            return made if made is None or edit[0] != "-" or self._fits(word, made, type) else None
        if is_unnecessary(type):
            return ""
        if _leaves_open(type, edit):
            return None
        lower = word.lower()
        undone = lower[:2] == "un" and lower.endswith(("ed", "ing")) and lower[2:] in self.right
        if self.english and undone:
            return None  # "unaccelerated": no list has them all
        text = self.right.spelled(word, english=self.english)
        if self.english and text is None:
            text = self.right.meant(word)
        if self.english and text and lower == f"un{text.lower()}":
            # "unpolite" is not "polite"
            others = (in_case(no + lower[2:], word) for no in NEGATIONS)
            return next((other for other in others if other.lower() in self.right), None)
        # a name that isn't among the words is like some of them
        named = self.english and word.istitle() and at and words[at - 1][-1:].isalnum()
        return text if text is None or not named or text.lower() in NAMES else None

    def _fits(self, word: str, made: str, type: str) -> bool:
        """Whether another ending makes a known word, and of verbs and nouns a form of the same."""
        new = made.lower()
        if len(new) < 2 or (new.isalpha() and new not in self.right):
            return False
        if self.english and word.lower() in (new + "ed", new + "ing") and _CUT.fullmatch(new):
            # "hoping" is a form of "hope": the consonant of "hop" would double
            return new + "e" not in self.right
        return not set(type.split(":")) & INFLECTED or related(word.lower(), new)


def _leaves_open(type: str, edit: str) -> bool:
    """Whether a label doesn't say what is right: neither does its edit, nor is the word left out,
    nor can it be looked up among right words."""
    return not (edit or is_unnecessary(type) or type.endswith(("SPELL", "INFL")))


def _keep_one_of_both(
    words: Sequence[str],
    types: dict[int, str],
    found: dict[int, list[Correction]],
    errors: NDArray,
) -> None:
    """Take back the less probable of two corrections, of a noun's number and of a determiner or
    verb, if they don't agree: "these problem" becomes "these problems" or "this problem".

    errors: probabilities of errors, by word."""
    for noun in [i for i in found if types[i] == NUMBER]:
        old, new = words[noun].lower(), found[noun][0].text.lower()
        of_one = plural(new) == old
        if not of_one and plural(old) != new:
            continue
        for other in (noun - 1, noun + 1, noun + 2):
            if other not in found or noun not in found:
                continue
            right = found[other][0].text.lower()
            pointing = other < noun and right in DEMONSTRATIVES
            agreeing = other > noun and types[other] == AGREEMENT
            if (pointing and of_one == DEMONSTRATIVES[right]) or (
                agreeing and of_one != right.endswith("s")
            ):
                worse = min(noun, other, key=lambda i: errors[i])
                del types[worse], found[worse]


def _is_odd(words: Sequence[str], at: int, text: str) -> bool:
    """Whether a correction of an English word has another person's pronoun, a reflexive whose
    subject isn't there, a subject behind a preposition, no subjunctive ("whether it be"), the
    verb of another subject ("it are", "they helps"), "well" for "good" where it begins, or no -ing
    behind a possessive."""
    old, new = words[at].lower(), text.lower()
    before = words[at - 1].lower() if at else ""
    if new in NEVER_BEHIND.get(before, ()) or (old in OBJECTS and new == "that"):
        return True
    if before in PLURAL_SUBJECTS and new in (old + "s", old + "es", old[:-1] + "ies"):
        return True
    if before in PREPOSITIONS and old in OBJECT_FORMS and new != OBJECT_FORMS[old]:
        return True
    if old == "be" and "whether" in {word.lower() for word in words[max(0, at - 3) : at]}:
        return True
    if before in OWNERS and old in (f"{new}ing", f"{new[:-1]}ing"):
        # "my speaking"
        return True
    if old in ("best", "good") and new == "well" and words[at].istitle():
        # "Good job!"
        return True
    if old in _PERSON and new in _PERSON and _PERSON[old] != _PERSON[new]:
        return True
    subject = SUBJECTS.get(new)
    return subject is not None and subject not in {
        word.lower() for word in words[max(0, at - NEAR) : at]
    }
