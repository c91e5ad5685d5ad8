"""`spacy-lal.first_piece.v1`: of every token the vector of its first piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from thinc.api import Model, Ragged
from thinc.types import Floats2d


def make_first_piece() -> Model[Ragged, Floats2d]:
    """Pool the pieces of tokens [pieces, width] to vectors of tokens [tokens, width].

    Those of tokens without pieces, which are whitespace, are zeros; thinc's `reduce_first.v1`
    refuses such tokens.
    """
    return Model("first_piece", _forward)


def _forward(
    model: Model[Ragged, Floats2d], pieces: Ragged, is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], Ragged]]:
    data = cast(Floats2d, pieces.dataXd)
    known = pieces.lengths > 0
    firsts = (pieces.lengths.cumsum() - pieces.lengths)[known]
    vectors = model.ops.alloc2f(len(pieces.lengths), data.shape[1])
    vectors[known] = data[firsts]

    def backprop(d_vectors: Floats2d) -> Ragged:
        d_data = model.ops.alloc2f(*data.shape)
        d_data[firsts] = d_vectors[known]
        return Ragged(d_data, pieces.lengths)

    return vectors, backprop
