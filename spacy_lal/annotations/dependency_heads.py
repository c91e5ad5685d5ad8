"""Heads and relations of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, SENT_START
from spacy.tokens import Doc


def set_dependencies(doc: Doc, heads: Sequence[int], relations: Sequence[str]) -> None:
    """Write the head and the relation of every token; each tree becomes a sentence.

    heads: token indices, a root is its own head. relations: "" for "not annotated".
    The first word of some long, extremely non-projective trees is attached to the root, since spaCy
    loses their beginning. Raises ValueError unless every token has a head and a relation, and for a
    head outside the Doc.
    """
    if not len(heads) == len(relations) == len(doc):
        raise ValueError(
            f"a Doc needs one head and one relation for each token: got {len(heads)} heads "
            f"and {len(relations)} relations for {len(doc)} tokens"
        )
    if any(not 0 <= head < len(doc) for head in heads):
        raise ValueError(
            f"heads must be numbers of the Doc's tokens, from 0 to {len(doc) - 1}: got "
            f"{list(heads)}"
        )
    if not len(doc):
        return
    above = numpy.asarray(heads)
    values: Any = numpy.empty((len(doc), 2), dtype="int64")
    values[:, 0] = above - numpy.arange(len(doc))
    values[:, 1] = numpy.asarray(
        [doc.vocab.strings.add(relation) for relation in relations], dtype="uint64"
    ).view("int64")
    doc.from_array([HEAD, DEP], values.view("uint64"))
    first, root = _beginnings(above)
    missed = (values[root, 1] != 0) & (doc.to_array([SENT_START])[first] != 1)
    if missed.any():
        values[first[missed], 0] = (root - first)[missed]
        doc.from_array([HEAD, DEP], values.view("uint64"))


def _beginnings(heads: NDArray[numpy.int64]) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64]]:
    above = heads
    for _ in range(len(heads).bit_length()):
        above = above[above]
    root, first = numpy.unique(above, return_index=True)
    trees = heads[root] == root  # the others are cycles
    return first[trees], root[trees]
