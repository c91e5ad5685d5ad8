"""The Vietnamese Treebank, as VLSP distributes it.

Sentences stand between <s> and </s>, as in the .prd files, or are plain bracketings. Labels lose
their functions and tags their marks of heads (NP-SUB is NP, N-H is N), and are otherwise as the
treebank writes them. Words are brought to Unicode's NFC; their syllables are joined by underscores,
which stay: PhoBERT reads words so. LBKT and RBKT are brackets again. Empty elements, as *T* and
*E*, are removed.

P.-T. Nguyen, X.-L. Vu, T.-M.-H. Nguyen, V.-H. Nguyen and H.-P. Le (2009), Building a Large
Syntactically-Annotated Corpus of Vietnamese.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from unicodedata import normalize

from ..trees.tree import ConstituentTree
from . import brackets
from .cleaning import Losses, clean_sentences
from .docs import TreebankSentence
from .files import read_text
from .splits import PARTS

SUFFIXES = {".prd", ".mrg", ".ptb", ".tree"}
"""Files to take from a folder; beside them are raw texts of the same names."""

NULL_WORDS = re.compile(r"\*[A-Z0]\*(?:-\d+)?")
"""Words that were not said."""

BRACKETS = {"LBKT": "(", "RBKT": ")"}
"""How the treebank writes brackets that are words."""

# (N-H hiện nay): a tag and two words or more.
_SYLLABLES = re.compile(r"(?<=\()([^\s()]+[ \t]+)([^\s()]+(?:[ \t]+[^\s()]+)+)(?=[ \t]*\))")


def tree_files(path: Path) -> list[Path]:
    """The file itself, or a folder's files of trees, by name."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in SUFFIXES)


def named_files(folder: Path, names: str) -> list[Path]:
    """What is named, commas between: files, folders and patterns, from `folder`; train is train.*
    if there is nothing just so. Raises FileNotFoundError."""
    files: dict[Path, None] = {}
    for name in map(str.strip, names.split(",")):
        found: list[Path] = []
        if name and (folder / name).exists():
            found = [folder / name]
        elif name and not Path(name).is_absolute():
            found = sorted(folder.glob(name)) or sorted(folder.glob(f"{name}.*"))
        inside = [file for path in found for file in tree_files(path)]
        if not inside:
            raise FileNotFoundError(f"no trees in {str(folder / name) if name else repr(names)}")
        files |= dict.fromkeys(inside)
    return list(files)


def shares(text: str) -> list[int]:
    """ "18:1:1" as numbers. Raises ValueError."""
    found = text.split(":")
    if len(found) != len(PARTS) or not all(part.isdecimal() and int(part) for part in found):
        raise ValueError(f"ratio {text!r}: write it as 18:1:1, of train, dev and test")
    return [int(part) for part in found]


def cut(
    sentences: Sequence[TreebankSentence], ratio: Sequence[int]
) -> list[Sequence[TreebankSentence]]:
    """As many pieces as `ratio` has numbers, in order, nothing shuffled."""
    ends = [len(sentences) * end // sum(ratio) for end in accumulate(ratio, initial=0)]
    return [sentences[start:end] for start, end in pairwise(ends)]


def read_sentences(
    path: Path, losses: Losses, *, drop_malformed: bool = False
) -> Iterator[TreebankSentence]:
    """Sentences with bare tags and constituents. Raises BracketError, FormatError, ValueError."""
    text, joined = _SYLLABLES.subn(
        lambda match: match[1] + "_".join(match[2].split()), read_text(path)
    )
    losses.counts["words whose syllables were apart"] += joined
    trees = (
        sentence._replace(tree=sentence.tree and _with_root(sentence.tree))
        for sentence in brackets.parse_sentences(text, source=str(path))
    )
    clean = partial(brackets.clean_tree, null_words=NULL_WORDS)
    for sentence in clean_sentences(trees, losses, clean=clean, drop_malformed=drop_malformed):
        words = [BRACKETS.get(word, normalize("NFC", word)) for word in sentence.words]
        losses.counts["words brought to NFC"] += sum(
            word not in BRACKETS and word != new
            for word, new in zip(sentence.words, words, strict=True)
        )
        yield replace(sentence, words=words)


def _with_root(tree: ConstituentTree) -> ConstituentTree:
    """The tree; S1 is a clause here, not the root that it is called in other treebanks."""
    return ConstituentTree("", (tree,)) if tree.label == "S1" else tree
