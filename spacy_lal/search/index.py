"""An index of a corpus: the sentences, or pieces of files, of every label, tag and word."""

from __future__ import annotations

import json
import zlib
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..annotate.reading import CONLLU, Piece, read_piece
from ..annotations import sentence_trees
from ..formats.files import OPENERS, whole_file
from ..trees.tree import ConstituentTree
from .queries import Query
from .tree_matching import TreePattern

_DAMAGED = (EOFError, BadZipFile, zlib.error)
Sentences = np.ndarray[Any, np.dtype[np.int32]]
"""Numbers of sentences, from 0, in increasing order."""


class Index:
    """For each label, tag and word of a corpus the numbers of the sentences that have it.

    `save` writes a NumPy archive: the labels, how many sentences each has, and the distances from
    each sentence to the next. about: what is stored with it, of files their list and their pieces.
    """

    def __init__(
        self, labels: list[str], ends: Sentences, gaps: Sentences, about: Mapping[str, Any]
    ) -> None:
        self.labels, self.about = labels, about
        self._place = {label: i for i, label in enumerate(labels)}
        self._ends, self._gaps = ends, gaps

    @classmethod
    def build(
        cls, trees: Iterable[ConstituentTree], about: Mapping[str, Any] | None = None
    ) -> Index:
        """Index the trees in one pass; a sentence's number is its place among them."""
        found: defaultdict[str, array[int]] = defaultdict(lambda: array("i"))
        for number, tree in enumerate(trees):
            here = set()
            for node in tree.preorder():
                here.add(node.label)
                if node.word is not None:
                    here.add(node.word)
            for label in here:
                found[label].append(number)
        ends = np.cumsum([len(sentences) for sentences in found.values()], dtype=np.int32)
        gaps = [np.diff(np.asarray(s, np.int32), prepend=np.int32(0)) for s in found.values()]
        return cls([*found], ends, np.concatenate([*gaps, np.zeros(0, np.int32)]), about or {})

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
        text = np.frombuffer(json.dumps([self.labels, self.about]).encode("utf8"), np.uint8)
        with whole_file(Path(path)) as unfinished, unfinished.open("wb") as file:
            np.savez_compressed(file, text=text, ends=self._ends, gaps=self._gaps)

    @classmethod
    def load(cls, path: Path | str) -> Index:
        """Read an index. Raises ValueError if the file is none."""
        try:
            with np.load(path, allow_pickle=False) as file:
                labels, about = json.loads(file["text"].tobytes())
                return cls(labels, file["ends"], file["gaps"], about)
        except (*_DAMAGED, KeyError, ValueError, AttributeError, TypeError) as error:
            raise ValueError(f"{path} is no index of a corpus: {error}") from None


def indexed_pieces(query: Query, files: list[Path], path: Path) -> list[Piece]:
    """Return the only pieces of the files in which a query can match, from the index at `path`.

    The index is made, or made anew after a change of the files, in one pass over the corpus. A
    piece is a line with a record or a tree, else a file. Only tree patterns narrow the search.
    Raises ValueError if `path` is another file.
    """
    state = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    index = Index.load(path) if path.exists() else None
    if index is not None and "files" not in index.about:
        raise ValueError(f"{path} is no index of a corpus of files")
    if index is None or index.about["files"] != state:
        pieces = [(i, *piece[1:]) for i, file in enumerate(files) for piece in _pieces(file)]
        trees = (_tree(Piece(files[i], *rest)) for i, *rest in pieces)
        index = Index.build(trees, {"files": state, "pieces": pieces})
        index.save(path)
    patterns = (part for part in query.parts if isinstance(part, TreePattern))
    narrow = [ids for ids in map(index.candidates, patterns) if ids is not None]
    found = [Piece(files[i], *rest) for i, *rest in index.about["pieces"]]
    return [found[i] for i in reduce(np.intersect1d, narrow)] if narrow else found


def _pieces(file: Path) -> list[Piece]:
    """Return the lines of a file that has a record or a whole tree on each, else the file."""
    if file.suffix in (*OPENERS, *CONLLU, ".spacy", ".parquet"):
        return [Piece(file)]
    found: list[Piece] = []
    start = 0
    with file.open("rb") as lines:
        for line in lines:
            end = start + len(line)
            if line := line.strip():
                whole = line[:1] == b"(" and line.count(b"(") == line.count(b")")
                if not whole and file.suffix != ".jsonl":
                    return [Piece(file)]
                found.append(Piece(file, len(found) + 1, start, end))
            start = end
    return found


def _tree(piece: Piece) -> ConstituentTree:
    """Return all trees of a piece under one root, whose label no query has."""
    items = (text.item for text in read_piece(piece))
    trees = ([i] if isinstance(i, ConstituentTree) else sentence_trees(i) for i in items)
    return ConstituentTree("\0", list(chain.from_iterable(trees)))
