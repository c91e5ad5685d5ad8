"""Label attention heads by syntactic category (Mrini et al. 2020, figure 8) and in errors."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..batching.sentences import in_words
from ..drawing.charts import contributions_svg, ranked
from ..parsing.component import ParserPipe
from ..parsing.gold_trees import gold_constituents, gold_heads
from ..structure.binarise import collapse_unaries
from .explanation import Explanation, Normalisation, constituency_pipe, explain_docs


class HeadShare(NamedTuple):
    """A head's average contribution to a category's spans, and the share of spans that it leads."""

    head: int
    contribution: float
    first: float


@dataclass(frozen=True, eq=False)
class TopHeads:
    """Contributions of H heads to the predicted spans of C categories, most frequent first.

    categories: labels of spans, unary chains joined by "::". counts: spans of each [C].
    contributions: average of each head over the category's spans [C,H]. firsts: number of spans to
    which each head contributes most [C,H].
    Heads count from 0. A head may be the top one of many categories, or of none. A ranking equal to
    that of all spans (`overall`) says nothing about the category.
    """

    method: Normalisation
    categories: list[str]
    counts: numpy.ndarray
    contributions: numpy.ndarray
    firsts: numpy.ndarray

    @property
    def overall(self) -> numpy.ndarray:
        """Average contribution of each head to all spans [H]."""
        return self.counts @ self.contributions / max(1, self.counts.sum())

    def _row(self, category: str | None) -> tuple[int, numpy.ndarray, numpy.ndarray]:
        if category is None:
            return int(self.counts.sum()), self.overall, self.firsts.sum(0)
        c = self.categories.index(category)
        return int(self.counts[c]), self.contributions[c], self.firsts[c]

    def top(
        self, category: str | None = None, k: int = 5, *, by_first: bool = False
    ) -> list[HeadShare]:
        """Return the k heads that contribute most to a category (None: all), on average; with
        `by_first` those that lead most of its spans, as in section 4.5 of Mrini et al. 2020."""
        spans, averages, firsts = self._row(category)
        shares = firsts / max(1, spans)
        best = ranked(shares if by_first else averages)[:k]
        return [HeadShare(head, float(averages[head]), float(shares[head])) for head in best]

    def led_by(self, head: int) -> list[tuple[str, int, float]]:
        """Return (category, spans, share) of the spans that a head leads, most frequent first."""
        counts = dict(zip(self.categories, self.firsts[:, head].tolist(), strict=True))
        total = sum(counts.values())
        order = sorted(counts.items(), key=lambda item: -item[1])
        return [(category, count, count / total) for category, count in order if count]

    def svg(self, n: int | None = 12, k: int = 3) -> str:
        """Draw contributions to the n most frequent categories (None: all), k top heads marked."""
        return contributions_svg(
            self.categories[:n],
            self.counts.tolist(),
            self.contributions,
            self.firsts / self.counts[:, None],
            method=self.method,
            k=k,
        )

    def to_dict(self, k: int = 5) -> dict[str, Any]:
        """Return everything as JSON values."""

        def described(category: str | None) -> dict[str, Any]:
            spans, averages, firsts = self._row(category)
            top = [share._asdict() for share in self.top(category, k)]
            found = {"spans": spans, "top": top, "contributions": averages.tolist()}
            return found | {"firsts": firsts.tolist()}

        return {
            "method": self.method,
            "heads": self.contributions.shape[1],
            "overall": described(None),
            "categories": {category: described(category) for category in self.categories},
            "led by head": {
                head: led
                for head in range(self.contributions.shape[1])
                if (led := self.led_by(head))
            },
        }


def top_heads(
    nlp: Language | ParserPipe, docs: Iterable[Doc], *, method: Normalisation = "normalised"
) -> TopHeads:
    """Return average contributions of heads to the constituents predicted in docs. Raises the
    errors of `explain`, and ValueError for a parser that finds no constituents."""
    constituency_pipe(nlp)
    explained = chain.from_iterable(explain_docs(nlp, docs, method=method))
    spans = (
        (label, contributions)
        for _, explanation in explained
        for (_, _, label), contributions in zip(explanation.spans, explanation.shares, strict=True)
    )
    return averaged(spans, method)


def averaged(spans: Iterable[tuple[str, numpy.ndarray]], method: Normalisation) -> TopHeads:
    """Average the contributions [H] of spans by their labels."""
    counts: Counter[str] = Counter()
    totals: dict[str, Any] = defaultdict(float)
    firsts: dict[str, Any] = defaultdict(int)
    for label, contributions in spans:
        counts[label] += 1
        totals[label] += contributions
        firsts[label] += numpy.arange(len(contributions)) == contributions.argmax()
    categories = sorted(counts, key=lambda label: (-counts[label], label))
    averages = [totals[label] / counts[label] for label in categories]
    none = numpy.zeros((0, 0), dtype=numpy.int64)
    return TopHeads(
        method,
        categories,
        numpy.array([counts[label] for label in categories], dtype=numpy.int64),
        numpy.array(averages or none),
        numpy.array([firsts[label] for label in categories] or none),
    )


class HeadInError(NamedTuple):
    """A head's contribution to a wrong constituent, and its most attended words, with weights.
    at_head_word: whether the first one is the constituent's head word; None if that is unknown."""

    head: int
    contribution: float
    words: list[tuple[str, float]]
    at_head_word: bool | None = None


class SpanError(NamedTuple):
    """Constituent of one side alone: its predicted and gold label (None: no constituent of these
    words), and the heads that contribute most. doc: index of the example. tokens: (start, end) in
    the predicted Doc. head_word: by the gold heads; None without them."""

    doc: int
    tokens: tuple[int, int]
    text: str
    predicted: str | None
    gold: str | None
    heads: list[HeadInError]
    head_word: str | None = None


@dataclass(frozen=True, eq=False)
class ErrorAnalysis:
    """Comparison of predicted and gold constituents, where unary chains count as one.

    docs: number of examples with trees. correct: number of constituents with gold words and label.
    errors: the other predicted constituents. missed_spans: the gold constituents whose words were
        not predicted.
    k: number of top heads. predicted_heads: contributions to predicted constituents.
    at_head_word: correct constituents whose first head attends most to the head word, of how many
        with a known one."""

    docs: int
    correct: int
    errors: list[SpanError]
    missed_spans: list[SpanError]
    k: int
    predicted_heads: TopHeads
    at_head_word: tuple[int, int]

    @property
    def wrong_labels(self) -> list[SpanError]:
        """Errors whose words are a gold constituent with another label."""
        return [error for error in self.errors if error.gold is not None]

    @property
    def wrong_spans(self) -> list[SpanError]:
        """Errors whose words are no gold constituent."""
        return [error for error in self.errors if error.gold is None]

    def by_gold(self) -> list[dict[str, Any]]:
        """Return rows of gold categories, most frequent first, whose constituents weren't predicted
        as such (section 4.6 of Mrini et al. 2020).

        top: the k heads that lead most of the spans predicted as the category. wrong, missed:
        constituents with another label, and those not predicted; led: of how many one of the top
        heads is first. at_head_word: of how many, of `known`, the first head attends most to the
        head word."""
        rows = []
        every = [*self.wrong_labels, *self.missed_spans]
        for gold, _ in Counter(error.gold for error in every).most_common():
            known = gold in self.predicted_heads.categories
            top = self.predicted_heads.top(gold, self.k, by_first=True) if known else []
            heads = [share.head for share in top if share.first]
            row: dict[str, Any] = {"category": gold, "top": heads}
            for name, of in ("wrong", self.wrong_labels), ("missed", self.missed_spans):
                firsts = [e.heads[0].head for e in of if e.gold == gold]
                row |= {name: len(firsts), f"{name} led": sum(h in heads for h in firsts)}
            at = [a for e in every if e.gold == gold and (a := e.heads[0].at_head_word) is not None]
            rows.append(row | {"at head word": sum(at), "known": len(at)})
        return rows

    def confusions(self) -> list[tuple[str | None, str | None, list[SpanError]]]:
        """Return errors by predicted and gold label, most frequent first."""
        found: dict[tuple[str | None, str | None], list[SpanError]] = {}
        for error in self.errors:
            found.setdefault((error.predicted, error.gold), []).append(error)
        rows = [(*labels, errors) for labels, errors in found.items()]
        return sorted(rows, key=lambda row: (-len(row[2]), row[0] or "", row[1] or ""))

    def first_heads(self, errors: Iterable[SpanError]) -> list[tuple[int, int]]:
        """Return the heads that contribute most to errors, with counts, most frequent first."""
        counts = Counter(error.heads[0].head for error in errors)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        return {
            "docs": self.docs,
            "correct": self.correct,
            "wrong labels": len(self.wrong_labels),
            "wrong spans": len(self.wrong_spans),
            "missed": len(self.missed_spans),
            "by gold category": self.by_gold(),
            "correct at head word": self.at_head_word,
            **{
                name: [e._asdict() | {"heads": [head._asdict() for head in e.heads]} for e in of]
                for name, of in (("errors", self.errors), ("missed spans", self.missed_spans))
            },
        }


def error_analysis(
    nlp: Language | ParserPipe,
    examples: Iterable[Example],
    *,
    k: int = 3,
    words: int = 3,
    method: Normalisation = "normalised",
) -> ErrorAnalysis:
    """Compare the constituents predicted for the examples with their gold trees.

    k, words: number of top heads of each error, and of most attended words of each head. method:
    see `explain`. Examples without a gold tree are left out, as are gold constituents without
    counterpart in the predicted tokens. Raises ValueError for a parser that finds no constituents.
    """
    key = constituency_pipe(nlp).spans_key
    examples = list(examples)
    trees = [gold_constituents(example, key) for example in examples]
    known = [d for d, tree in enumerate(trees) if tree is not None]
    errors: list[SpanError] = []
    missed: list[SpanError] = []
    correct = 0
    every: list[tuple[str, numpy.ndarray]] = []
    looks: list[bool | None] = []
    docs = (examples[d].predicted for d in known)
    for d, explained in zip(known, explain_docs(nlp, docs, method=method), strict=True):
        above = gold_heads(examples[d]).heads
        for sentence, explanation in explained:
            tree = in_words(trees[d] or (), sentence)
            gold = {(i, j): label for i, j, label in collapse_unaries(tree)}
            found = {(i, j): label for i, j, label in explanation.spans}
            shares = dict(zip(found, explanation.shares, strict=True))
            others = [span for span in gold if span not in found]
            of_others = explanation.shares_of(others, method)
            for (i, j), of_span in chain(shares.items(), zip(others, of_others, strict=True)):
                at = _head_word(above, explanation.tokens, i, j)
                heads = _heads(explanation, (i, j), of_span, k, words, at)
                label = found.get((i, j))
                if label is not None:
                    every.append((label, of_span))
                if label == gold.get((i, j)):
                    correct += 1
                    looks += [] if at is None else [heads[0].at_head_word]
                    continue
                tokens = int(explanation.tokens[i]), int(explanation.tokens[j - 1]) + 1
                text = " ".join(explanation.words[i + 1 : j + 1])
                word = None if at is None else explanation.words[at + 1]
                error = SpanError(d, tokens, text, label, gold.get((i, j)), heads, word)
                (missed if label is None else errors).append(error)

    predicted, looked = averaged(every, method), (sum(map(bool, looks)), len(looks))
    return ErrorAnalysis(len(known), correct, errors, missed, k, predicted, looked)


def _head_word(heads: numpy.ndarray, tokens: numpy.ndarray, start: int, end: int) -> int | None:
    """Return the word of a span of words whose head is outside; None if the gold heads don't tell
    one word."""
    own = tokens[start:end].tolist()
    above = heads[own].tolist()
    outside = [
        word
        for word, (token, head) in enumerate(zip(own, above, strict=True), start)
        if head == token or head not in own
    ]
    return outside[0] if len(outside) == 1 and -1 not in above else None


def _heads(
    explanation: Explanation,
    span: tuple[int, int],
    contributions: numpy.ndarray,
    k: int,
    words: int,
    at: int | None,
) -> list[HeadInError]:
    found = []
    for head in ranked(contributions)[:k]:
        attention = explanation.span_attention(*span)[head]
        best = ranked(attention)[:words]
        most = [(explanation.words[t], float(attention[t])) for t in best]
        looks = None if at is None else best[0] == at + 1
        found.append(HeadInError(head, float(contributions[head]), most, looks))
    return found
