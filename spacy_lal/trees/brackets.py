"""Reading and writing of bracketed trees, without recursion: no depth meets Python's limit."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from ..drawing.tree_text import Tree, outline

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
"""Escapes of single brackets in treebanks."""
UNBRACKETS = {name: bracket for bracket, name in BRACKETS.items()}
"""Brackets by their escapes."""
STRAIGHT_QUOTES = dict.fromkeys("«»“”„", '"') | dict.fromkeys("‘’‹›", "'")
"""Straight quotes by their typographic forms."""

Unescape = Callable[[str], str]
"""Function that undoes a word's escapes: `unescape_brackets`, `ptb_unescape` or `str`."""

_WHITESPACE = re.compile(r"\s")
# Some treebanks have no-break spaces within a word.
_SYMBOL = re.compile(r"[()]|[^ \t\r\n\f\v()]+")


class FormatError(ValueError):
    """Malformed treebank text, with its place: `source`, `line`, and maybe `column` (from 1)."""

    def __init__(self, message: str, source: str, line: int, column: int | None = None):
        place = f"{source}:{line}" if column is None else f"{source}:{line}:{column}"
        super().__init__(f"{place}: {message}")
        self.message = message
        self.source = source
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.source, self.line, self.column)


def escape(word: str) -> str:
    """Return `word` with only its brackets escaped. A word that is exactly one of ( ) [ ] { }
    becomes -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-; in longer words only ( and ) are replaced.
    Whitespace and an empty word become "_", irreversibly."""
    return BRACKETS.get(word) or _in_one_symbol(word) or "_"


def unescape_brackets(word: str) -> str:
    """Undo `escape`; a literal "-LRB-" in a text can't be distinguished from an escape."""
    if word in UNBRACKETS:
        return UNBRACKETS[word]
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


def ptb_unescape(word: str) -> str:
    """Undo all escapes of the Penn Treebank; both of its double quotes become a plain one."""
    if word in ("``", "''"):
        return '"'
    return unescape_brackets(word).replace(r"\/", "/").replace(r"\*", "*")


def _in_one_symbol(text: str) -> str:
    """Escape ( ) and whitespace. Labels aren't unescaped, since -LRB- is itself a tag."""
    return _WHITESPACE.sub("_", text.replace("(", "-LRB-").replace(")", "-RRB-"))


Made = TypeVar("Made")


class _Opened(NamedTuple):
    offset: int
    atoms: list[str]
    children: list[Any]


def read(text: str, make: Callable[..., Made], source: str, restore: Unescape) -> Iterator[Made]:
    """Yield every tree in `text`, built by `make(label, children, word)`. Raises FormatError."""

    def error(message: str, offset: int) -> FormatError:
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        return FormatError(message, source, line, column)

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


def one_line(tree: Tree) -> str:
    """Return the bracketing on one line, in which only brackets are escaped."""
    pieces: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            pieces[-1] += ")"
        elif node.word is not None:
            pieces += (f"({_in_one_symbol(node.label)}", f"{escape(node.word)})")
        else:
            pieces.append(f"({_in_one_symbol(node.label)}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return " ".join(pieces)


def indented(tree: Tree) -> str:
    """Return the bracketing with a line for each phrase; phrases over words alone stay together."""

    def shown(node: Tree) -> tuple[str, bool]:
        whole = all(child.word is not None for child in node.children)
        return one_line(node) if whole else f"({_in_one_symbol(node.label)}", whole

    return "\n".join(outline(tree, shown, ")"))
