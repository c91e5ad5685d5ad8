"""Places of English errors that tags and heads show: agreement with a distant subject, forms of
verbs after auxiliaries, tense beside times, order in questions, missing subjects and the like.

Each rule reads a token of a correct sentence with Penn tags and Universal Dependencies, and yields
what is wrong there. The words of rules and how probable their errors are stand in english.toml.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from spacy.tokens import Span, Token

from ..formats.edit_kinds import stems
from .english import Verb, irregular_verb, lists, plural, regular
from .sites import REPLACE, Site

Wrong = tuple[str, str, int, int, str]
"""A rule's name, the kind of its errors, the places [start, end) in the Doc, and what is written
there, "" for nothing."""
Rule = Callable[["GrammarRules", Token], Iterator[Wrong]]

FINITE = ("VBZ", "VBP", "VBD", "MD")
"""Tags of finite verbs."""
_BE = frozenset(["is", "are", "was", "were", "am"])
_OTHER_NUMBER = {"is": "are", "are": "is", "was": "were", "were": "was", "has": "have"}
_OTHER_NUMBER |= {"have": "has", "does": "do", "do": "does"}
_ANY = {"anything": "nothing", "anybody": "nobody", "anyone": "no one", "anywhere": "nowhere"}
_SELVES = {
    **{"himself": "hisself", "themselves": "theirselves", "ourselves": "us"},
    **{"myself": "me", "yourself": "you"},
}
_SUBJECTS = {"myself": "i", "yourself": "you", "ourselves": "we"}
_YEAR = re.compile(r"1[5-9]\d\d|20[012]\d")
_VOWEL = re.compile(r"(?!uni|use|usu|eur|one\b|once|ut|ewe|ub)[aeio]|un|up")


class GrammarRules:
    """Rules of English grammar. words: well-known words, in which forms of verbs are found."""

    def __init__(self, words: Collection[str]) -> None:
        given = lists()
        self.words = words
        self.weights: dict[str, float] = given["rules"]
        self.comparable = frozenset(given["comparable"])
        self.lists = {name: frozenset(of.split()) for name, of in given["rule_words"].items()}
        self.objects = {verb: of.split() for verb, of in given["rule_prepositions"].items()}
        self.adjectives = {pair: of.split() for pair, of in given["rule_adjectives"].items()}

    @cached_property
    def verbs(self) -> dict[str, Verb]:
        """Verbs by their forms."""
        found: dict[str, Verb] = {}
        for base in sorted(self.words, key=len):
            for verb in (regular(base), regular(base, doubled=True)) if base.islower() else ():
                if all(form in self.words for form in (verb.third, verb.pasts[0], verb.gerund)):
                    # the longer base is right: "hoped" is a form of "hope", not of "hop"
                    found |= dict.fromkeys(verb.forms, verb)
        for verb in filter(None, map(irregular_verb, lists()["irregular"])):
            # the past of "put" is not listed
            found |= dict.fromkeys(verb.forms, verb) if verb.pasts else {}
        return found

    def sites(self, sentence: Span) -> list[Site]:
        """Return the places of errors in a sentence with tags and heads; none without."""
        doc, first = sentence.doc, sentence.start
        if not (doc.has_annotation("TAG") and doc.has_annotation("DEP")):
            return []
        found: dict[tuple[str, str, int, int], list[str]] = {}
        for token in sentence:
            for rule in RULES:
                for name, kind, start, end, new in rule(self, token):
                    found.setdefault((name, kind, start - first, end - first), []).append(new)
        return [
            Site(weight, REPLACE, start, end, "", (tuple(new), (1.0,) * len(new), weight), kind)
            for (name, kind, start, end), new in found.items()
            if (weight := self.weights[name])
        ]

    def verb(self, token: Token) -> Verb | None:
        """Return the verb of which a token is a form, unless it is an auxiliary's."""
        verb = self.verbs.get(token.lower_)
        return None if token.lower_ in _OTHER_NUMBER or token.lower_ == "be" else verb

    def has(self, token: Token, name: str) -> bool:
        """Return whether a word, or what it is a form of, is in a list of english.toml."""
        verb = self.verbs.get(token.lower_)
        return not self.lists[name].isdisjoint((token.lower_, verb.base if verb else ""))


def _children(token: Token, *deps: str) -> list[Token]:
    return [child for child in token.children if child.dep_ in deps]


def _subject(token: Token) -> Token | None:
    """Return the only subject of a verb or predicate, before it."""
    found = [t for t in _children(token, "nsubj", "nsubj:pass") if t.i < token.i]
    return found[0] if len(found) == 1 else None


def _number(rules: GrammarRules, subject: Token) -> str:
    """Return "one", "many", or "" for a subject whose number isn't plain."""
    word = subject.lower_
    joined = any(child.dep_ in ("conj", "nummod") for child in subject.children)
    if joined or rules.has(subject, "collective") or subject.tag_ not in ("NN", "NNS", "PRP"):
        return ""
    if subject.tag_ == "PRP":
        return "one" if word in ("he", "she", "it") else "many" if word in ("we", "they") else ""
    determiner = next((t.lower_ for t in _children(subject, "det")), "")
    one = determiner in ("this", "that", "a", "an", "each", "every", "another", "the")
    if subject.tag_ == "NN":
        return "one" if one or _children(subject, "nmod:poss") else ""
    plain = subject.lower_.endswith("s") and not subject.lower_.endswith(("ics", "ss"))
    return "many" if plain and determiner != "no" else ""


def agreement(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """The other number: "the price of the tickets are", "there is three"."""
    be = token.lower_ in _BE - {"am"}
    if token.tag_ not in ("VBZ", "VBP") and not (be and token.tag_ == "VBD"):
        return
    head = token.head if token.dep_ in ("aux", "aux:pass", "cop") else token
    auxiliaries = [t for t in head.children if t.dep_ in ("aux", "aux:pass", "cop")]
    if any(t.tag_ in FINITE and t.i < token.i for t in auxiliaries):
        return
    there = _children(head, "expl")
    subject = _subject(head)
    if there and there[0].lower_ == "there" and be and there[0].i == token.i - 1:
        later = [t for t in _children(head, "nsubj") if t.i > token.i]
        subject = later[0] if later else head if head.i > token.i else None
        if subject is not None and subject.tag_ in ("NN", "NNS") and token.lower_ in _OTHER_NUMBER:
            many = subject.tag_ == "NNS" and not rules.has(subject, "collective")
            of = _children(subject, "det")
            one = subject.tag_ == "NN" and any(t.lower_ in ("a", "an", "no") for t in of)
            if (many or one) and not _children(subject, "conj"):
                yield "there is", "VERB:SVA", token.i, token.i + 1, _OTHER_NUMBER[token.lower_]
        return
    marks = {t.lower_ for t in _children(head, "mark")}
    if subject is None or not _number(rules, subject) or {"if", "that", "lest"} & marks:
        return
    new = _OTHER_NUMBER.get(token.lower_)
    verb = rules.verb(token)
    if new is None and verb is not None and head is token:
        new = verb.third if token.lower_ == verb.base else verb.base
    if new is None or (token.lower_ in ("has", "is", "was", "does")) == (
        _number(rules, subject) == "many"
    ):
        return
    between = range(subject.i + 1, token.i)
    other = any(token.doc[i].tag_ in ("NN", "NNS") for i in between)
    name = "agreement across words" if other else "agreement by heads"
    yield name, "VERB:SVA", token.i, token.i + 1, new


def forms(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Forms after auxiliaries: "have went", "did went", "can goes", "must to go"."""
    verb = rules.verb(token)
    before = [t for t in _children(token, "aux") if t.i < token.i]
    if verb is None or not before or token.tag_ not in ("VBN", "VB"):
        return
    place = token.i, token.i + 1
    last = before[-1]
    if token.tag_ == "VBN" and last.lower_ in ("have", "has", "had", "'ve", "having"):
        for other in {verb.pasts[0], verb.base} - {token.lower_}:
            yield "participle after have", "VERB:FORM", *place, other
    if token.tag_ != "VB" or token.lower_ != verb.base:
        return
    past = verb.pasts[0]
    if last.lower_ in ("did", "does", "do"):
        other = {"did": past, "does": verb.third, "do": verb.gerund}[last.lower_]
        if other != verb.base:
            yield "base form after do", "VERB:FORM", *place, other
    elif last.tag_ == "MD":
        between = {token.doc[i].lower_ for i in range(last.i + 1, token.i)}
        if between <= {"not", "n't"}:
            yield "base form after a modal", "VERB:FORM", *place, f"to {token.lower_}"
        for other in {past, verb.third, verb.gerund} - {verb.base}:
            yield "base form after a modal", "VERB:FORM", *place, other


def gerund_or_infinitive(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Wrong complements: "enjoy to swim", "before leave", "want going"."""
    verb = rules.verb(token)
    if verb is None:
        return
    before = token.nbor(-1) if token.i > token.sent.start else None
    if token.tag_ == "VBG" and token.lower_ == verb.gerund and before is not None:
        if token.dep_ == "xcomp" and rules.has(token.head, "gerund") and before == token.head:
            yield "gerund after a verb", "VERB:FORM", token.i, token.i + 1, f"to {verb.base}"
        if before.dep_ == "mark" and before.head == token and before.tag_ == "IN":
            yield "gerund after a preposition", "VERB:FORM", token.i, token.i + 1, verb.base
            wrong = f"to {verb.base}"
            yield "gerund after a preposition", "VERB:FORM", token.i, token.i + 1, wrong
    if (
        token.tag_ == "VB"
        and before is not None
        and before.tag_ == "TO"
        and (
            token.dep_ == "xcomp"
            and token.head.i == before.i - 1
            and rules.has(token.head, "infinitive")
        )
    ):
        # "the car needs washing" is right
        needs = token.head.lower_[:4] == "need"
        for wrong in (verb.base,) if needs else (verb.gerund, verb.base):
            name = "infinitive after a verb"
            yield name, "VERB:FORM", before.i, token.i + 1, wrong


def times(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Tense beside times and conditions: "yesterday I go", "if it will rain"; since and for."""
    verb = rules.verb(token)
    subject = _subject(token)
    auxiliaries = _children(token, "aux", "aux:pass", "cop")
    place = token.i, token.i + 1
    if verb is not None and token.tag_ == "VBD" and subject is not None and not auxiliaries:
        here = [t for t in token.children if t.dep_.startswith(("obl", "advmod"))]
        words = [w for t in here for w in t.subtree if abs(w.i - t.i) < 7]
        last = any(
            w.lower_ == "last" and w.head.lower_ in rules.lists["units"] | {"night", "summer"}
            for w in words
        )
        if last or any(w.lower_ in rules.lists["past"] or _YEAR.fullmatch(w.text) for w in words):
            present = verb.third if _number(rules, subject) == "one" else verb.base
            perfect = "has" if _number(rules, subject) == "one" else "have"
            if present != token.lower_:
                yield "tense beside a time", "VERB:TENSE", *place, present
            if _number(rules, subject):
                yield "tense beside a time", "VERB:TENSE", *place, f"{perfect} {verb.pasts[-1]}"
    marks = {t.lower_ for t in _children(token, "mark")}
    if "if" in marks and token.dep_ == "advcl":
        of_main = {t.lower_ for t in _children(token.head, "aux")}
        had = [t for t in auxiliaries if t.lower_ == "had"]
        if verb is not None and not auxiliaries and token.tag_ in ("VBZ", "VBP", "VBD"):
            would = "would" if token.tag_ == "VBD" else "will"
            if would in of_main:
                yield "condition", "VERB:TENSE", *place, f"{would} {verb.base}"
        elif had and "would" in of_main and token.tag_ == "VBN":
            yield "condition", "VERB:TENSE", had[0].i, had[0].i + 1, "would have"
    if token.lower_ in ("for", "since") and token.dep_ == "case":
        noun, above = token.head, token.head.head
        is_perfect = any(t.lower_ in ("have", "has", "'ve", "had") for t in _children(above, "aux"))
        unit = noun.lower_ in rules.lists["units"] and bool(_children(noun, "nummod", "amod"))
        if (
            noun.dep_.startswith("obl")
            and is_perfect
            and unit == (token.lower_ == "for")
            and (unit or _YEAR.fullmatch(noun.text) or noun.tag_ == "NNP")
        ):
            other = "since" if token.lower_ == "for" else "for"
            yield "since and for", "PREP", *place, other


def nouns(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Number, articles and possessives: "advices", "two book", "is teacher", "my brother car"."""
    place = token.i, token.i + 1
    word = token.lower_
    if token.tag_ == "NN" and word in rules.lists["uncountable"] and token.dep_ != "compound":
        yield "uncountable", "NOUN:NUM", *place, plural(word)
    if token.tag_ == "NNS":
        one = next((w for w in stems(word) if w != word and plural(w) == word), "")
        number = [t for t in _children(token, "nummod") if t.lower_ not in ("one", "1")]
        if one in rules.words and (number and number[0].i < token.i):
            yield "number after a number", "NOUN:NUM", *place, one
    of_person = token.head.dep_ == "nmod:poss" and rules.has(token.head, "persons")
    if token.tag_ == "POS" and of_person and token.i + 1 < token.sent.end:
        yield "possessive", "NOUN:POSS", *place, ""
    if token.dep_ != "det" or word not in ("a", "an") or token.head.tag_ != "NN":
        return
    if token.i + 1 < token.sent.end:
        after = token.nbor(1).lower_
        if (
            after.isalpha()
            and len(after) > 2
            and after[0] not in "h"
            and token.nbor(1).text[0].islower()
        ):
            vowel = bool(_VOWEL.match(after))
            if vowel == (word == "an"):
                yield "a or an by sound", "DET", *place, "a" if vowel else "an"
        if plural(token.head.lower_) in rules.words and not rules.has(token.head, "mass"):
            yield "article before one", "DET", *place, ""


def prepositions(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Prepositions that a verb or an adjective doesn't take: "discuss about", "married with"."""
    if token.i + 1 >= token.sent.end:
        return
    after = token.nbor(1)
    verb = rules.verb(token)
    if verb is not None and token.tag_[:2] == "VB":
        objects = _children(token, "obj", "iobj")
        starts = {t.left_edge.i for t in objects}
        if verb.base in rules.objects and after.i in starts and after.tag_ not in ("WP", "WDT"):
            for wrong in rules.objects[verb.base]:
                new = f"{wrong} {after.text}"
                yield "preposition before an object", "PREP", after.i, after.i + 1, new
        if rules.has(token, "said_to"):
            for noun in _children(token, "obl"):
                case = _children(noun, "case")
                if noun.tag_ == "PRP" and case and case[0].lower_ == "to" and case[0] == after:
                    yield "complement of saying", "PREP", after.i, after.i + 1, ""
    pair = f"{token.lower_} {after.lower_}"
    if pair in rules.adjectives and after.dep_ == "case" and after.tag_ in ("IN", "TO"):
        for wrong in rules.adjectives[pair]:
            yield "preposition after an adjective", "PREP", after.i, after.i + 1, wrong


def questions(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """The order of the other kind of question: "where you are going?", "where is he"."""
    sentence = token.sent
    if token.dep_ not in ("aux", "aux:pass", "cop") or token.tag_ not in FINITE:
        return
    head = token.head
    asks = [t for t in head.subtree if t.tag_ in ("WP", "WRB", "WDT") and t.i < token.i]
    subject = _children(head, "nsubj", "nsubj:pass")
    if len(subject) != 1:
        return
    edges = subject[0].left_edge.i, subject[0].right_edge.i + 1
    words = [t.text for t in token.doc[edges[0] : edges[1]]]
    if len(words) > 4 or token.lower_.startswith("'") or not token.lower_.isalpha():
        return
    direct = head.dep_ == "root" or head.head == head
    if direct and sentence[-1].text == "?" and asks and edges[0] == token.i + 1:
        name = "order of a direct question"
        yield name, "WO", token.i, edges[1], " ".join([*words, token.text])
        if token.lower_ in ("do", "does", "did"):
            yield "missing do", "VERB:TENSE", token.i, token.i + 1, ""
    first = head.left_edge
    if (
        head.dep_ == "ccomp"
        and first.tag_ in ("WP", "WRB")
        and first.i == edges[0] - 1
        and edges[1] == token.i
        and subject[0] != first
    ):
        name = "order of an indirect question"
        yield name, "WO", edges[0], token.i + 1, " ".join([token.text, *words])


def pronouns(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Pronouns and negation: "the man which", "because likes", "didn't see nothing"."""
    word, head = token.lower_, token.head
    place = token.i, token.i + 1
    relative = token.tag_ in ("WP", "WDT") and head.dep_ == "acl:relcl" and token.i > 0
    if relative and token.nbor(-1) == head.head and token.dep_[:5] == "nsubj":
        for wrong in {"who": ("which", "what"), "which": ("what",), "that": ("what",)}.get(
            word, ()
        ):
            yield "relative pronoun", "PRON", *place, wrong
    denied = any(t.lower_ in ("not", "n't", "never") for t in _children(head, "advmod"))
    if denied and word in _ANY and token.dep_ in ("obj", "obl", "advmod") and token.i > head.i:
        yield "double negation", "ADV" if word == "anywhere" else "PRON", *place, _ANY[word]
    above = head.head
    if (
        word == "any"
        and head.dep_ == "obj"
        and token.dep_ == "det"
        and any(t.lower_ in ("not", "n't", "never") for t in _children(above, "advmod"))
    ):
        yield "double negation", "DET", *place, "no"
    if word in _SELVES and token.dep_ in ("obj", "iobj"):
        subject = _subject(head)
        own = subject is not None and _SUBJECTS.get(word, "") in ("", subject.lower_)
        for wrong in _SELVES[word].split() if own else ():
            yield "reflexive", "PRON", *place, wrong
    after = token.nbor(1) if token.i + 1 < token.sent.end else token
    if token.tag_ == "PRP" and token.dep_ in ("nsubj", "expl", "nsubj:pass"):
        finite = after.tag_ in ("VBZ", "MD") or after.lower_ in _BE | {"has", "had"}
        full = finite and after.lower_.isalpha() and (after == head or after.head == head)
        alone = head.dep_ not in ("conj", "acl:relcl") and not any(
            t.tag_ in ("WP", "WDT", "WRB") for t in head.children
        )
        bare = head.dep_ in ("root", "ROOT") and token.i == token.sent.start
        marked = any(t.lower_ in ("because", "if") for t in _children(head, "mark"))
        bare = bare and after.lower_ in _BE
        if full and alone and word == "it" and (bare or marked) and after.tag_ != "MD":
            yield "missing it", "PRON", *place, ""
        elif full and alone and marked and word in ("i", "he", "she", "we", "they"):
            yield "missing subject", "PRON", *place, ""
    needs = token.dep_ == "obj" and word in ("it", "them", "him", "her") and token.i == head.i + 1
    if (
        needs
        and token.tag_ == "PRP"
        and rules.has(head, "needs_object")
        and head.tag_ != "VBN"
        and not any(t.dep_ in ("acl:relcl", "xcomp", "ccomp") for t in (head, *head.children))
    ):
        yield "missing object", "PRON", *place, ""


def predicates(rules: GrammarRules, token: Token) -> Iterator[Wrong]:
    """Missing be, and adjectives and adverbs for each other: "she very tired", "speaks good"."""
    word, head = token.lower_, token.head
    place = token.i, token.i + 1
    subject = _subject(head)
    if word in _BE and token.tag_ in FINITE and subject is not None and token.i < head.i:
        near = subject.right_edge.i == token.i - 1 and subject.tag_ in ("NN", "NNS", "PRP")
        plain = head.dep_ in ("root", "ROOT", "ccomp") and head.head.tag_[:2] != "NN"
        if near and plain and token.dep_ == "cop" and head.tag_ in ("JJ", "RB"):
            yield "missing be", "VERB", *place, ""
        elif near and plain and token.dep_ == "aux" and head.tag_ == "VBG":
            yield "missing be", "VERB:TENSE", *place, ""
    if token.tag_ == "RB" and token.dep_ == "advmod" and head.tag_[:2] == "VB":
        stem = _adjective(word)
        behind = token.i == head.i + 1 or token.i + 1 == token.sent.end - 1
        plain = word not in rules.lists["adverbs"] and stem in rules.words
        if token.i > head.i and behind and plain:
            yield "adjective for an adverb", "MORPH", *place, stem
    if token.tag_ == "JJ" and word.isalpha() and token.text.islower():
        adverb = _adverb(word)
        before = token.nbor(-1).lower_ if token.i else ""
        linked = token.dep_ == "xcomp" and rules.has(head, "linking") and token.i == head.i + 1
        inside = token.dep_ == "amod" and token.i == head.i - 1 and head.tag_ == "NN"
        inside = inside and before in ("a", "an", "the")
        if adverb in rules.words and word[-2:] != "ly" and (linked or inside):
            yield "adverb for an adjective", "MORPH", *place, adverb
    base = next((w for w in stems(word) if w in rules.comparable), "")
    if token.tag_ == "JJR" and base and token.nbor(-1 if token.i else 0).tag_ != "RBR":
        yield "comparative", "ADJ:FORM", *place, f"more {word}"
        yield "comparative", "ADJ:FORM", *place, f"more {base}"
        if any(t.lower_ == "than" for t in token.subtree):
            yield "comparative", "ADJ:FORM", *place, base
    if (
        word == "more"
        and head.tag_ == "JJ"
        and token.i == head.i - 1
        and any(t.lower_ == "than" for t in head.subtree)
    ):
        yield "comparative", "ADJ:FORM", *place, ""


def _adjective(adverb: str) -> str:
    if adverb == "well":
        return "good"
    stem = adverb.removesuffix("ly")
    return "" if stem == adverb else stem[:-1] + "y" if stem.endswith("i") else stem


def _adverb(adjective: str) -> str:
    if adjective.endswith("y"):
        return adjective[:-1] + "ily"
    return adjective[:-1] + "y" if adjective.endswith("le") else adjective + "ly"


RULES: tuple[Rule, ...] = (
    *(agreement, forms, gerund_or_infinitive, times, nouns),
    *(prepositions, questions, pronouns, predicates),
)
"""All rules."""
