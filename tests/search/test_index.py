"""The index of labels: its candidates hold all matches, in few sentences."""

from pathlib import Path

import numpy as np
import pytest

from spacy_lal.search.index import Index
from spacy_lal.search.tree_matching import TreeNodes
from spacy_lal.search.tree_patterns import compile_tree_pattern
from spacy_lal.trees.tree import ConstituentTree, parse_brackets

from .test_tree_patterns import FIXTURES, RECORDED

TREES = list(parse_brackets((FIXTURES / "trees.mrg").read_text(encoding="utf8")))
INDEX = Index.build(TREES)


def test_candidates_have_all_matches() -> None:
    for record in RECORDED:
        pattern = compile_tree_pattern(record["query"])
        candidates = INDEX.candidates(pattern)
        having = [i for i, tree in enumerate(TREES) if any(pattern.matches(TreeNodes(tree)))]
        assert candidates is None or set(having) <= set(candidates.tolist()), record["query"]


@pytest.mark.parametrize(
    ("query", "sentences"),
    [
        ("NP < (NN < dog)", [6, 30]),
        ("@NP < (NN < dog|letter)", [1, 6, 30]),
        ("/^Wh/ > WP|WRB", [2, 11]),
        ("NP [< (NN < dog) | < (NN < mouse)]", [6, 30]),
        ("dog | INTJ | letter", [1, 6, 10, 29, 30]),
        ("NP << zebra", []),
    ],
)
def test_selective_patterns_have_few_candidates(query: str, sentences: list[int]) -> None:
    candidates = INDEX.candidates(compile_tree_pattern(query))
    assert candidates is not None
    assert candidates.tolist() == sentences


@pytest.mark.parametrize("query", ["__", "!NP !< dog", "__ ?<< dog", "__ [< dog | < __]"])
def test_others_may_be_anywhere(query: str) -> None:
    assert INDEX.candidates(compile_tree_pattern(query)) is None


@pytest.mark.parametrize(
    "trees", [TREES, [], [ConstituentTree("", [ConstituentTree("X", word="a\0b")])]]
)
def test_an_index_is_saved(trees: list[ConstituentTree], tmp_path: Path) -> None:
    index = Index.build(trees)
    index.save(tmp_path / "index")
    loaded = Index.load(tmp_path / "index")
    assert loaded.labels == index.labels
    for label in index.labels:
        having = [
            i for i, tree in enumerate(trees)
            if any(label in (node.label, node.word) for node in tree.preorder())
        ]  # fmt: skip
        assert np.array_equal(loaded.sentences(label), having)


def test_another_file_is_no_index(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not an index", encoding="utf8")
    with pytest.raises(ValueError, match=r"notes\.txt is no index"):
        Index.load(path)
    np.savez(path.with_suffix(".npz"), labels=np.zeros(3))
    with pytest.raises(ValueError, match=r"notes\.npz is no index"):
        Index.load(path.with_suffix(".npz"))
