"""BIO labels of spans, for tests of what goes the other way."""

from __future__ import annotations

from collections.abc import Iterable


def spans_to_bio(spans: Iterable[tuple[int, int, str]], n: int) -> list[str]:
    """BIO labels of n words; spans (start, end, label) are disjoint, `end` is exclusive."""
    labels = ["O"] * n
    for start, end, name in spans:
        labels[start:end] = [f"B-{name}"] + [f"I-{name}"] * (end - start - 1)
    return labels
