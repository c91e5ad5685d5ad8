"""Reading and writing of bracketed trees, without recursion: no depth meets Python's limit."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

from ..drawing.tree_text import Tree, outline

BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
"""Escapes of single brackets in treebanks."""
UNBRACKETS = {name: bracket for bracket, name in BRACKETS.items()}
"""Brackets by their escapes."""
BACKSLASH = "-BACKSLASH-"
"""Escape of a backslash at a word's end, where NLTK reads it and the closing bracket as a word."""
STRAIGHT_QUOTES = dict.fromkeys("«»“”„", '"') | dict.fromkeys("‘’‹›", "'")
"""Straight quotes by their typographic forms."""

Unescape = Callable[[str], str]
"""Function that undoes a word's escapes: `unescape_brackets`, `ptb_unescape` or `str`."""

ESCAPES = re.compile(r"-[LR][RSC]B-|``|''|\\[/*]")
"""Finds what may be an escape of the Penn Treebank."""
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
    becomes -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-; in longer words only ( and ) are replaced, and a
    backslash at the end. Whitespace and an empty word become "_", irreversibly."""
    text = BRACKETS.get(word) or in_one_symbol(word) or "_"
    return text[:-1] + BACKSLASH if text[-1] == "\\" else text


def unescape_brackets(word: str) -> str:
    """Undo `escape`; a literal "-LRB-" in a text can't be distinguished from an escape."""
    if word in UNBRACKETS:
        return UNBRACKETS[word]
    if word.endswith(BACKSLASH):
        word = word.removesuffix(BACKSLASH) + "\\"
    return word.replace("-LRB-", "(").replace("-RRB-", ")")


def ptb_unescape(word: str) -> str:
    """Undo all escapes of the Penn Treebank; both of its double quotes become a plain one."""
    if word in ("``", "''"):
        return '"'
    return unescape_brackets(word).replace(r"\/", "/").replace(r"\*", "*")


def plain_word(word: str) -> str:
    """Return what a word in the Penn Treebank's escapes stands for, as quickly for other words."""
    return ptb_unescape(word) if ESCAPES.search(word) else word


def in_one_symbol(text: str) -> str:
    """Escape ( ) and whitespace. Labels aren't unescaped, since -LRB- is itself a tag."""
    return _WHITESPACE.sub("_", text.replace("(", "-LRB-").replace(")", "-RRB-"))


Made = TypeVar("Made")


class _Opened(NamedTuple):
    offset: int
    atoms: list[str]
    children: list[Any]
    left_out: list[str]


def read(
    text: str,
    make: Callable[..., Made],
    source: str,
    restore: Unescape,
    *,
    strict: bool = False,
    drop: Callable[[str], bool] | None = None,
    report: Callable[[str, int], None] | None = None,
) -> Iterator[Made]:
    """Yield every tree in `text`, built by `make(label, children, word)`. Raises FormatError.

    strict: whether `(They)`, maybe a word, is an error instead of an empty phrase. drop: returns
    whether to leave out nodes of a label, with all in them; a tree of such nodes alone is none.
    report: takes message and offset of each error, instead of an exception.
    """

    def error(message: str, offset: int) -> None:
        if report is None:
            raise FormatError(message, source, *place(text, offset))
        report(message, offset)

    opened: list[_Opened] = []
    inside = 0  # brackets that are open from a node to leave out
    for match in _SYMBOL.finditer(text):
        symbol, start = match[0], match.start()
        if inside:
            inside += (symbol == "(") - (symbol == ")")
        elif symbol == "(":
            if opened and len(opened[-1].atoms) > 1:
                error("a phrase after a word in the same bracket", start)
            opened.append(_Opened(start, [], [], []))
        elif symbol == ")":
            if not opened:
                error("closing bracket without an opening one", start)
                continue
            offset, atoms, children, left_out = opened.pop()
            empty = not (children or left_out)
            if len(atoms) == 2:
                node = make(atoms[0], (), restore(atoms[1]))
            elif atoms and empty and text[offset + 1].isspace():
                node = make("", (), restore(atoms[0]))
            elif left_out and not (atoms or children or opened):
                continue
            else:
                if strict and atoms and empty:
                    error(f"neither words nor phrases in ({atoms[0]})", offset)
                node = make(atoms[0] if atoms else "", children, None)
            if opened:
                opened[-1].children.append(node)
            else:
                yield node
        elif not opened:
            error(f"{symbol!r} stands outside any bracket", start)
        elif opened[-1].children:
            error(f"word {symbol!r} next to a phrase, without a tag", start)
        elif len(opened[-1].atoms) == 2:
            error(f"second word {symbol!r} in one bracket", start)
        elif drop and not opened[-1].atoms and text[start - 1] == "(" and drop(symbol):
            opened.pop()
            inside = 1
            if opened:
                opened[-1].left_out.append(symbol)
        else:
            opened[-1].atoms.append(symbol)
    if opened:
        error("this bracket is never closed", opened[-1].offset)


def place(text: str, offset: int) -> tuple[int, int]:
    """Return the line and column, from 1, of a character."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def one_line(tree: Tree) -> str:
    """Return the bracketing on one line, with words as `escape` has them."""
    pieces: list[str] = []
    stack: list[Tree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            pieces[-1] += ")"
        elif node.word is not None:
            pieces += (f"({in_one_symbol(node.label)}", f"{escape(node.word)})")
        else:
            pieces.append(f"({in_one_symbol(node.label)}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return " ".join(pieces)


def indented(tree: Tree) -> str:
    """Return the bracketing with a line for each phrase; phrases over words alone stay together."""

    def shown(node: Tree) -> tuple[str, bool]:
        whole = all(child.word is not None for child in node.children)
        return one_line(node) if whole else f"({in_one_symbol(node.label)}", whole

    return "\n".join(outline(tree, shown, ")"))
