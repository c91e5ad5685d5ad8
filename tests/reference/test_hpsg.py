"""Head-driven trees of the label attention parser, made from real trees and their heads."""

import pytest

from spacy_lal.parsing.gold_trees import with_sub_heads
from spacy_lal.structure.binarise import collapse_unaries
from spacy_lal.structure.hpsg import SUB_HEAD, lexicalise
from spacy_lal.trees.tree import ConstituentTree

from .component import expand_unaries


def converted(parse):
    """([(start, end, chain, head)] in preorder, children that don't belong to their node's head)"""
    nodes, conflicts, stack = [], 0, [parse]
    while stack:
        node = stack.pop()
        if "leaf" in node:
            continue
        label = "::".join(node["label"])
        nodes.append((node["left"], node["right"], label, node["head"] - 1))
        conflicts += node["cun_w"]
        stack += reversed(node["children"])
    return nodes, conflicts


def assert_governed(item, nodes):
    """A node depends on what its head word depends on, with the head word's relation."""
    recorded, stack = [], [item["parse"]]
    while stack:
        node = stack.pop()
        if "leaf" in node:
            word = node["head"] - 1
            assert (node["leaf"], node["father"]) == (word, item["heads"][word])
            assert node["type"] == item["types"][word]
            continue
        recorded.append((node["father"], node["type"]))
        stack += reversed(node["children"])
    assert recorded == [(item["heads"][head], item["types"][head]) for *_, head in nodes]


def test_trees(load_json):
    for item in load_json("hpsg_convert"):
        spans = ConstituentTree.from_string(item["tree"]).spans()
        tree = lexicalise(spans, item["heads"], item["n"])
        nodes, conflicts = converted(item["parse"])
        assert tree.nodes == nodes, item["tree"]
        assert tree.conflicts == conflicts
        assert_governed(item, tree.nodes)


def test_groups_as_brackets(load_json):
    for item in load_json("hpsg_convert"):
        tree = ConstituentTree.from_string(item["tree"])
        headed = lexicalise(tree.spans(), item["heads"], item["n"])
        tags = [tag for _, tag in tree.tagged]
        grouped = ConstituentTree.from_spans(tree.leaves, tags, expand_unaries(headed.spans), None)
        assert str(grouped) == item["back_converted"]
        # without its groups it is the tree that it was made from
        spans = [span for span in headed.spans if span[2] != SUB_HEAD]
        plain = ConstituentTree.from_spans(tree.leaves, tags, expand_unaries(spans), None)
        assert plain == tree


def test_gold_spans(load_json):
    """The constituents by their words, groups included."""
    for item in load_json("hpsg_convert"):
        spans = list(ConstituentTree.from_string(item["tree"]).spans())
        found = collapse_unaries(with_sub_heads(spans, item["heads"]))
        oracle = [(start, end, "::".join(chain)) for start, end, chain in item["oracle_spans"]]
        assert sorted(found) == sorted(oracle)


def test_there_are_groups_and_conflicts(load_json):
    parses = [converted(item["parse"]) for item in load_json("hpsg_convert")]
    assert any(label == SUB_HEAD for nodes, _ in parses for _, _, label, _ in nodes)
    if not any(conflicts for _, conflicts in parses):
        pytest.skip("no conflicts in these")
