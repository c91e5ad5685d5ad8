"""Every binary tree, to sum over or to search in."""

from __future__ import annotations

import itertools
from collections.abc import Iterator


def binary_trees(start: int, end: int) -> Iterator[list[tuple[int, int]]]:
    """The spans of every binary tree over words start to end."""
    if end - start == 1:
        yield [(start, end)]
        return
    for split in range(start + 1, end):
        for left, right in itertools.product(binary_trees(start, split), binary_trees(split, end)):
            yield [(start, end), *left, *right]
