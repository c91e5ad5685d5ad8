"""Which heads contribute most to which syntactic categories (Mrini et al. 2020, figure 8)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc

from ..parsing.component import ParserPipe
from .explanation import constituency_pipe, explain_docs
from .label_heads import Normalisation


class HeadShare(NamedTuple):
    """A head's part in a category: its average contribution to the category's spans, and the
    fraction of them to which it contributes most of all heads."""

    head: int
    contribution: float
    first: float


@dataclass(frozen=True, eq=False)
class TopHeads:
    """Contributions of H heads to the predicted spans of C categories, the commonest first.

    method: how contributions were normalised. categories: labels of spans, unary chains joined
    by "::". counts: spans of each [C]. contributions: of each head, on average over the
    category's spans [C,H]. firsts: in how many of them each head contributes most [C,H].

    Heads are numbers, from 0. A head and a category belong together as far as these averages
    say; a head may be the top one of many categories, or of none. Where the ranking of a
    category is that of all spans together (`overall`), it says nothing about the category.
    """

    method: Normalisation
    categories: list[str]
    counts: numpy.ndarray
    contributions: numpy.ndarray
    firsts: numpy.ndarray

    @property
    def n_heads(self) -> int:
        return int(self.contributions.shape[1])

    @property
    def overall(self) -> numpy.ndarray:
        """The average contribution of each head to all spans [H]."""
        average: numpy.ndarray = self.counts @ self.contributions / max(1, self.counts.sum())
        return average

    def top(self, category: str, k: int = 5) -> list[HeadShare]:
        """The k heads that contribute most to a category, on average."""
        c = self.categories.index(category)
        return [
            HeadShare(h, float(self.contributions[c, h]), float(self.firsts[c, h] / self.counts[c]))
            for h in ranked(self.contributions[c])[:k]
        ]

    def top_overall(self, k: int = 5) -> list[HeadShare]:
        """The k heads that contribute most to spans of any category, on average."""
        firsts = self.firsts.sum(0) / max(1, self.counts.sum())
        overall = self.overall
        return [HeadShare(h, float(overall[h]), float(firsts[h])) for h in ranked(overall)[:k]]

    def distinctive(self, category: str, k: int = 5) -> list[tuple[int, float]]:
        """The k heads whose average contribution to a category exceeds that to all spans most,
        and by how much."""
        more = self.contributions[self.categories.index(category)] - self.overall
        return [(h, float(more[h])) for h in ranked(more)[:k]]

    def categories_of(self, head: int, k: int = 5) -> list[str]:
        """The categories that have a head among their top k, the commonest first."""
        return [
            category
            for category, averages in zip(self.categories, self.contributions, strict=True)
            if head in ranked(averages)[:k]
        ]

    def to_dict(self, k: int = 5) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "method": self.method,
            "heads": self.n_heads,
            "spans": int(self.counts.sum()),
            "overall": {
                "top": [share._asdict() for share in self.top_overall(k)],
                "contributions": self.overall.tolist(),
            },
            "categories": {
                category: {
                    "spans": int(self.counts[c]),
                    "top": [share._asdict() for share in self.top(category, k)],
                    "distinctive": [
                        {"head": head, "more": more} for head, more in self.distinctive(category, k)
                    ],
                    "contributions": self.contributions[c].tolist(),
                    "firsts": self.firsts[c].tolist(),
                }
                for c, category in enumerate(self.categories)
            },
            "categories_of_heads": {
                str(head): found
                for head in range(self.n_heads)
                if (found := self.categories_of(head, k))
            },
        }


def top_heads(
    nlp: Language | ParserPipe,
    docs: Iterable[Doc],
    *,
    method: Normalisation = "normalised",
) -> TopHeads:
    """Average contributions of label attention heads to the constituents predicted in docs.

    method, errors: see `explain`. Raises ValueError for a parser that finds no constituents.
    """
    constituency_pipe(nlp)

    def spans() -> Iterator[tuple[str, numpy.ndarray]]:
        for explained in explain_docs(nlp, docs, method=method):
            for _, explanation in explained:
                assert explanation.contributions is not None
                labels = [label for _, _, label in explanation.spans]
                yield from zip(labels, explanation.contributions, strict=True)

    return averaged(spans(), method)


def averaged(spans: Iterable[tuple[str, numpy.ndarray]], method: Normalisation) -> TopHeads:
    """Average the contributions [H] of spans by their labels."""
    counts: dict[str, int] = {}
    totals: dict[str, numpy.ndarray] = {}
    firsts: dict[str, numpy.ndarray] = {}
    n_heads = 0
    for label, contributions in spans:
        n_heads = len(contributions)
        if label not in counts:
            counts[label] = 0
            totals[label] = numpy.zeros(n_heads)
            firsts[label] = numpy.zeros(n_heads, dtype=numpy.int64)
        counts[label] += 1
        totals[label] += contributions
        firsts[label][contributions.argmax()] += 1
    categories = sorted(counts, key=lambda label: (-counts[label], label))
    shape = (len(categories), n_heads)
    return TopHeads(
        method,
        categories,
        numpy.asarray([counts[label] for label in categories], dtype=numpy.int64),
        numpy.asarray([totals[label] / counts[label] for label in categories]).reshape(shape),
        numpy.asarray([firsts[label] for label in categories], dtype=numpy.int64).reshape(shape),
    )


def ranked(values: numpy.ndarray) -> list[int]:
    """Indices from the greatest value to the least, equal ones in order."""
    order: list[int] = numpy.argsort(-values, kind="stable").tolist()
    return order
