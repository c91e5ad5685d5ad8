"""What should stand in the place of wrong words, by the probabilities of a detector's labels."""

from collections.abc import Mapping, Sequence

from numpy.typing import NDArray

from ..annotations.grammar_errors import EDIT, Correction, is_unnecessary, type_of
from .edits import JOIN, SWAP, edited, similar

MOST = 3
"""Most suggestions for an error."""
LEAST = 0.05
"""Least probability of a suggestion."""
SHORTEST = 3
"""Letters of the shortest word that may be a misspelling of another."""


class Suggester:
    """labels: a detector's, with edits. words: right words, most frequent first."""

    def __init__(self, labels: Sequence[str], words: Sequence[str]) -> None:
        self.edits = [label.partition(EDIT)[2] for label in labels]
        self.rank = {word: k for k, word in enumerate(words)}
        self.of_type: dict[str, list[int]] = {}
        for k, label in enumerate(labels):
            self.of_type.setdefault(type_of(label), []).append(k)

    def __call__(
        self, words: Sequence[str], types: Mapping[int, str], probabilities: NDArray
    ) -> tuple[dict[int, list[Correction]], set[int]]:
        """Return corrections of wrong words, the most probable first, and the words that change
        places with the word before, or belong to it, whose correction has both.

        words: of a Doc. types: of errors, by word, in order. probabilities: of the labels [words,
        labels].
        """
        found: dict[int, list[Correction]] = {}
        seconds: set[int] = set()
        for i, type in types.items():
            row = probabilities[i]
            total = float(row.sum())
            best = sorted(self.of_type[type], key=lambda k: -row[k])
            for k in best if i not in seconds else ():
                probability = float(row[k]) / total
                if probability < LEAST or len(found.get(i, ())) == MOST:
                    break
                text = self._text(words[i], type, self.edits[k])
                if self.edits[k] in (SWAP, JOIN) and k == best[0] and types.get(i + 1) == type:
                    swap = self.edits[k] == SWAP
                    text = f"{words[i + 1]} {words[i]}" if swap else words[i] + words[i + 1]
                    seconds.add(i + 1)
                if text is not None:
                    found.setdefault(i, []).append(Correction(text, probability))
        return found, seconds

    def _text(self, word: str, type: str, edit: str) -> str | None:
        if edit:
            return edited(word, edit)
        if is_unnecessary(type):
            return ""
        return self._spelled(word)

    def _spelled(self, word: str) -> str | None:
        """Return the most frequent right word that a misspelling is similar to, None if the word is
        right or like no other."""
        lower = word.lower()
        if lower in self.rank or len(word) < SHORTEST or not word.isalpha():
            return None
        for near in similar(lower):
            if known := near & self.rank.keys():
                best = min(known, key=lambda other: self.rank[other])
                return best.capitalize() if word[0].isupper() else best
        return None
