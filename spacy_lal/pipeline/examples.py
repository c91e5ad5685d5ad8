"""Counts of training examples, made in one pass."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

SAMPLE = 10
"""Number of training Docs that are kept to initialise layers."""
Names = dict[str, list[str]]
"""Names of a model's outputs, by kind."""


@dataclass
class Counts:
    """Counts of the training Docs.

    docs: their number. lacking: number of Docs without some layer. names: frequency of each name,
        by kind. sample: Docs to set up a model with. follows: frequency of each pair of a role
        label ("" before the first word) and the next. joint: numbers of sentences with trees and
        heads, and of what is found in them.
    """

    docs: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    names: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sample: list[Doc] = field(default_factory=list)
    follows: Counter[tuple[str, str]] = field(default_factory=Counter)
    joint: Counter[str] = field(default_factory=Counter)

    def require(
        self, pipe: str, labels: dict[str, Any] | None, kind: str, found: str, given: str
    ) -> None:
        """Raise ValueError if the data, or `labels` where given, have no names of this kind."""
        if labels is None and not self.names[kind]:
            raise ValueError(f"none of the {self.docs} training Docs has {found}")
        if labels is not None and not labels.get(kind):
            raise ValueError(f"the labels given to {pipe!r} have no {given}")

    def tell_lacking(self, pipe: str, what: str, message: str) -> None:
        """Log how many Docs lack an annotation."""
        if count := self.lacking[what]:
            logger.info("%s: %d of %d training Docs %s", pipe, count, self.docs, message)


Reader = Callable[[Doc, Counts], None]
"""Adds the annotation of a Doc to the counts."""


def count(examples: Iterable[Example], *readers: Reader) -> Counts:
    """Return what the readers count in the reference Docs of the examples."""
    counts = Counts()
    for example in examples:
        counts.docs += 1
        if len(counts.sample) < SAMPLE and len(example.predicted):
            counts.sample.append(example.predicted)
        for read in readers:
            read(example.reference, counts)
    return counts


def same_tokens(example: Example) -> bool:
    """Whether both Docs of the example have the same tokens."""
    x, y = example.predicted, example.reference
    return len(x) == len(y) and bool(numpy.array_equal(x.to_array([ORTH]), y.to_array([ORTH])))
