"""SRL evaluation as in CoNLL-2005: precision, recall and F1 of labelled arguments.

Reproduces every number of the shared task's program, srl-eval.pl (Carreras and Màrquez 2005,
"Introduction to the CoNLL-2005 Shared Task"). It takes predicates as given: a wrongly predicted one
costs precision only with `end_to_end`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

from spacy.scorer import PRFScore

from ..annotations.frames import PREDICATE, FrameSpans, join_continuations
from ..trees.tree import LabelledSpan
from . import percent

Piece = tuple[int, int]
Pair = tuple[str | None, str | None]

RULE = "-" * 60
"""The lines between parts of the first table."""
TITLES = f"{'corr.':>19}{'excess':>8}{'missed':>8}{'prec.':>9}{'rec.':>8}{'F1':>8}"
"""The titles of the columns."""


@dataclass(frozen=True)
class SrlReport:
    """Sums over sentences; reports add up from `SrlReport()`.

    propositions: number of gold ones. perfect: propositions whose arguments other than V are all
        right.
    pairs: counts of gold and predicted labels on the same tokens, None for no such argument. All
    counts are sums over `pairs`."""

    sentences: int = 0
    propositions: int = 0
    perfect: int = 0
    pairs: Counter[Pair] = field(default_factory=Counter)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.sentences + other.sentences,
            self.propositions + other.propositions,
            self.perfect + other.perfect,
            self.pairs + other.pairs,
        )

    @cached_property
    def types(self) -> dict[str, PRFScore]:
        """Return the counts of every label that occurs, V included, sorted."""
        gold, found = Counter[str | None](), Counter[str | None]()
        for (ours, theirs), count in self.pairs.items():
            gold[ours] += count
            found[theirs] += count
        right = {label: self.pairs[label, label] for label in gold | found}
        return {
            label: PRFScore(tp=tp, fp=found[label] - tp, fn=gold[label] - tp)
            for label, tp in sorted(right.items(), key=str)
            if label is not None
        }

    @property
    def overall(self) -> PRFScore:
        """Counts of all labels but V."""
        return sum((of for label, of in self.types.items() if label != PREDICATE), PRFScore())

    @property
    def perfect_propositions(self) -> float:
        """Percentage of gold propositions whose arguments are all right."""
        return percent(self.perfect, self.propositions)

    def format(self) -> str:
        """Return the report as the program prints it."""
        roles = [_row(label, row) for label, row in self.types.items() if label != PREDICATE]
        verb = [_row(PREDICATE, self.types[PREDICATE]), RULE] if PREDICATE in self.types else []
        rows = [
            f"Number of Sentences    :      {self.sentences:6d}",
            f"Number of Propositions :      {self.propositions:6d}",
            f"Percentage of perfect props : {self.perfect_propositions:6.2f}",
            "",
            TITLES,
            RULE,
            _row("Overall", self.overall),
            "-" * 10,
            *roles,
            RULE,
            *verb,
        ]
        return "\n".join(rows) + "\n"


def score_sentence(
    gold: Sequence[FrameSpans], predicted: Sequence[FrameSpans], *, end_to_end: bool = False
) -> SrlReport:
    """Compare the propositions of one sentence, their arguments in any order.

    Propositions match if they have the same predicate token and roleset (in props files, the verb's
    lemma). All arguments of an unmatched gold proposition are missed. An unmatched predicted one is
    skipped; with `end_to_end` all its arguments are excess, so the measure is symmetric.

    C-X continues the argument X that last began before it, or else is an X itself. An argument is
    right if its label and its pieces are right; it counts once. V is left out of the overall
    counts, and a proposition with a wrong V can be perfect.
    """
    pairs = Counter[Pair]()
    perfect = 0
    both = propositions(gold, predicted)
    for ours, theirs in both[: len(gold)]:
        found = Counter(_match(ours, theirs))
        wrong = [set(pair) for pair in found if pair[0] != pair[1]]
        # a wrong V leaves a proposition perfect
        perfect += all(labels == {PREDICATE, None} for labels in wrong)
        pairs += found
    for _, theirs in both[len(gold) :] if end_to_end else ():
        pairs.update(_match((), theirs))
    return SrlReport(1, len(gold), perfect, pairs)


def propositions(
    gold: Sequence[FrameSpans], predicted: Sequence[FrameSpans]
) -> list[tuple[Sequence[LabelledSpan], Sequence[LabelledSpan]]]:
    """Return the spans of each gold proposition and of the predicted one that matches it, and then
    those of predicted ones that match none; () without a counterpart."""
    unused = defaultdict[tuple[int, str], list[Sequence[LabelledSpan]]](list)
    for frame in predicted:
        unused[frame[:2]].append(frame.spans)
    partners = [(frame.spans, unused[frame[:2]]) for frame in gold]
    both = [(spans, others.pop(0) if others else ()) for spans, others in partners]
    return both + [((), spans) for others in unused.values() for spans in others]


def _match(gold: Sequence[LabelledSpan], predicted: Sequence[LabelledSpan]) -> Iterator[Pair]:
    """Yield the labels of arguments with the same pieces; equal labels match first."""
    ours, theirs = Counter(_arguments(gold)), Counter(_arguments(predicted))
    both = ours & theirs
    yield from ((label, label) for _, label in both.elements())
    unused: dict[tuple[Piece, ...], list[str]] = {}
    for pieces, label in (theirs - both).elements():
        unused.setdefault(pieces, []).append(label)
    for pieces, label in (ours - both).elements():
        others = unused.get(pieces)
        yield label, others.pop(0) if others else None
    for labels in unused.values():
        yield from ((None, label) for label in labels)


def _arguments(spans: Sequence[LabelledSpan]) -> Iterator[tuple[tuple[Piece, ...], str]]:
    spans = sorted(spans)
    for label, pieces in join_continuations(label for *_, label in spans):
        yield tuple(spans[i][:2] for i in pieces), label


def _row(name: str, counts: PRFScore) -> str:
    measures = (100 * counts.precision, 100 * counts.recall, 100 * counts.fscore)
    return (
        f"{name:>10}   {counts.tp:6d}  {counts.fp:6d}  {counts.fn:6d}"
        "   {:6.2f}  {:6.2f}  {:6.2f}".format(*measures)
    )
