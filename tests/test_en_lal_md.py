"""The shipped pipeline on a pretrained encoder, as a user meets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import get_model_meta, get_package_path

pytest.importorskip("en_lal_md", reason="pip install ./packages/en_lal_md")

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "I can't believe it's not butter! Who told you that?",
    "NEW YORK (AP) -- Shares fell 3.5% on Monday, the exchange said.\n\nlol :-) see http://x.yz",
    "",
    "\n",
    "Why?",
    "word " * 530,
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load("en_lal_md")


def layers(doc: Doc) -> list[object]:
    """All that it says of a text."""
    return [
        [str(tree) for tree in doc._.trees],
        [(token.tag_, token.dep_, token.head.i) for token in doc],
        [str(frame) for frame in doc._.frames],
    ]


def test_one_text_with_everything(nlp: Language) -> None:
    doc = nlp("Mary gave the old book to her brother, and he didn't read it. Who cares?")
    assert [sentence.text for sentence in doc.sents][-1] == "Who cares?"
    tree = str(doc._.trees[1])
    assert tree == "(TOP (SBARQ (WHNP (WP Who)) (SQ (VP (VBZ cares))) (. ?)))"
    heads = {token.text: (token.dep_, token.head.text) for token in doc}
    assert heads["Mary"] == ("nsubj", "gave")
    assert heads["book"] == ("obj", "gave")
    assert heads["read"] == ("conj", "gave")
    found = {frame.predicate.text: frame for frame in doc._.frames}
    roles = {span.label_: span.text for span in found["gave"].arguments}
    assert (roles["ARG0"], roles["ARG1"]) == ("Mary", "the old book")
    roles = {span.label_: span.text for span in found["read"].arguments}
    assert (roles["ARG0"], roles["ARG1"], roles["ARGM-NEG"]) == ("he", "it", "n't")


def test_a_sentence_as_a_doc_of_its_own(nlp: Language) -> None:
    doc = nlp("Who cares? I do.")
    assert [sentence.as_doc().text.strip() for sentence in doc.sents] == ["Who cares?", "I do."]
    assert not doc[0].has_vector


def test_a_text_has_the_same_parses_in_any_company(nlp: Language) -> None:
    alone = [layers(nlp(text)) for text in TEXTS]
    assert [layers(doc) for doc in nlp.pipe(TEXTS, batch_size=3)] == alone


def test_the_encoder_leaves_nothing_behind(nlp: Language) -> None:
    doc = nlp(TEXTS[0])
    assert doc.tensor is None or not doc.tensor.size


def test_sentences_of_others_are_kept(nlp: Language) -> None:
    words = ["Who", "told", "you", "that", "?", "Why", "?"]
    starts = [True, False, False, False, False, False, False]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
    assert len(list(doc.sents)) == 1


def test_a_component_leaves_with_copies_of_the_encoders() -> None:
    whole = spacy.load("en_lal_md", exclude=["lisa_srl"])
    starts = [[token.is_sent_start for token in whole(text)] for text in TEXTS[:3]]

    def docs() -> Iterator[Doc]:
        # the encoder reads a Doc with sentences sentence by sentence
        for text, flags in zip(TEXTS[:3], starts, strict=True):
            doc = whole.make_doc(text)
            for token, start in zip(doc, flags, strict=True):
                token.is_sent_start = start
            yield doc

    before = [layers(whole(doc))[1] for doc in docs()]
    whole.replace_listeners("tok2vec", "lal_tok2vec", ["model.tok2vec.encoder"])
    whole.replace_listeners("lal_tok2vec", "lal_constituency", ["model.tok2vec"])
    other = spacy.blank("en")
    other.tokenizer = whole.tokenizer
    other.add_pipe("lal_constituency", source=whole)
    assert [layers(other(doc))[1] for doc in docs()] == before


def test_roles_can_stay_away(nlp: Language) -> None:
    """Then heads are those of the joint decode; constituents are the same."""
    heads = spacy.load("en_lal_md", exclude=["lisa_srl"])
    joint = spacy.load("en_lal_md", config={"components.lisa_srl.overwrite_parser": None})
    for text in TEXTS[:3]:
        ours, theirs = heads(text), nlp(text)
        assert layers(ours)[1] == layers(joint(text))[1]
        spans = [
            [(s.start, s.end, s.label_) for s in doc.spans["constituents"]]
            for doc in (ours, theirs)
        ]
        assert spans[0] == spans[1]


def test_meta_says_what_it_was_trained_on(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert any("MiniLM" in source["name"] for source in nlp.meta["sources"])
    small = get_model_meta(get_package_path("en_lal_sm"))["performance"]
    for name in ("const_evalb_f", "tag_acc", "conll18_las", "srl_f"):
        assert nlp.meta["performance"][name] > small[name]


def test_it_says_nothing_of_the_machine_it_was_made_on(nlp: Language) -> None:
    for path in (path for path in Path(nlp.path).rglob("*") if path.is_file()):
        assert b"/tmp/" not in path.read_bytes()[:5000], path


def test_weights_are_small(nlp: Language) -> None:
    files = [path for path in Path(nlp.path).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 60_000_000
