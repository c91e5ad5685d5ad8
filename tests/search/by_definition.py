"""Tree patterns by definition: random patterns as values, their text, and a matcher that tries all
nodes for every part of a pattern."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from spacy_lal.trees.tree import ConstituentTree

Bound = dict[str, Any]


class Place:
    """A node with its place: path from the root, words covered. Words are nodes of their own."""

    def __init__(self, label: str, parent: Place | None, index: int) -> None:
        self.label, self.parent, self.index = label, parent, index
        self.children: list[Place] = []
        self.number = self.start = self.end = 0
        self.above: list[Place] = [parent, *parent.above] if parent else []
        self.near: dict[str, list[Place]] = {}

    @property
    def siblings(self) -> list[Place]:
        return self.parent.children if self.parent else [self]


def places(tree: ConstituentTree) -> list[Place]:
    """All nodes in preorder."""
    found: list[Place] = []
    words = 0

    def visit(node: ConstituentTree | str, parent: Place | None, index: int) -> Place:
        nonlocal words
        place = Place(node if isinstance(node, str) else node.label, parent, index)
        place.number, place.start = len(found), words
        found.append(place)
        if isinstance(node, str):
            words += 1
        else:
            below: Sequence[ConstituentTree | str]
            below = node.children if node.word is None else [node.word]
            place.children = [visit(child, place, i) for i, child in enumerate(below)]
        place.end = words
        return place

    visit(tree, None, 0)
    return found


# relations: whether B is in the relation with A


def _sister(a: Place, b: Place) -> bool:
    return a is not b and a.parent is not None and a.parent is b.parent


def _through(a: Place, b: Place) -> list[Place]:
    """The nodes between B and its ancestor A."""
    return b.above[: b.above.index(a)] if a in b.above else []


def _chain(a: Place, b: Place, edge: Callable[[Place, Place], bool]) -> bool:
    """Whether each node of the path from A down to B is the edge's child of the one above."""
    path = [b, *_through(a, b), a]
    return a in b.above and all(edge(y, x) for x, y in pairwise(path))


def _first(a: Place, b: Place) -> bool:
    return a.children[:1] == [b]


def _last(a: Place, b: Place) -> bool:
    return a.children[-1:] == [b]


def _only(a: Place, b: Place) -> bool:
    return a.children == [b]


def _leaves(a: Place) -> list[Place]:
    return [a] if not a.children else [leaf for child in a.children for leaf in _leaves(child)]


RELATIONS: dict[str, Callable[[Place, Place], bool]] = {
    "<": lambda a, b: b.parent is a,
    "<<": lambda a, b: a in b.above,
    "<,": _first,
    "<-": _last,
    "<`": _last,
    "<1": _first,
    "<2": lambda a, b: a.children[1:2] == [b],
    "<-1": _last,
    "<-2": lambda a, b: a.children[:-1][-1:] == [b],
    "<:": _only,
    "<<:": lambda a, b: _chain(a, b, _only),
    "<<,": lambda a, b: _chain(a, b, _first),
    "<<-": lambda a, b: _chain(a, b, _last),
    "<<`": lambda a, b: _chain(a, b, _last),
    "<=": lambda a, b: a is b or b.parent is a,
    "<<<": lambda a, b: a in b.above and not b.children,
    "<<<2": lambda a, b: _leaves(a)[1:2] == [b],
    "<<<-1": lambda a, b: _leaves(a)[-1] is b,
    "==": lambda a, b: a is b,
    ":": lambda a, b: True,
    "$": _sister,
    "$+": lambda a, b: _sister(a, b) and b.index == a.index + 1,
    "$.": lambda a, b: _sister(a, b) and b.index == a.index + 1,
    "$-": lambda a, b: _sister(a, b) and b.index == a.index - 1,
    "$,": lambda a, b: _sister(a, b) and b.index == a.index - 1,
    "$++": lambda a, b: _sister(a, b) and b.index > a.index,
    "$..": lambda a, b: _sister(a, b) and b.index > a.index,
    "$--": lambda a, b: _sister(a, b) and b.index < a.index,
    "$,,": lambda a, b: _sister(a, b) and b.index < a.index,
    ".": lambda a, b: b.start == a.end,
    ",": lambda a, b: b.end == a.start,
    "..": lambda a, b: b.start >= a.end,
    ",,": lambda a, b: b.end <= a.start,
}
for _symbol in [
    symbol for symbol in RELATIONS if symbol[0] == "<" and symbol[:3] not in ("<=", "<<<")
]:
    RELATIONS[">" + _symbol[1:].replace("<", ">")] = lambda a, b, s=_symbol: RELATIONS[s](b, a)  # type: ignore[misc]
CHAINS = ("<+", ">+", ".+", ",+")


def related(symbol: str, a: Place, b: Place, all_: list[Place], passes: Label | None) -> bool:
    """Whether B is in the relation with A; passes: the description of a chain's nodes."""
    if passes is None:
        return RELATIONS[symbol](a, b)
    if symbol == "<+":
        return a in b.above and all(
            passes.holds(c, {}, {}, all_) is not None for c in _through(a, b)
        )
    if symbol == ">+":
        return related("<+", b, a, all_, passes)
    step = RELATIONS[symbol[0]]
    reached, new = set[int](), [a]
    while new:  # A, then what is one step from A or from a node that passes
        x = new.pop()
        for c in all_:
            if step(x, c) and c.number not in reached:
                reached.add(c.number)
                if passes.holds(c, {}, {}, all_) is not None:
                    new.append(c)
    return b.number in reached


def order(symbol: str, a: Place) -> Callable[[Place], Any]:
    """The order in which Tregex tries the nodes of a relation."""

    def common(b: Place) -> Place:
        return next(x for x in [a, *a.above] if x is b or x in b.above)

    if symbol[0] == ">" or symbol in ("$++", "$.."):
        return lambda b: -b.number
    if symbol == "..":
        return lambda b: (len(common(b).above), b.number)
    if symbol == ",,":
        return lambda b: (
            len(common(b).above),
            -[b, *b.above][-len(common(b).above) - 2].index,
            b.number,
        )
    return lambda b: b.number


def near(symbol: str, a: Place, all_: list[Place], passes: Label | None) -> list[Place]:
    """The nodes in the relation with A, in Tregex's order; looked up where A was asked before."""
    key = f"{symbol} {passes}"
    if key not in a.near:
        found = [b for b in all_ if related(symbol, a, b, all_, passes)]
        a.near[key] = sorted(found, key=order(symbol, a))
    return a.near[key]


@dataclass
class Label:
    """A description. kind: "words", "regex", "any", "root", "name" or "link"."""

    kind: str
    value: str = ""
    basic: bool = False
    negated: bool = False
    variable: str = ""

    def __str__(self) -> str:
        signs = "!" * self.negated + "@" * self.basic
        variable = f"#1%{self.variable}" if self.variable else ""
        shown = {
            "regex": f"/{self.value}/",
            "any": "__",
            "root": "_ROOT_",
            "name": f"={self.value}",
        }
        return signs + shown.get(self.kind, "~" * (self.kind == "link") + self.value) + variable

    def holds(self, b: Place, names: Bound, variables: Bound, all_: list[Place]) -> Bound | None:
        """The variables after the node, or None if it is not described."""
        label = b.label.split("-")[0] if self.basic else b.label
        found = re.search(self.value, label) if self.kind == "regex" else None
        right = {
            "words": lambda: label in self.value.split("|"),
            "regex": lambda: found is not None,
            "any": lambda: True,
            "root": lambda: b.parent is None,
            "name": lambda: names.get(self.value) == b.number,
            "link": lambda: (
                self.value in names
                and label == (x := all_[names[self.value]].label, x.split("-")[0])[self.basic]
            ),
        }[self.kind]()
        if right == self.negated:
            return None
        if not self.variable:
            return variables
        text = found[1] if found else label
        if variables.get(self.variable, text) != text:
            return None
        return variables | {self.variable: text}


@dataclass
class Some:
    """A node of a pattern with its condition; symbol and passes: the relation that leads to it."""

    label: Label
    symbol: str = ""
    passes: Label | None = None
    name: str = ""
    condition: Any = None

    def __str__(self) -> str:
        relation = (
            f"{self.symbol}({self.passes}) "
            if self.passes
            else f"{self.symbol} " * bool(self.symbol)
        )
        own = f"{self.label}" + f"={self.name}" * bool(self.name)
        if not self.condition:
            return relation + own
        return f"{relation}({own} {self.condition})" if self.symbol else f"{own} {self.condition}"

    def ways(
        self, a: Place, bound: tuple[Bound, Bound], all_: list[Place]
    ) -> Iterator[tuple[Bound, Bound]]:
        for b in near(self.symbol or "==", a, all_, self.passes):
            names, variables = bound
            held = self.label.holds(b, names, variables, all_)
            if held is None:
                continue
            after = (names | {self.name: b.number} if self.name else names), held
            yield from self.condition.ways(b, after, all_) if self.condition else [after]


@dataclass
class Several:
    """Conditions joined by & or |, a condition negated by ! or made optional by ?."""

    sign: str
    parts: list[Any] = field(default_factory=list)

    def __str__(self) -> str:
        if self.sign in "!?":
            part = self.parts[0]
            simple = isinstance(part, Some) or (part.sign in "&|" and str(part)[0] == "[")
            return f"{self.sign}{part}" if simple else f"{self.sign}[{part}]"
        return "[" + f" {self.sign} ".join(map(str, self.parts)) + "]"

    def ways(
        self, a: Place, bound: tuple[Bound, Bound], all_: list[Place]
    ) -> Iterator[tuple[Bound, Bound]]:
        if self.sign == "|":
            for part in self.parts:
                yield from part.ways(a, bound, all_)
        elif self.sign == "&":
            first, *rest = self.parts
            for after in first.ways(a, bound, all_):
                yield from Several("&", rest).ways(a, after, all_) if rest else [after]
        else:
            found = list(self.parts[0].ways(a, bound, all_))
            if self.sign == "!":
                yield from [] if found else [bound]
            elif isinstance(self.parts[0], Some):
                yield from found[:1] or [bound]
            else:
                yield from found or [bound]


def matches(pattern: Some, all_: list[Place]) -> list[Bound]:
    return [{"": a.number} | names for a in all_ for names, _ in pattern.ways(a, ({}, {}), all_)]


# random trees and patterns

LABELS = ["A", "B", "C", "A-X", "B-X", "A-Y"]
WORDS = ["a", "b", "A"]


def random_tree(rng: random.Random, depth: int = 3) -> ConstituentTree:
    if depth == 0 or rng.random() < 0.2:
        return ConstituentTree(rng.choice(LABELS), word=rng.choice(WORDS))
    children = [random_tree(rng, depth - 1) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    return ConstituentTree(rng.choice(LABELS), children)


class Made:
    """A random pattern. Below an optional relation, of which only the first way counts, are no
    chains: their order is not defined."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.known, self.all, self.under = rng, list[str](), list[str](), False
        self.once = False

    def label(self, root: bool = False) -> Label:
        rng = self.rng
        kinds = (
            ["words"] * 4 + ["regex"] * 2 + ["any"] * 2 + []
            if root
            else ["words"] * 4 + ["regex"] * 2 + ["any", "root", "name", "link"]
        )
        kind = rng.choice(kinds)
        if kind in ("name", "link") and not self.known:
            kind = "words"
        basic = rng.random() < 0.25 and kind not in ("root", "name")
        negated = rng.random() < 0.15 and kind not in ("name", "link")
        value = {
            "words": "|".join(rng.sample(["A", "B", "C", "A-X", "a", "b"], rng.choice([1, 1, 2]))),
            "regex": rng.choice(["^(.)", "([AB])", "X$", "(?i:^a)", "^[^-]$", "-(.)$"]),
        }.get(kind, rng.choice(self.known) if kind in ("name", "link") else "")
        label = Label(kind, value, basic, negated)
        grouped = kind in ("words", "any") or (kind == "regex" and re.compile(value).groups)
        if grouped and not negated and not self.under and rng.random() < 0.12:
            label.variable = rng.choice("vw")
        return label

    def node(self, depth: int) -> Some:
        rng = self.rng
        made = Some(self.label())
        made.symbol = rng.choice([*RELATIONS] + [*CHAINS] * 2 * (not self.once))
        if made.symbol in CHAINS:
            made.passes = Label(
                rng.choice(["words", "any"]), "A|B", rng.random() < 0.3, rng.random() < 0.3
            )
            if made.passes.kind == "any":
                made.passes.value = ""
        return self.named(made, depth)

    def named(self, made: Some, depth: int) -> Some:
        if not self.under and self.rng.random() < 0.3 and made.label.kind != "name":
            made.name = f"n{len(self.all)}"
            self.known.append(made.name)
            self.all.append(made.name)
        if depth and self.rng.random() < 0.6:
            made.condition = self.condition(depth - 1)
        return made

    def condition(self, depth: int) -> Any:
        rng = self.rng
        sign = rng.choice("&&|!?....") if depth else "."
        if sign == "&":
            return Several("&", [self.condition(depth - 1) for _ in range(rng.choice([2, 2, 3]))])
        if sign == "|":
            before, after, parts = list(self.known), list(self.known), []
            for _ in range(2):
                self.known = list(before)
                parts.append(self.condition(depth - 1))
                after += [name for name in self.known if name not in after]
            self.known = after
            return Several("|", parts)
        if sign == "!":
            was, self.under = self.under, True
            part = self.condition(depth - 1)
            self.under = was
            return part if isinstance(part, Several) and part.sign in "!?" else Several("!", [part])
        if sign == "?":
            if rng.random() < 0.6:
                was, self.once = self.once, True
                part = self.node(depth - 1)
                self.once = was
                return Several("?", [part])
            return Several("?", [Several("&", [self.condition(0), self.condition(depth - 1)])])
        return self.node(depth)


def random_pattern(rng: random.Random) -> Some:
    made = Made(rng)
    root = Some(made.label(root=True))
    root.condition = None
    pattern = made.named(root, 0)
    pattern.condition = made.condition(3)
    return pattern
