"""Bracketed treebanks: the Penn Treebank's `.mrg`, the Chinese one's SGML wrappers, the Vietnamese
one's `<s> … </s>`, SPMRL's `##feature##` labels, and plain one-tree-a-line files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..trees.brackets import BracketError, Unescape, unescape_brackets
from ..trees.tree import ConstituentTree, parse_brackets
from .docs import TreebankSentence
from .files import read_text

TRACE = "-NONE-"
"""The tag of words that were not said."""

_FEATURES = re.compile(r"##.*?(?:##|$)")
_FUNCTION = re.compile(r"(?<=.)[-=].*")  # never at the beginning: -LRB- is a tag
# A line of its own without round brackets, as `<S ID=7>`, `</S>` or `<DATE> 1994 </DATE>`.
_SGML = re.compile(r"^[ \t]*<[^()\n]*>[ \t]*$", re.MULTILINE)
_SENTENCE = re.compile(r"^[ \t]*<(/?)s(?:[ \t][^()<>\n]*)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)


class Bracketing(NamedTuple):
    """One sentence of a treebank: where it is, and its tree or what is wrong with it."""

    place: str
    tree: ConstituentTree | None
    fault: str = ""


def parse_treebank(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Every tree as it stands in `text`, whose SGML lines are skipped. Raises BracketError."""
    return parse_brackets(_without_sgml(text), source=source, unescape=unescape)


def read_treebank(
    path: str | Path, *, encoding: str = "utf-8-sig", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Every tree as it stands in a file, plain or compressed. Raises BracketError, FormatError."""
    return parse_treebank(read_text(path, encoding), source=str(path), unescape=unescape)


def parse_sentences(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets
) -> Iterator[Bracketing]:
    """Every sentence as it stands in `text`, with its place.

    Where lines `<s>` (or `<s id=…>`) and `</s>` enclose sentences, several trees between two of
    them are put under a root without a label, and malformed text is the fault of that sentence.
    Without such lines every tree is a sentence, and malformed text raises BracketError.
    """
    marks = list(_SENTENCE.finditer(text))
    if not marks:
        for number, tree in enumerate(
            parse_treebank(text, source=source, unescape=unescape), start=1
        ):
            yield _checked(f"{source}: tree {number}", tree)
        return
    opened = False
    start, line = 0, 1
    for mark in [*marks, None]:
        body = text[start : mark.start() if mark else len(text)]
        end = line + body.count("\n")
        closes = mark is not None and bool(mark[1])
        outside = "" if opened else _without_sgml(body)
        if outside.strip():
            first = line + outside[: -len(outside.lstrip())].count("\n")
            fault = f"{outside.split()[0]!r} stands outside <s> and </s>"
            yield Bracketing(f"{source}:{first}", None, fault)
        if opened and closes:
            yield _one_sentence(body, source, line, unescape)
        elif opened:
            yield Bracketing(f"{source}:{line}", None, "<s> without </s>")
        elif closes:
            yield Bracketing(f"{source}:{end}", None, "</s> without <s>")
        if mark:
            opened, start, line = not closes, mark.end(), end


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
    tree: ConstituentTree,
    *,
    traces: bool = False,
    functions: bool = False,
    features: bool = False,
    null_words: re.Pattern[str] | None = None,
) -> ConstituentTree | None:
    """The tree that parsers are trained on: no traces (nor phrases left without words) and bare
    labels, unless told to keep them. None if no word is left.

    null_words: what words are traces whatever their tags; others are by the tag TRACE.
    """
    built: list[ConstituentTree | None] = []
    # From the right, a node's children are the latest built.
    for node in reversed(list(tree.preorder())):
        first = len(built) - len(node.children)
        children = [child for child in reversed(built[first:]) if child is not None]
        del built[first:]
        label = clean_label(node.label, functions=functions, features=features)
        if node.word is not None and (traces or not _is_trace(node, null_words)):
            built.append(ConstituentTree(label, word=node.word))
        elif children:
            built.append(ConstituentTree(label, children))
        else:
            built.append(None)
    return built[0]


def spliced(tree: ConstituentTree, labels: frozenset[str]) -> ConstituentTree:
    """The tree without phrases of these labels, whose parts stand in their places.

    The root stays, and so do words.
    """
    built: list[list[ConstituentTree]] = []
    for node in reversed(list(tree.preorder())):
        first = len(built) - len(node.children)
        children = [part for parts in reversed(built[first:]) for part in parts]
        del built[first:]
        if node.word is not None:
            built.append([node])
        elif node.label in labels and node is not tree:
            built.append(children)
        else:
            built.append([ConstituentTree(node.label, children)])
    return built[0][0]


def to_sentence(tree: ConstituentTree, *, spaces: bool = True) -> TreebankSentence:
    """The tree's words, tags and phrases.

    spaces: whether words are written apart, as far as one knows: bracketings don't say.
    """
    words, tags = zip(*tree.tagged, strict=True) if tree.leaves else ((), ())
    return TreebankSentence(
        words=words,
        spaces=[spaces and i + 1 < len(words) for i in range(len(words))],
        tags=tags,
        constituents=tree.rooted().spans(include_root=False),
    )


def _without_sgml(text: str) -> str:
    """Blanks instead of SGML lines: with nothing, places in messages would be wrong."""
    return _SGML.sub(lambda match: " " * len(match[0]), text)


def _is_trace(node: ConstituentTree, null_words: re.Pattern[str] | None) -> bool:
    return node.label == TRACE or (
        null_words is not None and null_words.fullmatch(node.word or "") is not None
    )


def _one_sentence(text: str, source: str, line: int, unescape: Unescape) -> Bracketing:
    """The sentence between <s> and </s>; `text` begins on `line`."""
    try:
        trees = list(parse_treebank(text, source=source, unescape=unescape))
    except BracketError as error:
        return Bracketing(f"{source}:{line + error.line - 1}", None, error.message)
    if len(trees) == 1:
        return _checked(f"{source}:{line}", trees[0])
    # `( (S …))` beside another tree: one root for all is enough.
    nodes = [
        node
        for tree in trees
        for node in (tree.children if not tree.label and tree.word is None else (tree,))
    ]
    return _checked(f"{source}:{line}", ConstituentTree("", nodes))


def _checked(place: str, tree: ConstituentTree) -> Bracketing:
    """The sentence, with a fault if cleaning its tree would lose or invent something."""
    for node in tree.preorder():
        if node.word is not None:
            if not node.label:
                return Bracketing(place, None, f"word {node.word!r} has no tag")
        elif node is not tree:
            if not node.children:
                return Bracketing(place, None, f"neither words nor phrases in ({node.label})")
            if not node.label:
                return Bracketing(place, None, "a phrase without a label")
    return Bracketing(place, tree)
