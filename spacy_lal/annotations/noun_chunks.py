"""Noun chunks of English by relations of Universal Dependencies, for `doc.noun_chunks`.

spaCy's rule for English looks for relations of its own pipelines, such as `dobj`.
"""

from collections.abc import Iterator
from typing import Any

from spacy.lang.en.syntax_iterators import noun_chunks as spacys_noun_chunks
from spacy.tokens import Doc, Span, Token
from spacy.vocab import Vocab

from .english import ENGLISH, has_other_relations

_E = ENGLISH["noun_chunks"]


def noun_chunks(part: Doc | Span) -> Iterator[tuple[int, int, int]]:
    """Yield (start, end, "NP" as a number) of nouns and pronouns with what stands before them, as
    spaCy's rule does. Nouns are known by their tags, or by `pos_` where there are none. A Doc with
    relations of spaCy's own pipelines is left to spaCy's rule. Raises ValueError without heads."""
    doc = part.doc
    if not doc.has_annotation("DEP") or has_other_relations(doc):
        yield from spacys_noun_chunks(part)
        return
    label, last = doc.vocab.strings.add("NP"), -1
    for word in part:
        noun = word.tag_ in _E["nouns"] if word.tag_ else word.pos_ in _E["noun_pos"]
        if noun and word.i > last and word.dep_ not in _E["inside"] | _E["after"]:
            start, end = _chunk(word)
            start = max(start, last + 1)
            last = end - 1
            yield start, end, label


def _chunk(noun: Token) -> tuple[int, int]:
    start = noun.i
    for child in reversed(list(noun.lefts)):
        if child.dep_ not in _E["inside"] or child.right_edge.i + 1 != start:
            break
        start = child.left_edge.i
    while noun.doc[start].dep_ in _E["edges"]:
        start += 1
    end = noun.i + 1
    for child in noun.rights:
        if child.dep_ not in _E["after"] or child.left_edge.i != end:
            break
        end = child.right_edge.i + 1
    return start, end


def install_noun_chunks(vocab: Vocab, doc: Doc | None = None) -> None:
    """Let `doc.noun_chunks` follow this rule, of a Doc and of all that are made from now on. Any
    other rule than spaCy's for English stays, such as a user's."""
    # spaCy's types have Spans where its rules yield places, and don't have a Doc's rule
    rule: Any = noun_chunks
    given: Any = doc
    if vocab.get_noun_chunks is spacys_noun_chunks:
        vocab.get_noun_chunks = rule
    if doc is not None and given.noun_chunks_iterator is spacys_noun_chunks:
        given.noun_chunks_iterator = rule
