"""Constituency trees as text: box characters, LaTeX's `forest`, Graphviz."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Protocol, TypeVar

from .svg import character_columns, columns
from .trees import Block, fold

DEEPEST_INDENT = 40
"""Most levels of indentation; without a limit, deep trees' text grows with their depth squared."""
GAP = 2
"""Columns between two words."""

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    **{character: f"\\{character}" for character in "#$%&_{}"},
}
_CONTROLS = re.compile("[\x00-\x1f\x7f]")
_WHITESPACE = re.compile(r"\s")
_ENTITY = re.compile(r"&(?=#?\w+;)")


class Tree(Protocol):
    """Phrase, or a word below its tag."""

    @property
    def label(self) -> str: ...
    @property
    def word(self) -> str | None: ...
    @property
    def children(self: Self) -> Sequence[Self]: ...
    def preorder(self: Self) -> Iterator[Self]: ...


Self = TypeVar("Self", bound=Tree)


def to_boxes(tree: Tree, width: int) -> str | None:
    """Draw the tree in box characters, words at the foot; None if the drawing is wider."""
    top = fold(tree.preorder(), _block)
    if top.width > width:
        return None
    rows: list[dict[int, str]] = [{} for _ in range(2 * top.height + 1)]
    blocks = [(top, 0)]
    while blocks:
        block, left = blocks.pop()
        row = 2 * (top.height - block.height)
        centre = left + int(block.centre)
        _write(rows[row], block.node, centre - (columns(block.node) - 1) // 2)
        below = [left + int(child.left + child.centre) for child in block.children]
        if len(below) > 1:
            rows[row + 1].update(dict.fromkeys(range(below[0], below[-1] + 1), "─"))
            rows[row + 1].update(dict.fromkeys(below, "┬"))
            rows[row + 1] |= {below[0]: "┌", below[-1]: "┐"}
            rows[row + 1][centre] = "┼" if centre in below else "┴"
        elif below:
            rows[row + 1][centre] = "│"
        for child, column in zip(block.children, below, strict=True):
            for between in range(row + 2, 2 * (top.height - child.height)):
                rows[between][column] = "│"
            blocks.append((child, left + int(child.left)))
    return "\n".join(
        "".join(cells.get(column, " ") for column in range(max(cells, default=-1) + 1)).rstrip()
        for cells in rows
    )


def _block(tree: Tree, children: list[Block[str]]) -> Block[str]:
    if tree.word is not None:
        word = _WHITESPACE.sub("_", tree.word)
        children = [Block(word, columns(word), [], GAP, cells=True)]
    return Block(tree.label, columns(tree.label), children, GAP, cells=True)


def _write(cells: dict[int, str], text: str, column: int) -> None:
    for character in text:
        # a mark of no width joins the character before it
        if wide := character_columns(character):
            cells[column] = character
            cells.update((column + i, "") for i in range(1, wide))
            column += wide
        elif column - 1 in cells:
            cells[column - 1] += character


def to_forest(tree: Tree) -> str:
    r"""Return the tree as a `forest` environment, words at the foot. LaTeX needs
    `\usepackage{forest}`, and `\usepackage[T1]{fontenc}` or XeLaTeX."""

    def shown(node: Tree) -> tuple[str, bool]:
        label, word = _latex(node.label), node.word
        whole = f"[{{{label}}} [{{{_latex(word or '')}}}, tier=word]]"
        return (f"[{{{label}}}", False) if word is None else (whole, True)

    head = [r"\begin{forest}", "for tree={parent anchor=south, child anchor=north}"]
    return "\n".join([*head, *outline(tree, shown, "]"), r"\end{forest}", ""])


def outline(tree: Self, shown: Callable[[Self], tuple[str, bool]], closing: str) -> list[str]:
    """Return an indented line for each node. shown: text of a node, and whether it is the whole
    node; otherwise the lines of its children follow, the last with the closing bracket."""
    lines: list[str] = []
    stack: list[tuple[Self | None, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            lines[-1] += closing
            continue
        text, whole = shown(node)
        lines.append("  " * min(depth, DEEPEST_INDENT) + text)
        if not whole:
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return lines


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in _CONTROLS.sub(" ", text))


def to_graphviz(tree: Tree) -> str:
    """Return the tree in Graphviz' language (`dot -Tsvg` draws it), words in one row."""
    lines = [
        "digraph tree {",
        "  ordering=out;",
        '  node [shape=plaintext, fontname="Helvetica"];',
        "  edge [arrowhead=none];",
    ]
    words: list[str] = []
    stack: list[tuple[Tree | str, str]] = [(tree, "")]
    numbers = count()
    while stack:
        node, parent = stack.pop()
        name, said = f"n{next(numbers)}", node if isinstance(node, str) else node.label
        lines.append(f'  {name} [label="{_dot(said)}"];')
        if parent:
            lines.append(f"  {parent} -> {name};")
        if isinstance(node, str):
            words.append(name)
        else:
            below: Sequence[Tree | str] = node.children if node.word is None else [node.word]
            stack.extend((child, name) for child in reversed(below))
    return "\n".join([*lines, f"  {{ rank=same; {'; '.join(words)} }}", "}", ""])


def _dot(text: str) -> str:
    text = _ENTITY.sub("&amp;", _CONTROLS.sub(" ", text))  # Graphviz reads entities in strings
    return text.replace("\\", "\\\\").replace('"', '\\"')
