"""Immutable constituency trees.

Every walk keeps its own stack, so that neither depth nor length meets Python's recursion limit.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..drawing.sentence import Phrase, Sentence
from ..drawing.tree_text import to_boxes
from ..drawing.trees import Node, fold, tree_svg
from .brackets import (
    BracketError,
    Unescape,
    escape,
    indented,
    one_line,
    ptb_words,
    read,
    unescape_brackets,
)
from .nest import nest

LabelledSpan = tuple[int, int, str]
"""(start, end, label): `start` and `end` count words, `end` is exclusive."""

ROOT = "TOP"
"""Label of the node above a sentence's tree."""
ROOT_LABELS = frozenset({"", ROOT, "ROOT", "S1", "VROOT"})
"""Labels that treebanks and parsers give to the node above the sentence."""

_PRETTY = re.compile(r"pretty(\d*)")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConstituentTree:
    """A node with all that is below it; nodes are values: equal by content, never changed.

    A *preterminal* has a `word` and its label is the part-of-speech tag; every other node is a
    phrase, whose label is the category. Words are kept as written in text: escaping happens in
    `str()` and is undone by the reader. `log_prob` is a parser's log-probability of the whole tree,
    None where there is none; `parsed` is False for a tree of words alone that no parser and no
    annotator stands for. Neither is part of what makes trees equal, nor of their bracketing.
    Raises ValueError for a node with both a word and children.
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

    # Reading

    @classmethod
    def from_string(cls, text: str, *, unescape: Unescape = unescape_brackets) -> ConstituentTree:
        """The one tree in `text`. Raises BracketError for malformed text, none or several trees."""
        trees = list(parse_brackets(text, unescape=unescape))
        if len(trees) != 1:
            raise BracketError(f"expected one tree, found {len(trees)}", "<string>", 1, 1)
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
        """The tree over `words` whose phrases are `spans`, in preorder (see `nest`).

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
        below = nest(spans, len(words))
        tagged = zip(words, tags, strict=True)
        made = {~i: cls(tag, word=word) for i, (word, tag) in enumerate(tagged)}
        for k in range(len(spans) - 1, -1, -1):
            made[k] = cls(spans[k][2], [made[child] for child in below[k]])
        return cls(root, [made[child] for child in below[-1]], None, log_prob, parsed)

    # Walking

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
        return [word for word, _ in self.tagged]

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

    def rooted(self) -> ConstituentTree:
        """The tree under TOP: another customary root label, or none (ROOT_LABELS), is renamed, any
        other node gets TOP above it."""
        if self.word is None and self.label in ROOT_LABELS:
            return self if self.label == ROOT else replace(self, label=ROOT)
        return ConstituentTree(ROOT, (self,), None, self.log_prob, self.parsed)

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
        return one_line(self, map(escape, self.leaves))

    def __format__(self, spec: str) -> str:
        """
        ""        one line, as `str()`
        "indent"  bracketing over several lines
        "ptb"     the same with all escapes of the Penn Treebank (see `ptb_escape`)
        "pretty"  a drawing, as `.pretty()`; "pretty120" gives its greatest width
        """
        if not spec:
            return str(self)
        if spec == "indent":
            return indented(self, map(escape, self.leaves))
        if spec == "ptb":
            return indented(self, ptb_words(self.tagged))
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
        return to_boxes(self, width) or f"{self:indent}"

    def sentence(self) -> Sentence:
        """The words, tags and phrases, without a customary root label, for pictures."""
        spans = self.spans(include_root=self.label not in ROOT_LABELS)
        words, tags = self.leaves, [tag for _, tag in self.tagged]
        phrases: list[Phrase] = [(*span, None) for span in spans]
        return Sentence(words, tags, list(range(len(words))), [" "] * len(words), phrases)

    def _repr_svg_(self) -> str:
        """A notebook's picture of the tree."""
        return tree_svg([nodes(self.sentence())])

    def to_nltk(self) -> Any:
        """The tree as `nltk.Tree`. Raises ImportError with advice if NLTK is missing."""
        try:
            from nltk.tree import Tree
        except ImportError as error:
            raise ImportError("ConstituentTree.to_nltk() needs NLTK: pip install nltk") from error
        return fold(
            self.preorder(),
            lambda node, children: Tree(node.label, children if node.word is None else [node.word]),
        )


def parse_brackets(
    text: str, *, source: str = "<string>", unescape: Unescape = unescape_brackets
) -> Iterator[ConstituentTree]:
    """Every tree in `text`, however the trees lie on its lines.

    `( (S ...))` has an empty root label, which is kept (`ConstituentTree.rooted` renames it);
    `( word)`, with a space, is a word with an empty tag, `(X)` a phrase over nothing.
    source: the name that errors show.
    Raises BracketError.
    """
    return read(text, ConstituentTree, source, unescape)


def nodes(sentence: Sentence, *, compact: bool = True) -> Node:
    """The topmost phrase of a sentence; a node labelled TOP if there are several, or none.

    compact: whether a chain of phrases over the same words is one node.
    Raises ValueError if two phrases cross.
    """
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
    """Undo `ConstituentTree._flat`: from the right, a node's children are the latest built."""
    built: list[ConstituentTree] = []
    for label, word, n_children in reversed(flat):
        children = built[len(built) - n_children :][::-1]
        del built[len(built) - n_children :]
        built.append(ConstituentTree(label, children, word))
    return replace(built[0], log_prob=log_prob, parsed=parsed)
