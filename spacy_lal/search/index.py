"""An index of a corpus: the sentences of every label, tag and word."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..trees.tree import ConstituentTree
from .tree_matching import TreePattern

_DAMAGED = (EOFError, BadZipFile, zlib.error)
Sentences = np.ndarray[Any, np.dtype[np.int32]]
"""Numbers of sentences, from 0, in increasing order."""


class Index:
    """For each label, tag and word of a corpus the numbers of the sentences that have it.

    `save` writes a NumPy archive: the labels, how many sentences each has, and the distances from
    each sentence to the next.
    """

    def __init__(self, labels: list[str], ends: Sentences, gaps: Sentences, length: int) -> None:
        self.labels = labels
        self._place = {label: i for i, label in enumerate(labels)}
        self._ends, self._gaps, self._length = ends, gaps, length

    def __len__(self) -> int:
        """Return the number of sentences."""
        return self._length

    @classmethod
    def build(cls, trees: Iterable[ConstituentTree]) -> Index:
        """Index the trees in one pass; a sentence's number is its place among them."""
        found: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        length = 0
        for tree in trees:
            here = set()
            for node in tree.preorder():
                here.add(node.label)
                if node.word is not None:
                    here.add(node.word)
            for label in here:
                found[label].append(length)
            length += 1
        ends = np.cumsum([len(sentences) for sentences in found.values()], dtype=np.int32)
        gaps = [np.diff(np.asarray(s, np.int32), prepend=np.int32(0)) for s in found.values()]
        return cls([*found], ends, np.concatenate([*gaps, np.zeros(0, np.int32)]), length)

    def sentences(self, label: str) -> Sentences:
        """Return the sentences that have a label, tag or word."""
        place = self._place.get(label)
        if place is None:
            return np.zeros(0, np.int32)
        start = self._ends[place - 1] if place else 0
        return np.cumsum(self._gaps[start : self._ends[place]], dtype=np.int32)

    def candidates(self, pattern: TreePattern) -> Sentences | None:
        """Return the only sentences in which the pattern can match; None if these may be all.

        They have what the pattern requires: for each description outside negations, options and
        disjunctions a label that it holds of, and one for each disjunction.
        """
        found: Sentences | None = None
        for clause in pattern.required:
            described = {
                label
                for labels in clause
                for label in labels.names or filter(labels.__getitem__, self.labels)
            }
            groups = [self.sentences(label) for label in described]
            having = np.unique(np.concatenate([*groups, np.zeros(0, np.int32)]))
            found = having if found is None else np.intersect1d(found, having, assume_unique=True)
        return found

    def save(self, path: Path | str) -> None:
        """Write the index to a file."""
        text = json.dumps(self.labels).encode("utf8")
        with Path(path).open("wb") as file:
            np.savez_compressed(
                file,
                labels=np.frombuffer(text, np.uint8),
                ends=self._ends,
                gaps=self._gaps,
                length=np.int32(self._length),
            )

    @classmethod
    def load(cls, path: Path | str) -> Index:
        """Read an index. Raises ValueError if the file is none."""
        try:
            with np.load(path, allow_pickle=False) as file:
                labels = json.loads(file["labels"].tobytes())
                return cls(labels, file["ends"], file["gaps"], int(file["length"]))
        except (*_DAMAGED, KeyError, ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"{path} is no index of a corpus: {error}") from None
