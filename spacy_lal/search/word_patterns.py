"""Semgrex's language: patterns of words, their heads and their roles, read into a pattern.

The language is that of CoreNLP's `SemgrexPattern` (Chambers et al. 2007, "Learning Alignments and
Leveraging Natural Logic"), with roles as relations and with spaCy's names of attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

from .java_regex import java_regex
from .scanner import SIGN, Scanner

ATTRIBUTES = {
    "word": ("text", ""),
    "lower": ("lower_", ""),
    "shape": ("shape_", ""),
    "lemma": ("lemma_", "LEMMA"),
    "tag": ("tag_", "TAG"),
    "pos": ("pos_", "POS"),
    "morph": ("morph", "MORPH"),
    "dep": ("dep_", "DEP"),
    "ent": ("ent_type_", "ENT_IOB"),
}
"""Attributes of tokens: their names in spaCy, and the annotation that they need."""
ALIASES = {
    **{"text": "word", "cpos": "pos", "upos": "pos", "deprel": "dep", "vs": "roleset"},
    **{"ner": "ent", "ent_type": "ent", "morphofeatures": "morph", "index": "idx"},
}
"""Other names of attributes."""
HEADS, ROLES = "DEP", "roles"
"""What patterns may need beside attributes."""
OWN = {"idx": "", "roleset": ROLES}
"""Attributes that tokens of spaCy don't have: the number in the sentence, from 1, and the roleset
of the first frame."""

MOST = 200
"""Nodes that a pattern may have."""

_RELATION = re.compile(
    r"(?:(\d+)\s*(?:,\s*(\d+)\s*)?)?(<>|[<>](?:\+\+|--)|>>|<<|==|\$(?:\+\+?|--?)|\.\.?|--?|[<>])"
)
_NAME = re.compile(r"\w+(?:[-:]\w+)*")
_LABEL = re.compile(rf"{_NAME.pattern}|/(?:\\.|[^/\\\n])*/")
_ATTRIBUTE = re.compile(
    r"(?P<root>\$)|(?P<map>\w+)\s*:\s*\{|(?P<name>\w+)\s*(?P<sign>!?:)"
    r"\s*(?P<value>/(?:\\.|[^/\\\n])*/|[^\s;{}/][^;{}]*)"
)
_ROLE = re.compile(r".*ARG|/?(?:[RC]-)*(?:A[0-5A]\b|AM-)")

CHAINS = {">>", "<<"}
"""Relations of several edges, by heads alone; others with < or > are of one."""
ORDERS = {"==", ".", "..", "-", "--", "$+", "$-", "$++", "$--", ":"}
"""Relations without edges; ":" is to all words."""

Passes = Callable[[str], bool]


class Test(NamedTuple):
    """Test of an attribute of a word, or of one of its morphological features. What a word lacks
    passes only negated tests."""

    attribute: str
    passes: Passes
    negated: bool
    feature: str = ""


@dataclass(frozen=True, eq=False)
class Node:
    """Description of a word: tests, `root` ({$}), negation, name, and conditions on relations.
    With alternatives, as in [{} | {}], it is one of these."""

    tests: tuple[Test, ...] = ()
    root: bool = False
    negated: bool = False
    name: str = ""
    condition: Condition | None = None
    alternatives: tuple[Node, ...] = ()

    @cached_property
    def binds(self) -> bool:
        """Whether a match of this node says more than that there is one."""
        below = [*self.alternatives, *([self.condition] if self.condition else [])]
        return bool(self.name) or any(part.binds for part in below)


@dataclass(frozen=True, eq=False)
class Relation:
    """Condition that a word in this relation matches the target. low, high: numbers of edges of a
    chain. name: that of the relation, with ~ before it."""

    symbol: str
    target: Node
    passes: Passes | None = None
    role: bool = False
    name: str = ""
    low: int = 1
    high: float = float("inf")

    @cached_property
    def binds(self) -> bool:
        # a word turns out to be the head word of an argument
        argument = self.role and self.symbol.startswith("<")
        return bool(self.name) or argument or self.target.binds


@dataclass(frozen=True, eq=False)
class Group:
    """Conditions joined by `kind`: "and", "or", "not" or "optional"; the last two have one."""

    kind: str
    parts: tuple[Condition, ...]

    @cached_property
    def binds(self) -> bool:
        return any(part.binds for part in self.parts)


Condition = Relation | Group


@dataclass(frozen=True, eq=False)
class WordPattern:
    """Compiled pattern of words. names: those of nodes, in their order, and then those of
    relations, which begin with ~. needs: the annotation without which it has no answer."""

    root: Node
    names: tuple[str, ...] = ()
    needs: frozenset[str] = frozenset()


def read_word_pattern(query: str, start: int) -> tuple[WordPattern, int]:
    """Compile the pattern of `query` that begins at `start`, and return where it ends: at `&&` or
    at the end. Raises QueryError."""
    reader = _Reader(query, start)
    pattern = reader.pattern()
    if reader.peek(SIGN) not in ("", "&&"):
        raise reader.unexpected("a relation, such as >nsubj, or the end")
    return pattern, reader.start()


class _Reader(Scanner):
    def __init__(self, query: str, start: int) -> None:
        super().__init__(query, start)
        self.nodes = self.negations = 0
        self.names: dict[str, None] = {}
        self.needs: set[str] = set()

    def pattern(self) -> WordPattern:
        root = self.node()
        while self.taken(":"):
            root = _also(root, Relation(":", self.node()))
        names = sorted(self.names, key=lambda name: name[0] == "~")
        return WordPattern(root, tuple(names), frozenset(self.needs))

    def node(self) -> Node:
        """Read a node with its relations."""
        node = self.target()
        return _also(node, self.either()) if self.at_condition() else node

    def target(self) -> Node:
        return self.bracketed(self.node, "()") or self.description()

    def at_condition(self) -> bool:
        return bool(self.peek(_RELATION)) or self.peek(SIGN) in ("!", "?", "[")

    def either(self) -> Condition:
        found = [self.both()]
        while self.taken("|"):
            found.append(self.both())
        return Group("or", tuple(found)) if len(found) > 1 else found[0]

    def both(self) -> Condition:
        found = [self.condition()]
        while self.taken("&") or self.at_condition():
            found.append(self.condition())
        return Group("and", tuple(found)) if len(found) > 1 else found[0]

    def condition(self) -> Condition:
        self.deeper()
        negated = self.taken("!")
        optional = not negated and self.taken("?")
        self.negations += negated
        found = self.bracketed(self.either, "[]") or self.relation()
        self.negations -= negated
        self.depth -= 1
        if negated or optional:
            return Group("not" if negated else "optional", (found,))
        return found

    def relation(self) -> Relation:
        at = self.start()
        found = _RELATION.match(self.query, at)
        if found is None:
            raise self.unexpected("a relation, such as >nsubj, >> or .,")
        self.at = found.end()
        low, high, symbol = found.groups()
        if low and symbol not in CHAINS:
            raise self.error("only >> and << take numbers, as in 1,3>>", at)
        passes, role = self.label(symbol)
        name = ""
        if self.taken("~"):
            if symbol in ORDERS:
                raise self.error("only relations by heads and roles have names", at)
            name = self.name("~")
        elif self.peek(SIGN) == "=":
            raise self.error("a relation is named with ~, as in >~name")
        most = int(high or low) if low else float("inf")
        return Relation(symbol, self.target(), passes, role, name, int(low or 1), most)

    def label(self, symbol: str) -> tuple[Passes | None, bool]:
        """Read a relation's label, if there is one, and whether it is a role."""
        at, label = self.start(), self.take(_LABEL)
        role = _ROLE.match(label) is not None
        if label and symbol in ORDERS:
            raise self.error(f"{symbol} has no label", at)
        if role and symbol in CHAINS:
            raise self.error(f"{symbol} follows heads, not roles", at)
        if symbol not in ORDERS or symbol[0] == "$":
            self.needs |= {HEADS, ROLES} if role else {HEADS}
        return self.value(label, at) if label else None, role

    def name(self, sign: str = "") -> str:
        """Read a name; a new one under negation is an error, since nothing bears it."""
        at = self.start()
        name = sign + self.take(_NAME, "a name")
        if self.negations and name not in self.names:
            raise self.error(f"{name!r} would name what must not be there", at)
        self.names[name] = None
        return name

    def description(self) -> Node:
        negated, at = self.taken("!"), self.start()
        if alternatives := self.bracketed(self.alternatives, "[]"):
            if negated:
                raise self.error("! stands before one node, not before several", at)
            return Node(alternatives=alternatives)
        if not self.taken("{"):
            raise self.unexpected("a node, such as {} or {tag:NN},")
        self.nodes += 1
        if self.nodes > MOST:
            raise self.error(f"more than {MOST} nodes", at)
        tests, root = list[Test](), False
        for found in self.attributes():
            if found["root"]:
                root = True
                self.needs.add(HEADS)
            elif found["name"]:
                tests.append(self.test(found, self.attribute(found, "name")))
            elif self.attribute(found, "map") == "morph":
                tests += (self.test(feature, "morph", "name") for feature in self.attributes())
            else:
                raise self.error("only morph has features", found.start())
        name = self.name() if self.taken("=") else ""
        return Node(tuple(tests), root, negated, name)

    def alternatives(self) -> tuple[Node, ...]:
        found = [self.description()]
        while self.taken("|"):
            found.append(self.description())
        return tuple(found)

    def attributes(self) -> Iterator[re.Match[str]]:
        """Yield what stands between braces, each with the place `at` behind it."""
        more = False
        while not self.taken("}"):
            if more and not self.taken(";"):
                raise self.unexpected("; or }")
            found, more = _ATTRIBUTE.match(self.query, self.start()), True
            if found is None:
                raise self.unexpected("an attribute and its value, as in {tag:NN},")
            self.at = found.end()
            yield found

    def test(self, found: re.Match[str], attribute: str, feature: str = "") -> Test:
        """Return the test of an attribute, or of a feature of that name of the match."""
        if not found["name"]:
            raise self.error("a feature and its value expected, as in {Tense:Past}", found.start())
        passes = self.value(found["value"].rstrip(), found.start("value"))
        return Test(attribute, passes, found["sign"] == "!:", found[feature] if feature else "")

    def attribute(self, found: re.Match[str], group: str) -> str:
        name = ALIASES.get(found[group], found[group])
        if name not in ATTRIBUTES and name not in OWN:
            known = ", ".join([*ATTRIBUTES, *OWN])
            raise self.error(f"no attribute {name!r}: expected one of {known}", found.start(group))
        self.needs.update(filter(None, [ATTRIBUTES[name][1] if name in ATTRIBUTES else OWN[name]]))
        return name

    def value(self, text: str, at: int) -> Passes:
        """Return a test whether a value is this text, or matches it as a whole if it is /regex/."""
        if text == "__":
            return bool
        if not text.startswith("/"):
            return partial(str.__eq__, text)
        try:
            regex = java_regex(text[1:-1].replace("\\/", "/"))
        except (re.error, OverflowError, RecursionError) as error:
            raise self.error(f"{text} is no regular expression: {error}", at) from None
        return partial(_whole, regex)


def _whole(regex: re.Pattern[str], text: str) -> bool:
    return regex.fullmatch(text) is not None


def _also(node: Node, condition: Condition) -> Node:
    """Return the node with a further condition, which each alternative gets."""
    if node.alternatives:
        return replace(node, alternatives=tuple(_also(n, condition) for n in node.alternatives))
    both = Group("and", (node.condition, condition)) if node.condition else condition
    return replace(node, condition=both)
