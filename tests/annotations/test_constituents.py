"""Trees and heads on Docs, against hand-worked sentences, and what survives serialisation."""

import numpy
import pytest
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_lal.annotations import (
    constituent_tree,
    get_constituents,
    install_extensions,
    sentence_trees,
    set_constituents,
    set_dependencies,
)
from spacy_lal.formats.treebank_sentence import language_vocab

from ..carriers import CARRIERS

VOCAB = language_vocab("en")

CAT = [(0, 4, "S"), (0, 2, "NP"), (0, 2, "NP"), (2, 3, "VP")]
CAT_TREE = "(TOP (S (NP (NP (DT The) (NN cat))) (VP (VBD slept)) (. .)))"


@pytest.fixture
def cat():
    doc = Doc(Vocab(), words=["The", "cat", "slept", "."], tags=["DT", "NN", "VBD", "."])
    set_constituents(doc, CAT, [0.5, 0.75, 1.0, None])
    return doc


@pytest.fixture
def two():
    """Two sentences, of which only the first has phrases, around a whitespace token."""
    doc = Doc(
        VOCAB,
        words=["Go", "home", "\n\n", "Now", "!"],
        spaces=[True, False, False, False, False],
        pos=["VERB", "ADV", "SPACE", "", ""],
        sent_starts=[True, False, False, True, False],
    )
    set_constituents(doc, [(0, 3, "S"), (0, 3, "VP"), (1, 3, "ADVP")])
    return doc


# Trees


def test_constituents_are_spans_in_preorder(cat):
    group = cat.spans["constituents"]
    assert [(span.start, span.end, span.label_) for span in group] == CAT
    assert group.attrs["scores"] == [0.5, 0.75, 1.0, None]
    assert get_constituents(cat) == CAT


def test_whitespace_in_a_vocabulary_without_a_language(two):
    again = Doc(Vocab()).from_bytes(two.to_bytes())
    assert [str(tree) for tree in again._.trees] == [str(tree) for tree in two._.trees]
    assert not again[2].is_space  # spaCy doesn't know there


def test_other_keys(cat):
    set_constituents(cat, [(0, 4, "X")], key="other")
    assert get_constituents(cat, "other") == [(0, 4, "X")]
    assert get_constituents(cat) == CAT
    assert get_constituents(cat, "none") == []
    assert str(constituent_tree(cat[:], key="other")).startswith("(TOP (X (DT The)")


def test_scores_must_match(cat):
    with pytest.raises(
        ValueError, match=r"spans\['constituents'\] needs one score.*1 scores for 2 spans"
    ):
        set_constituents(cat, CAT[:2], [0.5])


def test_order_is_restored(cat):
    cat.spans["constituents"] = [
        Span(cat, 2, 3, label="VP"),
        Span(cat, 0, 2, label="NP"),
        Span(cat, 0, 4, label="S"),
        Span(cat, 0, 2, label="NX"),
    ]
    assert get_constituents(cat) == [(0, 4, "S"), (0, 2, "NP"), (0, 2, "NX"), (2, 3, "VP")]


def test_tree_of_a_sentence(cat):
    assert str(constituent_tree(cat[:])) == CAT_TREE
    assert list(map(str, sentence_trees(cat))) == [CAT_TREE]


def test_tree_of_a_part_is_the_topmost_phrase_over_it(cat):
    assert str(constituent_tree(cat[0:2])) == "(NP (NP (DT The) (NN cat)))"
    assert str(constituent_tree(cat[2:3])) == "(VP (VBD slept))"
    assert constituent_tree(cat[0:1]) is None
    assert constituent_tree(cat[1:3]) is None
    assert constituent_tree(cat[1:1]) is None


def test_several_children_under_the_root(cat):
    set_constituents(cat, CAT[1:])
    assert str(constituent_tree(cat[:])) == CAT_TREE.replace("(S ", "")[:-1]


def test_no_phrases(cat):
    del cat.spans["constituents"]
    assert str(constituent_tree(cat[:])) == "(TOP (DT The) (NN cat) (VBD slept) (. .))"
    assert constituent_tree(cat[0:2]) is None


def test_sentences_and_whitespace(two):
    first, second = sentence_trees(two)
    assert str(first) == "(TOP (S (VP (VERB Go) (ADVP (ADV home)))))"
    assert str(second) == "(TOP (XX Now) (XX !))"
    assert constituent_tree(two[0:3]) == constituent_tree(two[0:2]) == first
    assert str(constituent_tree(two[1:2])) == "(ADVP (ADV home))"
    assert str(constituent_tree(two[1:3])) == "(ADVP (ADV home))"
    assert constituent_tree(two[2:3]) is None
    assert constituent_tree(two[0:5]) is None
    assert constituent_tree(two[1:4]) is None


def test_whitespace_alone():
    doc = Doc(VOCAB, words=[" ", "a", " "], spaces=[False] * 3)
    set_constituents(doc, [(0, 1, "X"), (1, 3, "Y")])
    assert str(constituent_tree(doc[:])) == "(TOP (Y (XX a)))"
    doc = Doc(VOCAB, words=["\n"], spaces=[False])
    assert list(map(str, sentence_trees(doc))) == ["(TOP)"]
    assert sentence_trees(Doc(VOCAB)) == []


def test_crossing_phrases_are_an_error(cat):
    set_constituents(cat, [(0, 2, "X"), (1, 3, "Y")])
    with pytest.raises(ValueError, match=r"\(0, 2, 'X'\) and \(1, 3, 'Y'\) cross"):
        constituent_tree(cat[:])


# Probabilities


def log_probs(doc):
    return [tree.log_prob for tree in sentence_trees(doc)]


def test_log_probs_of_sentences(two):
    set_constituents(two, [(0, 2, "S")], [0.5], [(0, 2, -1.5), (3, 5, -0.25)])
    # whitespace at a sentence's end is part of it, or not
    assert log_probs(two) == [-1.5, -0.25]
    assert constituent_tree(two[0:2]).log_prob == -1.5
    assert constituent_tree(two[3:5]).log_prob == -0.25
    assert two.spans["constituents"].attrs == {
        "scores": [0.5],
        "log_probs": [[0, 2, -1.5], [3, 5, -0.25]],
    }
    set_constituents(two, [(0, 2, "S")])
    assert log_probs(two) == [None, None]
    assert two.spans["constituents"].attrs == {"scores": [None]}


def test_log_probs_are_of_a_key(two):
    set_constituents(two, [], [], [(0, 3, -1.0), (3, 5, -2.0)], key="other")
    assert log_probs(two) == [None, None]
    assert [tree.log_prob for tree in sentence_trees(two, "other")] == [-1.0, -2.0]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([(0, 1, -1.0), (1, 4, -2.0)], -3.0),
        ([(0, 4, -1.0)], -1.0),
        ([(0, 2, -1.0)], None),
        ([(2, 4, -1.0)], None),
        ([(0, 1, -1.0), (2, 4, -1.0)], None),
        ([(0, 5, -1.0)], None),
        ([], None),
    ],
)
def test_pieces_of_a_sentence_cover_it(cat, entries, expected):
    set_constituents(cat, CAT, None, entries)
    assert log_probs(cat) == [expected]


def test_phrases_have_no_log_prob(cat):
    set_constituents(cat, CAT, None, [(0, 4, -1.0)])
    assert constituent_tree(cat[0:2]).log_prob is None


# Dependencies


def words_doc(n, **settings):
    return Doc(VOCAB, words=["w"] * n, **settings)


def starts(doc):
    return [sentence.start for sentence in doc.sents]


def test_heads_and_relations():
    doc = words_doc(5)
    set_dependencies(doc, [1, 1, 1, 4, 4], ["det", "ROOT", "", "dep", "ROOT"])
    assert [token.dep_ for token in doc] == ["det", "ROOT", "", "dep", "ROOT"]
    # spaCy says of a token without relation that it has no head
    assert [token.head.i for token in doc] == [1, 1, 2, 4, 4]
    assert starts(doc) == [0, 3]
    assert [token.i for token in doc[1].subtree] == [0, 1, 2]


def test_sentences_become_those_of_the_trees():
    doc = words_doc(4, sent_starts=[True, False, True, False])
    set_dependencies(doc, [0, 0, 1, 3], ["ROOT", "dep", "dep", "ROOT"])
    assert starts(doc) == [0, 3]
    set_dependencies(doc, [1, 1, 1, 1], ["dep", "ROOT", "dep", "dep"])
    assert starts(doc) == [0]


def test_heads_of_an_empty_doc():
    set_dependencies(words_doc(0), [], [])


@pytest.mark.parametrize(
    ("heads", "relations", "message"),
    [
        ([0, 0], ["ROOT", "dep"], r"heads \[0, 0\] and 2 relations"),
        ([0, 0, 0], ["ROOT", "dep"], r"heads \[0, 0, 0\] and 2 relations"),
        ([0, 0, 3], ["ROOT", "dep", "dep"], "3 tokens needs a head, from 0 to 2"),
        ([0, -1, 0], ["ROOT", "dep", "dep"], "3 tokens needs a head, from 0 to 2"),
    ],
)
def test_heads_that_do_not_fit(heads, relations, message):
    doc = words_doc(3)
    with pytest.raises(ValueError, match=message):
        set_dependencies(doc, heads, relations)
    assert not doc.has_annotation("DEP")


@pytest.mark.parametrize("seed", range(12))
def test_sentences_of_trees_beyond_all_languages(seed):
    """Chains that jump about in sentences of up to 120 words, most of which spaCy cuts apart."""
    random = numpy.random.default_rng(seed)
    heads, relations, begins = [], [], []
    for n in (90, 1, 120):
        order = (len(heads) + random.permutation(n)).tolist()
        begins.append(len(heads))
        chain = dict(zip(order, [order[0], *order], strict=False))
        heads += [chain[word] for word in sorted(order)]
        relations += ["ROOT" if chain[word] == word else "dep" for word in sorted(order)]
    doc = words_doc(len(heads))
    set_dependencies(doc, heads, relations)
    (read,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(VOCAB)
    for each in (doc, read, Doc(VOCAB).from_bytes(doc.to_bytes()), doc.copy()):
        assert starts(each) == begins
        changed = [token.i for token in each if token.head.i != heads[token.i]]
        assert set(changed) <= set(begins)
        assert [token.dep_ for token in each] == relations
        for token in changed:
            assert each[token].head.dep_ == "ROOT"


def test_trees_of_any_shape_are_written_as_they_are():
    random = numpy.random.default_rng(0)
    for n in (2, 7, 30):
        order = random.permutation(n)
        heads = [0] * n
        heads[order[0]] = int(order[0])
        for k in range(1, n):
            heads[order[k]] = int(order[random.integers(k)])
        doc = words_doc(n)
        set_dependencies(doc, heads, ["dep"] * n)
        assert [token.head.i for token in doc] == heads
        assert starts(doc) == [0]


# Carrying


@pytest.mark.parametrize("carry", CARRIERS)
def test_results_survive(carry, cat):
    cat = carry(cat)
    assert get_constituents(cat) == CAT
    assert cat.spans["constituents"].attrs["scores"] == [0.5, 0.75, 1.0, None]
    assert str(constituent_tree(cat[:])) == CAT_TREE


@pytest.mark.parametrize("carry", CARRIERS)
def test_log_probs_survive(carry, cat):
    set_constituents(cat, CAT, None, [(0, 3, -1.0), (3, 4, -0.5)])
    assert log_probs(carry(cat)) == [-1.5]


@pytest.mark.parametrize("carry", CARRIERS)
def test_annotated_without_results_is_not_unannotated(carry, cat):
    set_constituents(cat, [])
    cat = carry(cat)
    assert "constituents" in cat.spans
    assert "srl" not in cat.spans


def test_trees_of_docs_put_together(cat):
    cat[0].is_sent_start = True
    for token in cat[1:]:
        token.is_sent_start = False
    set_constituents(cat, CAT, None, [(0, 4, -1.0)])
    both = Doc.from_docs([cat, cat])
    assert list(map(str, sentence_trees(both))) == [CAT_TREE] * 2
    assert log_probs(both) == [None, None]


# Extensions


def test_extensions(cat):
    install_extensions()
    install_extensions()
    assert list(map(str, cat._.trees)) == [CAT_TREE]
    assert str(cat[0:2]._.tree) == "(NP (NP (DT The) (NN cat)))"
    assert cat[1:3]._.tree is None
    assert cat.user_data == {}


def test_names_already_taken_stay():
    install_extensions()
    mine = Doc.remove_extension("frames")
    try:
        Doc.set_extension("frames", default="taken")
        install_extensions()
        assert Doc(Vocab())._.frames == "taken"
    finally:
        Doc.set_extension("frames", getter=mine[2], force=True)
