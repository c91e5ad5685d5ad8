"""Counts of what gold and a prediction have alike, and spaCy's names for scores of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from spacy.scorer import PRFScore

UNALIGNED = -1
"""A token that the other side doesn't have; it matches nothing."""


def count_alike(gold: Iterable[Hashable], found: Iterable[Hashable]) -> PRFScore:
    """Numbers of items of two multisets that are in both, or in one alone."""
    ours, theirs = Counter(gold), Counter(found)
    both = (ours & theirs).total()
    return PRFScore(tp=both, fp=theirs.total() - both, fn=ours.total() - both)


def named_scores(name: str, score: PRFScore) -> dict[str, float | None]:
    """`NAME_{p,r,f}`; None where nothing was counted."""
    values = score.to_dict() if len(score) else dict.fromkeys("prf")
    return {f"{name}_{key}": value for key, value in values.items()}
