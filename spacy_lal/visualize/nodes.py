"""Phrases as nodes, one in the other: what trees and boxes are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

from ..annotations.constituents import ROOT
from .sentences import Phrase, Sentence
from .svg import xml


class Node:
    """A phrase, or a word, which has no `children` and no `labels` but its `tag`.

    labels: several if a unary chain is one node. probability: the least of its phrases'; None
    where there is none. start, end: in words.
    """

    __slots__ = ("children", "end", "labels", "probability", "start", "tag", "word")

    def __init__(
        self,
        start: int,
        end: int,
        labels: list[str],
        probability: float | None = None,
        *,
        word: str = "",
        tag: str = "",
    ) -> None:
        self.start, self.end = start, end
        self.labels = labels
        self.probability = probability
        self.children: list[Node] = []
        self.word, self.tag = word, tag

    @property
    def label(self) -> str:
        """The labels of a chain, topmost first."""
        return "›".join(self.labels)

    def described(self, sentence: Sentence) -> str:
        """ "NP, probability 0.93: the man"."""
        sure = "" if self.probability is None else f", probability {self.probability:.2f}"
        return f"{' over '.join(self.labels)}{sure}: {sentence.covered(self.start, self.end)}"

    def data(self, sentence: Sentence) -> str:
        """Attributes that say to programs which tokens of the Doc these are."""
        tokens = sentence.tokens[self.start : self.end]
        sure = "" if self.probability is None else f" data-probability='{self.probability:.4f}'"
        return (
            f"data-start='{tokens[0]}' data-end='{tokens[-1] + 1}' "
            f"data-label='{xml(self.label)}'{sure}"
        )


def nodes(sentence: Sentence, *, compact: bool = True) -> Node:
    """The topmost node of a sentence; one labelled TOP if several phrases or words are topmost.

    compact: whether a chain of phrases over the same words is one node.
    Raises ValueError if two phrases cross.
    """
    top = Node(0, len(sentence.words), [ROOT])
    opened = [top]
    position = 0

    def advance(end: int) -> None:
        nonlocal position
        for i in range(position, end):
            word = Node(i, i + 1, [], word=sentence.words[i], tag=sentence.tags[i])
            opened[-1].children.append(word)
        position = max(position, end)

    def close() -> None:
        advance(opened[-1].end)
        opened.pop()

    for start, end, label, probability in sentence.phrases or ():
        while len(opened) > 1 and opened[-1].end <= start:
            close()
        outer = opened[-1]
        if end > outer.end:
            raise ValueError(
                f"phrases {_shown((outer.start, outer.end, outer.label, None))} and "
                f"{_shown((start, end, label, None))} of {sentence.text!r} cross"
            )
        advance(start)
        if compact and outer is not top and (outer.start, outer.end) == (start, end):
            outer.labels.append(label)
            known = [p for p in (outer.probability, probability) if p is not None]
            outer.probability = min(known, default=None)
            continue
        node = Node(start, end, [label], probability)
        outer.children.append(node)
        opened.append(node)
    while len(opened) > 1:
        close()
    advance(len(sentence.words))
    lonely = len(top.children) == 1 and top.children[0].labels
    return top.children[0] if lonely else top


def _shown(phrase: Phrase) -> str:
    start, end, label, _ = phrase
    return f"{label} {start}-{end}"


def bracketed(top: Node) -> str:
    """The bracketing, for readers who see no picture."""
    pieces: list[str] = []
    stack: list[Node | None] = [top]
    while stack:
        node = stack.pop()
        if node is None:
            pieces.append(")")
        elif not node.labels:
            pieces.append(f" {node.word}")
        else:
            pieces.append(f" ({node.label}")
            stack.append(None)
            stack.extend(reversed(node.children))
    return "".join(pieces).strip()


def preorder(top: Node) -> Iterator[Node]:
    """A node and all below it, each before its children."""
    stack = [top]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))
