"""The Penn Treebank's Wall Street Journal, by its usual sections."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..trees.brackets import ptb_unescape
from .brackets import read_treebank
from .cleaning import Losses, clean_sentences, numbered
from .docs import TreebankSentence
from .head_rules import HeadRules
from .splits import numbers

SUFFIXES = {".mrg", ".tree", ".ptb"}
"""What the names of files with trees end in."""


def sections(text: str) -> list[str]:
    """Section names: "02-21" is 02, 03 … 21 and "00,24" these two. Raises ValueError."""
    return [f"{number:02}" for number in numbers(text)]


def section_files(wsj: Path, names: Sequence[str]) -> tuple[list[Path], list[str]]:
    """The sections' files in order, and which sections have none."""
    files: list[Path] = []
    empty: list[str] = []
    for name in names:
        found = sorted(p for p in (wsj / name).rglob("*") if p.suffix.lower() in SUFFIXES)
        files += found
        if not found:
            empty.append(name)
    return files, empty


def read_trees(
    path: Path, losses: Losses, *, rules: HeadRules = HeadRules.none
) -> Iterator[TreebankSentence]:
    """Sentences with tags and bare constituents, all escapes undone, and heads by rules.

    Raises BracketError, FormatError.
    """
    trees = read_treebank(path, unescape=ptb_unescape)
    return clean_sentences(numbered(trees, path), losses, rules=rules)
