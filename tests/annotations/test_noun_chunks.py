"""`doc.noun_chunks` of Universal Dependencies."""

import pickle

import pytest
import spacy
from spacy.lang.en.syntax_iterators import noun_chunks as spacys_noun_chunks
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lal.annotations import install_noun_chunks, set_dependencies

from .sentences import doc_of


@pytest.fixture
def vocab() -> Vocab:
    vocab = spacy.blank("en").vocab
    install_noun_chunks(vocab)
    return vocab


LINES = """
    In      IN  3 case
    the     DT  3 det
    town    NN  9 obl
    Angela  NNP 9 nsubj
    Merkel  NNP 4 flat
    and     CC  8 cc
    her     PRP$ 8 nmod:poss
    sister  NN  4 conj
    met     VBD 0 ROOT
    Ann     NNP 12 nmod:poss
    's      POS 10 case
    cats    NNS 9 obj
    who     WP  14 nsubj
    sleep   VBP 12 acl:relcl
    .       .   9 punct
"""


def test_chunks_are_nouns_with_what_stands_before_them(vocab: Vocab) -> None:
    doc = doc_of(LINES, vocab=vocab)
    assert [(chunk.text, chunk.root.text, chunk.label_) for chunk in doc.noun_chunks] == [
        *(("the town", "town", "NP"), ("Angela Merkel", "Angela", "NP")),
        *(("her sister", "sister", "NP"), ("Ann 's cats", "cats", "NP"), ("who", "who", "NP")),
    ]
    assert [chunk.text for chunk in doc[1:5].noun_chunks] == ["the town", "Angela Merkel"]


def test_a_predicate_has_no_subject_in_its_chunk(vocab: Vocab) -> None:
    doc = doc_of(
        "She PRP 4 nsubj\nis VBZ 4 cop\na DT 4 det\ndoctor NN 0 ROOT\n. . 4 punct", vocab=vocab
    )
    assert [chunk.text for chunk in doc.noun_chunks] == ["She", "a doctor"]


def test_existential_there_is_no_chunk(vocab: Vocab) -> None:
    doc = doc_of("There EX 2 expl\nis VBZ 0 ROOT\ntea NN 2 nsubj", vocab=vocab)
    assert [str(chunk) for chunk in doc.noun_chunks] == ["tea"]


def test_spacys_own_relations_are_left_to_spacy(vocab: Vocab) -> None:
    doc = doc_of("They PRP 2 nsubj\nsaw VBD 0 ROOT\nblack JJ 4 amod\ncats NNS 2 dobj", vocab=vocab)
    for token, pos in zip(doc, ("PRON", "VERB", "ADJ", "NOUN"), strict=True):
        token.pos_ = pos
    assert list(doc.noun_chunks_iterator(doc)) == list(spacys_noun_chunks(doc))
    assert [chunk.text for chunk in doc.noun_chunks] == ["They", "black cats"]


def test_pos_without_tags(vocab: Vocab) -> None:
    doc = doc_of("They _ 2 nsubj\nsaw _ 0 ROOT\nblack _ 4 amod\ncats _ 2 obj", vocab=vocab)
    for token, pos in zip(doc, ("PRON", "VERB", "ADJ", "NOUN"), strict=True):
        token.tag_, token.pos_ = "", pos
    assert [chunk.text for chunk in doc.noun_chunks] == ["They", "black cats"]


def test_only_spacys_rule_for_english_is_replaced() -> None:
    french = spacy.blank("fr").vocab
    before = french.get_noun_chunks
    install_noun_chunks(french)
    assert french.get_noun_chunks is before


def test_docs_that_are_given_heads() -> None:
    """A component may come from a pipeline with another vocabulary."""
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["She", "saw", "the", "cats"], tags=["PRP", "VBD", "DT", "NNS"])
    set_dependencies(doc, [1, 1, 3, 1], ["nsubj", "ROOT", "det", "obj"])
    assert [chunk.text for chunk in doc.noun_chunks] == ["She", "the cats"]
    assert Doc(vocab).noun_chunks_iterator is doc.noun_chunks_iterator


def test_without_heads_and_pickled(vocab: Vocab) -> None:
    with pytest.raises(ValueError, match="E029"):
        list(Doc(vocab, words=["cats"]).noun_chunks)
    again = pickle.loads(pickle.dumps(doc_of(LINES, vocab=vocab)))
    assert "the town" in [chunk.text for chunk in again.noun_chunks]
