"""Tree patterns beside Stanford's Tregex, and beside a matcher by definition."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from spacy_lal.search.errors import QueryError
from spacy_lal.search.labels import basic_category
from spacy_lal.search.limits import Steps
from spacy_lal.search.tree_matching import TreeNodes
from spacy_lal.search.tree_patterns import compile_tree_pattern
from spacy_lal.trees.tree import ConstituentTree, parse_brackets

from .by_definition import matches, places, random_pattern, random_tree

FIXTURES = Path(__file__).parents[1] / "fixtures" / "search"
RECORDED = [json.loads(line) for line in (FIXTURES / "tregex_matches.jsonl").open(encoding="utf8")]
DOG = ConstituentTree.from_string("(S (NP (DT the) (NN dog)) (VP (VBZ barks) (ADVP (RB loudly))))")


@pytest.fixture(scope="module")
def trees() -> list[TreeNodes]:
    text = (FIXTURES / "trees.mrg").read_text(encoding="utf8")
    return [TreeNodes(tree) for tree in parse_brackets(text)]


def found(query: str, tree: ConstituentTree = DOG, **settings: Any) -> list[dict[str, int]]:
    return list(compile_tree_pattern(query).matches(TreeNodes(tree, **settings)))


@pytest.mark.parametrize("record", RECORDED, ids=lambda record: record["query"])
def test_matches_are_those_of_tregex(record: dict[str, Any], trees: list[TreeNodes]) -> None:
    """The same nodes and names in the same order, as often."""
    pattern = compile_tree_pattern(record["query"])
    lines = [
        " ".join([str(i), *(f"{name}={match[name]}" for name in sorted(match))])
        for i, tree in enumerate(trees)
        for match in pattern.matches(tree)
    ]
    assert lines == record["matches"]


def test_random_patterns_match_by_definition() -> None:
    rng = random.Random(0)
    trees = [random_tree(rng) for _ in range(20)]
    nodes, by_definition = [TreeNodes(tree) for tree in trees], [places(tree) for tree in trees]
    total = 0
    for _ in range(500):
        pattern = random_pattern(rng)
        compiled = compile_tree_pattern(str(pattern))
        for tree, all_ in zip(nodes, by_definition, strict=True):
            ours, theirs = list(compiled.matches(tree)), matches(pattern, all_)
            if {".+(", ",+("} & {compiled.query[i : i + 3] for i in range(len(compiled.query))}:
                # Tregex's order of these has no definition
                ours, theirs = (sorted(m, key=lambda x: sorted(x.items())) for m in (ours, theirs))
            assert ours == theirs, f"{pattern}    {tree.tree}"
            total += len(ours)
    assert total > 5000


@pytest.mark.parametrize(
    ("query", "message", "caret"),
    [
        ("", "a label expected, not the end", 0),
        ("NP < (NN", ") expected, not the end", 8),
        ("NP NN", "a relation, & or | expected, not N", 3),
        ("NP < ,", "a label expected, not ,; as a label it is written /^,$/", 5),
        ("NP < =x", "no node before this one has the name x", 6),
        ("NP=x < NN=x", "two nodes have the name x", 10),
        ("NP !< NN=x", "a node of a negated condition has no name", 9),
        ("NP=x < !=x", "! and @ need a label: write !== =name, !== ~name or @~name", 7),
        ("NP < /a(/", "regular expression: missing ), unterminated subpattern", 5),
        (r"NP < /\p{Lu}/", r"regular expression: no classes \p{...}", 5),
        ("NP < /a", "no / ends this regular expression", 5),
        ("NP < /(a)/#2%x", "there is no group 2, only 1", 11),
        ("NP < !/(a)/#1%x", "a negated label has no groups", 12),
        ("NP <0 NN", "there is no relation <0", 3),
        ("NP <--1 NN", "there is no relation <--1", 3),
        ("NP < /a{99999999999}/", "regular expression: the repetition number is too large", 5),
        ("NP $+2 NN", "there is no relation $+2", 3),
        ("NP !?< NN", "a condition is negated or optional, not both", 3),
        ("NP < A | < B=x | < =x", "no node before this one has the name x", 20),
        ("(" * 300 + "NP", "more than 100 brackets and conditions in each other", 101),
        ("A < (" * 60 + "A", "more than 100 brackets and conditions in each other", 252),
    ],
)
def test_errors_say_where(query: str, message: str, caret: int) -> None:
    with pytest.raises(QueryError) as error:
        compile_tree_pattern(query)
    first, line, mark = str(error.value).split("\n")
    assert first == f"column {caret + 1}: {message}"
    assert line == "  " + query
    assert mark.index("^") == caret + 2 == error.value.position + 2


def test_an_error_in_a_query_of_several_lines_shows_its_line() -> None:
    with pytest.raises(QueryError) as error:
        compile_tree_pattern("NP\n  < (NN\n  $+ )")
    assert str(error.value).split("\n") == [
        "line 3, column 6: a label expected, not ); as a label it is written /^\\)$/",
        "    $+ )",
        "       ^",
    ]


def test_long_and_deep_patterns() -> None:
    tree = ConstituentTree("A", [ConstituentTree("B", word="b")])
    assert found("A" + " < B" * 2000, tree) == [{"": 0}]
    assert found("A" + " [< B=x | < C]" + " < =x" * 2000, tree) == [{"": 0, "x": 1}]
    assert found("A == (" * 45 + "A < B=x" + ")" * 45, tree) == [{"": 0, "x": 1}]


def test_names() -> None:
    pattern = compile_tree_pattern("S < NP=np [< VP=vp | < X=x]")
    assert pattern.names == ("np", "vp", "x")
    assert list(pattern.matches(TreeNodes(DOG))) == [{"": 0, "np": 1, "vp": 6}]


def test_what_stanfords_program_does_otherwise() -> None:
    tree = ConstituentTree.from_string("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))")
    assert found("VBZ , NN") == found("VBZ ,+(X) NN") == [{"": 7}]  # there: DT in the second
    assert found("S [?< NP=x | < VP]", tree) == [{"": 0, "x": 1}, {"": 0}]  # there: x in both
    assert found("S ![!< NP]", tree) == [{"": 0}]  # there: as !< NP


@pytest.mark.parametrize(
    ("regex", "labels"),
    [
        ("^(?i)the$", ["the", "The"]),
        ("^t(?i)he|X", ["the", "x"]),
        ("(?i:T)he", ["the", "The"]),
        ("^((?i)t)he$", ["the", "The"]),
        (r"^[^\]a-z(]he$", ["The"]),
        (r"^\w+$", ["the", "The", "x"]),
        ("(?<first>^.)he", ["the", "The"]),
        (r"(?U)^\w+$", ["the", "The", "x", "é"]),
        ("(?iu)É", ["é"]),
        (r"\/", ["1/2"]),
    ],
)
def test_regular_expressions_of_java(regex: str, labels: list[str]) -> None:
    words = ["the", "The", "x", "é", "1/2"]
    tree = ConstituentTree("S", [ConstituentTree("T", word=word) for word in words])
    matched = [TreeNodes(tree).label[match[""]] for match in found(f"/{regex}/ > T", tree)]
    assert matched == labels


@pytest.mark.parametrize(
    ("label", "basic"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("-NONE-", "-NONE-"), ("-LRB--X", "-LRB-"), ("", "")],
)
def test_basic_categories(label: str, basic: str) -> None:
    assert basic_category(label) == basic


def test_heads_are_those_given_or_by_rule() -> None:
    assert found("S <# __=head")[0]["head"] == 6  # VP
    assert found("S <# __=head", heads=[0, 0, 1, 2])[0]["head"] == 1
    assert found("VP <<# __=head", heads=lambda tree: [1, 3, 3, 3]) == [
        {"": 6, "head": node} for node in (9, 10, 11)
    ]
    assert found("__ <# __", heads=[1, 0, 3, 2])  # heads in a circle: no endless loop
    with pytest.raises(ValueError, match="2 heads for a tree of 4 words"):
        found("S <# NP", heads=[0, 0])


def test_spans_of_nodes() -> None:
    nodes = TreeNodes(ConstituentTree("S", [*DOG.children, ConstituentTree("X")]))
    assert [(nodes.start[i], nodes.end[i]) for i in (0, 1, 3, 6, 9, len(nodes) - 1)] == [
        (0, 4), (0, 2), (0, 1), (2, 4), (3, 4), (4, 4),
    ]  # fmt: skip
    assert [nodes.label[i] for i, leaf in enumerate(nodes.is_leaf) if leaf][-2:] == ["loudly", "X"]


def test_no_query_hangs() -> None:
    flat = TreeNodes(ConstituentTree("S", [ConstituentTree("X", word="x")] * 60))
    names = " ".join(f"< X={name}" for name in "abcdefgh")
    with pytest.raises(TimeoutError, match=r"more than 0\.1 seconds"):
        list(compile_tree_pattern(f"S {names} < (=a $+ =a)").matches(flat, Steps(0.1)))
    with pytest.raises(TimeoutError):
        for _ in compile_tree_pattern("S" + " < X" * 20).matches(flat, Steps(0.1)):
            pass
    deep = DOG
    for _ in range(2000):
        deep = ConstituentTree("S", [deep])
    assert len(found("NN >> (S=top !> __ | < S)", deep)) == 2001
