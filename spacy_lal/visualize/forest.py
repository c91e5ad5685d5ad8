"""Trees for LaTeX and for Graphviz."""

from __future__ import annotations

import re

from ..trees.tree import ConstituentTree

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


def to_forest(tree: ConstituentTree) -> str:
    r"""The tree as an environment of LaTeX's package `forest`, the words at its foot.

    Wants `\usepackage[T1]{fontenc}` or XeLaTeX, and `\usepackage{forest}`.
    """
    lines = [r"\begin{forest}", "for tree={parent anchor=south, child anchor=north}"]
    stack: list[tuple[ConstituentTree | None, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            lines[-1] += "]"
            continue
        indent = "  " * min(depth, 40)
        if node.word is not None:
            lines.append(f"{indent}[{{{_latex(node.label)}}} [{{{_latex(node.word)}}}, tier=word]]")
        else:
            lines.append(f"{indent}[{{{_latex(node.label)}}}")
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join([*lines, r"\end{forest}", ""])


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in _CONTROLS.sub(" ", text))


def to_graphviz(tree: ConstituentTree) -> str:
    """The tree in Graphviz' language: `dot -Tsvg` draws it, words in one row."""
    lines = [
        "digraph tree {",
        "  ordering=out;",
        '  node [shape=plaintext, fontname="Helvetica"];',
        "  edge [arrowhead=none];",
    ]
    words: list[int] = []
    stack: list[tuple[ConstituentTree, int | None]] = [(tree, None)]
    number = 0
    while stack:
        node, parent = stack.pop()
        mine, number = number, number + 1
        lines.append(f'  n{mine} [label="{_dot(node.label)}"];')
        if parent is not None:
            lines.append(f"  n{parent} -> n{mine};")
        if node.word is not None:
            lines.append(f'  n{number} [label="{_dot(node.word)}"];')
            lines.append(f"  n{mine} -> n{number};")
            words.append(number)
            number += 1
        stack.extend((child, mine) for child in reversed(node.children))
    row = "; ".join(f"n{word}" for word in words)
    return "\n".join([*lines, f"  {{ rank=same; {row} }}", "}", ""])


def _dot(text: str) -> str:
    return _CONTROLS.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
