"""Phrases of a Doc's trees as Spans: parent, children, siblings, labels and head word of a
constituent, and all phrases of a label."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc, Span, SpanGroup, Token

from ..trees.head_rules import heads_by_rules
from ..trees.nest import nest
from ..trees.tree import LabelledSpan
from .constituents import CONSTITUENTS_KEY, UNKNOWN_TAG, constituent_tree, get_constituents
from .english import ENGLISH
from .span_groups import LoopIndex, current_spans

_POSSESSIVE = ENGLISH["phrases"]["possessive"]


@dataclass(frozen=True)
class _Nodes:
    """Phrases in preorder; children and parents of them (k) and of tokens (~i). The root, above
    all trees of the Doc, is -1 in `below` and the number of phrases in `above`."""

    spans: list[LabelledSpan]
    order: list[int]  # places of the phrases in the group
    below: list[list[int]]
    above: dict[int, int]

    def fits(self, group: SpanGroup, start: int, end: int) -> bool:
        """Whether the phrases over these tokens, above them and below them are still the group's:
        spans may have been replaced by index."""
        near = {*self.chain(start, end), self.around(start, end)} - {len(self.spans)}
        near |= {child for k in near for child in self.below[k] if child >= 0}
        return all(_labelled(group[self.order[k]]) == self.spans[k] for k in near)

    def chain(self, start: int, end: int) -> range:
        """Return the phrases over exactly these tokens, the topmost first."""
        place = start, -end
        return range(
            bisect_left(self.spans, place, key=_place), bisect_right(self.spans, place, key=_place)
        )

    def around(self, start: int, end: int) -> int:
        """Return the smallest phrase with these tokens."""
        node = self.above[~start]
        while node < len(self.spans) and self.spans[node][1] < end:
            node = self.above[node]
        return node


def _place(span: LabelledSpan) -> tuple[int, int]:
    return span[0], -span[1]


def _labelled(span: Span) -> LabelledSpan:
    return span.start, span.end, span.label_


def _nodes(group: SpanGroup) -> _Nodes:
    found = list(map(_labelled, current_spans(group)))
    order = sorted(range(len(found)), key=lambda i: _place(found[i]))
    spans = [found[i] for i in order]
    below = nest(spans, len(group.doc))
    above = {child: k for k, some in enumerate(below) for child in some}
    return _Nodes(spans, order, below, above)


_NODES = LoopIndex(_nodes)


def constituent_labels(span: Span, key: str = CONSTITUENTS_KEY) -> tuple[str, ...]:
    """Return the labels of the constituents over exactly these tokens, the topmost first; () if
    there is none. Whitespace tokens at the ends of `span` don't count."""
    here = _found(span, key)
    return tuple(here.nodes.spans[k][2] for k in here.chain) if here else ()


def constituent_parent(span: Span, key: str = CONSTITUENTS_KEY) -> Span | None:
    """Return the constituent right above `span`, None above a topmost one and without trees.

    A span that has the label of a constituent over its tokens is that one. Any other is the topmost
    over its tokens, or, if it has the label of its one word's tag, that word. Of a span that is no
    constituent the parent is the smallest constituent with all its tokens.
    """
    here = _found(span, key)
    if not here or here.parent == len(here.nodes.spans):
        return None
    return Span(span.doc, *here.nodes.spans[here.parent])


def constituent_children(span: Span, key: str = CONSTITUENTS_KEY) -> tuple[Span, ...]:
    """Return constituents and words right below a constituent, in text order; words are labelled
    with their tags. () for a span that is no constituent. In a unary chain the child of a
    constituent is the next one over the same tokens; a span without a constituent's label has the
    children of the last."""
    here = _found(span, key)
    return here.below(here.meant[-1]) if here and here.meant else ()


def constituent_siblings(span: Span, key: str = CONSTITUENTS_KEY) -> tuple[Span, ...]:
    """Return the other children of a constituent's or a word's parent, in text order."""
    here = _found(span, key)
    if not here or here.parent == len(here.nodes.spans):
        return ()
    known = here.chain or len(here.words) == 1
    return here.below(here.parent, (*here.chain, ~here.words[0].i)) if known else ()


def constituent_head(span: Span, key: str = CONSTITUENTS_KEY) -> Token | None:
    """Return the head word of a constituent, or of any span of a Doc with heads.

    With heads on the Doc it is the word nearest to the root of the sentence, as in `Span.root`.
    Without heads it is found by the rules "semantic" of `heads_by_rules`, which are made for the
    labels of the Penn Treebank, and it is None for a span that is no constituent.
    """
    if span.doc.has_annotation("DEP"):
        return span.root
    words = _words(span)
    tree = constituent_tree(span, key) if words else None
    if tree is None:
        return words[0] if len(words) == 1 else None
    return next(words[i] for i, head in enumerate(heads_by_rules(tree, "semantic")) if i == head)


def get_phrases(
    doc: Doc, label: str, kind: str = "maximal", *, key: str = CONSTITUENTS_KEY
) -> list[Span]:
    """Return the constituents of this label, from left to right.

    kind: "maximal", those that are in no other of the label; or "base", those that have no other
    inside, but for possessives of English, "Ann's" in "Ann's cat" (as in base noun phrases: M.
    Collins 1999, Head-Driven Statistical Models for Natural Language Parsing). Raises ValueError
    for another kind, and if constituents cross.
    """
    if kind not in ("maximal", "base"):
        raise ValueError(f"unknown kind of phrases {kind!r}: choose 'maximal' or 'base'")
    spans = [span for span in get_constituents(doc, key) if span[2] == label]
    below = nest(spans, len(doc))
    if kind == "maximal":
        return [Span(doc, *spans[k]) for k in below[-1] if k >= 0]
    base = [True] * len(spans)
    for k in range(len(spans) - 1, -1, -1):
        inside = [child for child in below[k] if child >= 0]
        possessive = (doc[spans[child][1] - 1].tag_ in _POSSESSIVE for child in inside)
        base[k] = all(base[child] for child in inside) and all(possessive)
    nested = {child for k, some in enumerate(below[:-1]) if base[k] for child in some}
    return [Span(doc, *span) for k, span in enumerate(spans) if base[k] and k not in nested]


def _words(span: Span) -> list[Token]:
    return [token for token in span if not token.text.isspace()]


def _found(span: Span, key: str) -> _Here | None:
    words = _words(span)
    if not words:
        return None
    doc, start, end = span.doc, words[0].i, words[-1].i + 1
    # a walk through a tree goes back and forth: one place for all, and the index is checked here
    nodes = _NODES.at(doc, key, 0, again=lambda nodes: nodes.fits(doc.spans[key], start, end))
    if nodes is None:
        return None
    chain = nodes.chain(start, end)
    labelled = [k for k in chain if nodes.spans[k][2] == span.label_]
    is_word = len(words) == 1 and span.label_ == _tag(words[0]) and not labelled
    return _Here(nodes, words, chain, () if is_word else labelled or chain)


class _Here(NamedTuple):
    """Words of a span with the Doc's nodes. chain: those over exactly these words. meant: of these,
    those that have the span's label, else all; none for a span that is a word."""

    nodes: _Nodes
    words: list[Token]
    chain: Sequence[int]
    meant: Sequence[int]

    @property
    def parent(self) -> int:
        if self.meant:
            return self.nodes.above[self.meant[0]]
        return self.nodes.around(self.words[0].i, self.words[-1].i + 1)

    def below(self, node: int, without: Sequence[int] = ()) -> tuple[Span, ...]:
        """Return the children of a node without whitespace tokens, and without some others."""
        doc = self.words[0].doc
        return tuple(
            Span(doc, *self.nodes.spans[k]) if k >= 0 else Span(doc, ~k, ~k + 1, _tag(doc[~k]))
            for k in self.nodes.below[node]
            if k not in without and (k >= 0 or not doc[~k].text.isspace())
        )


def _tag(token: Token) -> str:
    return token.tag_ or token.pos_ or UNKNOWN_TAG
