"""A sentence with everything on it, through a DocBin and back."""

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_lal.annotations import (
    FrameSpans,
    constituent_tree,
    get_constituents,
    get_frames,
)
from spacy_lal.formats.treebank_sentence import (
    TreebankSentence,
    language_vocab,
    to_doc,
    tree_fault,
    write_docs,
)

# Non-projective: "today" hangs on "about"'s side of "talk". Unary chains: NP over NP, S over VP.
SENTENCE = TreebankSentence(
    words=["Talks", "begin", "today", "about", "tea", "(", "!", ")"],
    spaces=[True, True, True, True, True, False, False, True],
    tags=["NNS", "VBP", "NN", "IN", "NN", "-LRB-", ".", "-RRB-"],
    pos=["NOUN", "VERB", "NOUN", "ADP", "NOUN", "PUNCT", "PUNCT", "PUNCT"],
    lemmas=["talk", "begin", "today", "about", "tea", "(", "!", ")"],
    morphs=["Number=Plur", "Mood=Ind|Tense=Pres", "", "", "", "", "", ""],
    heads=[1, 1, 1, 4, 0, 1, 5, 5],
    deps=["nsubj", "root", "obl:tmod", "case", "nmod", "punct", "punct", "punct"],
    constituents=[
        (0, 8, "S"),
        (0, 1, "NP"),
        (0, 1, "NP"),
        (1, 5, "VP"),
        (2, 3, "NP"),
        (3, 5, "PP"),
    ],
    frames=[
        FrameSpans(0, "talk.01", [(0, 1, "V"), (3, 5, "ARG1")]),
        FrameSpans(1, "begin.01", [(0, 1, "ARG1"), (1, 2, "V"), (2, 3, "ARGM-TMP")]),
    ],
    id="tea-1",
)
BARE = TreebankSentence(words=["Tea", "?"], tags=["NN", "."], constituents=[], frames=[])


@pytest.fixture
def docs(tmp_path):
    path = tmp_path / "deep" / "tea.spacy"
    write_docs([SENTENCE, BARE], path, "en")
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def test_everything_comes_back(docs):
    doc, _ = docs
    assert doc.text == "Talks begin today about tea (!) "
    assert [token.text for token in doc] == SENTENCE.words
    assert [bool(token.whitespace_) for token in doc] == SENTENCE.spaces
    assert [token.tag_ for token in doc] == SENTENCE.tags
    assert [token.pos_ for token in doc] == SENTENCE.pos
    assert [token.lemma_ for token in doc] == SENTENCE.lemmas
    assert [str(token.morph) for token in doc] == SENTENCE.morphs
    assert [token.head.i for token in doc] == SENTENCE.heads
    assert [token.dep_ for token in doc] == ["nsubj", "ROOT", *SENTENCE.deps[2:]]
    assert [token.is_sent_start for token in doc] == [True, *[False] * 7]
    assert get_constituents(doc) == SENTENCE.constituents
    assert [
        FrameSpans(
            frame.predicate.i,
            frame.roleset,
            sorted(
                [(frame.predicate.i, frame.predicate.i + 1, "V")]
                + [(span.start, span.end, span.label_) for span in frame.arguments]
            ),
        )
        for frame in get_frames(doc)
    ] == SENTENCE.frames
    assert doc.user_data["sent_id"] == "tea-1"
    assert str(constituent_tree(doc[:])) == (
        "(TOP (S (NP (NP (NNS Talks))) (VP (VBP begin) (NP (NN today))"
        " (PP (IN about) (NN tea))) (-LRB- -LRB-) (. !) (-RRB- -RRB-)))"
    )


def test_what_is_annotated_is_told_from_what_is_not(docs):
    _, bare = docs
    assert set(bare.spans) == {"constituents", "srl"}
    assert not bare.has_annotation("DEP")
    assert [token.is_sent_start for token in bare] == [True, False]
    assert set(to_doc(TreebankSentence(words=["Tea"]), Vocab()).spans) == set()


def test_heads_must_be_one_tree():
    with pytest.raises(ValueError, match="sentence tea-2: 2 roots"):
        to_doc(TreebankSentence(words=["a", "b"], heads=[0, 1], id="tea-2"), Vocab())


@pytest.mark.parametrize(
    ("heads", "fault"),
    [
        ([0], ""),
        ([1, 1, 1], ""),
        ([1, 2, 3, 3], ""),
        ([3, 0, 1, 3], ""),
        ([], "0 roots"),
        ([0, 1], "2 roots"),
        ([0, 2, 1], "a cycle in the dependency tree at word 2"),
        ([0, 2, 3, 1, 2], "a cycle"),
    ],
)
def test_tree_fault(heads, fault):
    found = tree_fault(heads)
    assert found.startswith(fault)
    assert bool(found) == bool(fault)


def test_a_long_chain_of_heads():
    assert tree_fault([0, *range(20_000)]) == ""
    assert tree_fault([*range(1, 20_000), 19_999]) == ""


def test_vocabularies_know_their_language():
    assert language_vocab("en").lang == "en"
    with pytest.raises(ImportError, match="E048"):
        language_vocab("qq")
