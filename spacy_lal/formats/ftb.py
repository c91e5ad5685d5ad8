"""The French Treebank, as in the SPMRL shared tasks.

Labels lose their ##features## and functions (NP-SUJ is NP); those of multiword expressions, as MWN
or NPP+, are phrases like others. SENT stays a constituent: the root is the bracket without a label
above it, and the shared tasks' evalb_spmrl ignores TOP, ROOT, S1 and VROOT, but counts SENT.

D. Seddah et al. (2013), Overview of the SPMRL 2013 Shared Task.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from .brackets import clean_tree, parse_sentences
from .cleaning import Losses, clean_sentences
from .docs import TreebankSentence
from .files import read_text_as

ENCODINGS = ("utf-8-sig", "latin-1")
"""Any bytes are valid in the second, so it must be the last."""


def find_file(folder: Path, part: str, given: str = "") -> Path:
    """The file of a split: `given`, from `folder`, or the one PART.French.gold.ptb within it.

    Raises FileNotFoundError, or ValueError if there are several.
    """
    if given:
        if not (folder / given).is_file():
            raise FileNotFoundError(f"{part}: no file {folder / given}")
        return folder / given
    name = f"{part}.French.gold.ptb"
    found = sorted(p for p in folder.rglob(f"{part}.*") if _plain_name(p) == name.lower())
    if not found:
        raise FileNotFoundError(f"{part}: no {name} in {folder}")
    if len(found) > 1:
        raise ValueError(f"{part}: both {found[0]} and {found[1]} are there: say which is meant")
    return found[0]


def _plain_name(path: Path) -> str:
    """Lower case, without the suffix of compression."""
    name = path.name.lower()
    return name.removesuffix(".xz").removesuffix(".gz").removesuffix(".bz2")


def read_sentences(
    path: Path, losses: Losses, *, encoding: str = "auto", functions: bool = False
) -> Iterator[TreebankSentence]:
    """Sentences with tags and constituents. Raises BracketError, FormatError, ValueError."""
    text, used = read_text_as(path, ENCODINGS if encoding == "auto" else (encoding,))
    if encoding == "auto" and used != ENCODINGS[0]:
        losses.notes.append(f"{path} isn't UTF-8, read as {used}")
    trees = parse_sentences(text, source=str(path))
    return clean_sentences(trees, losses, clean=partial(clean_tree, functions=functions))
