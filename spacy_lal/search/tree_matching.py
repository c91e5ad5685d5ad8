"""Matching of tree patterns: Tregex's matches, in its order and as often.

The pattern's root is tried on every node in preorder, relations from left to right, each with its
nodes in the order of `tree_relations`. Every way to satisfy them all is a match: `NP < NN` matches
an NP with two NN twice. A negated condition can be satisfied in one way. An optional relation has
its first way or, without any, one that binds nothing; an optional group has all its ways or that
one. The ways of a disjunction are those of one disjunct after the other.

Stanford's program (CoreNLP 4.5.10) departs from its documentation in three cases, this module does
not: `,+(C)` steps down by first children; what an optional relation bound is still bound in the
disjuncts after it; a negated group tries only the first values of its variables.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from .labels import Labels, basic_category
from .limits import Steps
from .tree_nodes import TreeNodes
from .tree_relations import RANGES, Relation

__all__ = ["Group", "Node", "Part", "Search", "TreeNodes", "TreePattern"]

ROOT = "_ROOT_"
"""The reference to the tree's root."""
Clause = tuple[Labels, ...]
"""Descriptions of which one holds of some node in every tree with a match."""


class Search:
    """One pattern's search in one tree: what names and variables are bound to, and counts."""

    def __init__(self, tree: TreeNodes, steps: Steps) -> None:
        self.tree, self.steps = tree, steps
        self.names: dict[str, int] = {}
        self.variables: dict[str, str] = {}
        self.counts: dict[tuple[Part, int], int] = {}
        self._hits: dict[int, list[int]] = {}

    def hits(self, labels: Labels) -> list[int]:
        """Return the nodes, in preorder, of whose labels a description holds."""
        found = self._hits.get(id(labels))
        if found is None:
            found = [node for node, label in enumerate(self.tree.label) if labels[label]]
            self._hits[id(labels)] = found
        return found


class Part:
    """A relation with what it leads to, or a group of these, as a node's condition.

    pure: whether it neither binds nor reads names and variables, so that the number of its ways
    depends on the node alone.
    """

    negated = optional = False

    @cached_property
    def pure(self) -> bool:
        raise NotImplementedError

    def required(self) -> list[Clause]:
        """Return what every tree must have in which the part can be satisfied."""
        return [] if self.negated or self.optional else self._required()

    def count(self, search: Search, a: int) -> int:
        """Return the number of ways, each counted, in which node `a` satisfies a pure part."""
        n = search.counts.get((self, a))
        if n is None:
            search.steps.step()
            n = self._count(search, a)
            n = int(not n) if self.negated else n or int(self.optional)
            search.counts[self, a] = n
        return n

    def each(self, search: Search, a: int) -> Iterator[None]:
        """Yield once for every way, while its names and variables are bound."""
        if self.pure:
            for _ in range(self.count(search, a)):
                yield
            return
        ways = self._each(search, a)
        satisfied = False
        for _ in ways:
            satisfied = True
            if self.negated:
                break
            yield
            if self.optional and isinstance(self, Node):
                break
        ways.close()
        if not satisfied and (self.negated or self.optional):
            yield

    def _required(self) -> list[Clause]:
        raise NotImplementedError

    def _count(self, search: Search, a: int) -> int:
        raise NotImplementedError

    def _each(self, search: Search, a: int) -> Generator[None, None, None]:
        raise NotImplementedError


@dataclass(eq=False)
class Node(Part):
    """A relation to a node of a description, with its own condition.

    labels: the description, unless the node is that of a name (`reference`) or, if `link`, one of
    the same label. `excludes`: any node but that of the reference. name: what it is bound to.
    variables: numbers of the regular expression's groups, with the variables that they bind.
    """

    relation: Relation
    labels: Labels
    reference: str = ""
    link: bool = False
    excludes: bool = False
    name: str = ""
    variables: list[tuple[int, str]] = field(default_factory=list)
    child: Part | None = None

    def __post_init__(self) -> None:
        self.ranges = RANGES.get(self.relation)

    @cached_property
    def pure(self) -> bool:
        own = self.reference in ("", ROOT) and not self.name and not self.variables
        return own and (self.child is None or self.child.pure)

    def candidates(self, search: Search, a: int) -> Iterable[int]:
        """Return the nodes in the relation with node `a` that have the description."""
        tree, labels = search.tree, self.labels
        if self.ranges and not self.reference:
            hits, ranges = search.hits(labels), self.ranges(tree, a)
            places = ((bisect_left(hits, r.start), bisect_left(hits, r.stop)) for r in ranges)
            return chain.from_iterable(hits[start:end] for start, end in places)
        nodes = self.relation(tree, a)
        if not self.reference:
            return [b for b in nodes if labels[tree.label[b]]]
        other = 0 if self.reference == ROOT else search.names.get(self.reference)
        if other is None:
            return ()
        if self.link:
            same = self._value(tree, other)
            return [b for b in nodes if self._value(tree, b) == same]
        return [b for b in nodes if (b == other) != self.excludes]

    def _value(self, tree: TreeNodes, node: int) -> str:
        label = tree.label[node]
        return basic_category(label) if self.labels.basic else label

    def _required(self) -> list[Clause]:
        selects = not self.reference and self.labels.selects
        return [(self.labels,)] * selects + (self.child.required() if self.child else [])

    def _count(self, search: Search, a: int) -> int:
        n = 0
        for b in self.candidates(search, a):
            n += self.child.count(search, b) if self.child else 1
            if n and (self.negated or self.optional):
                return 1
        return n

    def _each(self, search: Search, a: int) -> Generator[None, None, None]:
        for b in self.candidates(search, a):
            search.steps.step()
            variables = self._captured(search, b)
            if variables is None:
                continue
            search.variables |= variables
            if self.name:
                search.names[self.name] = b
            try:
                if self.child:
                    yield from self.child.each(search, b)
                else:
                    yield
            finally:
                if self.name:
                    del search.names[self.name]
                for variable in variables:
                    del search.variables[variable]

    def _captured(self, search: Search, b: int) -> dict[str, str] | None:
        """Return the variables that the node adds; None if it contradicts those that are bound."""
        captured: dict[str, str] = {}
        value = self._value(search.tree, b) if self.variables else ""
        match = self.labels.regex.search(value) if self.variables and self.labels.regex else None
        for group, variable in self.variables:
            text = match[group] if match and match.re.groups else value
            bound = search.variables.get(variable, captured.get(variable))
            if bound is None and text is not None:
                captured[variable] = text
            elif bound != text:
                return None
        return captured


@dataclass(eq=False)
class Group(Part):
    """Parts all of which a node must satisfy, or of which one suffices."""

    parts: Sequence[Part]
    conjunction: bool

    @cached_property
    def pure(self) -> bool:
        return all(part.pure for part in self.parts)

    def _required(self) -> list[Clause]:
        required = [part.required() for part in self.parts]
        if self.conjunction:
            return [clause for clauses in required for clause in clauses]
        if not all(required):
            return []
        if len(required) == 1:
            return required[0]
        # of each disjunct the last one: words, which are rare, come last
        return [tuple(labels for clauses in required for labels in clauses[-1])]

    def _count(self, search: Search, a: int) -> int:
        counts = (part.count(search, a) for part in self.parts)
        if self.conjunction:
            n = 1
            for count in counts:
                n *= count
                if not n:
                    break
            return n
        return int(any(counts)) if self.negated else sum(counts)

    def _each(self, search: Search, a: int) -> Generator[None, None, None]:
        if not self.conjunction:
            for part in self.parts:
                yield from part.each(search, a)
            return
        if not all(part.count(search, a) for part in self.parts if part.pure):
            return
        ways = [self.parts[0].each(search, a)]
        while ways:
            for _ in ways[-1]:
                if len(ways) < len(self.parts):
                    ways.append(self.parts[len(ways)].each(search, a))
                else:
                    yield
                break
            else:
                ways.pop()


class TreePattern:
    """A compiled tree pattern (`compile_tree_pattern`).

    query: its text. names: its nodes' names. required: what every tree with a match has: of each
    clause, a node of one of the descriptions.
    """

    def __init__(self, query: str, roots: Sequence[Node], names: Iterable[str]) -> None:
        self.query, self.names = query, tuple(names)
        self._roots, self._any = roots, Group(roots, False)
        self.required = tuple(self._any.required())

    def __repr__(self) -> str:
        return f"compile_tree_pattern({self.query!r})"

    def matches(self, nodes: TreeNodes, limit: Steps | None = None) -> Iterator[dict[str, int]]:
        """Yield every match as numbers of nodes by name; "" is the pattern's own node.

        A name in an optional part or a disjunct is only in those matches where it is bound. Equal
        matches come several times if nodes without names differ (see the module). limit: counts
        the steps; its TimeoutError ends the search.
        """
        for clause in self.required:
            if not any(labels.among(nodes.label) for labels in clause):
                return
        search = Search(nodes, limit or Steps())
        for a in self._starts(search):
            for _ in self._any.each(search, a):
                search.steps.step()
                yield {"": a} | search.names

    def _starts(self, search: Search) -> Iterable[int]:
        if any(root.reference for root in self._roots):
            return range(len(search.tree))
        return sorted({a for root in self._roots for a in search.hits(root.labels)})
