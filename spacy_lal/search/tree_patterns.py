"""The language of tree patterns: that of Tregex (R. Levy and G. Andrew 2006, Tregex and Tsurgeon).

    pattern     = node ("|" node)*
    node        = ("(" node ")" | description) [conditions]
    conditions  = condition+ ("|" condition+)*          "&" may stand between two conditions
    condition   = ["!" | "?"] (relation | "[" conditions "]" | "(" conditions ")")
    relation    = symbol ("(" node ")" | description) | "<..." "{" [child (";" child)*] "}"
    description = ["!"] ["@"] label ("#" number "%" variable)* ["=" name]
                | "=" name | ["@"] "~" name ["=" name]
    label       = word ("|" word)* | "/" regular expression "/" | "__" | "_ROOT_"

Macros are missing.
"""

from __future__ import annotations

import re

from .java_regex import java_regex
from .labels import Labels
from .scanner import SIGN, Scanner
from .tree_matching import ROOT, Group, Node, Part, TreePattern
from .tree_relations import RELATIONS, Relation, itself, numbered, unbroken

_CHAINS = ("<+", ">+", ".+", ",+")
_SYMBOLS = sorted({*RELATIONS, *_CHAINS, "<..."}, key=len, reverse=True)
_RELATION = re.compile("|".join(map(re.escape, _SYMBOLS)))
_FIRST, _LATER = r"[^\s0-9(/|@!#%&)=?\[\]><~_.,$:{};]", r"[^\s(/@!#%&)=?\[\]><~.,$:{};"
_NAME = re.compile(rf"{_FIRST}{_LATER}|]*")
_WORDS = re.compile(rf"{_FIRST}{_LATER}]*")
_NUMBER = re.compile(rf"[0-9]{{1,9}}|-[0-9]{{1,9}}(?!{_LATER}])")
_REGEX = re.compile(r"/(?:\\/|[^\n\r/])*/")
_ROOT = re.compile(r"!?\s*@?\s*_ROOT_")


def compile_tree_pattern(query: str) -> TreePattern:
    """Return the pattern of a query in Tregex's language. Raises QueryError with the place."""
    return _Parser(query).pattern()


class _Parser(Scanner):
    """known: names that can be referred to at the place `at`; names: all up to there."""

    def __init__(self, query: str) -> None:
        super().__init__(query)
        self.names: dict[str, None] = {}
        self.known = set[str]()
        self.negations = 0

    def pattern(self) -> TreePattern:
        nodes = [self.node(itself)]
        while self.taken("|"):
            nodes.append(self.node(itself))
        if self.peek(SIGN):
            raise self.unexpected("a relation, & or |")
        return TreePattern(self.query, nodes, self.names)

    def node(self, relation: Relation) -> Node:
        node = self.target(relation)
        if self.at_condition():
            more = self.conditions()
            node.child = Group([node.child, more], True) if node.child else more
        return node

    def target(self, relation: Relation) -> Node:
        node = self.bracketed(lambda: self.node(relation), "()")
        return node or self.description(relation)

    def at_condition(self) -> bool:
        return bool(self.peek(_RELATION)) or self.peek(SIGN) in tuple("!?[(")

    def conditions(self) -> Part:
        before, after, disjuncts = self.known, set(self.known), list[Part]()
        while not disjuncts or self.taken("|"):
            place = self.at
            if disjuncts and not self.at_condition():
                self.at = place - 1  # it stands between two nodes
                break
            self.known = set(before)
            disjuncts.append(self.conjunction())
            after |= self.known
        self.known = after
        return disjuncts[0] if len(disjuncts) == 1 else Group(disjuncts, False)

    def conjunction(self) -> Part:
        parts = [self.condition()]
        while self.taken("&") or self.at_condition():
            parts.append(self.condition())
        return parts[0] if len(parts) == 1 else Group(parts, True)

    def condition(self) -> Part:
        self.deeper()
        at = self.start()
        negated, optional = self.taken("!"), self.taken("?")
        if negated and optional:
            raise self.error("a condition is negated or optional, not both", at)
        self.negations += negated
        if negated and self.peek(SIGN) == "!":
            part: Part | None = self.condition()
        else:
            part = self.bracketed(self.conditions, "[]", "()") or self.relation()
        self.negations -= negated
        self.depth -= 1
        assert part
        if (negated or optional) and (part.negated or part.optional):
            part = Group([part], True)
        part.negated |= negated
        part.optional |= optional
        return part

    def relation(self) -> Part:
        at = self.start()
        symbol = self.take(_RELATION, "a relation")
        if symbol == "<...":
            return self.children()
        if symbol in _CHAINS:
            labels = self.bracketed(self.labels, "()", "[]")
            labels = self.labels() if labels is None else labels
            return self.target(unbroken(symbol, labels.__getitem__))
        number = self.take(_NUMBER)
        if not number:
            return self.target(RELATIONS[symbol])
        if symbol in ("<-", ">-") and number[0] != "-":
            symbol, number = symbol[0], f"-{number}"
        relation = numbered(symbol, int(number)) if number.strip("-0") else None
        if not relation:
            raise self.error(f"there is no relation {symbol}{number}", at)
        return self.target(relation)

    def children(self) -> Part:
        """What follows `<...`: children, which are all that the node has."""
        parts: list[Part] = []
        self.expect("{")
        while not self.taken("}"):
            if parts:
                self.expect(";")
            parts.append(self.target(_child(len(parts) + 1)))
        more = Node(_child(len(parts) + 1), Labels())
        more.negated = True
        return Group([*parts, more], True)

    def description(self, relation: Relation) -> Node:
        at = self.start()
        sign = self.query[at:].lstrip("!@ \t\n")[:1]
        if sign in ("=", "~"):
            basic, link = self.taken("@"), self.taken("~")
            if not link and (basic or not self.taken("=")):
                raise self.error("! and @ need a label: write !== =name, !== ~name or @~name", at)
            node = Node(relation, Labels(basic=basic), reference=self.known_name(), link=link)
            return self.named(node) if link else node
        if root := self.take(_ROOT):
            return self.named(Node(relation, Labels(), reference=ROOT, excludes=root[0] == "!"))
        node = Node(relation, self.labels())
        while self.taken("#"):
            node.variables.append(self.variable(node.labels))
        return self.named(node)

    def labels(self) -> Labels:
        negated, basic = self.taken("!"), self.taken("@")
        at, sign = self.start(), self.peek(SIGN)
        if self.taken("__"):
            return Labels(None, None, basic, negated)
        if text := self.take(_REGEX):
            try:
                return Labels(None, java_regex(text[1:-1]), basic, negated)
            except (re.error, OverflowError, RecursionError) as error:
                message = getattr(error, "msg", error)
                raise self.error(f"regular expression: {message}", at) from None
        if sign == "/":
            raise self.error("no / ends this regular expression")
        words = self.take(_WORDS)
        if not words:
            hint = f"; as a label it is written /^{re.escape(sign)}$/" if sign else ""
            raise self.error(f"a label expected, not {sign or 'the end'}{hint}")
        return Labels(words.rstrip("|").split("|"), None, basic, negated)

    def variable(self, labels: Labels) -> tuple[int, str]:
        at = self.start()
        group = int(self.take(_NUMBER, "the number of a group"))
        groups = labels.regex.groups if labels.regex else 0
        if labels.negated:
            raise self.error("a negated label has no groups", at)
        if group < 0 or group > groups > 0:
            raise self.error(f"there is no group {group}, only {groups}", at)
        self.expect("%")
        return group, self.take(_NAME, "a name")

    def known_name(self) -> str:
        at = self.start()
        name = self.take(_NAME, "a name")
        if name not in self.known:
            raise self.error(f"no node before this one has the name {name}", at)
        return name

    def named(self, node: Node) -> Node:
        """Return the node with the name that comes next, if one does."""
        if self.peek(_RELATION) or not self.taken("="):
            return node
        at = self.start()
        node.name = self.take(_NAME, "a name")
        if node.name in self.known:
            raise self.error(f"two nodes have the name {node.name}", at)
        if self.negations:
            raise self.error("a node of a negated condition has no name", at)
        self.known.add(node.name)
        self.names[node.name] = None
        return node


def _child(n: int) -> Relation:
    relation = numbered("<", n)
    assert relation
    return relation
