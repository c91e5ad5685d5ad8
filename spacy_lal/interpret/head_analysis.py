"""Label attention heads by syntactic category (Mrini et al. 2020, figure 8), and behind errors
(Mrini et al. 2020, on error analysis)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..batching.sentences import in_words
from ..drawing.charts import contributions_svg
from ..parsing.component import ParserPipe
from ..parsing.gold_trees import gold_constituents
from ..structure.binarise import collapse_unaries
from .contributions import Normalisation
from .explanation import Explanation, constituency_pipe, explain_docs, ranked

Contributions = Iterator[tuple[str, numpy.ndarray]]
"""Labels of spans, and each head's contribution to them [H]."""


class HeadShare(NamedTuple):
    """A head's average contribution to a category's spans, and the fraction of them to which it
    contributes most of all heads."""

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
    def overall(self) -> numpy.ndarray:
        """The average contribution of each head to all spans [H]."""
        average: numpy.ndarray = self.counts @ self.contributions / max(1, self.counts.sum())
        return average

    def top(self, category: str, k: int = 5) -> list[HeadShare]:
        """The k heads that contribute most to a category, on average."""
        c = self.categories.index(category)
        return _shares(self.contributions[c], self.firsts[c] / self.counts[c], k)

    def top_overall(self, k: int = 5) -> list[HeadShare]:
        """The k heads that contribute most to spans of any category, on average."""
        return _shares(self.overall, self.firsts.sum(0) / max(1, self.counts.sum()), k)

    def svg(self, n: int | None = 12, k: int = 3) -> str:
        """Bars of contributions to each of the n commonest categories, or all, if n is None.

        k: how many top heads are marked.
        """
        return contributions_svg(
            self.categories[:n],
            self.counts.tolist(),
            self.contributions,
            self.firsts / self.counts[:, None],
            method=self.method,
            k=k,
        )

    def to_dict(self, k: int = 5) -> dict[str, Any]:
        """Everything, as JSON takes it."""

        def described(spans: int, top: list[HeadShare], contributions: numpy.ndarray) -> Any:
            return {
                "spans": spans,
                "top": [share._asdict() for share in top],
                "contributions": contributions.tolist(),
            }

        return {
            "method": self.method,
            "heads": self.contributions.shape[1],
            "overall": described(int(self.counts.sum()), self.top_overall(k), self.overall),
            "categories": {
                category: described(int(count), self.top(category, k), contributions)
                | {"firsts": firsts.tolist()}
                for category, count, contributions, firsts in zip(
                    self.categories, self.counts, self.contributions, self.firsts, strict=True
                )
            },
        }


def _shares(contributions: numpy.ndarray, firsts: numpy.ndarray, k: int) -> list[HeadShare]:
    top = ranked(contributions)[:k]
    return [HeadShare(head, float(contributions[head]), float(firsts[head])) for head in top]


def top_heads(
    nlp: Language | ParserPipe, docs: Iterable[Doc], *, method: Normalisation = "normalised"
) -> TopHeads:
    """Average contributions of label attention heads to the constituents predicted in docs.

    method, errors: see `explain`. Raises ValueError for a parser that finds no constituents.
    """
    constituency_pipe(nlp)

    def spans() -> Contributions:
        for explained in explain_docs(nlp, docs, method=method):
            for _, explanation in explained:
                assert explanation.contributions is not None
                labels = [label for _, _, label in explanation.spans]
                yield from zip(labels, explanation.contributions, strict=True)

    return averaged(spans(), method)


def averaged(spans: Iterable[tuple[str, numpy.ndarray]], method: Normalisation) -> TopHeads:
    """Average the contributions [H] of spans by their labels."""
    counts: Counter[str] = Counter()
    totals: dict[str, numpy.ndarray] = {}
    firsts: dict[str, numpy.ndarray] = {}
    n_heads = 0
    for label, contributions in spans:
        if label not in counts:
            n_heads = len(contributions)
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


# Errors


class HeadInError(NamedTuple):
    """A head's contribution to a wrong constituent, and the words, START and STOP among them, that
    it attends to most, with their attention weights."""

    head: int
    contribution: float
    words: list[tuple[str, float]]


class SpanError(NamedTuple):
    """A predicted constituent that the gold tree doesn't have.

    doc: index of the example. tokens: (start, end) in the predicted Doc. text: its words.
    predicted: its label. gold: the gold label of these words, None if they are no gold
    constituent. heads: those that contribute most.
    """

    doc: int
    tokens: tuple[int, int]
    text: str
    predicted: str
    gold: str | None
    heads: list[HeadInError]


@dataclass(frozen=True, eq=False)
class ErrorAnalysis:
    """Predicted against gold constituents, a unary chain being one, with joined labels.

    docs: examples that have trees. correct: constituents with gold words and label. errors: the
    others. missed: gold constituents whose words were not predicted to be one. top_heads: the
    contributions to the correct constituents alone, to hold those of the errors against. k: how
    many heads count as top.
    """

    docs: int
    correct: int
    errors: list[SpanError]
    missed: int
    top_heads: TopHeads
    k: int

    @property
    def wrong_labels(self) -> list[SpanError]:
        """Errors whose words are a gold constituent with another label."""
        return [error for error in self.errors if error.gold is not None]

    @property
    def wrong_spans(self) -> list[SpanError]:
        """Errors whose words are no gold constituent."""
        return [error for error in self.errors if error.gold is None]

    def confusions(self) -> list[tuple[str, str | None, list[SpanError]]]:
        """Errors by predicted and gold label, the commonest first."""
        found: dict[tuple[str, str | None], list[SpanError]] = {}
        for error in self.errors:
            found.setdefault((error.predicted, error.gold), []).append(error)
        rows = [(*labels, errors) for labels, errors in found.items()]
        return sorted(rows, key=lambda row: (-len(row[2]), row[0], row[1] or ""))

    def first_heads(self, errors: Iterable[SpanError]) -> list[tuple[int, int]]:
        """The heads that contribute most to errors, with how many, the commonest first."""
        counts = Counter(error.heads[0].head for error in errors)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def agreement(self) -> dict[str, float | None]:
        """Share of the wrong labels whose span has a first head among the top k heads of the
        *predicted* label's, and of the *gold* label's correct constituents.

        Out of those errors both of whose labels have correct constituents; None without any.
        """
        top = {
            category: {share.head for share in self.top_heads.top(category, self.k)}
            for category in self.top_heads.categories
        }
        known = [e for e in self.wrong_labels if e.predicted in top and e.gold in top]
        if not known:
            return {"predicted": None, "gold": None}
        return {
            "predicted": sum(e.heads[0].head in top[e.predicted] for e in known) / len(known),
            "gold": sum(e.heads[0].head in top[e.gold or ""] for e in known) / len(known),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "docs": self.docs,
            "correct": self.correct,
            "wrong labels": len(self.wrong_labels),
            "wrong spans": len(self.wrong_spans),
            "missed": self.missed,
            "first head among the top heads of": self.agreement(),
            "errors": [
                {**error._asdict(), "heads": [head._asdict() for head in error.heads]}
                for error in self.errors
            ],
        }


def error_analysis(
    nlp: Language | ParserPipe,
    examples: Iterable[Example],
    *,
    k: int = 3,
    words: int = 3,
    method: Normalisation = "normalised",
) -> ErrorAnalysis:
    """The constituents predicted for the examples that their gold trees don't have.

    k: heads of each error, those that contribute most. words: of each head, those that it attends
    to most. method: see `explain`. Examples without a gold tree are left out. Where tokens of the
    two Docs differ, gold constituents without counterpart are not known to be gold. Raises
    ValueError for a parser that finds no constituents.
    """
    key = constituency_pipe(nlp).spans_key
    examples = list(examples)
    trees = [gold_constituents(example, key) for example in examples]
    known = [d for d, tree in enumerate(trees) if tree is not None]
    errors: list[SpanError] = []
    missed = 0

    def correct_spans() -> Contributions:
        nonlocal missed
        docs = (examples[d].predicted for d in known)
        for d, explained in zip(known, explain_docs(nlp, docs, method=method), strict=True):
            for sentence, explanation in explained:
                assert explanation.contributions is not None
                tree = in_words(trees[d] or (), sentence)
                gold = {(i, j): label for i, j, label in collapse_unaries(tree)}
                missed += len(gold.keys() - {(i, j) for i, j, _ in explanation.spans})
                for row, (i, j, label) in enumerate(explanation.spans):
                    if gold.get((i, j)) == label:
                        yield label, explanation.contributions[row]
                        continue
                    tokens = int(explanation.tokens[i]), int(explanation.tokens[j - 1]) + 1
                    text = " ".join(explanation.words[i + 1 : j + 1])
                    heads = _heads(explanation, row, k, words)
                    errors.append(SpanError(d, tokens, text, label, gold.get((i, j)), heads))

    top = averaged(correct_spans(), method)
    return ErrorAnalysis(len(known), int(top.counts.sum()), errors, missed, top, k)


def _heads(explanation: Explanation, row: int, k: int, words: int) -> list[HeadInError]:
    assert explanation.contributions is not None
    start, end, _ = explanation.spans[row]
    contributions = explanation.contributions[row]
    found = []
    for head in ranked(contributions)[:k]:
        attention = explanation.span_attention(start, end)[head]
        most = [(explanation.words[t], float(attention[t])) for t in ranked(attention)[:words]]
        found.append(HeadInError(head, float(contributions[head]), most))
    return found


def attended_words(errors: Iterable[SpanError]) -> Counter[str]:
    """Counts of the words that the errors' first heads attend to most."""
    return Counter(error.heads[0].words[0][0] for error in errors)
