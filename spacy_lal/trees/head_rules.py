"""Head rules (head_rules.toml): in every phrase, the rule of its category picks a head child.

collins   phrases of the Penn Treebank, syntactic heads: M. Collins (1999), Head-Driven Statistical
          Models for Natural Language Parsing, appendix A, with his treatment of coordination. NML,
          NX and X, which are not in his table, are added.
semantic  the same phrases with lexical heads, near to Universal Dependencies: no preposition,
          auxiliary or copula, and the first conjunct; a conjunction depends on the next conjunct.
          After M.-C. de Marneffe, B. MacCartney and C. Manning (2006), Generating Typed Dependency
          Parses from Phrase Structure Parses, with tables of this package.
ctb       phrases of the Penn Chinese Treebank: Y. Zhang and S. Clark (2008), A Tale of Two Parsers,
          after H. Sun and D. Jurafsky (2004), Shallow Semantic Parsing of Chinese.
"""

import tomllib
from collections.abc import Sequence
from enum import StrEnum
from importlib import resources
from itertools import pairwise
from typing import NamedTuple

from .labels import clean_label
from .tree import ConstituentTree


class HeadRules(StrEnum):
    """Head rules that a converter's user may choose."""

    none = "none"
    collins = "collins"
    semantic = "semantic"
    ctb = "ctb"


class _Child(NamedTuple):
    """A child: its bare label, the index of its head word, that word in lower case."""

    label: str
    word: int
    form: str


_Clause = tuple[bool, frozenset[str]]
"""A search from the left or not for the first of these labels; for any if there are none."""


def _parsed(table: dict[str, str]) -> dict[str, list[_Clause]]:
    parsed: dict[str, list[_Clause]] = {}
    for label, rule in table.items():
        clauses, from_left = [], True
        for item in rule.split():
            if item in "<>":
                from_left = item == ">"
            else:
                clauses.append((from_left, frozenset(item.split("|"))))
        parsed[label] = [*clauses, (from_left, frozenset())]
    return parsed


_READ = tomllib.loads(resources.files(__package__).joinpath("head_rules.toml").read_text("utf8"))
_GROUPS = {name: frozenset(words.split()) for name, words in _READ.pop("groups").items()}
_PUNCTUATION, _CONJUNCTIONS = _GROUPS["punctuation"], _GROUPS["conjunctions"]
_NOMINAL, _VERBAL, _BE = _GROUPS["nominal"], _GROUPS["verbal"], _GROUPS["be"]
_RULES = {name: _parsed(table) for name, table in _READ.items()}
_PREDICATES = _RULES["predicate"]
_TABLES = {
    "collins": _RULES["collins"],
    "semantic": _RULES["collins"] | _RULES["semantic"],
    "ctb": _RULES["ctb"],
}
_PREDICATE_LABELS = frozenset().union(*(labels for _, labels in _PREDICATES[""]))


def heads_by_rules(tree: ConstituentTree, rules: str = "collins") -> list[int]:
    """Return the head of each word, from 0; the root is its own head. rules: "collins", "semantic"
    or "ctb". Function tags are ignored. Raises ValueError for other rules."""
    if rules not in _TABLES:
        raise ValueError(f"unknown head rules {rules!r}: choose one of {', '.join(_TABLES)}")
    heads = list(range(len(tree.leaves)))
    position = len(heads)

    def headed(node: ConstituentTree, found: list[_Child | None]) -> _Child | None:
        nonlocal position
        label = clean_label(node.label)
        if node.word is not None:
            position -= 1
            return _Child(label, position, node.word.lower())
        children = [child for child in found if child is not None]
        if not children:
            return None
        listed = [child for child in children if child.label not in _PUNCTUATION]
        head = _head(rules, label, listed, children) if listed else children[0]
        for child in children:
            heads[child.word] = head.word
        if rules == "semantic":
            for left, right in pairwise(children[1:]):
                if left.label in _CONJUNCTIONS and left is not head and right in listed:
                    heads[left.word] = right.word
        return _Child(label, head.word, head.form)

    tree.fold(headed)
    return heads


def _head(rules: str, label: str, listed: list[_Child], children: list[_Child]) -> _Child:
    """Return the head of a phrase. listed: its children other than punctuation."""
    if rules == "collins" and label in _NOMINAL and listed[-1].label == "POS":
        return listed[-1]
    if rules == "semantic" and any(child.label in _CONJUNCTIONS for child in listed[1:]):
        listed = _first_conjunct(children) or listed
    if rules == "semantic":
        listed = [child for child in listed if child.label not in _CONJUNCTIONS] or listed
    found = _find(listed, _TABLES[rules].get(label, _TABLES[rules][""]))
    if rules == "collins" and found > 1 and listed[found - 1].label == "CC":
        found -= 2  # "X and Y" has the head X where the table picks Y
    if rules == "semantic" and label in _VERBAL and listed[found].form in _BE:
        # a form of "be" isn't the head if there is a predicate
        predicates = [c for c in listed[found + 1 :] if c.label in _PREDICATE_LABELS]
        if predicates and not _VERBAL & {child.label for child in listed}:
            return predicates[_find(predicates, _PREDICATES.get(label, _PREDICATES[""]))]
    return listed[found]


def _find(children: Sequence[_Child], clauses: Sequence[_Clause]) -> int:
    for from_left, labels in clauses:
        indices = range(len(children))
        for i in indices if from_left else reversed(indices):
            if not labels or children[i].label in labels:
                return i
    raise AssertionError("the last clause finds any child")


def _first_conjunct(children: list[_Child]) -> list[_Child]:
    """Return the children before the first conjunction or comma that has some before it."""
    conjunct: list[_Child] = []
    for child in children:
        if conjunct and (child.label == "," or child.label in _CONJUNCTIONS):
            break
        if child.label not in _PUNCTUATION:
            conjunct.append(child)
    return conjunct
