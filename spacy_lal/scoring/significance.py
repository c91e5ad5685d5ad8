"""Whether two systems differ by chance: approximate randomisation (Noreen 1989; Yeh 2000)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Counts = tuple[int, int, int]
"""Right, excess and missed items of a sentence."""


def compare(
    ours: Sequence[Counts],
    theirs: Sequence[Counts],
    *,
    beta: float = 1.0,
    trials: int = 10_000,
    seed: int = 0,
) -> tuple[float, float, float]:
    """Return F of two systems on the same sentences, and the probability p of such a difference if
    the systems were alike.

    A trial exchanges the two results of each sentence with probability 1/2. If r trials differ at
    least as much as the systems do, p = (r + 1) / (trials + 1). Papers call p < 0.05 significant.
    Raises ValueError for no sentences, or unequal numbers of them.
    """
    if len(ours) != len(theirs) or not ours:
        raise ValueError(f"two systems need the same sentences: {len(ours)} and {len(theirs)}")
    a, b = np.array(ours, dtype=np.float64), np.array(theirs, dtype=np.float64)
    first, second = a.sum(0), b.sum(0)
    change = b - a
    change = change[change.any(axis=1)]
    as_much, draw = 0, np.random.default_rng(seed)
    observed = abs(_f(first, beta) - _f(second, beta))
    step = max(1, 1_000_000 // max(1, len(change)))
    for start in range(0, trials, step):
        exchanged = draw.integers(0, 2, (min(step, trials - start), len(change))) @ change
        differences = np.abs(_f(first + exchanged, beta) - _f(second - exchanged, beta))
        as_much += int((differences > observed - 1e-12).sum())  # equal but for rounding
    return float(_f(first, beta)), float(_f(second, beta)), (as_much + 1) / (trials + 1)


def _f(counts: NDArray[np.float64], beta: float) -> NDArray[np.float64]:
    """Return F of sums of counts [..., 3]; 1 if there is nothing to find, nor anything found."""
    right, excess, missed = np.moveaxis(counts, -1, 0)
    weighted = (1 + beta**2) * right
    whole: NDArray[np.float64] = weighted + beta**2 * missed + excess
    return np.where(whole > 0, weighted / np.maximum(whole, 1e-9), 1.0)
