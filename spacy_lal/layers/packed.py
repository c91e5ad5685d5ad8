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
    def by_length(self) -> list[Tensor]:
        """Returns the packed rows [k, l] of the k members of each length l."""
        ends = self.lengths.cumsum(0)
        groups = []
        for length in self.lengths.unique().tolist():
            last = ends[self.lengths == length]
            groups.append(last.unsqueeze(1) + torch.arange(-length, 0, device=last.device))
        return groups

    def pack(self, padded: Tensor) -> Tensor:
        return padded.flatten(0, 1).index_select(0, self.numbers)

    def pad(self, packed: Tensor) -> Tensor:
        """Returns padded rows, with zeros in the padding."""
        padded = packed.new_zeros(self.shape.numel(), *packed.shape[1:])
        return padded.index_copy_(0, self.numbers, packed).unflatten(0, self.shape)


def rows_of(mask: Tensor, *, training: bool) -> PackedRows | None:
    """Returns None if all rows are real, and in training, where dropout is by sentence."""
    return None if training or bool(mask.all()) else PackedRows(mask)


def runs_of_length(mask: Tensor) -> Iterator[tuple[slice, int]]:
    """Yields the rows of neighbours with as many words in the mask [B, n], and that number."""
    first = 0
    lengths, counts = torch.unique_consecutive(mask.sum(1), return_counts=True)
    for length, count in zip(lengths.tolist(), counts.tolist(), strict=True):
        yield slice(first, first + count), length
        first += count
