"""Heads for treebanks that have none: in every phrase, a table of its category picks a child.

collins   phrases of the Penn Treebank, syntactic heads: M. Collins (1999), Head-Driven Statistical
          Models for Natural Language Parsing, appendix A, with his treatment of coordination. NML,
          NX and X, which are not in his table, are ours.
semantic  the same phrases with lexical heads, near to Universal Dependencies: not a preposition,
          auxiliary or copula, and of conjuncts the first; a conjunction depends on the next one.
          In the manner of M.-C. de Marneffe, B. MacCartney and C. Manning (2006), Generating Typed
          Dependency Parses from Phrase Structure Parses; the tables are ours.
ctb       phrases of the Penn Chinese Treebank: Y. Zhang and S. Clark (2008), A Tale of Two Parsers,
          after H. Sun and D. Jurafsky (2004), Shallow Semantic Parsing of Chinese.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from ..trees.tree import ConstituentTree
from .penn_brackets import TRACE, clean_label, fold

# What to look for, in this order, from the left (>) or from the right (<); A|B: whichever comes
# first. If nothing is there, the last direction's first child is it.
_COLLINS = {
    "ADJP": "> NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    "ADVP": "< RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    "CONJP": "< CC RB IN",
    "FRAG": "<",
    "INTJ": ">",
    "LST": "< LS :",
    "NAC": "> NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    "NP": "< NN|NNP|NNPS|NNS|NX|NML|POS|JJR > NP < $|ADJP|PRN CD JJ|JJS|RB|QP",
    "PP": "< IN TO VBG VBN RP FW",
    "PRN": ">",
    "PRT": "< RP",
    "QP": "> $ IN NNS NN JJ RB DT CD NCD QP JJR JJS",
    "RRC": "< VP NP ADVP ADJP PP",
    "S": "> TO IN VP S SBAR ADJP UCP NP",
    "SBAR": "> WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    "SBARQ": "> SQ S SINV SBARQ FRAG",
    "SINV": "> VBZ VBD VBP VB MD VP S SINV ADJP NP",
    "SQ": "> VBZ VBD VBP VB MD VP SQ",
    "UCP": "<",
    "VP": "> TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP",
    "WHADJP": "> CC WRB JJ ADJP",
    "WHADVP": "< CC WRB",
    "WHNP": "> WDT WP WP$ WHADJP WHPP WHNP",
    "WHPP": "< IN TO FW",
    "X": "<",
}
_COLLINS["NX"] = _COLLINS["NML"] = _COLLINS["NP"]

_VERB = "VB|VBD|VBG|VBN|VBP|VBZ"
_SEMANTIC = _COLLINS | {
    "ADJP": "< JJ|JJR|JJS|VBN|VBG ADJP NN|NNS $ QP > RB NP",
    "ADVP": "< RB|RBR|RBS|WRB ADVP NN|NNS|NP JJ|JJR",
    "CONJP": "> RB IN CC",
    "FRAG": "> VP S NP ADJP PP",
    "INTJ": ">",
    "NP": "< NN|NNP|NNPS|NNS|NX|NML > NP < PRP $ ADJP|JJ|JJR|JJS CD|QP VBG PRN RB",
    "PP": "> NP|NML|WHNP S|SBAR|VP PP ADJP ADVP NN|NNS|NNP < VBG IN|TO",
    "PRN": "> S|SINV VP NP SBAR",
    "QP": "> $ < CD",
    "S": "> VP S|SINV|SQ ADJP NP PP SBAR UCP",
    "SBAR": "> S SQ SINV SBAR FRAG VP NP",
    "SBARQ": "> SQ S SINV SBARQ FRAG",
    "SINV": f"> VP S SINV {_VERB} ADJP NP",
    "SQ": f"> VP SQ ADJP {_VERB} NP",
    "UCP": ">",
    "VP": f"> VP {_VERB} ADJP NP S MD TO",
    "WHADJP": "< JJ|RB|ADJP WRB",
    "WHNP": "< NN|NNS|NNP|NML > WHNP NP < WP|WDT WHADJP",
    "WHPP": "> WHNP WHADVP",
}
_SEMANTIC["NX"] = _SEMANTIC["NML"] = _SEMANTIC["NAC"] = _SEMANTIC["NP"]

_CTB = {
    "ADJP": "< ADJP JJ AD",
    "ADVP": "< ADVP AD CS JJ NP PP P VA VV",
    "CLP": "< CLP M NN NP",
    "CP": "< CP IP VP",
    "DNP": "< DEG DNP DEC QP",
    "DP": "< M > DP DT OD",
    "DVP": "< DEV AD VP",
    "FRAG": "< VV NR NN NT",
    "IP": "< VP IP NP",
    "LCP": "< LCP LC",
    "LST": "< CD NP QP",
    "NP": "< NP NN IP NR NT",
    "PP": "> P PP",
    "PRN": ">",
    "QP": "< QP CLP CD",
    "UCP": "> IP NP VP",
    "VCD": "> VV VA VE",
    "VP": "> VE VC VV VNV VPT VRD VSB VCD VP",
    "VPT": "> VA VV",
    "VRD": "> VV VA",
    "VSB": "< VV VE",
}

_PREDICATE = {
    "VP": "> ADJP|JJ NP PP ADVP SBAR|S|UCP",
    "": "< ADJP|JJ NP PP ADVP SBAR|S|UCP",
}
# Chosen only where there is nothing else.
_PUNCTUATION = frozenset(
    [".", ",", ":", "``", "''", '"', "-LRB-", "-RRB-", "HYPH", "NFP", "PU", TRACE]
)
_CONJUNCTIONS = frozenset({"CC", "CONJP"})
_NOMINAL = frozenset({"NP", "NX", "NML"})
_VERBAL = frozenset({"VP", "SQ", "SINV"})
_BE = frozenset(
    ["be", "am", "is", "are", "was", "were", "been", "being"]
    + [mark + form for form in ("s", "m", "re") for mark in ("'", "’", "")]
)


class HeadRules(StrEnum):
    """What a converter's user may choose."""

    none = "none"
    collins = "collins"
    semantic = "semantic"
    ctb = "ctb"


class _Child(NamedTuple):
    """A child: its bare label, the index of its head word, that word in lower case."""

    label: str
    word: int
    form: str


class _Clause(NamedTuple):
    """Find the first of these labels from one side; of any label if there are none."""

    from_left: bool
    labels: frozenset[str]


def _parsed(table: dict[str, str]) -> dict[str, list[_Clause]]:
    parsed: dict[str, list[_Clause]] = {}
    for label, rule in table.items():
        clauses, from_left = [], True
        for item in rule.split():
            if item in "<>":
                from_left = item == ">"
            else:
                clauses.append(_Clause(from_left, frozenset(item.split("|"))))
        parsed[label] = [*clauses, _Clause(from_left, frozenset())]
    return parsed


_TABLES = {
    "collins": _parsed({"": ">"} | _COLLINS),
    "semantic": _parsed({"": ">"} | _SEMANTIC),
    "ctb": _parsed({"": "<"} | _CTB),
}
_PREDICATES = _parsed(_PREDICATE)
_PREDICATE_LABELS = frozenset().union(*(clause.labels for clause in _PREDICATES[""]))


def heads_by_rules(tree: ConstituentTree, rules: str = "collins") -> list[int]:
    """The head of each word, 0 the first one; the root's is the word itself.

    rules: "collins", "semantic" or "ctb" (see the module). Function tags don't matter.
    Raises ValueError for other rules.
    """
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

    fold(tree, headed)
    return heads


def _head(rules: str, label: str, listed: list[_Child], children: list[_Child]) -> _Child:
    """The head of a phrase. listed: its children other than punctuation."""
    if rules == "collins" and label in _NOMINAL and listed[-1].label == "POS":
        return listed[-1]
    if rules == "semantic" and any(child.label in _CONJUNCTIONS for child in listed[1:]):
        listed = _first_conjunct(children) or listed
    found = _find(listed, _TABLES[rules].get(label, _TABLES[rules][""]))
    if rules == "collins" and found > 1 and listed[found - 1].label == "CC":
        found -= 2  # "X and Y" is headed by X where the table says Y
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
    """The children before a conjunction or comma that has some before it."""
    conjunct: list[_Child] = []
    for child in children:
        if conjunct and (child.label == "," or child.label in _CONJUNCTIONS):
            break
        if child.label not in _PUNCTUATION:
            conjunct.append(child)
    return conjunct
