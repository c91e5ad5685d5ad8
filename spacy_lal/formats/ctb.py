"""The Penn Chinese Treebank, by the numbers of its files.

Two splits of version 5.1 are in use, one for constituents and one for dependencies.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

from .brackets import parse_treebank
from .cleaning import Losses, clean_sentences, numbered
from .docs import TreebankSentence
from .files import read_text_as
from .head_rules import HeadRules

NAME = re.compile(r"chtb_(\d+)\.\w+", re.IGNORECASE)
"""chtb_001.fid; in later versions chtb_0001.nw and other genres."""

ENCODINGS = ("utf-8-sig", "gb18030")
"""Of version 5.1 there are files in both; text in the second is never valid in the first."""


class Split(StrEnum):
    """constituency: as in most work on constituents. dependency: Zhang and Clark (2008)."""

    constituency = "constituency"
    dependency = "dependency"


SPLITS: dict[Split, dict[str, str]] = {
    Split.constituency: {"train": "001-270,440-1151", "dev": "301-325", "test": "271-300"},
    Split.dependency: {
        "train": "001-815,1001-1136",
        "dev": "886-931,1148-1151",
        "test": "816-885,1137-1147",
    },
}
"""Of each split, the numbers of the files of each part."""


def numbered_files(folder: Path) -> dict[int, Path]:
    """The treebank's files by number. Raises ValueError if two have the same."""
    files: dict[int, Path] = {}
    for path in sorted(folder.rglob("*")):
        if match := NAME.fullmatch(path.name):
            number = int(match[1])
            if number in files:
                raise ValueError(f"{files[number]} and {path} have the same number")
            files[number] = path
    return files


def read_trees(
    path: Path, losses: Losses, *, encoding: str = "auto", rules: HeadRules = HeadRules.none
) -> Iterator[TreebankSentence]:
    """Sentences with tags and bare constituents, and heads by rules.

    encoding: of the file; "auto" for the first of ENCODINGS that fits. Raises BracketError,
    FormatError, ValueError.
    """
    text, _ = read_text_as(path, ENCODINGS if encoding == "auto" else (encoding,))
    trees = parse_treebank(text, source=str(path))
    return clean_sentences(numbered(trees, path), losses, spaces=False, rules=rules)
