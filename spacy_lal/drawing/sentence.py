"""Sentences and their annotation as plain values."""

from dataclasses import dataclass, field

from .svg import direction

Phrase = tuple[int, int, str, float | None]
"""(start, end, label, probability) in words of the sentence."""


@dataclass(frozen=True)
class RoleFrame:
    """Predicate's word and roleset, and its roles, V among them, in text order."""

    predicate: int
    roleset: str
    roles: list[Phrase]


@dataclass(frozen=True)
class Sentence:
    """Sentence of n words, without whitespace tokens; all positions count its words.

    tokens: token indices of the words in the Doc [n]. spaces: " " or "" behind each word [n].
    phrases: in preorder. heads: index of each word's head; a root is its own head. corrections: one
        for each of `errors`.
    error_scores: error probability of every word [n]. A layer without annotation is None."""

    words: list[str]
    tags: list[str]
    tokens: list[int]
    spaces: list[str]
    phrases: list[Phrase] | None = None
    frames: list[RoleFrame] | None = None
    heads: list[int] | None = None
    relations: list[str] = field(default_factory=list)
    errors: list[Phrase] | None = None
    corrections: list[str | None] = field(default_factory=list)
    error_scores: list[float] | None = None

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def direction(self) -> str:
        """Direction of the script: "rtl" or "ltr"."""
        return direction(self.text)

    def covered(self, start: int, end: int) -> str:
        return " ".join(self.words[start:end])
