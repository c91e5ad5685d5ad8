"""Bracketings: escapes of words, reading and writing of trees.

Every walk keeps its own stack, so that neither depth nor length meets Python's recursion limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from ..drawing.tree_text import DEEPEST_INDENT, Tree

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
"""Names of brackets in the words of treebanks."""
UNBRACKETS = {name: bracket for bracket, name in BRACKETS.items()}
"""Brackets by their names in the words of treebanks."""
STRAIGHT_QUOTES = dict.fromkeys("«»“”„", '"') | dict.fromkeys("‘’‹›", "'")
"""Quotes of typewriters by those of typesetters."""

Unescape = Callable[[str], str]
"""From a word as bracketed to the word: `unescape_brackets`, `ptb_unescape` or `str`."""

_WHITESPACE = re.compile(r"\s")
# ASCII whitespace only: some treebanks have no-break spaces within a word.
_SYMBOL = re.compile(r"[()]|[^ \t\r\n\f\v()]+")


class BracketError(ValueError):
    """Malformed bracketing, with its place: `source`, `line` and `column` (both from 1)."""

    def __init__(self, message: str, source: str, line: int, column: int):
        super().__init__(f"{source}:{line}:{column}: {message}")
        self.message = message
        self.source = source
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return BracketError, (self.message, self.source, self.line, self.column)


# Escapes


def escape(word: str) -> str:
    """`word` as it stands in a bracketing: its brackets replaced, nothing else.

    A word that is exactly one of ( ) [ ] { } becomes -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-; in a
    longer word only ( and ) are replaced. Whitespace in a word, and a word of no character at all,
    can't be written in brackets: each such character becomes "_", which no reader can undo.
    """
    return BRACKETS.get(word) or _in_one_symbol(word) or "_"


def unescape_brackets(word: str) -> str:
    """Undo `escape`; a text that contains a literal "-LRB-" can't be told from an escaped one."""
    if word in UNBRACKETS:
        return UNBRACKETS[word]
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


def ptb_escape(word: str, opening: bool = True) -> str:
    r"""`word` with all escapes of the Penn Treebank: brackets, \/ and \*, `` or '' for a quote.

    opening: whether a double quote opens a quotation.
    """
    if word == '"':
        return "``" if opening else "''"
    return escape(word).replace("/", r"\/").replace("*", r"\*")


def ptb_unescape(word: str) -> str:
    """Undo `ptb_escape`: both of the treebank's double quotes become a plain one."""
    if word in ("``", "''"):
        return '"'
    return unescape_brackets(word).replace(r"\/", "/").replace(r"\*", "*")


def ptb_words(tagged: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Words with all escapes of the Penn Treebank; tagged: (word, tag)."""
    opening = True
    for word, tag in tagged:
        if word == '"':
            # The treebank's own tag knows best; other tags leave quotes to alternate.
            opening = tag == "``" or (tag != "''" and opening)
            yield ptb_escape(word, opening)
            opening = not opening
        else:
            yield ptb_escape(word)


def _in_one_symbol(text: str) -> str:
    """Text that can't break the bracketing. Labels aren't unescaped: -LRB- is itself a tag."""
    return _WHITESPACE.sub("_", text.replace("(", "-LRB-").replace(")", "-RRB-"))


# Reading


Made = TypeVar("Made")


class _Opened(NamedTuple):
    """A bracket not yet closed: its offset, label and word, the phrases in it."""

    offset: int
    atoms: list[str]
    children: list[Any]


def read(text: str, make: Callable[..., Made], source: str, restore: Unescape) -> Iterator[Made]:
    """Every tree in `text`, whose nodes `make(label, children, word)` makes.

    Raises BracketError.
    """

    def error(message: str, offset: int) -> BracketError:
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        return BracketError(message, source, line, column)

    opened: list[_Opened] = []
    for match in _SYMBOL.finditer(text):
        symbol = match[0]
        if symbol == "(":
            if opened and len(opened[-1].atoms) > 1:
                raise error("a phrase after a word in the same bracket", match.start())
            opened.append(_Opened(match.start(), [], []))
        elif symbol == ")":
            if not opened:
                raise error("closing bracket without an opening one", match.start())
            offset, atoms, children = opened.pop()
            if len(atoms) == 2:
                node = make(atoms[0], (), restore(atoms[1]))
            elif atoms and not children and text[offset + 1].isspace():
                node = make("", (), restore(atoms[0]))
            else:
                node = make(atoms[0] if atoms else "", children, None)
            if opened:
                opened[-1].children.append(node)
            else:
                yield node
        else:
            if not opened:
                raise error(f"{symbol!r} stands outside any bracket", match.start())
            if opened[-1].children:
                raise error(f"word {symbol!r} next to a phrase, without a tag", match.start())
            if len(opened[-1].atoms) == 2:
                raise error(f"second word {symbol!r} in one bracket", match.start())
            opened[-1].atoms.append(symbol)
    if opened:
        raise error("this bracket is never closed", opened[-1].offset)


# Writing


def one_line(tree: Tree, words: Iterator[str]) -> str:
    """The bracketing on one line; words: as they are to stand there, from left to right."""
    pieces: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            pieces[-1] += ")"
        elif node.word is not None:
            pieces += (f"({_in_one_symbol(node.label)}", f"{next(words)})")
        else:
            pieces.append(f"({_in_one_symbol(node.label)}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return " ".join(pieces)


def indented(tree: Tree, words: Iterator[str]) -> str:
    """The bracketing, a line for each phrase; one whose children are all words stays together."""
    lines: list[str] = []
    stack: list[tuple[Tree | None, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            lines[-1] += ")"
            continue
        indent = "  " * min(depth, DEEPEST_INDENT)
        if all(child.word is not None for child in node.children):
            lines.append(indent + one_line(node, words))
        else:
            lines.append(f"{indent}({_in_one_symbol(node.label)}")
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)
