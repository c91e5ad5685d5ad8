"""Tokens of two Docs of the same text, compared by characters other than whitespace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from spacy.scorer import PRFScore
from spacy.tokens import Doc, Token

from . import count_alike

Place = tuple[int, int]
"""Start and end of a token."""


class Characters:
    """A Doc in characters other than whitespace. spans: (start, end) of every token."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        texts = ["".join(token.text.split()) for token in doc]
        self.text = "".join(texts)
        ends = list(accumulate(map(len, texts)))
        self.spans = [(end - len(text), end) for text, end in zip(texts, ends, strict=True)]

    def words(self) -> list[Place]:
        return [(start, end) for start, end in self.spans if start < end]

    def boundaries(self) -> list[int]:
        if not self.doc.has_annotation("SENT_START"):
            return []
        starts = {self.spans[token.i][0] for token in self.doc if token.is_sent_start}
        return sorted(starts - {0, len(self.text)})

    def characters(self, tokens: Iterable[Token]) -> set[int]:
        return {at for token in tokens for at in range(*self.spans[token.i])}

    def tokens(self, among: set[int]) -> Iterator[Token]:
        """Yield the tokens that have some of these characters."""
        for token, span in zip(self.doc, self.spans, strict=True):
            if not among.isdisjoint(range(*span)):
                yield token

    def tags(self, among: set[int]) -> Iterator[tuple[Place, str]]:
        for token in self.tokens(among):
            yield self.spans[token.i], token.tag_

    def arcs(self, among: set[int], universal: bool) -> Iterator[tuple[Place, Place, str]]:
        """Yield dependent, head and relation; a root is its own head, (-1, -1) is none. universal:
        whether relations are cut at ":"."""
        for token in self.tokens(among):
            head = self.spans[token.head.i] if token.dep else (-1, -1)
            relation = token.dep_.lower()
            yield self.spans[token.i], head, relation.partition(":")[0] if universal else relation


def count_arcs(
    gold: Characters, found: Characters, among: set[int], *, universal: bool
) -> tuple[PRFScore, PRFScore]:
    """Return counts of the tokens with the right head, and of those with the right head and
    relation, of the tokens that have some of these characters."""
    ours, theirs = list(gold.arcs(among, universal)), list(found.arcs(among, universal))
    heads = count_alike((arc[:2] for arc in ours), (arc[:2] for arc in theirs))
    return heads, count_alike(ours, theirs)
