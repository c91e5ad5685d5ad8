"""Immutable constituency trees, their bracketing and their drawing.

Every walk keeps its own stack, so that neither depth nor length meets Python's recursion limit.
"""

from __future__ import annotations

import re
import shutil
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

LabelledSpan = tuple[int, int, str]
"""(start, end, label): `start` and `end` count words, `end` is exclusive."""

Unescape = Literal["brackets", "ptb"] | bool
"""How words are read: True and "brackets" undo `escape`, "ptb" undoes `ptb_escape`."""

ROOT_LABELS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
"""Labels that treebanks and parsers give to the node above the sentence."""

_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_UNBRACKETS = {name: bracket for bracket, name in _BRACKETS.items()}
_WHITESPACE = re.compile(r"\s")
# ASCII whitespace only: some treebanks have no-break spaces within a word.
_SYMBOL = re.compile(r"[()]|[^ \t\r\n\f\v()]+")
_PRETTY = re.compile(r"(?:pretty|unicode)(\d*)")
_DEEPEST_INDENT = 40


class BracketError(ValueError):
    """Malformed bracketing, with its place: `source`, `line` and `column` (both from 1)."""

    def __init__(self, message: str, *, source: str, line: int, column: int):
        super().__init__(f"{source}:{line}:{column}: {message}")
        self.message = message
        self.source = source
        self.line = line
        self.column = column

    def __reduce__(self) -> tuple[Any, ...]:
        return _bracket_error, (self.message, self.source, self.line, self.column)


class ConstituentTree:
    """A node with all that is below it; nodes are values: equal by content, never changed.

    A *preterminal* has a `word` and its label is the part-of-speech tag; every other node is a
    phrase, whose label is the category. Words are kept as written in text: escaping happens in
    `str()` and is undone by the reader. `log_prob` is a parser's log-probability of the whole tree,
    None where there is none; `parsed` is False for a tree of words alone that no parser and no
    annotator stands for. Neither is part of what makes trees equal, nor of their bracketing.
    """

    __slots__ = ("children", "label", "log_prob", "parsed", "word")

    label: str
    children: tuple[ConstituentTree, ...]
    word: str | None
    log_prob: float | None
    parsed: bool

    def __init__(
        self,
        label: str,
        children: Sequence[ConstituentTree] = (),
        word: str | None = None,
        log_prob: float | None = None,
        parsed: bool = True,
    ):
        """Raises ValueError for a node with both a word and children."""
        if word is not None and children:
            raise ValueError(f"a node has either a word or children, {label!r} has both")
        set_slot = object.__setattr__
        set_slot(self, "label", label)
        set_slot(self, "children", tuple(children))
        set_slot(self, "word", word)
        set_slot(self, "log_prob", log_prob)
        set_slot(self, "parsed", parsed)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ConstituentTree doesn't change: can't set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a ConstituentTree doesn't change: can't delete {name!r}")

    # Reading

    @classmethod
    def from_string(cls, text: str, *, unescape: Unescape = True) -> ConstituentTree:
        """The one tree in `text`. Raises BracketError for malformed text, none or several trees."""
        trees = list(parse_brackets(text, unescape=unescape))
        if len(trees) != 1:
            raise BracketError(
                f"expected one tree, found {len(trees)}", source="<string>", line=1, column=1
            )
        return trees[0]

    @classmethod
    def from_spans(
        cls,
        words: Sequence[str],
        tags: Sequence[str],
        spans: Sequence[LabelledSpan],
        root: str | None = "TOP",
        log_prob: float | None = None,
        parsed: bool = True,
    ) -> ConstituentTree:
        """The tree over `words` whose phrases are `spans`, in preorder.

        spans: outer before inner, left before right; a unary chain is several spans over the same
            words, topmost first.
        root: the label put above everything; None makes the single outermost span the root.
        Raises ValueError if two spans cross or are out of order, naming both; if a span is empty
        or outside the words; and, without `root`, if no single span covers all words.
        """
        if len(words) != len(tags):
            raise ValueError(
                f"each word needs one tag: got {len(words)} words and {len(tags)} tags"
            )
        if root is None:
            if not spans or tuple(spans[0][:2]) != (0, len(words)):
                raise ValueError(f"no span covers all {len(words)} words, and root is None")
            (_, _, root), *spans = spans
        opened: list[tuple[LabelledSpan, list[ConstituentTree]]] = [((0, len(words), root), [])]
        position = 0

        def advance(end: int) -> None:
            nonlocal position
            opened[-1][1].extend(
                cls(tag, word=word)
                for word, tag in zip(words[position:end], tags[position:end], strict=True)
            )
            position = max(position, end)

        def close() -> None:
            (_, end, label), children = opened[-1]
            advance(end)
            opened.pop()
            opened[-1][1].append(cls(label, children))

        for span in spans:
            start, end, _ = span
            if not 0 <= start < end <= len(words):
                raise ValueError(f"span {tuple(span)} is empty or outside {len(words)} words")
            while len(opened) > 1 and opened[-1][0][1] <= start:
                close()
            outer = opened[-1][0]
            if start < outer[0] or end > outer[1]:
                raise ValueError(
                    f"spans {tuple(outer)} and {tuple(span)} cross or are out of preorder"
                )
            advance(start)
            opened.append((span, []))
        while len(opened) > 1:
            close()
        advance(len(words))
        return cls(root, opened[0][1], None, log_prob, parsed)

    # Walking

    @property
    def is_preterminal(self) -> bool:
        return self.word is not None

    def preorder(self) -> Iterator[ConstituentTree]:
        """This node and all below it: a node before its children, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    @property
    def tagged(self) -> list[tuple[str, str]]:
        """(word, tag) from left to right."""
        return [(node.word, node.label) for node in self.preorder() if node.word is not None]

    @property
    def leaves(self) -> list[str]:
        """The words from left to right."""
        return [node.word for node in self.preorder() if node.word is not None]

    def spans(self, include_root: bool = True) -> list[LabelledSpan]:
        """Every phrase (no preterminals) as (start, end, label), in preorder.

        Phrases over no word at all are left out.
        """
        found: list[LabelledSpan] = []
        position = 0
        stack: list[ConstituentTree | int] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, int):  # everything below the phrase found[item] has been seen
                start, _, label = found[item]
                found[item] = (start, position, label)
            elif item.word is not None:
                position += 1
            else:
                stack.append(len(found))
                found.append((position, position, item.label))
                stack.extend(reversed(item.children))
        return [span for span in found[0 if include_root else 1 :] if span[0] < span[1]]

    def rooted(self, root: str = "TOP") -> ConstituentTree:
        """The same tree under `root`: an empty or other customary root label (ROOT_LABELS) is
        renamed, any other node gets `root` above it."""
        if self.word is None and self.label == root:
            return self
        if self.word is None and self.label in ROOT_LABELS:
            return ConstituentTree(root, self.children, None, self.log_prob, self.parsed)
        return ConstituentTree(root, (self,), None, self.log_prob, self.parsed)

    # Values

    def _flat(self) -> list[tuple[str, str | None, int]]:
        """(label, word, number of children) in preorder: the tree without its nesting."""
        return [(node.label, node.word, len(node.children)) for node in self.preorder()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstituentTree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(tuple(self._flat()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_flat, (self._flat(), self.log_prob, self.parsed)

    def __copy__(self) -> ConstituentTree:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ConstituentTree:
        return self

    def __repr__(self) -> str:
        return f"ConstituentTree.from_string({str(self)!r})"

    # Writing

    def __str__(self) -> str:
        """The bracketing on one line, in which only brackets are escaped (see `escape`)."""
        return " ".join(_one_line(self, _escaped_words(self)))

    def __format__(self, spec: str) -> str:
        """
        ""        one line, as `str()`
        "indent"  bracketing over several lines
        "ptb"     the same with all escapes of the Penn Treebank (see `ptb_escape`)
        "pretty"  a drawing, as `.pretty()`; also "unicode"; "pretty120" gives its greatest width
        """
        if not spec:
            return str(self)
        if spec == "indent":
            return _indented(self, _escaped_words(self))
        if spec == "ptb":
            return _indented(self, _ptb_words(self))
        if match := _PRETTY.fullmatch(spec):
            return self.pretty(int(match[1]) if match[1] else None)
        raise ValueError(
            f"unknown format {spec!r} for a ConstituentTree: "
            "use '', 'indent', 'ptb' or 'pretty', which may end in a width"
        )

    def pretty(self, width: int | None = None) -> str:
        """A drawing in box characters, the words at its foot.

        width: columns at hand (default: the terminal's); a wider tree is written as indented
            bracketing instead.
        """
        if width is None:
            width = shutil.get_terminal_size((100, 24)).columns
        return _drawing(self, width) or _indented(self, _escaped_words(self))

    def _repr_svg_(self) -> str:
        """A notebook's picture of the tree."""
        # the way up, taken only where pictures are wanted
        from ..visualize import render

        return render(self, style="tree", jupyter=False)

    def to_nltk(self) -> Any:
        """The same tree as `nltk.Tree`. Raises ImportError with advice if NLTK is missing."""
        try:
            from nltk.tree import Tree
        except ImportError as error:
            raise ImportError("ConstituentTree.to_nltk() needs NLTK: pip install nltk") from error
        built: list[list[Any]] = [[]]
        stack: list[ConstituentTree | None] = [self]
        labels: list[str] = []
        while stack:
            node = stack.pop()
            if node is None:
                children = built.pop()
                built[-1].append(Tree(labels.pop(), children))
            elif node.word is not None:
                built[-1].append(Tree(node.label, [node.word]))
            else:
                labels.append(node.label)
                built.append([])
                stack.append(None)
                stack.extend(reversed(node.children))
        return built[0][0]


# Escapes


def escape(word: str) -> str:
    """`word` as it stands in a bracketing: its brackets replaced, nothing else.

    A word that is exactly one of ( ) [ ] { } becomes -LRB- -RRB- -LSB- -RSB- -LCB- -RCB-; in a
    longer word only ( and ) are replaced. Whitespace in a word, and a word of no character at all,
    can't be written in brackets: each such character becomes "_", which no reader can undo.
    """
    if word in _BRACKETS:
        return _BRACKETS[word]
    return _WHITESPACE.sub("_", word.replace("(", "-LRB-").replace(")", "-RRB-")) or "_"


def unescape_brackets(word: str) -> str:
    """Undo `escape`; a text that contains a literal "-LRB-" can't be told from an escaped one."""
    if word in _UNBRACKETS:
        return _UNBRACKETS[word]
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


def _escaped_words(tree: ConstituentTree) -> Iterator[str]:
    return map(escape, tree.leaves)


def _ptb_words(tree: ConstituentTree) -> Iterator[str]:
    opening = True
    for word, tag in tree.tagged:
        if word == '"':
            # The treebank's own tag knows best; other tags leave quotes to alternate.
            opening = tag == "``" or (tag != "''" and opening)
            yield ptb_escape(word, opening)
            opening = not opening
        else:
            yield ptb_escape(word)


# Reading


def parse_brackets(
    text: str, *, source: str = "<string>", unescape: Unescape = True
) -> Iterator[ConstituentTree]:
    """Every tree in `text`, however the trees lie on its lines.

    `( (S ...))` has an empty root label, which is kept (`ConstituentTree.rooted` renames it);
    `( word)`, with a space, is a word with an empty tag, `(X)` a phrase over nothing.
    source: the name that errors show.
    Raises BracketError.
    """
    restore: Callable[[str], str] = unescape_brackets
    if unescape == "ptb":
        restore = ptb_unescape
    elif unescape is False:
        restore = str

    def error(message: str, offset: int) -> BracketError:
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        return BracketError(message, source=source, line=line, column=column)

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
                node = ConstituentTree(atoms[0], word=restore(atoms[1]))
            elif atoms and not children and text[offset + 1].isspace():
                node = ConstituentTree("", word=restore(atoms[0]))
            else:
                node = ConstituentTree(atoms[0] if atoms else "", children)
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


class _Opened(NamedTuple):
    """A bracket not yet closed: where it opened, its label and word, the phrases in it."""

    offset: int
    atoms: list[str]
    children: list[ConstituentTree]


def _bracket_error(message: str, source: str, line: int, column: int) -> BracketError:
    return BracketError(message, source=source, line=line, column=column)


def _from_flat(
    flat: Sequence[tuple[str, str | None, int]],
    log_prob: float | None = None,
    parsed: bool = True,
) -> ConstituentTree:
    """Undo `ConstituentTree._flat`: from the right, a node's children are the latest built."""
    built: list[ConstituentTree] = []
    for label, word, n_children in reversed(flat):
        children = built[len(built) - n_children :][::-1]
        del built[len(built) - n_children :]
        built.append(ConstituentTree(label, children, word))
    root = built[0]
    return ConstituentTree(root.label, root.children, root.word, log_prob, parsed)


# Writing


def _safe_label(label: str) -> str:
    """A label that can't break the bracketing. Labels aren't unescaped: -LRB- is itself a tag."""
    return _WHITESPACE.sub("_", label.replace("(", "-LRB-").replace(")", "-RRB-"))


def _one_line(tree: ConstituentTree, words: Iterator[str]) -> list[str]:
    """The bracketing, cut at its spaces."""
    pieces: list[str] = []
    stack: list[ConstituentTree | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            pieces[-1] += ")"
        elif node.word is not None:
            pieces += (f"({_safe_label(node.label)}", f"{next(words)})")
        else:
            pieces.append(f"({_safe_label(node.label)}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return pieces


def _indented(tree: ConstituentTree, words: Iterator[str]) -> str:
    """The bracketing, a line for each phrase; one whose children are all words stays together."""
    lines: list[str] = []
    stack: list[tuple[ConstituentTree | None, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if node is None:
            lines[-1] += ")"
            continue
        # Deeper down the indent stays the same: the text of a very deep tree would grow squared.
        indent = "  " * min(depth, _DEEPEST_INDENT)
        if all(child.is_preterminal for child in node.children):
            lines.append(indent + " ".join(_one_line(node, words)))
        else:
            lines.append(f"{indent}({_safe_label(node.label)}")
            stack.append((None, depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))
    return "\n".join(lines)


# Drawing


def _columns(text: str) -> int:
    """How many terminal columns `text` takes: East Asian wide characters two, accents none."""
    if text.isascii():
        return len(text)
    return sum(map(_character_columns, text))


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class _Block:
    """A drawn subtree: the columns it takes, the column of its middle and its height in rows of
    nodes (words are on row 0). `left` is where it starts within its parent's block."""

    __slots__ = ("centre", "children", "height", "label", "left", "width")

    height: int

    def __init__(self, label: str, children: list[_Block]):
        self.label = label
        self.children = children
        self.left = 0
        self.height = 1 + max((child.height for child in children), default=-1)
        own = _columns(label)
        if not children:
            self.width, self.centre = own, (own - 1) // 2
            return
        self.width = 0
        for child in children:
            child.left = self.width
            self.width += child.width + 2
        self.width -= 2
        first, last = children[0], children[-1]
        self.centre = (first.left + first.centre + last.left + last.centre) // 2
        shift = max(0, (own - 1) // 2 - self.centre)  # a label that sticks out on the left
        for child in children:
            child.left += shift
        self.centre += shift
        self.width = max(self.width + shift, self.centre - (own - 1) // 2 + own)


def _drawing(tree: ConstituentTree, width: int) -> str | None:
    """The drawing, or None if it takes more than `width` columns."""
    built: list[list[_Block]] = [[]]
    stack: list[ConstituentTree | str] = [tree]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            children = built.pop()
            built[-1].append(_Block(item, children))
        elif item.word is not None:
            word = _Block(_WHITESPACE.sub("_", item.word), [])
            built[-1].append(_Block(item.label, [word]))
        else:
            stack.append(item.label)
            built.append([])
            stack.extend(reversed(item.children))
    top = built[0][0]
    if top.width > width:
        return None
    rows: list[dict[int, str]] = [{} for _ in range(2 * top.height + 1)]
    blocks = [(top, 0)]
    while blocks:
        block, left = blocks.pop()
        row = 2 * (top.height - block.height)
        centre = left + block.centre
        column = centre - (_columns(block.label) - 1) // 2
        for character in block.label:
            # A mark of no width joins the character before it.
            if wide := _character_columns(character):
                rows[row][column] = character
                rows[row].update((column + i, "") for i in range(1, wide))
                column += wide
            elif column - 1 in rows[row]:
                rows[row][column - 1] += character
        below = [left + child.left + child.centre for child in block.children]
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
            blocks.append((child, left + child.left))
    return "\n".join(
        "".join(cells.get(column, " ") for column in range(max(cells, default=-1) + 1)).rstrip()
        for cells in rows
    )
