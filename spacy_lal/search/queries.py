"""Queries in trees, heads and roles, and their matches in Docs.

    query = part ("&&" part)*
    part  = a tree pattern (`tree_patterns`) or a word pattern (`word_patterns`), which begins
            with {, maybe after brackets or !

A name in several parts means the same words:

- two phrases are the same if they have the same first and last word, and so are a phrase and the
  argument of a predicate;
- a phrase and a word are the same if the word is the phrase's head word, and no phrase of the same
  label above it has this head word, so that `NP=subject` is the whole subject;
- in two word patterns, it is the same word.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from spacy.tokens import Doc, Span, Token

from ..annotations import CONSTITUENTS_KEY, Frame, get_frames, sentence_trees
from ..annotations.frames import FRAMES_KEY
from ..trees.tree import ConstituentTree
from .errors import QueryError
from .limits import Steps
from .tree_matching import TreeNodes, TreePattern
from .tree_patterns import compile_tree_pattern
from .word_matching import SentenceWords, Words, WordSearch
from .word_patterns import HEADS, ROLES, WordPattern, read_word_pattern

SECONDS = 10.0
"""Seconds that a query may take in one sentence."""
TREES = "trees"
"""What tree patterns need, beside the annotation that word patterns need."""
_MISSING = {
    TREES: f"trees, doc.spans[{CONSTITUENTS_KEY!r}]",
    ROLES: f"roles, doc.spans[{FRAMES_KEY!r}]",
    HEADS: "heads, token.head and token.dep_",
    "LEMMA": "lemmas, token.lemma_",
    "TAG": "tags, token.tag_",
    "POS": "universal tags, token.pos_",
    "MORPH": "morphological features, token.morph",
    "ENT_IOB": "entities, doc.ents",
}
_WORDS = re.compile(r"[\s(\[!]*\{")
_TREE = re.compile(r"(?:/(?:\\.|[^/\\\n])*/|&(?!&)|[^/&])*")

Found = Span | Token | ConstituentTree
Bound = int | Words | str
"""A node of a tree, by its number; words; or the label of a relation."""


@dataclass(frozen=True)
class Match:
    """A match of a query in a sentence.

    sentence: a Span, or the whole tree. node: what the first part of the query matched. nodes: what
    its names are bound to. In a Doc, phrases and arguments are Spans, labelled with the category or
    the role, and words are Tokens, also those of tags in trees; in a tree without a Doc they are
    all trees. places: first word and end, exclusive, of the names' words in the sentence's words
    (without whitespace), "" for `node`. relations: labels of the named relations. number: that of
    the Doc or tree in the input, from 0.
    """

    sentence: Span | ConstituentTree
    node: Found
    nodes: dict[str, Found]
    places: dict[str, tuple[int, int]]
    relations: dict[str, str]
    number: int = 0


@dataclass(frozen=True)
class Query:
    """A compiled query. text: as it was written. parts: its patterns, joined by the names."""

    text: str
    parts: tuple[TreePattern | WordPattern, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of nodes, in the order of the query, and of relations, which begin with ~."""
        return tuple(dict.fromkeys(chain.from_iterable(part.names for part in self.parts)))

    @cached_property
    def needs(self) -> frozenset[str]:
        """Annotation without which the query has no answer."""
        words = [part.needs for part in self.parts if isinstance(part, WordPattern)]
        trees = [TREES] if len(words) < len(self.parts) else []
        heads = [HEADS] if trees and words else []  # a phrase's head word
        return frozenset(chain(trees, heads, *words))

    def lacks(self, doc: Doc, also: Collection[str] = ()) -> str:
        """Return what the query needs and the Doc doesn't have, or "". also: further needs."""
        groups = {TREES: CONSTITUENTS_KEY, ROLES: FRAMES_KEY}
        for need in sorted(self.needs.union(also)):
            there = groups[need] in doc.spans if need in groups else doc.has_annotation(need)
            if not there and len(doc):
                return _MISSING[need]
        return ""

    def in_doc(self, doc: Doc, seconds: float | None = SECONDS) -> Iterator[Match]:
        """Yield the matches in a Doc, sentence by sentence. seconds: limit for each sentence.
        Raises ValueError for a Doc without needed annotation, TimeoutError."""
        if lacks := self.lacks(doc):
            raise ValueError(f"the query needs {lacks}, which the Doc doesn't have")
        bounds = doc.has_annotation("SENT_START")
        sentences = list(doc.sents) if bounds else [doc[:]] if len(doc) else []
        trees: Sequence[ConstituentTree | None] = [None] * len(sentences)
        if TREES in self.needs:
            trees = sentence_trees(doc)
        frames: dict[int, list[Frame]] = {}
        for frame in get_frames(doc) if ROLES in self.needs else ():
            frames.setdefault(frame.predicate.sent.start if bounds else 0, []).append(frame)
        for sentence, tree in zip(sentences, trees, strict=True):
            words = SentenceWords(sentence, frames.get(sentence.start, ()))
            heads = words.heads if doc.has_annotation(HEADS) else None
            nodes = None if tree is None else TreeNodes(tree, heads)
            yield from self._matches(_Sentence(nodes, words, sentence), seconds)

    def in_tree(self, tree: ConstituentTree, seconds: float | None = SECONDS) -> Iterator[Match]:
        """Yield the matches in a tree, whose heads are those of Collins's rules. Raises
        ValueError for a query with a word pattern, TimeoutError."""
        if needs := self.needs - {TREES}:
            needed = _MISSING[min(needs)]
            raise ValueError(f"the query needs {needed}, which trees without a Doc don't have")
        yield from self._matches(_Sentence(TreeNodes(tree), None, tree), seconds)

    def _matches(self, sentence: _Sentence, seconds: float | None) -> list[Match]:
        # a list, so that the reader's work between matches doesn't count
        limit = Steps(float("inf") if seconds is None else seconds)
        joined = sentence.matches(self.parts[0], limit)
        for part in self.parts[1:]:
            if joined:
                others = sentence.matches(part, limit)
                pairs = (sentence.both(a, b, limit) for a in joined for b in others)
                joined = list({_key(m): m for m in pairs if m is not None}.values())
        return [sentence.match(found) for found in joined]


def compile_query(query: str) -> Query:
    """Compile a query (see the module). Raises QueryError, which says where it is wrong."""
    parts: list[TreePattern | WordPattern] = []
    start = 0
    while True:
        if _WORDS.match(query, start):
            pattern, end = read_word_pattern(query, start)
            parts.append(pattern)
        else:
            match = _TREE.match(query, start)
            end = match.end() if match else start
            if query[end : end + 2] != "&&":
                end = len(query)
            try:
                parts.append(compile_tree_pattern(query[start:end]))
            except QueryError as error:
                raise QueryError(error.message, query, start + error.position) from None
        if end == len(query):
            return Query(query, tuple(parts))
        start = end + 2


def search(
    docs_or_trees: Doc | ConstituentTree | Iterable[Doc | ConstituentTree],
    query: str | Query,
    *,
    seconds: float | None = SECONDS,
) -> Iterator[Match]:
    """Yield the matches of a query in Docs or trees, in order, each once.

    seconds: limit for one sentence, None for no limit. Ways of matching that bind the same names to
    the same words are one match. Raises QueryError, ValueError for a Doc or tree without annotation
    that the query needs, TimeoutError; the last two begin with the number of the Doc, from 0.
    """
    compiled = compile_query(query) if isinstance(query, str) else query
    if isinstance(docs_or_trees, Doc | ConstituentTree):
        docs_or_trees = [docs_or_trees]
    return _search(docs_or_trees, compiled, seconds)


def _search(
    items: Iterable[Doc | ConstituentTree], query: Query, seconds: float | None
) -> Iterator[Match]:
    for number, item in enumerate(items):
        if isinstance(item, Doc):
            found = query.in_doc(item, seconds)
        else:
            found = query.in_tree(item, seconds)
        try:
            for match in found:
                yield replace(match, number=number)
        except (ValueError, TimeoutError) as error:
            raise type(error)(f"Doc {number}: {error}") from None


@dataclass
class _Sentence:
    """A sentence's tree, words or both, and the Span or tree that matches are shown in."""

    nodes: TreeNodes | None
    words: SentenceWords | None
    whole: Span | ConstituentTree

    def matches(self, part: TreePattern | WordPattern, limit: Steps) -> list[dict[str, Bound]]:
        """Return the matches of one part, each once."""
        found: Iterable[Mapping[str, Bound]]
        if isinstance(part, WordPattern):
            assert self.words is not None
            found = WordSearch(self.words, limit).matches(part)
        else:
            assert self.nodes is not None
            found = part.matches(self.nodes, limit)
        return list({_key(match): dict(match) for match in found}.values())

    def both(
        self, one: dict[str, Bound], other: dict[str, Bound], limit: Steps
    ) -> dict[str, Bound] | None:
        """Return the match of both if the names that they share mean the same words. The name is
        the phrase, else the argument, else the word."""
        limit.step()
        joined = dict(one)
        for name, there in other.items():
            here = one.get(name) if name else None
            if here is None:
                joined.setdefault(name, there)
            elif not self.same(here, there):
                return None
            elif _rank(there) > _rank(here):
                joined[name] = there
        return joined

    def same(self, one: Bound, other: Bound) -> bool:
        """Whether a name may be bound to both."""
        if isinstance(one, int) and isinstance(other, int):
            return self._range(one) == self._range(other)
        if isinstance(one, Words) and isinstance(other, Words):
            return one.word == other.word
        if isinstance(one, str) or isinstance(other, str):
            return one == other
        node, words = (one, other) if isinstance(one, int) else (other, one)
        assert isinstance(node, int)
        assert isinstance(words, Words)
        if words.role:
            return self._range(node) == self._range(words)
        return node in self._highest[words.word]

    def _range(self, bound: int | Words) -> tuple[int, int]:
        if isinstance(bound, Words):
            return bound.start, bound.end
        assert self.nodes is not None
        return self.nodes.start[bound], self.nodes.end[bound]

    @cached_property
    def _highest(self) -> list[set[int]]:
        """For each word the highest phrase of every label that has this head word."""
        assert self.nodes is not None
        tree = self.nodes
        found: list[set[int]] = []
        for node in tree.words:
            highest = {tree.label[node]: node}
            while (parent := tree.parent[node]) >= 0 and tree.head_child[parent] == node:
                node = parent
                highest[tree.label[node]] = node
            found.append(set(highest.values()))
        return found

    def match(self, bound: dict[str, Bound]) -> Match:
        words = {name: b for name, b in bound.items() if not isinstance(b, str)}
        nodes = {name: self._found(b) for name, b in words.items()}
        places = {name: self._range(b) for name, b in words.items()}
        relations = {name[1:]: b for name, b in bound.items() if isinstance(b, str)}
        return Match(self.whole, nodes.pop(""), nodes, places, relations)

    def _found(self, bound: int | Words) -> Found:
        tree = self.nodes
        if isinstance(bound, Words):
            assert self.words is not None
            if not bound.role:
                return self.words.tokens[bound.word]
            start, end, label = bound.start, bound.end, bound.role
        else:
            assert tree is not None
            if self.words is None:
                return self._trees[bound]
            (start, end), label = self._range(bound), tree.label[bound]
            below = tree.children[bound]
            if not below or tree.is_leaf[below[0]]:
                return self.words.tokens[start]
        first, last = self.words.tokens[start], self.words.tokens[end - 1]
        return Span(first.doc, first.i, last.i + 1, label=label)

    @cached_property
    def _trees(self) -> list[ConstituentTree]:
        """Trees by the numbers of nodes; a word is its preterminal."""
        assert isinstance(self.whole, ConstituentTree)
        nodes = self.whole.preorder()
        return [tree for node in nodes for tree in [node] * (1 if node.word is None else 2)]


def _key(match: Mapping[str, Bound]) -> frozenset[tuple[str, int | str]]:
    return frozenset((n, b.word if isinstance(b, Words) else b) for n, b in match.items())


def _rank(bound: Bound) -> int:
    return 2 if isinstance(bound, int) else int(isinstance(bound, Words) and bound.role != "")
