"""Measures of published results: EVALB, attachment scores, srl-eval.pl, raw text by characters.

Here are their counts of matches, and names of their scores in spaCy.
"""

from collections import Counter
from collections.abc import Hashable, Iterable

from spacy.scorer import PRFScore

UNALIGNED = -1
"""The index of a token without a counterpart; it matches nothing."""


def count_alike(gold: Iterable[Hashable], found: Iterable[Hashable]) -> PRFScore:
    """Return the counts of items in both of two multisets, and in one alone."""
    ours, theirs = Counter(gold), Counter(found)
    both = (ours & theirs).total()
    return PRFScore(tp=both, fp=theirs.total() - both, fn=ours.total() - both)


def named_scores(name: str, score: PRFScore) -> dict[str, float | None]:
    """Return `NAME_{p,r,f}`, None where nothing was counted."""
    values = score.to_dict() if len(score) else dict.fromkeys("prf")
    return {f"{name}_{key}": value for key, value in values.items()}


def percent(part: int, whole: int) -> float:
    return 100.0 * part / whole if whole else 0.0
