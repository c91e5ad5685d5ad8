"""Queries that join trees, heads and roles, and what `search` gives."""

from __future__ import annotations

import time
from typing import Any

import pytest
from spacy.tokens import Doc, Span, Token

from spacy_lal.annotations import FrameSpans, set_constituents, set_frames
from spacy_lal.search import QueryError, compile_query, search
from spacy_lal.trees.tree import ConstituentTree

from .material import doc

AGENTLESS = "NP=subject && {}=verb >nsubj:pass {}=subject !>ARG0 {}"
"""Subjects of passives whose verbs have no agent."""

JOINED: list[tuple[str, list[dict[str, str]]]] = [
    (AGENTLESS, []),
    (
        "NP=subject && {}=verb >nsubj:pass {}=subject >ARG0 {}=agent",
        [{"subject": "The old bridge", "verb": "closed", "agent": "by the council"}],
    ),
    # the highest phrase of each label that the word heads, the whole coordination
    ("NP=o && {} >obj {}=o", [{"o": "maps and letters that were lost"}]),
    ("VP=v && {}=v >nsubj:pass {tag:NN}", [{"v": "was closed by the council"}]),
    ("/^(NP|S)$/=x && {$;tag:VBD}=x", [{"x": "Mira gave Tom maps and letters that were lost ."}]),
    ("NNS=x && {} >obj {}=x", [{"x": "maps"}]),
    ("maps=x && {} >obj {}=x", [{"x": "maps"}]),
    # an argument is the phrase with the same words
    ("PP=a && {} >ARG0 {}=a", [{"a": "by the council"}]),
    ("NP=a && {lemma:close} >ARG0 {}=a", []),
    ("NP=a && {lemma:lose} >ARG1 {}=a", [{"a": "maps and letters"}]),
    # phrases are the same if they have the same words, here S over VP
    ("S=x < VP && VP=x", [{"x": "were lost"}]),
    # parts need not share names
    ("SBAR=r && {ent:PERSON} <nsubj {}", [{"r": "that were lost"}]),
    ("SBAR=r && {tag:UH}", []),
    # three parts
    (
        "S=s && {}=v >nsubj:pass {}=p && SBAR < S=s",
        [{"s": "were lost", "v": "lost", "p": "that"}],
    ),
    ("NP=a && {} >iobj {}=a && {lemma:give} >ARG2 {}=a", [{"a": "Tom"}]),
]


def texts(nodes: dict[str, Any]) -> dict[str, str]:
    return {name: node.text.replace("\n", " ") for name, node in nodes.items()}


@pytest.mark.parametrize(("query", "expected"), JOINED)
def test_joined(query: str, expected: list[dict[str, str]]) -> None:
    made = doc()
    found = [texts(match.nodes) for match in search(made, query)]
    if query.startswith(("S=s", "/^")):  # a sentence's own S is there, too
        found = [nodes for nodes in found if nodes in expected]
    assert found == expected


def test_agents_left_out() -> None:
    """The query of a passive without agent, where only the roles know it."""
    made = doc()
    frames = [FrameSpans(4, "close.01", [(4, 5, "V"), (0, 3, "ARG1")])]
    set_frames(made, frames)
    (match,) = search(made, AGENTLESS + " && {}=verb >ARG1 {}=subject")
    assert texts(match.nodes) == {"subject": "The old bridge", "verb": "closed"}


def test_what_a_match_has() -> None:
    made = doc()
    match, again = search([made, made], "SBAR=r <, WHNP=w << VBN=t << lost=l")
    assert (match.number, again.number) == (0, 1)
    assert match.sentence == list(made.sents)[1]
    assert isinstance(match.node, Span)
    assert (match.node.label_, match.node.start, match.node.end) == ("SBAR", 16, 19)
    assert isinstance(match.nodes["w"], Span)
    assert match.nodes["t"] == match.nodes["l"] == made[18]
    assert isinstance(match.nodes["t"], Token)
    assert match.places == {"": (6, 9), "r": (6, 9), "w": (6, 7), "t": (8, 9), "l": (8, 9)}
    (agent,) = search(made, "{} >ARG0 {}=a !>iobj {}")
    assert isinstance(agent.nodes["a"], Span)
    assert agent.nodes["a"].label_ == "ARG0"


def test_matches_come_once() -> None:
    """Tregex has this match for each NP, Semgrex for each dependent."""
    made = doc()
    assert len(list(search(made, "S << NP !> __"))) == 0
    assert [m.node.text for m in search(made, "VP << NP > VP")] == ["closed by the council"]
    assert len(list(search(made, "{lemma:give} > {}"))) == 1
    assert len(list(search(made, "{lemma:give} > {}=x"))) == 4


def test_trees_without_docs() -> None:
    tree = ConstituentTree.from_string("(S (NP (DT the) (NN tea)) (VP (VBZ is) (ADJP (JJ hot))))")
    (match,) = search(tree, "NP=n <# NN=h << tea=w && S=s < NP=n")
    assert match.sentence is tree
    assert match.node is match.nodes["n"] is tree.children[0]
    assert match.nodes["h"] is match.nodes["w"] is tree.children[0].children[1]
    assert match.places["n"] == (0, 2)
    with pytest.raises(ValueError, match=r"^Doc 0: the query needs heads, .*trees without a Doc"):
        list(search([tree], "{} > {}"))


def test_docs_without_annotation() -> None:
    made = doc()
    bare = Doc(made.vocab, words=["Go", "!"])
    for query, missing in {
        "NP": "trees, doc.spans['constituents']",
        "{} > {}": "heads",
        "{lemma:go}": "lemmas",
        "{ent:GPE}": "entities",
        "{tag:VB}": "tags",
        "{morph:{Tense:Past}}": "morphological features",
        "{roleset:__}": "roles, doc.spans['srl']",
    }.items():
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            list(search([made, bare], query))
        assert str(raised.value).startswith(f"Doc 1: the query needs {missing}")
    assert [match.node.text for match in search(bare, "{word:Go} . {}")] == ["Go"]
    assert list(search(Doc(made.vocab), AGENTLESS)) == []
    set_constituents(bare, [(0, 2, "S")])
    assert [match.node.text for match in search(bare, "S << Go")] == ["Go !"]


@pytest.mark.parametrize(
    ("query", "place", "message"),
    [
        ("NP && {tag:NN", 13, "; or } expected"),
        ("NP < && {}", 5, "expected"),
        ("NP &&", 5, "expected"),
        ("{} && /N(/", 6, "expression"),
        ("", 0, "expected"),
        ("({} > {} && NP", 9, r"\) expected"),
    ],
)
def test_errors_are_placed_in_the_whole_query(query: str, place: int, message: str) -> None:
    with pytest.raises(QueryError, match=message) as raised:
        compile_query(query)
    assert raised.value.position == place
    assert raised.value.query == query


def test_signs_within_regular_expressions_join_nothing() -> None:
    query = compile_query(r"/a&&b/=x && {word:/&&|\/|}/;lemma:and/or}=x && NP < DT & < NN")
    assert len(query.parts) == 3
    assert query.names == ("x",)


def test_a_query_that_would_never_end() -> None:
    """40 words have some 10**12 ways to name twelve of them in order."""
    made = Doc(doc().vocab, words=["a"] * 40)
    query = "{}=n0" + "".join(f" .. ({{}}=n{i}" for i in range(1, 12)) + ")" * 11
    begun = time.perf_counter()
    with pytest.raises(TimeoutError, match=r"^Doc 0: the query took more than 0.2 seconds"):
        list(search(made, query, seconds=0.2))
    assert time.perf_counter() - begun < 20
