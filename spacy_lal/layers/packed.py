"""The real rows of a padded batch, packed without padding."""

from collections.abc import Iterator
from functools import cached_property

import torch
from torch import Tensor


class PackedRows:
    """Conversion between padded [B, n, …] and packed [R, …], the R rows that mask [B, n] has.
    Linear layers, norms and activations of packed rows skip padding; attention can't."""

    def __init__(self, mask: Tensor) -> None:
        self.shape = mask.shape
        self.lengths = mask.sum(1)
        self.numbers = mask.flatten().nonzero().squeeze(1)

    @cached_property
    def by_length(self) -> list[tuple[slice, int]]:
        """Returns the packed rows of neighbours of the same length, and that length."""
        ends = [0, *self.lengths.cumsum(0).tolist()]
        runs = runs_of_length(self.lengths)
        return [(slice(ends[of.start], ends[of.stop]), length) for of, length in runs]

    def pack(self, padded: Tensor) -> Tensor:
        return padded.flatten(0, 1).index_select(0, self.numbers)

    def pad(self, packed: Tensor) -> Tensor:
        """Returns padded rows, with zeros in the padding."""
        padded = packed.new_zeros(self.shape.numel(), *packed.shape[1:])
        return padded.index_copy_(0, self.numbers, packed).unflatten(0, self.shape)


def rows_of(mask: Tensor, *, training: bool) -> PackedRows | None:
    """Returns None if all rows are real, and in training, where dropout is by sentence."""
    return None if training or bool(mask.all()) else PackedRows(mask)


def runs_of_length(lengths: Tensor) -> Iterator[tuple[slice, int]]:
    """Yields the members of neighbours of the same length [B], and that length."""
    first = 0
    of_runs, counts = torch.unique_consecutive(lengths, return_counts=True)
    for length, count in zip(of_runs.tolist(), counts.tolist(), strict=True):
        yield slice(first, first + count), length
        first += count
