"""Words in the Penn Treebank's escapes are read as the words that they stand for."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.attrs import DEP, HEAD, SENT_START, TAG
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup
from spacy.training import Example

from spacy_lal.annotations.escapes import plain_doc
from spacy_lal.batching.sentences import Reading
from spacy_lal.bridge.shim import torch_shims
from tests.tiny_transformers import write_bert

from . import toy_shared
from .contract import CASES, annotations
from .toy import TINY

ESCAPED = [
    "The clerk -LRB- an old man -RRB- slept .",
    "Two boys -LRB- or three -RRB- ran . She left .",
    "See -LSB- 3 -RSB- for details . `` No ! '' -LCB- he -RCB- said .",
    r"The win\/loss ratio was 1 1\/2 \* 3 for Bolt-LRB-r-RRB- ; `` Who ? '' asked the man .",
]
PLAIN = [
    "The clerk ( an old man ) slept .",
    "Two boys ( or three ) ran . She left .",
    'See [ 3 ] for details . " No ! " { he } said .',
    'The win/loss ratio was 1 1/2 * 3 for Bolt(r) ; " Who ? " asked the man .',
]
SHIPPED = ["en_lal_sm", "en_lal_md", "en_lal_bio_sm", "en_lal_ged_md"]


def found(nlp: Language, texts: list[str]) -> list[dict[str, Any]]:
    """All that a pipeline writes to given words, but the words."""
    docs = list(nlp.pipe([Doc(nlp.vocab, words=text.split()) for text in texts]))
    for doc, text in zip(docs, texts, strict=True):
        assert [token.text for token in doc] == text.split()
    written = [annotations(doc) for doc in docs]
    return [{**w, "tokens": [token[1:] for token in w["tokens"]]} for w in written]


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped(name: str) -> None:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    nlp = spacy.load(name)
    expected = found(nlp, PLAIN)
    assert found(nlp, ESCAPED) == expected
    # several lists of words in one Doc, in other processes and without other components
    assert found(nlp, [" ".join(ESCAPED)]) == found(nlp, [" ".join(PLAIN)])
    again = pickle.loads(pickle.dumps(nlp))
    assert found(again, ESCAPED) == expected


def test_trees_keep_the_words() -> None:
    pytest.importorskip("en_lal_sm", reason="pip install ./packages/en_lal_sm")
    nlp = spacy.load("en_lal_sm")
    doc = nlp(Doc(nlp.vocab, words=["``", "Stop", "-LCB-", "now", "-RCB-", "!", "''"]))
    words = re.findall(r"([^ ()]+)[)]", " ".join(map(str, doc._.trees)))
    assert words == ["``", "Stop", "-LCB-", "now", "-RCB-", "!", "''"]


def test_sentences_by_rule() -> None:
    vocab = spacy.blank("en").vocab
    starts = [
        [sentence.start for sentence in Reading().split([Doc(vocab, words=text.split())])]
        for texts in zip(ESCAPED, PLAIN, strict=True)
        for text in texts
    ]
    assert starts[::2] == starts[1::2]
    assert starts[2] == [0, 8]
    words = ["He", "left", ".", "-LSB-", "She", "stayed", ".", "-RSB-", "They", "came", "."]
    assert [s.start for s in Reading().split([Doc(vocab, words=words)])] == [0, 3, 8]
    # pieces of a long sentence end at the same places
    reading = Reading("doc", max_sentence_length=4)
    for texts in zip(ESCAPED, PLAIN, strict=True):
        one, other = (reading.split([Doc(vocab, words=text.split())]) for text in texts)
        assert [s.end for s in one] == [s.end for s in other]


def respelled(doc: Doc, words: dict[str, str]) -> Doc:
    """A Doc with other words and the same annotation."""
    new = Doc(doc.vocab, words=[words.get(token.text, token.text) for token in doc])
    layers: Any = [TAG, HEAD, DEP] if doc.has_annotation("DEP") else [TAG, SENT_START]
    new.from_array(layers, doc.to_array(layers))
    for key, group in doc.spans.items():
        spans = [Span(new, s.start, s.end, s.label_, span_id=s.id_) for s in group]
        new.spans[key] = SpanGroup(new, name=key, attrs=group.attrs, spans=spans)
    return new


def losses(nlp: Language, examples: list[Example], words: dict[str, str]) -> list[dict[str, float]]:
    spacy.util.fix_random_seed(0)
    of_training = [
        Example(respelled(e.predicted, words), respelled(e.reference, words)) for e in examples
    ]
    optimizer = nlp.initialize(lambda: of_training)
    spacy.util.fix_random_seed(0)
    return [nlp.update(of_training, sgd=optimizer, losses={}) for _ in range(3)]


AS_ESCAPES = {".": "''", "The": "-LRB-", "She": r"1\/2", "today": "-LSB-", "the": "``"}
AS_PLAIN = {".": '"', "The": "(", "She": "1/2", "today": "[", "the": '"'}


@pytest.mark.parametrize("name", CASES)
def test_training(name: str) -> None:
    trained = [CASES[name].blank() for _ in range(2)]
    examples = CASES[name].examples(trained[0])
    both = zip(trained, (AS_ESCAPES, AS_PLAIN), strict=True)
    first, second = (losses(nlp, examples, words) for nlp, words in both)
    assert first == second
    for (_, one), (_, other) in zip(
        *(torch_shims(nlp.get_pipe(CASES[name].factory).model) for nlp in trained),  # type: ignore[attr-defined]
        strict=True,
    ):
        assert one.header == other.header, "the vocabulary has the same words"


def test_shared_encoder(tmp_path: Path) -> None:
    """In training and prediction; spaCy's own tagger and senter beside our components."""
    pytest.importorskip("transformers", reason="writes the tiny encoder")
    write_bert(tmp_path, [*"abcdefghijklmnopqrstuvwxyz()[]'\"-/.!"])
    trained = [toy_shared.shared_pipeline(tmp_path) for _ in range(2)]
    examples = toy_shared.shared_examples(trained[0])
    both = zip(trained, (AS_ESCAPES, AS_PLAIN), strict=True)
    first, second = (losses(nlp, examples, words) for nlp, words in both)
    assert first == second
    assert found(trained[0], ESCAPED) == found(trained[1], PLAIN)


FOREIGN: list[dict[str, Any]] = [
    {
        "@architectures": "spacy.Tok2Vec.v2",
        "embed": embed,
        "encode": {
            "@architectures": "spacy.MaxoutWindowEncoder.v2",
            "width": 16,
            "depth": 1,
            "window_size": 1,
            "maxout_pieces": 2,
        },
    }
    for embed in (
        {
            "@architectures": "spacy.MultiHashEmbed.v2",
            "width": 16,
            "rows": [50, 50, 50],
            "attrs": ["ORTH", "LOWER", "SHAPE"],
            "include_static_vectors": False,
        },
        {
            "@architectures": "spacy.CharacterEmbed.v2",
            "width": 16,
            "rows": 50,
            "nM": 8,
            "nC": 4,
            "include_static_vectors": False,
        },
    )
]


@pytest.mark.parametrize("tok2vec", FOREIGN, ids=["hashes", "characters"])
def test_embeddings_of_others(tok2vec: dict[str, Any]) -> None:
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency", config={"model": {**TINY, "tok2vec": tok2vec}})
    nlp.initialize(lambda: CASES["constituency"].examples(nlp))
    assert found(nlp, ESCAPED) == found(nlp, PLAIN)


def test_forms_of_words_that_are_known_already() -> None:
    nlp = spacy.blank("en")
    word, other = Doc(nlp.vocab, words=["-LRB-", "Bolt"])
    assert word.shape_ == "-XXX-"
    nlp.add_pipe("lal_constituency")
    assert (word.text, word.shape_, word.norm_, word.prefix_, word.suffix_) == ("-LRB-", *"((((")
    assert (other.shape_, other.prefix_) == ("Xxxx", "B")
    (later,) = Doc(nlp.vocab, words=[r"1\/2"])
    assert (later.text, later.shape_) == (r"1\/2", "d/d")


def test_other_docs_are_not_copied() -> None:
    nlp = spacy.blank("en")
    for text in ('He said "no" (twice), it\'s -- and/or -- 5 * 3.', "", "  ", "a-LB-b"):
        doc = nlp(text)
        assert plain_doc(doc) is doc
    doc = Doc(nlp.vocab, words=["-LRB-", "a"], tags=["X", "Y"], sent_starts=[True, True])
    copy = plain_doc(doc)
    assert [(t.text, t.tag_, t.is_sent_start) for t in copy] == [("(", "X", True), ("a", "Y", True)]
