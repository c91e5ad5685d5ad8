"""Scores of annotation of raw text, compared by characters other than whitespace."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

from spacy.scorer import PRFScore
from spacy.tokens import Doc, Token

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents
from . import count_alike, named_scores
from .evalb import EvalbParameters

Bracket = tuple[int, int, str]


@dataclass
class RawTextScores:
    """Counts of matches over pairs of a gold and a found Doc with the same text.

    words: tokens with the same characters. boundaries: sentence starts other than a Doc's first.
    tags: words with the same tag. uas, las: as in CoNLL 2018, words whose heads have the same
    characters; relations are cut at ":". brackets: label, as in EVALB's parameters, and characters,
    without gold punctuation. Found brackets within gold sentences that are "unparsed" don't count,
    nor do layers that the gold Doc lacks, nor tags and heads of words without gold.
    """

    parameters: EvalbParameters = field(default_factory=lambda: EvalbParameters.load("nk"))
    words: PRFScore = field(default_factory=PRFScore)
    boundaries: PRFScore = field(default_factory=PRFScore)
    tags: PRFScore = field(default_factory=PRFScore)
    uas: PRFScore = field(default_factory=PRFScore)
    las: PRFScore = field(default_factory=PRFScore)
    brackets: PRFScore = field(default_factory=PRFScore)

    def add(self, gold: Doc, found: Doc) -> None:
        """Count one pair. Raises ValueError if the texts differ in more than whitespace."""
        ours, theirs = _Characters(gold), _Characters(found)
        if ours.text != theirs.text:
            raise ValueError(f"these are two texts: {gold.text[:30]!r} and {found.text[:30]!r}")
        self.words += count_alike(ours.words(), theirs.words())
        self.boundaries += count_alike(ours.boundaries(), theirs.boundaries())
        if gold.has_annotation("TAG"):
            without = ours.characters(token for token in gold if not token.tag)
            self.tags += count_alike(ours.tags(without), theirs.tags(without))
        if gold.has_annotation("DEP"):
            without = ours.characters(token for token in gold if not token.dep)
            arcs, arcs_found = list(ours.arcs(without)), list(theirs.arcs(without))
            self.las += count_alike(arcs, arcs_found)
            self.uas += count_alike((arc[:2] for arc in arcs), (arc[:2] for arc in arcs_found))
        if CONSTITUENTS_KEY in gold.spans:
            self._add_brackets(ours, theirs)

    def _add_brackets(self, ours: _Characters, theirs: _Characters) -> None:
        kept = sorted(
            at
            for token, (start, end) in zip(ours.doc, ours.spans, strict=True)
            if token.tag_ not in self.parameters.delete_labels
            for at in range(start, end)
        )
        unparsed = [
            (ours.spans[start][0], ours.spans[end - 1][1])
            for start, end in ours.doc.spans[CONSTITUENTS_KEY].attrs.get("unparsed", ())
        ]

        def brackets(side: _Characters) -> Iterator[Bracket]:
            for start, end, label in side.constituents():
                if not any(first <= start and end <= last for first, last in unparsed):
                    yield bisect_left(kept, start), bisect_left(kept, end), label

        equal = dict(sorted(pair, reverse=True) for pair in self.parameters.equal_labels)
        counted = (
            [(i, j, equal.get(label, label)) for i, j, label in self.parameters.counted(found)]
            for found in (brackets(ours), brackets(theirs))
        )
        self.brackets += count_alike(*counted)

    def as_dict(self) -> dict[str, float | None]:
        """Return F1, and precision and recall of boundaries and brackets; None without items."""
        result: dict[str, float | None] = {}
        for name in ("words", "boundaries", "tags", "uas", "las", "brackets"):
            scores = named_scores(name, getattr(self, name))
            for key in "prf" if name in ("boundaries", "brackets") else "f":
                result[f"{name}_{key}"] = scores[f"{name}_{key}"]
        return result


class _Characters:
    """A Doc in characters other than whitespace. spans: (start, end) of every token."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        texts = ["".join(token.text.split()) for token in doc]
        self.text = "".join(texts)
        ends = list(accumulate(map(len, texts)))
        self.spans = [(end - len(text), end) for text, end in zip(texts, ends, strict=True)]

    def words(self) -> list[tuple[int, int]]:
        return [(start, end) for start, end in self.spans if start < end]

    def boundaries(self) -> list[int]:
        if not self.doc.has_annotation("SENT_START"):
            return []
        starts = {self.spans[token.i][0] for token in self.doc if token.is_sent_start}
        return sorted(starts - {0, len(self.text)})

    def characters(self, tokens: Iterable[Token]) -> set[int]:
        return {at for token in tokens for at in range(*self.spans[token.i])}

    def _tokens(self, without: set[int]) -> Iterator[tuple[Token, tuple[int, int]]]:
        """Yield the tokens with characters, but none of `without`."""
        for token, span in zip(self.doc, self.spans, strict=True):
            if span[0] < span[1] and without.isdisjoint(range(*span)):
                yield token, span

    def tags(self, without: set[int]) -> Iterator[tuple[int, int, str]]:
        for token, (start, end) in self._tokens(without):
            yield start, end, token.tag_

    def arcs(self, without: set[int]) -> Iterator[tuple[tuple[int, int], tuple[int, int], str]]:
        """Yield dependent, head and relation; a root is its own head, (-1, -1) is none."""
        for token, span in self._tokens(without):
            head = self.spans[token.head.i] if token.dep else (-1, -1)
            yield span, head, token.dep_.lower().partition(":")[0]

    def constituents(self) -> Iterator[Bracket]:
        for start, end, label in get_constituents(self.doc):
            yield self.spans[start][0], self.spans[end - 1][1], label
