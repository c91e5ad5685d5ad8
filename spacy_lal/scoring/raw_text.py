"""Scores of annotation of raw text, compared by characters other than whitespace."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from spacy.scorer import PRFScore
from spacy.tokens import Doc

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents
from . import count_alike, named_scores
from .characters import Characters, count_arcs
from .evalb import EvalbParameters

Bracket = tuple[int, int, str]


@dataclass
class RawTextScores:
    """Counts of matches, by name, over pairs of a gold and a found Doc with the same text.

    words: tokens with the same characters. boundaries: sentence starts other than a Doc's first.
    tags: words with the same tag. uas, las: as in CoNLL 2018, words whose heads have the same
    characters; relations are cut at ":". brackets: label, as in EVALB's parameters, and characters,
    without gold punctuation. Found brackets within gold sentences that are "unparsed" don't count,
    nor do layers that the gold Doc lacks, nor tags and heads of words without gold.
    """

    parameters: EvalbParameters = field(default_factory=lambda: EvalbParameters.load("nk"))
    counts: dict[str, PRFScore] = field(default_factory=lambda: defaultdict(PRFScore))

    def add(self, gold: Doc, found: Doc) -> None:
        """Count one pair. Raises ValueError if the texts differ in more than whitespace."""
        ours, theirs = Characters(gold), Characters(found)
        if ours.text != theirs.text:
            raise ValueError(f"these are two texts: {gold.text[:30]!r} and {found.text[:30]!r}")
        self.counts["words"] += count_alike(ours.words(), theirs.words())
        self.counts["boundaries"] += count_alike(ours.boundaries(), theirs.boundaries())
        if gold.has_annotation("TAG"):
            among = ours.characters(token for token in gold if token.tag)
            self.counts["tags"] += count_alike(ours.tags(among), theirs.tags(among))
        if gold.has_annotation("DEP"):
            among = ours.characters(token for token in gold if token.dep)
            uas, las = count_arcs(ours, theirs, among, universal=True)
            self.counts["uas"] += uas
            self.counts["las"] += las
        if CONSTITUENTS_KEY in gold.spans:
            self._add_brackets(ours, theirs)

    def _add_brackets(self, ours: Characters, theirs: Characters) -> None:
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

        def brackets(side: Characters) -> Iterator[Bracket]:
            for first_token, last_token, label in get_constituents(side.doc):
                start, end = side.spans[first_token][0], side.spans[last_token - 1][1]
                if not any(first <= start and end <= last for first, last in unparsed):
                    yield bisect_left(kept, start), bisect_left(kept, end), label

        equal = dict(sorted(pair, reverse=True) for pair in self.parameters.equal_labels)
        counted = (
            [(i, j, equal.get(label, label)) for i, j, label in self.parameters.counted(found)]
            for found in (brackets(ours), brackets(theirs))
        )
        self.counts["brackets"] += count_alike(*counted)

    def as_dict(self) -> dict[str, float | None]:
        """Return F1, and precision and recall of boundaries and brackets; None without items."""
        result: dict[str, float | None] = {}
        for name in ("words", "boundaries", "tags", "uas", "las", "brackets"):
            scores = named_scores(name, self.counts[name])
            for key in "prf" if name in ("boundaries", "brackets") else "f":
                result[f"{name}_{key}"] = scores[f"{name}_{key}"]
        return result
