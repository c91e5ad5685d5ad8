"""Descriptions of labels in queries."""

from __future__ import annotations

import re
from collections.abc import Iterable

LARGEST = 200_000
"""Labels and words that a description remembers, before it forgets them all."""

_CUT = r"-=|#^~_\["
_BASIC = re.compile(rf"(?:([{_CUT}])(?:[^{_CUT}]+\1)?)?[^{_CUT}]*")


def basic_category(label: str) -> str:
    """Return the label up to its functions and indices: NP of NP-SBJ-1, but -NONE- of -NONE-.

    As Stanford's PennTreebankLanguagePack has it: up to the first of - = | # ^ ~ _ [ that is not
    the first character, nor the same as that and the first after it.
    """
    found = _BASIC.match(label)
    return found[0] if found else ""


class Labels(dict[str, bool]):
    """Whether a description holds of a label: a dict that fills itself.

    words: the labels that it names, or None. regex: what it searches for, or None; without both it
    holds of all. basic: whether it is about basic categories. negated: whether it excludes them.
    """

    def __init__(
        self,
        words: Iterable[str] | None = None,
        regex: re.Pattern[str] | None = None,
        basic: bool = False,
        negated: bool = False,
    ) -> None:
        super().__init__()
        self.words = None if words is None else frozenset(words)
        self.regex, self.basic, self.negated = regex, basic, negated

    def __missing__(self, label: str) -> bool:
        if len(self) >= LARGEST:
            self.clear()
        value = basic_category(label) if self.basic else label
        if self.words is not None:
            found = value in self.words
        else:
            found = self.regex is None or self.regex.search(value) is not None
        self[label] = found = found != self.negated
        return found

    @property
    def selects(self) -> bool:
        """Whether it holds of few labels: of some that it names or finds."""
        return not self.negated and (self.words is not None or self.regex is not None)

    @property
    def names(self) -> frozenset[str] | None:
        """All labels of which it holds, if it names them."""
        return None if self.basic or self.negated else self.words

    def among(self, labels: Iterable[str]) -> bool:
        """Return whether it holds of one of the labels."""
        if self.names is not None:
            return not self.names.isdisjoint(labels)
        return any(map(self.__getitem__, labels))
