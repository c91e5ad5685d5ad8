"""Constituents as Spans: parents, children, siblings, labels and heads, and phrases by label."""

import random

import pytest
import spacy
from spacy.tokens import Doc, Span

from spacy_lal.annotations import install_extensions, phrases, set_constituents
from spacy_lal.trees.tree import ConstituentTree

NLP = spacy.blank("en")
install_extensions()

TREE = (
    "(TOP (S (NP (NP (NNP Ann) (POS 's)) (NN cat)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) "
    "(PP (IN with) (NP (NP (NNS fleas)) (CC and) (NP (NNS ticks)))))) (. .)))"
)


def doc_of(text: str) -> Doc:
    tree = ConstituentTree.from_string(text)
    words, tags = zip(*tree.tagged, strict=True)
    doc = Doc(NLP.vocab, words=words, tags=tags, sent_starts=[1] + [-1] * (len(words) - 1))
    set_constituents(doc, tree.spans(include_root=False))
    return doc


def shown(spans: tuple[Span, ...] | list[Span]) -> list[tuple[str, str]]:
    return [(span.label_, span.text) for span in spans]


def test_views() -> None:
    doc = doc_of(TREE)
    dog = doc[4:6]
    assert dog._.constituent_labels == ("NP",)
    assert shown([dog._.constituent_parent]) == [("NP", "a dog with fleas and ticks")]
    assert shown(dog._.constituent_siblings) == [("PP", "with fleas and ticks")]
    assert shown(dog._.constituent_children) == [("DT", "a"), ("NN", "dog")]
    assert doc[:]._.constituent_parent is None
    assert doc[:]._.constituent_siblings == ()
    assert shown(doc[:]._.constituent_children) == [
        ("NP", "Ann 's cat"),
        ("VP", "saw a dog with fleas and ticks"),
        (".", "."),
    ]


def test_spans_that_are_no_constituents() -> None:
    doc = doc_of(TREE)
    part = doc[3:6]  # saw a dog
    assert part._.constituent_labels == part._.constituent_children == ()
    assert part._.constituent_siblings == ()
    assert shown([part._.constituent_parent]) == [("VP", "saw a dog with fleas and ticks")]
    untouched = Doc(NLP.vocab, words=["Hello", "you"])
    assert untouched[:]._.constituent_parent is None
    assert untouched[:1]._.constituent_labels == ()


def test_unary_chains_and_words() -> None:
    doc = doc_of("(TOP (S (VP (VB Go))))")
    s, vp = doc.spans["constituents"]
    assert doc[:]._.constituent_labels == ("S", "VP")
    assert shown([vp._.constituent_parent]) == [("S", "Go")]
    assert shown(s._.constituent_children) == [("VP", "Go")]
    word = vp._.constituent_children[0]
    assert shown([word, word._.constituent_parent]) == [("VB", "Go"), ("VP", "Go")]
    assert word._.constituent_children == ()


def test_whitespace_counts_for_nothing() -> None:
    doc = Doc(NLP.vocab, words=["They", "\n", "sat", " "], tags=["PRP", "_SP", "VBD", "_SP"])
    set_constituents(doc, [(0, 3, "S"), (0, 1, "NP"), (2, 3, "VP")])
    assert doc[:]._.constituent_labels == ("S",)
    assert shown(doc[:]._.constituent_children) == [("NP", "They"), ("VP", "sat")]
    assert doc[1:2]._.constituent_parent is None


def random_tree(chance: random.Random, words: list[str]) -> ConstituentTree:
    if len(words) == 1:
        word = ConstituentTree("t", word=words[0])
        return word if chance.random() < 0.5 else ConstituentTree(chance.choice("AB"), [word])
    cut = chance.randrange(1, len(words))
    halves = [random_tree(chance, words[:cut]), random_tree(chance, words[cut:])]
    children = [
        child for half in halves for child in (half.children if half.label == "A" else [half])
    ]
    return ConstituentTree(chance.choice("ABC"), children)


def parents_of(tree: ConstituentTree) -> list[int]:
    """The place in preorder of each node's parent, -1 of the root."""
    above: list[int] = []
    stack = [(-1, tree)]
    while stack:
        parent, node = stack.pop()
        stack.extend((len(above), child) for child in reversed(node.children))
        above.append(parent)
    return above


def test_all_nodes_of_random_trees() -> None:
    """Parents and children of Spans are those of the tree's nodes."""
    chance = random.Random(0)
    for _ in range(60):
        tree = ConstituentTree(
            "TOP", [random_tree(chance, [f"w{i}" for i in range(chance.randrange(1, 12))])]
        )
        doc = doc_of(str(tree))
        nodes, parents = list(tree.preorder()), parents_of(tree)
        starts = list(range(len(nodes)))
        position = 0
        for k, node in enumerate(nodes):
            starts[k] = position
            position += node.word is not None
        spans = [
            Span(doc, start, start + len(node.leaves), node.label)
            for start, node in zip(starts, nodes, strict=True)
        ]
        for k in range(1, len(nodes)):
            twins = [s for s in spans[1:] if (s.start, s.end, s.label) == _key(spans[k])]
            if len(twins) > 1:
                continue  # a chain with equal labels: spans can't be told apart
            above = spans[k]._.constituent_parent
            assert above is None if parents[k] == 0 else _key(above) == _key(spans[parents[k]])
            below = [spans[j] for j in range(len(nodes)) if parents[j] == k]
            assert list(map(_key, spans[k]._.constituent_children)) == list(map(_key, below))


def _key(span: Span) -> tuple[int, int, int]:
    return span.start, span.end, span.label


def test_loops_read_the_group_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = phrases._NODES._read
    monkeypatch.setattr(phrases._NODES, "_read", lambda group: reads.append(1) or read(group))
    doc = doc_of(TREE)
    for span in doc.spans["constituents"]:
        for child in span._.constituent_children:
            assert child._.constituent_parent.text == span.text
    assert len(reads) == 1


def test_edits_are_noticed() -> None:
    doc = doc_of(TREE)
    assert doc[4:6]._.constituent_labels == ("NP",)
    set_constituents(doc, [(0, 11, "S"), (4, 6, "X")])
    assert doc[4:6]._.constituent_labels == ("X",)
    doc.spans["constituents"][1] = Span(doc, 4, 6, "Y")
    assert doc[4:6]._.constituent_labels == ("Y",)
    doc.spans["constituents"][1] = Span(doc, 4, 6, "Z")
    assert shown(doc[:]._.constituent_children)[4] == ("Z", "a dog")


def test_phrases() -> None:
    doc = doc_of(TREE)
    assert [span.text for span in doc._.phrases("NP")] == [
        "Ann 's cat",
        "a dog with fleas and ticks",
    ]
    assert [span.text for span in doc._.phrases("NP", kind="base")] == [
        *("Ann 's cat", "a dog", "fleas", "ticks"),
    ]
    assert [span.text for span in doc._.phrases("PP", "base")] == ["with fleas and ticks"]
    assert doc._.phrases("nothing") == []
    with pytest.raises(ValueError, match="unknown kind of phrases 'all'"):
        doc._.phrases("NP", kind="all")


def test_phrases_of_other_treebanks() -> None:
    doc = doc_of("(TOP (SENT (NP (DET le) (NC chat) (Srel (NP (PROREL qui)) (VN (V dort))))))")
    assert [span.text for span in doc._.phrases("NP")] == ["le chat qui dort"]
    assert [span.text for span in doc._.phrases("NP", kind="base")] == ["qui"]


def test_heads() -> None:
    doc = doc_of(TREE)
    heads = {span.text: span._.constituent_head.text for span in doc.spans["constituents"]}
    assert heads["a dog with fleas and ticks"] == "dog"
    assert heads["with fleas and ticks"] == "fleas"
    assert heads["Ann 's cat"] == "cat"
    assert heads[doc.text.strip()] == "saw"
    assert doc[3:6]._.constituent_head is None
    assert doc[3:4]._.constituent_head.text == "saw"
    for i, head in enumerate([2, 0, 3, 3, 5, 3, 7, 5, 7, 9, 9, 3][: len(doc)]):
        doc[i].head = doc[head]
    for token in doc:
        token.dep_ = "dep"
    assert doc[4:10]._.constituent_head.text == doc[4:10].root.text
