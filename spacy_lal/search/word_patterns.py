"""Semgrex's language: patterns of words, their heads and their roles, read into a pattern.

The language is that of CoreNLP's `SemgrexPattern` (Chambers et al. 2007, "Learning Alignments and
Leveraging Natural Logic"), with roles as relations and with spaCy's names of attributes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import NamedTuple, NoReturn

from .errors import QueryError
from .java_regex import java_regex

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

_SYMBOLS = (
    *("&&", "<>", ">++", ">--", "<++", "<--", ">>", "<<", "==", "$++", "$--", "$+", "$-", ".."),
    *("--", ">", "<", ".", "-", "::", ":", "!", "?", "&", "|", "(", ")", "[", "]", "=", "~", ","),
)
_TOKEN = re.compile(
    rf"\s*(?:(?P<name>\w+(?:[-:]\w+)*)|(?P<regex>/(?:\\.|[^/\\\n])*/)|(?P<brace>\{{)"
    rf"|(?P<symbol>{'|'.join(map(re.escape, _SYMBOLS))})|(?P<end>$)|(?P<other>.))",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"\s*(?:(?P<root>\$)|(?P<map>\w+)\s*:\s*\{|(?P<name>\w+)\s*(?P<sign>!?:)"
    r"\s*(?P<value>/(?:\\.|[^/\\\n])*/|[^\s;{}/][^;{}]*))\s*"
)
_SEPARATOR = re.compile(r"\s*([;}])\s*")

EDGES = {">", "<", "<>", ">++", ">--", "<++", "<--"}
"""Relations of one edge, from a head or predicate to a word, or back."""
CHAINS = {">>", "<<"}
"""Relations of several edges, by heads alone."""
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
    if reader.kind != "end" and reader.text != "&&":
        reader.fail("expected a relation, such as >nsubj, or the end")
    return pattern, reader.start


@dataclass
class _Reader:
    """Reads a query from left to right, by recursive descent; `kind`, `text` and `start` are those
    of the next token, which ends at `place`."""

    query: str
    place: int
    kind: str = ""
    text: str = ""
    start: int = 0
    nodes: int = 0
    under_negation: bool = False
    names: dict[str, None] = field(default_factory=dict)
    needs: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.next()

    def next(self) -> str:
        """Go to the next token; return the text of the one before."""
        before = self.text
        match = _TOKEN.match(self.query, self.place)
        assert match is not None
        assert match.lastgroup is not None
        self.kind, self.text = match.lastgroup, match[match.lastgroup]
        self.start, self.place = match.start(match.lastgroup), match.end()
        return before

    def take(self, *symbols: str) -> str:
        """Return the next token and go on if it is one of these symbols, else ""."""
        return self.next() if self.kind == "symbol" and self.text in symbols else ""

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        raise QueryError(message, self.query, self.start if at is None else at)

    def expect(self, symbol: str, opened: int) -> None:
        if not self.take(symbol):
            self.fail(f"this bracket has no {symbol}", opened)

    def pattern(self) -> WordPattern:
        root = self.sub_node()
        while self.take(":"):
            root = _also(root, Relation(":", self.sub_node()))
        names = [n for n in self.names if n[0] != "~"] + [n for n in self.names if n[0] == "~"]
        return WordPattern(root, tuple(names), frozenset(self.needs))

    def sub_node(self) -> Node:
        """Read a node with its relations."""
        opened = self.start
        if self.take("("):
            node = self.sub_node()
            self.expect(")", opened)
        else:
            node = self.node()
        condition = self.either() if self.at_relation() else None
        return _also(node, condition) if condition else node

    def at_relation(self) -> bool:
        """Whether a condition begins here: `!` and `?` are before relations, numbers too."""
        own = EDGES | CHAINS | ORDERS - {":"} | {"!", "?", "["}
        numbered = self.kind == "name" and self.text.isdecimal()
        return numbered or (self.kind == "symbol" and self.text in own)

    def either(self) -> Condition:
        found = [self.both()]
        while self.take("|"):
            found.append(self.both())
        return Group("or", tuple(found)) if len(found) > 1 else found[0]

    def both(self) -> Condition:
        found = [self.one()]
        while self.take("&") or self.at_relation():
            found.append(self.one())
        return Group("and", tuple(found)) if len(found) > 1 else found[0]

    def one(self) -> Condition:
        if not (sign := self.take("!", "?")):
            return self.condition()
        before = self.under_negation
        self.under_negation = before or sign == "!"
        condition = self.condition()
        self.under_negation = before
        return Group("not" if sign == "!" else "optional", (condition,))

    def condition(self) -> Condition:
        opened = self.start
        if self.take("["):
            condition = self.either()
            self.expect("]", opened)
            return condition
        return self.relation()

    def relation(self) -> Relation:
        numbers: list[int] = []
        while self.kind == "name" and self.text.isdecimal() and len(numbers) < 2:
            numbers.append(int(self.next()))
            if not self.take(","):
                break
        at, symbol = self.start, self.take(*(EDGES | CHAINS | ORDERS - {":"}))
        if not symbol:
            self.fail("expected a relation, such as >nsubj, >> or .")
        if numbers and symbol not in CHAINS:
            self.fail("only >> and << take numbers, as in 1,3>>", at)
        made = Relation(symbol, Node(), low=(numbers or [1])[0])
        made = replace(made, high=numbers[-1] if numbers else made.high)
        if self.kind in ("name", "regex"):
            made = self.labelled(made)
        elif symbol not in ORDERS or symbol.startswith("$"):
            self.needs.add(HEADS)
        if self.take("~"):
            if symbol in ORDERS:
                self.fail("only relations by heads and roles have names", at)
            made = replace(made, name=self.name("~"))
        elif self.text == "=":
            self.fail("a relation is named with ~, as in >~name")
        opened = self.start
        if self.take("("):
            target = self.sub_node()
            self.expect(")", opened)
        else:
            target = self.node()
        return replace(made, target=target)

    def labelled(self, made: Relation) -> Relation:
        """Read the label of a relation."""
        at, label, passes = self.start, self.text, self.value(self.text, self.start)
        role = "ARG" in label or re.match(r"/?(?:[RC]-)*(?:A[0-5A]\b|AM-)", label) is not None
        if made.symbol in ORDERS:
            self.fail(f"{made.symbol} has no label", at)
        if role and made.symbol in CHAINS:
            self.fail(f"{made.symbol} follows heads, not roles", at)
        self.needs |= {HEADS, ROLES} if role else {HEADS}
        self.next()
        return replace(made, passes=passes, role=role)

    def name(self, sign: str = "") -> str:
        """Read a name. Raises QueryError for a new one under negation, which nothing bears."""
        if self.kind != "name":
            self.fail("expected a name, of letters and digits")
        name = sign + self.text
        if self.under_negation and name not in self.names:
            self.fail(f"{name!r} would name what must not be there")
        self.names[name] = None
        self.next()
        return name

    def node(self) -> Node:
        negated = bool(self.take("!"))
        opened = self.start
        if self.take("["):
            found = [self.node()]
            while self.take("|"):
                found.append(self.node())
            self.expect("]", opened)
            if negated:
                self.fail("! stands before one node, not before several", opened)
            return Node(alternatives=tuple(found))
        if self.kind != "brace":
            self.fail("expected a node, such as {} or {tag:NN}")
        self.nodes += 1
        if self.nodes > MOST:
            self.fail(f"more than {MOST} nodes")
        node = replace(self.description(), negated=negated)
        return replace(node, name=self.name()) if self.take("=") else node

    def description(self) -> Node:
        """Read what is between braces."""
        opened, tests, root = self.start, list[Test](), False
        if self.query[self.place :].lstrip().startswith("}"):
            self.separator(opened)
            self.next()
            return Node()
        while True:
            match = _ATTRIBUTE.match(self.query, self.place)
            if match is None:
                self.fail("expected an attribute and its value, as in {tag:NN}", self.place)
            self.place = match.end()
            if match["root"]:
                root = True
                self.needs.add(HEADS)
            elif match["map"]:
                tests += self.features(match)
            else:
                tests.append(self.test(match))
            if self.separator(opened) == "}":
                self.next()
                return Node(tuple(tests), root)

    def separator(self, opened: int) -> str:
        match = _SEPARATOR.match(self.query, self.place)
        if match is None:
            if self.query[self.place :].strip():
                self.fail("expected ; or }", self.place)
            self.fail("this bracket has no }", opened)
        self.place = match.end()
        return match[1]

    def features(self, match: re.Match[str]) -> list[Test]:
        """Read morphological features, as in {morph:{Tense:Past}}."""
        opened, found = match.end() - 1, list[Test]()
        if self.attribute(match, "map") != "morph":
            self.fail("only morph has features", match.start("map"))
        while True:
            feature = _ATTRIBUTE.match(self.query, self.place)
            if feature is None or not feature["name"]:
                self.fail("expected a feature and its value, as in {Tense:Past}", self.place)
            self.place = feature.end()
            passes = self.value(feature["value"], feature.start("value"))
            found.append(Test("morph", passes, feature["sign"] == "!:", feature["name"]))
            if self.separator(opened) == "}":
                return found

    def test(self, match: re.Match[str]) -> Test:
        passes = self.value(match["value"].rstrip(), match.start("value"))
        return Test(self.attribute(match, "name"), passes, match["sign"] == "!:")

    def attribute(self, match: re.Match[str], group: str) -> str:
        name = ALIASES.get(match[group], match[group])
        if name not in ATTRIBUTES and name not in OWN:
            known = ", ".join([*ATTRIBUTES, *OWN])
            self.fail(f"no attribute {name!r}: expected one of {known}", match.start(group))
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
        except re.error as error:
            self.fail(f"{text} is no regular expression: {error}", at)
        return partial(_whole, regex)


def _whole(regex: re.Pattern[str], text: str) -> bool:
    return regex.fullmatch(text) is not None


def _also(node: Node, condition: Condition) -> Node:
    """Return the node with a further condition, which each alternative gets."""
    if node.alternatives:
        return replace(node, alternatives=tuple(_also(n, condition) for n in node.alternatives))
    both = Group("and", (node.condition, condition)) if node.condition else condition
    return replace(node, condition=both)
