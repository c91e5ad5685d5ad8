"""Bracketed treebanks: the Penn Treebank's `.mrg`, the Chinese one's SGML wrappers, SPMRL's
`##feature##` labels, and plain one-tree-a-line files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..trees import ConstituentTree, Unescape, parse_brackets
from .docs import Sentence
from .files import read_text

TRACE = "-NONE-"

_FEATURES = re.compile(r"##.*?(?:##|$)")
_FUNCTION = re.compile(r"(?<=.)[-=].*")  # never at the beginning: -LRB- is a tag
# A line of its own without round brackets, as `<S ID=7>`, `</S>` or `<DATE> 1994 </DATE>`.
_SGML = re.compile(r"^[ \t]*<[^()\n]*>[ \t]*$", re.MULTILINE)


def parse_treebank(
    text: str, *, source: str = "<string>", unescape: Unescape = True
) -> Iterator[ConstituentTree]:
    """Every tree as it stands in `text`, whose SGML lines are skipped. Raises BracketError."""
    # Blanks instead of nothing, so that places in messages stay right.
    blanked = _SGML.sub(lambda match: " " * len(match[0]), text)
    return parse_brackets(blanked, source=source, unescape=unescape)


def read_treebank(
    path: str | Path, *, encoding: str = "utf-8-sig", unescape: Unescape = True
) -> Iterator[ConstituentTree]:
    """Every tree as it stands in a file, plain or compressed. Raises BracketError, FormatError."""
    return parse_treebank(read_text(path, encoding), source=str(path), unescape=unescape)


def clean_label(label: str, *, functions: bool = False, features: bool = False) -> str:
    """The bare category: `NP-SBJ-1` and `NP=2` are NP, `NP##case=nom##` is NP, -LRB- is itself.

    functions, features: whether to keep them.
    """
    if not features:
        label = _FEATURES.sub("", label)
    if not functions and not label.startswith("-"):
        label = _FUNCTION.sub("", label)
    return label


def clean_tree(
    tree: ConstituentTree, *, traces: bool = False, functions: bool = False, features: bool = False
) -> ConstituentTree | None:
    """The tree that parsers are trained on: no traces (nor phrases left without words) and bare
    labels, unless told to keep them. None if no word is left."""
    built: list[ConstituentTree | None] = []
    # From the right, a node's children are the latest built.
    for node in reversed(list(tree.preorder())):
        first = len(built) - len(node.children)
        children = [child for child in reversed(built[first:]) if child is not None]
        del built[first:]
        label = clean_label(node.label, functions=functions, features=features)
        if node.word is not None and (traces or node.label != TRACE):
            built.append(ConstituentTree(label, word=node.word))
        elif children:
            built.append(ConstituentTree(label, children))
        else:
            built.append(None)
    return built[0]


def to_sentence(tree: ConstituentTree, *, spaces: bool = True) -> Sentence:
    """The tree's words, tags and phrases.

    spaces: whether words are written apart, as far as one knows: bracketings don't say.
    """
    words, tags = zip(*tree.tagged, strict=True) if tree.leaves else ((), ())
    return Sentence(
        words=words,
        spaces=[spaces and i + 1 < len(words) for i in range(len(words))],
        tags=tags,
        constituents=tree.rooted().spans(include_root=False),
    )
