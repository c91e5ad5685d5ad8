"""The shipped pipeline on a base-size encoder, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.util import get_model_meta, get_package_path

pytest.importorskip("en_lal_lg", reason="pip install ./packages/en_lal_lg")

TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "I can't believe it's not butter! Who told you that?",
    "NEW YORK (AP) -- Shares fell 3.5% on Monday, the exchange said.\n\nlol :-) see http://x.yz",
    "",
    "Why?",
    "Fruit flies like a banana, but time flies like an arrow that nobody shot.",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load("en_lal_lg")


def test_passives_of_give(nlp: Language) -> None:
    doc = nlp("He was sent a letter by his sister, and they elected her president. Who cares?")
    assert [sentence.text for sentence in doc.sents][-1] == "Who cares?"
    assert str(doc._.trees[1]) == "(TOP (SBARQ (WHNP (WP Who)) (SQ (VP (VBZ cares))) (. ?)))"
    heads = {token.text: (token.dep_, token.head.text) for token in doc}
    assert heads["He"] == ("nsubj:pass", "sent")
    found = {frame.predicate.text: frame for frame in doc._.frames}
    roles = {span.label_: span.text for span in found["sent"].arguments}
    assert (roles["ARG2"], roles["ARG1"]) == ("He", "a letter")


def test_a_text_has_the_same_parses_in_any_company(nlp: Language) -> None:
    together = [str(doc._.trees) for doc in nlp.pipe(TEXTS, batch_size=4)]
    assert together == [str(nlp(text)._.trees) for text in TEXTS]


def test_trees_and_heads_agree(nlp: Language) -> None:
    """A phrase has one word whose head is outside of it, unless it is a probable small clause."""
    small = nlp("She made the children laugh.")
    assert ("the children laugh", "S") in [(s.text, s.label_) for s in small.spans["constituents"]]
    assert [small[i].head.text for i in (3, 4)] == ["made", "made"]
    for doc in nlp.pipe(TEXTS):
        group = doc.spans["constituents"]
        for span, score in zip(group, group.attrs["scores"], strict=True):
            outside = [t for t in span if not span.start <= t.head.i < span.end or t.head == t]
            words = [t for t in outside if not t.is_space]
            assert len(words) == 1 or score > 0.7, span


def test_meta_says_what_it_was_trained_on(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert any("mpnet" in source["name"] for source in nlp.meta["sources"])
    smaller = get_model_meta(get_package_path("en_lal_md"))["performance"]
    for name in ("const_evalb_f", "tag_acc", "conll18_las", "srl_f"):
        assert nlp.meta["performance"][name] > smaller[name]


def test_files_are_small_enough_for_a_repository(nlp: Language) -> None:
    sizes = [path.stat().st_size for path in Path(nlp.path).rglob("*") if path.is_file()]
    assert max(sizes) < 95_000_000
    assert sum(sizes) < 136_000_000
