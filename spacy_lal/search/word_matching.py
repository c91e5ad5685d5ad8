"""Matching of word patterns (`word_patterns`) in a sentence, with Semgrex's semantics.

Conditions are tried from left to right, candidates in the order of the text. Ways of matching that
bind the same names to the same words are one match, so a condition that binds no names is only
tested, once for each word: without names, every pattern takes polynomial time. spaCy's own
`DependencyMatcher` has no disjunctions, optional relations, roles and equal names; one matcher for
all is simpler than two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ..annotations.words import word_heads
from .limits import Steps
from .word_patterns import ATTRIBUTES, Condition, Group, Node, Relation, Test, WordPattern

if TYPE_CHECKING:
    from spacy.tokens import Span

    from ..annotations import Frame


class Words(NamedTuple):
    """A word of the sentence, or, if it has a role, the argument that it heads, from `start` to
    `end`, exclusive."""

    word: int
    start: int
    end: int
    role: str = ""


class Edge(NamedTuple):
    """Relation to another word. argument, of: what the other word heads, or the word itself."""

    label: str
    word: int
    argument: Words | None = None
    of: Words | None = None


Binding = dict[str, Words | str]
"""Words by the names of nodes, "" for the matched one, and labels by the ~names of relations."""


class SentenceWords:
    """Words of a sentence, without whitespace, by numbers from 0, with their heads and roles.
    frames: those of the sentence."""

    def __init__(self, sentence: Span, frames: Sequence[Frame] = ()) -> None:
        self.sentence, self.frames = sentence, frames
        self.tokens = [token for token in sentence if not token.text.isspace()]
        self.numbers = {token.i: word for word, token in enumerate(self.tokens)}

    @cached_property
    def heads(self) -> list[int]:
        """Head of each word, past whitespace; a root is its own."""
        return word_heads(self.tokens)

    @cached_property
    def below(self) -> list[list[Edge]]:
        """Edges from each word to its dependents."""
        below: list[list[Edge]] = [[] for _ in self.tokens]
        for word, head in enumerate(self.heads):
            if head != word:
                below[head].append(Edge(self.tokens[word].dep_, word))
        return below

    @cached_property
    def above(self) -> list[list[Edge]]:
        """Edges from each word to its head: one, or none from a root."""
        pairs = enumerate(self.heads)
        return [[Edge(self.tokens[w].dep_, head)] if head != w else [] for w, head in pairs]

    @cached_property
    def arguments(self) -> list[list[Edge]]:
        """Edges from each predicate to the head words of its arguments."""
        found: list[list[Edge]] = [[] for _ in self.tokens]
        for frame in self.frames:
            predicate = self.numbers.get(frame.predicate.i)
            for span in frame.arguments:
                argument = self.argument(span)
                if argument is not None and predicate is not None:
                    found[predicate].append(Edge(span.label_, argument.word, argument))
        return [sorted(edges, key=lambda edge: edge.word) for edges in found]

    @cached_property
    def predicates(self) -> list[list[Edge]]:
        """Edges from the head words of arguments to their predicates."""
        found: list[list[Edge]] = [[] for _ in self.tokens]
        for predicate, edges in enumerate(self.arguments):
            for label, word, argument, _ in edges:
                found[word].append(Edge(label, predicate, None, argument))
        return found

    @cached_property
    def rolesets(self) -> dict[int, str]:
        """Roleset of the first frame, by the token's index in the Doc."""
        return {frame.predicate.i: frame.roleset for frame in reversed(self.frames)}

    def argument(self, span: Span) -> Words | None:
        """Return a span's words and its head word, the first one whose head is outside. None
        without words of this sentence."""
        words = [self.numbers[token.i] for token in span if token.i in self.numbers]
        inside = range(words[0], words[-1] + 1) if words else range(0)
        heads = self.heads
        free = (w for w in inside if heads[w] == w or heads[w] not in inside)
        head = next(free, None)
        return None if head is None else Words(head, inside.start, inside.stop, span.label_)

    def value(self, word: int, test: Test) -> str:
        """Return the value of an attribute of a word, "" without one."""
        token = self.tokens[word]
        if test.feature:
            return ",".join(token.morph.get(test.feature, []))
        if test.attribute == "idx":
            return str(word + 1)
        if test.attribute == "roleset":
            return self.rolesets.get(token.i, "")
        return str(getattr(token, ATTRIBUTES[test.attribute][0]))

    def edges(self, symbol: str, word: int, role: bool) -> Iterable[Edge]:
        """Return the edges of a relation of one edge."""
        down, up = (self.arguments, self.predicates) if role else (self.below, self.above)
        found = [*(down[word] if ">" in symbol else ()), *(up[word] if "<" in symbol else ())]
        if symbol.endswith(("++", "--")):
            return [edge for edge in found if (edge.word > word) == (symbol[-1] == "+")]
        return found

    def chains(self, symbol: str, word: int, low: int, high: float) -> Iterator[Edge]:
        """Yield the edges at the other ends of chains of `low` to `high` edges: towards the root,
        or by depth."""
        way, length, level = (self.below if symbol == ">>" else self.above), 1, [word]
        while level and length <= min(high, len(self.tokens)):  # heads may go in a circle
            found = [edge for w in level for edge in way[w]]
            if length >= low:
                yield from found
            length, level = length + 1, [edge.word for edge in found]

    def others(self, symbol: str, word: int) -> Iterable[int]:
        """Return the words of a relation of order."""
        words = range(len(self.tokens))
        if symbol == "==":
            return (word,)
        if symbol == ":":
            return words
        if symbol[0] == "$":
            sisters = [edge.word for up in self.above[word] for edge in self.below[up.word]]
            return [w for w in sisters if w in self.others(_ORDER[symbol], word)]
        if symbol in (".", ".."):
            return words[word + 1 :][: 1 if symbol == "." else None]
        return words[:word][-1:] if symbol == "-" else words[:word]


_ORDER = {"$+": ".", "$++": "..", "$-": "-", "$--": "--"}
"""Relations of words that are also sisters, as in Semgrex, whose "immediate" is in the text."""


class WordSearch:
    """Search in a sentence. limit: counts the steps."""

    def __init__(self, words: SentenceWords, limit: Steps) -> None:
        self.words, self.limit = words, limit
        self._described: dict[Node, list[bool]] = {}
        self._tested: dict[tuple[Condition, int], bool] = {}

    def matches(self, pattern: WordPattern) -> Iterator[Binding]:
        """Yield all matches of a pattern, each once."""
        seen = set[frozenset[tuple[str, int | str]]]()
        for word in range(len(self.words.tokens)):
            for bound in self._at(pattern.root, Edge("", word), {}, ("",)):
                key = frozenset((n, w if isinstance(w, str) else w.word) for n, w in bound.items())
                if key not in seen:
                    seen.add(key)
                    yield bound

    def _at(
        self, node: Node, edge: Edge, bound: Binding, names: tuple[str, ...] = ()
    ) -> Iterator[Binding]:
        """Yield the bindings with which the word at an edge's end matches a node."""
        self.limit.step()
        for other in node.alternatives:
            yield from self._at(other, edge, bound, names)
        if node.alternatives or not self._describes(node, edge.word):
            return
        names = (*names, node.name) if node.name else names
        argument = edge.argument or Words(edge.word, edge.word, edge.word + 1)
        now = _bind(bound, names, argument)
        if now is not None and node.condition is not None:
            yield from self._satisfied(node.condition, edge.word, now, names)
        elif now is not None:
            yield now

    def _describes(self, node: Node, word: int) -> bool:
        if node not in self._described:
            self._described[node] = [self._passes(node, w) for w in range(len(self.words.tokens))]
        return self._described[node][word]

    def _passes(self, node: Node, word: int) -> bool:
        passes = not node.root or self.words.heads[word] == word
        for test in node.tests:
            value = self.words.value(word, test)
            passes = passes and (value != "" and test.passes(value)) != test.negated
        return passes != node.negated

    def _satisfied(
        self, condition: Condition, word: int, bound: Binding, names: tuple[str, ...]
    ) -> Iterator[Binding]:
        """Yield the bindings with which a word, of these names, satisfies a condition."""
        if condition.binds:
            yield from self._each(condition, word, bound, names)
            return
        if (condition, word) not in self._tested:
            found = next(self._each(condition, word, {}, ()), None)
            self._tested[condition, word] = found is not None
        if self._tested[condition, word]:
            yield bound

    def _each(
        self, condition: Condition, word: int, bound: Binding, names: tuple[str, ...]
    ) -> Iterator[Binding]:
        if isinstance(condition, Relation):
            yield from self._related(condition, word, bound, names)
        elif condition.kind == "and":
            yield from self._all(condition.parts, word, bound, names)
        elif condition.kind == "or":
            for part in condition.parts:
                yield from self._satisfied(part, word, bound, names)
        else:
            (part,) = condition.parts
            found = self._satisfied(part, word, bound, names)
            first = next(found, None)
            if first is None:
                yield bound
            elif condition.kind == "optional":
                yield first
                if isinstance(part, Group):  # of an optional relation, Semgrex takes the first
                    yield from found

    def _all(
        self, parts: Sequence[Condition], word: int, bound: Binding, names: tuple[str, ...]
    ) -> Iterator[Binding]:
        if not parts:
            yield bound
        for now in self._satisfied(parts[0], word, bound, names) if parts else ():
            yield from self._all(parts[1:], word, now, names)

    def _related(
        self, relation: Relation, word: int, bound: Binding, names: tuple[str, ...]
    ) -> Iterator[Binding]:
        for edge in self._edges(relation, word):
            self.limit.step()
            if relation.passes is not None and not relation.passes(edge.label):
                continue
            now = bound
            if relation.name:
                if bound.get(relation.name, edge.label) != edge.label:
                    continue
                now = {**bound, relation.name: edge.label}
            if edge.of is not None:
                now = _bind(now, names, edge.of) or now
            yield from self._at(relation.target, edge, now)

    def _edges(self, relation: Relation, word: int) -> Iterable[Edge]:
        symbol = relation.symbol
        if symbol in (">>", "<<"):
            return self.words.chains(symbol, word, relation.low, relation.high)
        if "<" in symbol or ">" in symbol:
            return self.words.edges(symbol, word, relation.role)
        return (Edge("", other) for other in self.words.others(symbol, word))


def _bind(bound: Binding, names: Iterable[str], words: Words) -> Binding | None:
    """Return the binding with these names, too; None if one is another word's. An argument
    replaces its head word."""
    for name in names:
        there = bound.get(name)
        if isinstance(there, Words) and there.word != words.word:
            return None
        if not isinstance(there, Words) or (words.role and not there.role):
            bound = {**bound, name: words}
    return bound
