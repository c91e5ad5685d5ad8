"""Indices of corpora on disk: which pieces of which files a query needs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import reduce
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import numpy as np
from spacy.tokens import Doc

from ..annotate.reading import CONLLU, Piece, read_piece
from ..annotations import sentence_trees
from ..formats.files import OPENERS, whole_file
from ..trees.tree import ConstituentTree
from .index import Index
from .queries import Query
from .tree_matching import TreePattern

PIECES = "pieces.json"
"""Name, in the index's archive, of the list of files with their sizes and times, and of pieces."""


def indexed_pieces(query: Query, files: list[Path], path: Path) -> list[Piece]:
    """Return the only pieces of the files in which a query can match, from the index at `path`.

    The index is made, or made anew after a change of the files, in one pass over the corpus. A
    piece is a line with a record or a tree, else a file. Only tree patterns narrow the search.
    Raises ValueError if `path` is another file.
    """
    state = [[str(file), file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    known = _known(path)
    if known is None or known["files"] != state:
        found = [piece for file in files for piece in _pieces(file)]
        places = {file: i for i, file in enumerate(files)}
        rows = [[places[piece.file], *piece[1:]] for piece in found]
        with whole_file(path) as unfinished:
            Index.build(map(_tree, found)).save(unfinished)
            with ZipFile(unfinished, "a") as archive:
                archive.writestr(PIECES, json.dumps({"files": state, "pieces": rows}))
    else:
        found = [Piece(files[row[0]], *row[1:]) for row in known["pieces"]]
    index = Index.load(path)
    patterns = (part for part in query.parts if isinstance(part, TreePattern))
    narrow = [ids for ids in map(index.candidates, patterns) if ids is not None]
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


def _known(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        with ZipFile(path) as archive:
            known: dict[str, Any] = json.loads(archive.read(PIECES))
            return known
    except (BadZipFile, KeyError, ValueError) as error:
        raise ValueError(f"{path} is no index of a corpus: {error}") from None


def _tree(piece: Piece) -> ConstituentTree:
    """Return all trees of a piece under one root, whose label no query has."""
    return ConstituentTree("\0", [tree for text in read_piece(piece) for tree in _trees(text.item)])


def _trees(item: Doc | ConstituentTree) -> Iterable[ConstituentTree]:
    return [item] if isinstance(item, ConstituentTree) else sentence_trees(item)
