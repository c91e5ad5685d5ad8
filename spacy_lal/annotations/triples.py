"""Triples of English: who did what to whom, by heads and roles together."""

from collections.abc import Iterator
from dataclasses import dataclass

from spacy.tokens import Doc, Span, Token

from .clauses import (
    children,
    first_conjunct,
    heads_clause,
    is_passive,
    phrase_of,
    shares_auxiliaries,
    subject_of,
)
from .english import ENGLISH, check_heads
from .frames import FRAMES_KEY, Frame, get_frames

_E, _C = ENGLISH["triples"], ENGLISH["clauses"]
_MODALS = dict(pair.split("=") for pair in _E["short_modals"])


@dataclass(frozen=True, slots=True)
class Triple:
    """Subject, verb and object, each without what is coordinated with it.

    subject: who does it, also of a passive ("by Ann"); None if the sentence doesn't say.
    verb: main verb, or the copula. object: direct or indirect object, what a passive is about,
        predicate of "be", or argument with a preposition.
    particle: of the verb ("up" in "pick up"), or None. preposition: of the object, or None.
    modal: "may", "can", or None. negated: whether the verb is.
    """

    subject: Span | None
    verb: Token
    object: Span
    particle: Token | None
    preposition: Span | None
    modal: Token | None
    negated: bool

    @property
    def relation(self) -> str:
        """Modal, "not" if negated, verb, particle and preposition: "may not look for". The modal of
        "can't" is "can"."""
        modal = _MODALS.get(str(self.modal).lower(), self.modal)
        parts = (modal, "not" * self.negated, self.verb, self.particle, self.preposition)
        return " ".join(str(part) for part in parts if part)

    def __str__(self) -> str:
        """Return "Ann | may not look for | a cat"; "?" stands for no subject."""
        return f"{self.subject or '?'} | {self.relation} | {self.object}"


def get_triples(doc: Doc, key: str = FRAMES_KEY) -> list[Triple]:
    """Return the triples of an English Doc, in the order of their verbs and objects.

    Roles say which words with prepositions are arguments (the numbered ones are, places and times
    aren't), and whose noun an infinitive, a participle or a relative clause is about; without the
    group `key`, heads alone say what they can. Clauses as objects make no triples. Raises
    ValueError without tags or relations of Universal Dependencies.
    """
    check_heads(doc, "doc._.triples")
    frames: dict[int, Frame] = {}
    for frame in get_frames(doc, key):
        frames.setdefault(frame.predicate.i, frame)
    found = (_of(head, frames) for head in doc if heads_clause(head))
    unique = {
        (t.verb.i, t.object.root.i, -1 if t.subject is None else t.subject.root.i): t
        for some in found
        for t in some
    }
    return [unique[place] for place in sorted(unique)]


def _of(head: Token, frames: dict[int, Frame]) -> Iterator[Triple]:
    copulas, outer = children(head, "copula"), children(head, "outer_subject")
    if outer:
        copulas = copulas[1:]  # the first has a clause as its predicate
    if copulas:
        if head.tag_ not in _E["no_predicate"]:
            yield from _shared(head, copulas[-1], _subject(head, frames), [head])
        return
    if head.tag_ not in _C["verbs"]:
        return
    passive = is_passive(head)
    objects = _objects(head, frames, passive)
    if not objects:
        return
    subject = _agent(head, frames) if passive else _subject(head, frames)
    yield from _shared(head, head, subject, [word for word in objects if word != subject])


def _roles(head: Token, frames: dict[int, Frame]) -> dict[str, Token]:
    """Return numbered arguments whose head words are nouns, as {label: head word}, with the noun
    of a relative pronoun in place of the pronoun."""
    found: dict[str, Token] = {}
    frame = frames.get(head.i)
    for span in frame.arguments if frame else ():
        label = span.label_.removeprefix("R-")
        if label[:3] != "ARG" or not label[3:].isdigit() or _clausal(head, span):
            continue
        word = _antecedent(span.root)
        content = heads_clause(word) and head.is_ancestor(word)
        noun = word.tag_ in _E["nouns"] and word.dep_ not in _E["modifiers"]
        if noun and not content and word != head:
            found.setdefault(label, word)
    return found


def _clausal(head: Token, span: Span) -> bool:
    """Whether an argument is a clause, with its subject: "him buy a car" of "made"."""
    inside = [child for child in children(head, "complement") if child in span]
    return any(heads_clause(child) for child in inside)


def _objects(head: Token, frames: dict[int, Frame], passive: bool) -> list[Token]:
    """Return objects, arguments with prepositions, and the noun of a relative clause if the verb
    asks for it; of a passive also the subject."""
    found = children(head, "objects")
    first = first_conjunct(head)
    if not found and first is not None:  # "bought and ate apples"
        found = [child for child in children(first, "objects") if child.i > head.i]
    if passive:
        subject, first = subject_of(head), _first(head)
        if subject is None and first.dep_ in _C["noun_clause"]:
            subject = first.head
        found = found if subject is None else [subject, *found]
    frame = frames.get(head.i)
    content = [span for span in frame.arguments if _clausal(head, span)] if frame else []
    found = [_antecedent(word) for word in found if not any(word in span for span in content)]
    own = children(head, "subject")
    for label, word in _roles(head, frames).items():
        agent = label == "ARG0" or word in own or word.dep_ in _E["agent"]
        if not agent and word not in found:
            found.append(word)
    return found


def _agent(head: Token, frames: dict[int, Frame]) -> Token | None:
    """Return who does it in a passive; where roles take the subject for it, heads are right."""
    agents = [child for child in head.children if child.dep_ in _E["agent"]]
    by_roles = _roles(head, frames).get("ARG0")
    subject = subject_of(head)
    own = by_roles is not None and subject is not None and by_roles == _antecedent(subject)
    return next(iter(agents), None if own else by_roles)


def _subject(head: Token, frames: dict[int, Frame]) -> Token | None:
    """Return the subject of an active verb, or the noun that an infinitive, a gerund or a
    participle is about: by roles, else that of the verb above it."""
    while True:
        subject = subject_of(head)
        if subject is not None:
            return _antecedent(subject)
        roles, first = _roles(head, frames), _first(head)
        if "ARG0" in roles:
            return roles["ARG0"]
        if first.dep_ in _C["noun_clause"]:
            participle = first.tag_ in _C["gerund"] and not children(first, "mark")
            return first.head if participle else None
        outside = [word for word in roles.values() if not head.is_ancestor(word)]
        if outside and (len(roles) > 1 or children(head, "objects")):
            return outside[0]
        if first.dep_ not in _E["controlled"]:
            return None
        head = first.head
        if first.dep_ in _E["by_object"] and (objects := children(head, "objects")):
            return _antecedent(objects[0])


def _first(head: Token) -> Token:
    """Return the first of coordinated verbs that share their auxiliaries."""
    above = first_conjunct(head)
    while above is not None and shares_auxiliaries(head):
        head, above = above, first_conjunct(above)
    return head


def _antecedent(word: Token) -> Token:
    """Return the noun that a relative pronoun stands for, or the word itself."""
    if word.text.lower() not in _E["relative_words"]:
        return word
    for above in word.ancestors:
        if above.dep_ in _C["relative"]:
            opens = next((t for t in above.subtree if t.text.lower() in _E["relative_words"]), None)
            return above.head if opens == word and above.head.i < word.i else word
    return word


def _shared(
    head: Token, verb: Token, subject: Token | None, objects: list[Token]
) -> Iterator[Triple]:
    group = _first(head)
    modals = [child for child in group.children if child.tag_ in _C["modal"]]
    negated = any(map(_negates, group.children))
    particles = [child for child in head.children if child.dep_ in _E["particle"]]
    for who in [None] if subject is None else _conjuncts(subject, head):
        for what in (one for word in objects for one in _conjuncts(word, head)):
            yield Triple(
                None if who is None else _phrase(who, head),
                verb,
                _phrase(what, head),
                next(iter(particles), None),
                _preposition(what) if what == head or head.is_ancestor(what) else None,
                next(iter(modals), None),
                negated,
            )


def _negates(word: Token) -> bool:
    return word.dep_ in _E["adverb"] and word.text.lower() in _E["not"]


def _conjuncts(word: Token, head: Token) -> list[Token]:
    """Return a noun and those coordinated with it; before a relative clause with `head`, those
    before the clause."""
    found = [word]
    for child in word.children:
        behind = word.i < head.i < child.i
        if child.dep_ in _C["conjunct"] and not behind and not heads_clause(child):
            found.append(child)
    return found


def _phrase(word: Token, head: Token) -> Span:
    """Return a noun's phrase, without the clause of `head` inside; of a predicate, what stands
    behind its subject, copula and negation."""
    after, before = 0, []
    copulas = children(word, "copula")
    if word == head or copulas:
        ends = (c.right_edge.i + 1 for c in word.lefts if c.dep_ in _E["apart"] or _negates(c))
        after = max(ends, default=0)
        # "What is your name?"
        behind = [*copulas, *children(word, "subject")] if copulas else []
        before += [child.left_edge.i for child in behind if child.i > word.i]
    if word.i < head.i and word.is_ancestor(head):
        before.append(head.left_edge.i)
    return phrase_of(word, after=after, before=min(before, default=None))


def _preposition(word: Token) -> Span | None:
    """Return the preposition of a noun, or of the one that it is coordinated with."""
    while True:
        case = [child for child in word.lefts if child.dep_ in _E["preposition"]]
        if case or word.dep_ not in _C["conjunct"]:
            return word.doc[case[0].i : case[0].right_edge.i + 1] if case else None
        word = word.head
