"""Phrases of a Doc's trees as Spans: parent, children, siblings, labels and head word of a
constituent, and all phrases of a label."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

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
    found = _found(span, key)
    return tuple(found[0].spans[k][2] for k in found[1]) if found else ()


def constituent_parent(span: Span, key: str = CONSTITUENTS_KEY) -> Span | None:
    """Return the constituent right above `span`, None above a topmost one and without trees.

    A span that has the label of a constituent over its tokens is that one. Any other is the topmost
    over its tokens, or, if it has the label of its one word's tag, that word. Of a span that is no
    constituent the parent is the smallest constituent with all its tokens.
    """
    found = _found(span, key)
    if not found:
        return None
    nodes = found[0]
    parent = _parent(span, *found)
    return Span(span.doc, *nodes.spans[parent]) if parent < len(nodes.spans) else None


def constituent_children(span: Span, key: str = CONSTITUENTS_KEY) -> tuple[Span, ...]:
    """Return constituents and words right below a constituent, in text order; words are labelled
    with their tags. () for a span that is no constituent. In a unary chain the child of a
    constituent is the next one over the same tokens; a span without a constituent's label has the
    children of the last."""
    found = _found(span, key)
    if not found or not found[1] or _is_word(span, *found):
        return ()
    nodes, chain = found
    labelled = [k for k in chain if nodes.spans[k][2] == span.label_] or chain
    return tuple(_span(span.doc, nodes, k) for k in _below(span.doc, nodes, labelled[-1]))


def constituent_siblings(span: Span, key: str = CONSTITUENTS_KEY) -> tuple[Span, ...]:
    """Return the other children of a constituent's or a word's parent, in text order."""
    found = _found(span, key)
    if not found:
        return ()
    nodes, chain = found
    words, parent = _words(span), _parent(span, nodes, chain)
    if parent == len(nodes.spans) or not (chain or len(words) == 1):
        return ()
    own = (*chain, ~words[0].i)
    others = (child for child in _below(span.doc, nodes, parent) if child not in own)
    return tuple(_span(span.doc, nodes, child) for child in others)


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


def _found(span: Span, key: str) -> tuple[_Nodes, range] | None:
    """Return the Doc's nodes, and those over exactly the words of the span."""
    words = _words(span)
    if not words:
        return None
    doc, start, end = span.doc, words[0].i, words[-1].i + 1
    # a walk through a tree goes back and forth: one place for all, and the index is checked here
    nodes = _NODES.at(doc, key, 0, again=lambda nodes: nodes.fits(doc.spans[key], start, end))
    return None if nodes is None else (nodes, nodes.chain(start, end))


def _tag(token: Token) -> str:
    return token.tag_ or token.pos_ or UNKNOWN_TAG


def _is_word(span: Span, nodes: _Nodes, chain: Sequence[int]) -> bool:
    words = _words(span)
    return (
        len(words) == 1
        and span.label_ == _tag(words[0])
        and all(nodes.spans[k][2] != span.label_ for k in chain)
    )


def _parent(span: Span, nodes: _Nodes, chain: Sequence[int]) -> int:
    if chain and not _is_word(span, nodes, chain):
        own = [k for k in chain if nodes.spans[k][2] == span.label_] or chain
        return nodes.above[own[0]]
    words = _words(span)
    return nodes.around(words[0].i, words[-1].i + 1)


def _below(doc: Doc, nodes: _Nodes, node: int) -> list[int]:
    """Return the children of a node without whitespace tokens."""
    return [k for k in nodes.below[node] if k >= 0 or not doc[~k].text.isspace()]


def _span(doc: Doc, nodes: _Nodes, node: int) -> Span:
    if node >= 0:
        return Span(doc, *nodes.spans[node])
    return Span(doc, ~node, ~node + 1, _tag(doc[~node]))
