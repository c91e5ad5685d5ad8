"""Clauses of English, by heads and relations of Universal Dependencies and tags of the Penn
Treebank."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from spacy.tokens import Doc, Span, Token

from .english import ENGLISH, check_heads

_E = ENGLISH["clauses"]
Kind = Literal["main", "relative", "complement", "adverbial"]


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause: a verb with its subject and objects.

    span: from its first to its last word, without clauses coordinated with it or put beside it.
    verb: main verb, behind its auxiliaries; with a predicate ("is happy") the last form of "be".
    subject: None if it has none of its own and shares none. In a relative clause it may be the
        pronoun.
    objects: direct and indirect ones, without prepositions and clauses.
    kind: "main", also for what is coordinated with a main clause or put beside it; "relative";
        "complement", also as a subject; or "adverbial".
    finite: whether the verb group has a tense or a modal, or is an imperative or a subjunctive.
    voice: of the verb. predicate: head word of the clause, `verb` unless `verb` is a copula.
    """

    span: Span
    verb: Token
    subject: Span | None
    objects: tuple[Span, ...]
    kind: Kind
    finite: bool
    voice: Literal["active", "passive"]
    predicate: Token


def get_clauses(doc: Doc) -> list[Clause]:
    """Return the clauses of an English Doc, ordered by their verbs. Raises ValueError without tags
    or without relations of Universal Dependencies."""
    check_heads(doc, "doc._.clauses")
    found = [clause for token in doc if heads_clause(token) for clause in _clauses_of(token)]
    return sorted(found, key=lambda clause: clause.verb.i)


def heads_clause(token: Token) -> bool:
    """Whether a word is the predicate of a clause: a verb that isn't a part of another or of a noun
    phrase, or any word with a copula."""
    if children(token, "copula"):
        return True
    verb = token.tag_ in _E["verbs"]
    return verb and (token.dep_ not in _E["no_clause"] or bool(children(token, "subject")))


def _clauses_of(head: Token) -> Iterator[Clause]:
    """Yield the clause of a predicate. In "The point is that he left" it is two: "left", which
    has an outer subject and a copula, is the predicate of both."""
    copulas, outer = children(head, "copula"), children(head, "outer_subject")
    subject = subject_of(head)
    if not (copulas and outer):
        verb = copulas[-1] if copulas else head
        yield _clause(head, verb, subject, _kind(head), is_finite(head), is_passive(head))
        return
    group = [child for child in children(head, "auxiliaries") if child.i < copulas[0].i]
    finite = any(token.tag_ in _E["finite"] for token in (*group, copulas[0]))
    yield _clause(head, copulas[0], outer[0], _kind(head), finite, False)
    if len(copulas) > 1 or head.tag_ in _E["verbs"]:
        verb = copulas[1] if len(copulas) > 1 else head
        passive = len(copulas) == 1 and is_passive(head)
        yield _clause(head, verb, subject, "complement", is_finite(head), passive)


def _clause(
    head: Token, verb: Token, subject: Token | None, kind: Kind, finite: bool, passive: bool
) -> Clause:
    return Clause(
        _span(head),
        verb,
        None if subject is None else phrase_of(subject),
        tuple(map(phrase_of, children(head, "objects"))),
        kind,
        finite,
        "passive" if passive else "active",
        head,
    )


def children(head: Token, relations: str) -> list[Token]:
    """Return the children that have one of the relations of this name in english.toml."""
    return [child for child in head.children if child.dep_ in _E[relations]]


def first_conjunct(head: Token) -> Token | None:
    """Return the predicate that a predicate is coordinated with, or None."""
    above = head.head
    return above if head.dep_ in _E["conjunct"] and heads_clause(above) else None


def verb_group(head: Token) -> list[Token]:
    """Return auxiliaries, copulas and the verb of a predicate, without auxiliaries that it shares
    with the verb before it."""
    group = [*children(head, "auxiliaries"), *children(head, "copula")]
    return group if children(head, "copula") else [*group, head]


def shares_auxiliaries(head: Token) -> bool:
    """Whether a coordinated verb has the auxiliaries of the verb before it: "can come and go"."""
    above = first_conjunct(head)
    return (
        above is not None
        and verb_group(head) == [head]
        and head.tag_ == above.tag_
        and head.tag_ not in _E["finite"]
        and not children(head, "subject")
    )


def is_finite(head: Token) -> bool:
    """Whether a predicate's verb group is finite."""
    while not any(token.tag_ in _E["finite"] for token in verb_group(head)):
        above = first_conjunct(head)
        if above is None or not shares_auxiliaries(head):
            return _imperative(head)
        head = above
    return True


def _imperative(head: Token) -> bool:
    """Whether the verb is an infinitive without "to" that heads a main clause, or that has a
    conjunction, as in "that he be"."""
    group = verb_group(head)
    first = min(group, key=lambda token: token.i)
    marks = children(head, "mark")
    if first.tag_ not in _E["base"] or any(mark.tag_ in _E["infinitive"] for mark in marks):
        return False
    return _kind(head) == "main" or bool(marks)


def is_passive(head: Token) -> bool:
    """Whether a predicate is passive: by an auxiliary or the relation of its subject, or as a
    participle that says something about a noun."""
    if children(head, "copula"):
        return False
    while not children(head, "passive"):
        if head.tag_ not in _E["participle"] or children(head, "auxiliaries"):
            return False
        above = first_conjunct(head)
        if above is None:
            return not children(head, "subject")
        if children(head, "objects"):
            return False
        head = above
    return True


def subject_of(head: Token) -> Token | None:
    """Return the head word of a predicate's subject, its own or that of the verb before it."""
    above: Token | None = head
    while above is not None:
        head = above
        for relations in ("subject", "expletive", "clause_subject"):
            for child in children(head, relations):
                if child.tag_ not in _E["existential"]:
                    return child
        above = first_conjunct(head)
        if _imperative(head) and not shares_auxiliaries(head):
            return None
    return None


def _kind(head: Token) -> Kind:
    while (above := first_conjunct(head)) is not None:
        head = above
    if head.dep_ in _E["noun_clause"]:
        return "complement" if children(head, "mark") else "relative"
    kinds: tuple[Kind, ...] = ("relative", "complement", "adverbial")
    return next((kind for kind in kinds if head.dep_ in _E[kind]), "main")


def phrase_of(head: Token, after: int = 0, before: int | None = None) -> Span:
    """Return the phrase of a head word without a preposition or conjunction in front, without what
    is coordinated with it, and without punctuation at its ends. after, before: tokens between which
    the phrase stays."""
    doc, start, end = head.doc, max(head.left_edge.i, after), head.right_edge.i + 1
    for child in head.lefts:
        if child.dep_ in _E["outside"] and child.left_edge.i == start:
            start = child.right_edge.i + 1
    for child in head.rights:
        if child.dep_ in _E["beside"]:
            end = min(end, child.left_edge.i)
    start = min(head.i, start)
    end = max(head.i + 1, end if before is None else min(end, before))
    while end - 1 > head.i and doc[end - 1].dep_ in _E["outside"]:
        end -= 1
    return doc[start:end]


def _span(head: Token) -> Span:
    doc, start, end = head.doc, head.left_edge.i, head.right_edge.i + 1
    for child in head.children:
        if child.dep_ in _E["beside"] and heads_clause(child):
            if child.i > head.i:
                end = min(end, max(child.left_edge.i, head.i + 1))
            else:
                start = max(start, min(child.right_edge.i + 1, head.i))
    while start < head.i and doc[start].dep_ in _E["edges"]:
        start += 1
    while end - 1 > head.i and doc[end - 1].dep_ in _E["edges"]:
        end -= 1
    return doc[start:end]
