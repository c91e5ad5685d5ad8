"""Detection of grammatical errors: P, R and F0.5 of tokens, as MultiGED-2023 counts them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spacy.training import Example

from ..annotations.grammar_errors import CORRECT, ERRORS_KEY, get_errors


@dataclass
class Detection:
    """Counts of tokens marked rightly, marked wrongly, and missed. As in the shared task, precision
    is 1 without wrong marks, and recall is 1 without misses, even if there are no marks; scores are
    not rounded."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def p(self) -> float:
        return self.right / (self.right + self.wrong) if self.wrong else 1.0

    @property
    def r(self) -> float:
        return self.right / (self.right + self.missed) if self.missed else 1.0

    def f(self, beta: float = 0.5) -> float:
        """Return the F-measure; beta < 1 favours precision. 0 if precision and recall are 0."""
        p, r, square = self.p, self.r, beta * beta
        return (1 + square) * p * r / (square * p + r) if p + r else 0.0


@dataclass
class DetectionReport:
    """Counts of all errors, and of each type; tokens: number of compared tokens."""

    overall: Detection = field(default_factory=Detection)
    types: dict[str, Detection] = field(default_factory=dict)
    tokens: int = 0

    def add(self, gold: Sequence[str], found: Sequence[str]) -> None:
        """Count the labels of the same tokens. Raises ValueError for unequal lengths."""
        for ours, theirs in zip(gold, found, strict=True):
            self.tokens += 1
            _count(self.overall, ours != CORRECT, theirs != CORRECT)
            for label in {ours, theirs} - {CORRECT}:
                type_counts = self.types.setdefault(label, Detection())
                _count(type_counts, ours == label, theirs == label)


def _count(counts: Detection, gold: bool, found: bool) -> None:
    counts.right += gold and found
    counts.wrong += found and not gold
    counts.missed += gold and not found


def make_detection_scorer(spans_key: str = ERRORS_KEY) -> Callable[..., dict[str, Any]]:
    """The scorer `spacy-lal.detection_scorer.v1`; see `score_detection`."""
    return partial(score_detection, spans_key=spans_key)


def score_detection(
    examples: Iterable[Example], *, spans_key: str = ERRORS_KEY, **cfg: Any
) -> dict[str, Any]:
    """Compare predicted with gold errors, both read from `doc.spans[spans_key]`.

    Returns `ged_{p,r,f05}` of tokens, whatever their type, and `ged_per_type`. Only gold Docs with
    the span group are scored; without such Docs all scores are None. A gold token counts as marked
    if a predicted token within it is marked. Whitespace tokens don't count.
    """
    report = DetectionReport()
    for example in examples:
        if spans_key in example.reference.spans:
            report.add(*_labels(example, spans_key))
    if not report.tokens:
        return {"ged_p": None, "ged_r": None, "ged_f05": None, "ged_per_type": None}
    return {
        **{f"ged_{name}": value for name, value in _scores(report.overall).items()},
        "ged_per_type": {label: _scores(counts) for label, counts in sorted(report.types.items())},
    }


def _scores(counts: Detection) -> dict[str, float]:
    return {"p": counts.p, "r": counts.r, "f05": counts.f()}


def _labels(example: Example, key: str) -> tuple[list[str], list[str]]:
    gold, found = get_errors(example.reference, key), get_errors(example.predicted, key)
    aligned = example.alignment.y2x
    words = [token.i for token in example.reference if not token.is_space]
    return [gold[i] for i in words], [
        next((found[int(k)] for k in aligned[i] if found[int(k)] != CORRECT), CORRECT)
        for i in words
    ]
