"""Immutable constituency trees, walked without recursion: no depth meets Python's limit."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..drawing.aligned import aligned_svg
from ..drawing.sentence import Phrase, Sentence
from ..drawing.tree_text import to_boxes
from ..drawing.trees import Node, fold
from .brackets import (
    FormatError,
    Unescape,
    escape,
    in_one_symbol,
    indented,
    one_line,
    read,
    unescape_brackets,
)
from .nest import nest

T = TypeVar("T")

LabelledSpan = tuple[int, int, str]
"""(start, end, label) in words; `end` is exclusive."""

ROOT = "TOP"
"""Label of the root above a sentence's tree."""
ROOT_LABELS = frozenset({"", ROOT, "ROOT", "S1", "VROOT"})
"""Root labels of treebanks and parsers."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstituentTree:
    """Immutable constituency tree: a node with its children, equal to others by content.

    A *preterminal* has a `word`, and its label is the part-of-speech tag; the label of every other
    node is its category. Words are unescaped: `str()` escapes and the reader unescapes them.
    `log_prob` is the parser's log-probability of the whole tree, or None; `parsed` is False for a
    tree without a parse or annotation. Neither counts in comparisons or bracketings. Raises
    ValueError for a node with both a word and children.
    """

    label: str
    children: Sequence[ConstituentTree] = ()
    word: str | None = None
    log_prob: float | None = None
    parsed: bool = True

    def __post_init__(self) -> None:
        if self.word is not None and self.children:
            raise ValueError(f"a node has either a word or children, {self.label!r} has both")
        object.__setattr__(self, "children", tuple(self.children))

    @classmethod
    def from_string(cls, text: str, *, unescape: Unescape = unescape_brackets) -> ConstituentTree:
        """Return the one tree in `text`. Raises FormatError unless there is exactly one."""
        trees = list(parse_brackets(text, unescape=unescape))
        if len(trees) != 1:
            raise FormatError(f"expected one tree, found {len(trees)}", "<string>", 1, 1)
        return trees[0]

    @classmethod
    def from_spans(
        cls,
        words: Sequence[str],
        tags: Sequence[str],
        spans: Sequence[LabelledSpan],
        root: str | None = ROOT,
        log_prob: float | None = None,
        parsed: bool = True,
    ) -> ConstituentTree:
        """Build the tree over `words` from the spans of its phrases, in preorder (see `nest`).

        root: label of the root; if None, the single outermost span is the root.
        Raises ValueError for the errors of `nest`, and without `root` unless one span covers all
        words.
        """
        if len(words) != len(tags):
            raise ValueError(f"{len(words)} words need as many tags, not {len(tags)}")
        if root is None:
            if not spans or tuple(spans[0][:2]) != (0, len(words)):
                raise ValueError(f"no span covers all {len(words)} words, and root is None")
            (_, _, root), *spans = spans
        below = nest(spans, len(words))
        tagged = zip(words, tags, strict=True)
        made = {~i: cls(tag, word=word) for i, (word, tag) in enumerate(tagged)}
        for k in range(len(spans) - 1, -1, -1):
            made[k] = cls(spans[k][2], [made[child] for child in below[k]])
        return cls(root, [made[child] for child in below[-1]], None, log_prob, parsed)

    @classmethod
    def from_nltk(cls, tree: Any, *, unescape: Unescape = unescape_brackets) -> ConstituentTree:
        """Convert an `nltk.Tree`, whose words are escaped as those of `to_nltk` and of NLTK's
        corpora. A word that has no node of its own gets the tag ""."""
        flat: list[tuple[str, str | None, int]] = []
        stack = [tree]
        while stack:
            node = stack.pop()
            if isinstance(node, str):
                flat.append(("", unescape(node), 0))
            elif len(node) == 1 and isinstance(node[0], str):
                flat.append((node.label(), unescape(node[0]), 0))
            else:
                flat.append((node.label(), None, len(node)))
                stack.extend(reversed(node))
        return _from_flat(flat, None, True)

    def preorder(self) -> Iterator[ConstituentTree]:
        """Yield this node and all nodes below it: parents before children, left before right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def fold(self, make: Callable[[ConstituentTree, list[T]], T]) -> T:
        """Return `make(node, values of its children)` of this node; nodes come from the right."""
        return fold(self.preorder(), make)

    @property
    def tagged(self) -> list[tuple[str, str]]:
        """Words and tags from left to right."""
        return [(node.word, node.label) for node in self.preorder() if node.word is not None]

    @property
    def leaves(self) -> list[str]:
        """Words from left to right."""
        return [word for word, _ in self.tagged]

    def spans(self, include_root: bool = True) -> list[LabelledSpan]:
        """Return every nonempty phrase as (start, end, label), in preorder."""
        found: list[LabelledSpan] = []
        position = 0
        stack: list[ConstituentTree | int] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, int):  # all below the phrase found[item] has been seen
                start, _, label = found[item]
                found[item] = (start, position, label)
            elif item.word is not None:
                position += 1
            else:
                stack.append(len(found))
                found.append((position, position, item.label))
                stack.extend(reversed(item.children))
        return [span for span in found[0 if include_root else 1 :] if span[0] < span[1]]

    def rooted(self) -> ConstituentTree:
        """Return the tree under TOP: a root label of ROOT_LABELS is renamed, else TOP is added."""
        if self.word is None and self.label in ROOT_LABELS:
            return self if self.label == ROOT else replace(self, label=ROOT)
        return ConstituentTree(ROOT, (self,), None, self.log_prob, self.parsed)

    def _flat(self) -> list[tuple[str, str | None, int]]:
        return [(node.label, node.word, len(node.children)) for node in self.preorder()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConstituentTree):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(tuple(self._flat()))

    def __reduce__(self) -> tuple[Any, ...]:
        return _from_flat, (self._flat(), self.log_prob, self.parsed)

    def __repr__(self) -> str:
        return f"ConstituentTree.from_string({str(self)!r})"

    def __str__(self) -> str:
        return one_line(self)

    def __format__(self, spec: str) -> str:
        """Format the tree by `spec`: "" for one line, as `str()`; "indent" for a bracketing over
        several lines; "pretty" for a drawing, as `.pretty()`."""
        formats: dict[str, Callable[..., str]] = {
            "": str,
            "indent": indented,
            "pretty": ConstituentTree.pretty,
        }
        if spec not in formats:
            raise ValueError(
                f"unknown format {spec!r} of a ConstituentTree: use 'indent' or 'pretty'"
            )
        return formats[spec](self)

    def pretty(self, width: int | None = None) -> str:
        """Draw the tree in box characters. A tree wider than `width` columns (default: the
        terminal's) becomes an indented bracketing."""
        if width is None:
            width = shutil.get_terminal_size((100, 24)).columns
        return to_boxes(self, width) or f"{self:indent}"

    def sentence(self) -> Sentence:
        """Return the words, tags and phrases for pictures, without a root in ROOT_LABELS."""
        spans = self.spans(include_root=self.label not in ROOT_LABELS)
        words, tags = self.leaves, [tag for _, tag in self.tagged]
        phrases: list[Phrase] = [(*span, None) for span in spans]
        return Sentence(words, tags, list(range(len(words))), [" "] * len(words), phrases)

    def _repr_svg_(self) -> str:
        sentence = self.sentence()
        return aligned_svg([(sentence, nodes(sentence))], title="Constituency tree of")

    def to_nltk(self) -> Any:
        """Convert the tree to an `nltk.Tree`, whose words are escaped as by `str()`, since NLTK
        escapes none when it prints them; a word without a tag has the tag "_". Raises ImportError
        with advice if NLTK is missing."""
        try:
            from nltk.tree import Tree
        except ImportError as error:
            raise ImportError("ConstituentTree.to_nltk() needs NLTK: pip install nltk") from error

        def converted(node: ConstituentTree, children: list[Any]) -> Any:
            label = in_one_symbol(node.label)
            if node.word is None:
                return Tree(label, children)
            return Tree(label or "_", [escape(node.word)])

        return self.fold(converted)


def parse_brackets(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Yield every tree in `text`, whatever its line breaks. Raises FormatError. `( (S ...))` has
    an empty root label (`ConstituentTree.rooted` renames it); `( word)`, with a space, is a word
    with an empty tag, `(X)` a phrase over nothing. `source` names the text in errors."""
    return read(text, ConstituentTree, source, unescape)


def nodes(sentence: Sentence, *, compact: bool = True) -> Node:
    """Return the root, a node labelled TOP unless one phrase is topmost. compact: whether a unary
    chain is one node. Raises ValueError if two phrases cross."""
    phrases = sentence.phrases or []
    try:
        below = nest(phrases, len(sentence.words))
    except ValueError as error:
        raise ValueError(f"no tree of {sentence.text!r}: {error}") from None
    leaves = zip(sentence.words, sentence.tags, sentence.tokens, strict=True)
    made = {~i: Node(word, (k, k + 1), tag=tag) for i, (word, tag, k) in enumerate(leaves)}
    for k in range(len(phrases) - 1, -1, -1):
        start, end, label, probability = phrases[k]
        tokens = sentence.tokens[start], sentence.tokens[end - 1] + 1
        node = Node(sentence.covered(start, end), tokens, [label], "", probability)
        node.children = [made[child] for child in below[k]]
        only = node.children[0]
        if compact and len(node.children) == 1 and only.labels:
            node.labels += only.labels
            node.children = only.children
            known = [p for p in (probability, only.probability) if p is not None]
            node.probability = min(known, default=None)
        made[k] = node
    top = [made[child] for child in below[-1]]
    if len(top) == 1 and top[0].labels:
        return top[0]
    tokens = (sentence.tokens[0], sentence.tokens[-1] + 1) if sentence.tokens else (0, 0)
    return Node(sentence.text, tokens, [ROOT], children=top)


def _from_flat(
    flat: Sequence[tuple[str, str | None, int]], log_prob: float | None, parsed: bool
) -> ConstituentTree:
    built: list[ConstituentTree] = []
    for label, word, n_children in reversed(flat):
        children = built[len(built) - n_children :][::-1]
        del built[len(built) - n_children :]
        built.append(ConstituentTree(label, children, word))
    return replace(built[0], log_prob=log_prob, parsed=parsed)
