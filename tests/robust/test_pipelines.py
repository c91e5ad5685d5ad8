"""The shipped pipelines on anything that a Doc can be.

A short form of `python benchmarks/robustness.py pipelines MODEL`.
"""

from __future__ import annotations

import pickle
import resource
from collections.abc import Iterator
from functools import cache

import pytest
import spacy
from hypothesis import HealthCheck, Phase, given, seed, settings
from spacy.language import Language
from spacy.tokens import Doc, DocBin

from spacy_lal.formats.treebank_sentence import language_vocab

from .invariants import check, layers, same
from .made_docs import Made, batches

PIPELINES = ["en_lal_sm", "en_lal_md", "en_lal_ged_md"]


@cache
def loaded(name: str) -> Language:
    pytest.importorskip(name, reason=f"pip install ./packages/{name}")
    return spacy.load(name)


@pytest.fixture(params=PIPELINES)
def nlp(request: pytest.FixtureRequest) -> Language:
    return loaded(request.param)


def carried(doc: Doc) -> Iterator[Doc]:
    """The Doc as it arrives elsewhere, in a vocabulary that never saw its words."""
    other = language_vocab("en")
    yield Doc(other).from_bytes(doc.to_bytes())
    data = DocBin(docs=[doc]).to_bytes()
    yield from DocBin().from_bytes(data).get_docs(other)
    yield pickle.loads(pickle.dumps(doc))
    yield doc.copy()


def try_batch(nlp: Language, batch: list[Made]) -> None:
    """What must be true of any batch of Docs."""
    together = list(nlp.pipe((made.doc(nlp) for made in batch), batch_size=4))
    assert len(together) == len(batch)
    for made, doc in zip(batch, together, strict=True):
        before = made.doc(nlp)
        assert [token.text for token in doc] == [token.text for token in before]
        for token, was in zip(doc, before, strict=True):
            assert not was.tag_ or token.tag_ == was.tag_
        check(doc, nlp, own_heads=made.has_heads)
        same(nlp(before), doc)
    # half a tree of heads, spaCy completes when it reads it
    own = [doc for made, doc in zip(batch, together, strict=True) if not made.has_heads]
    for doc in own[:1]:
        for other in carried(doc):
            same(other, doc)
    try_joined(own, trees="lal_constituency" in nlp.pipe_names)


def try_joined(docs: list[Doc], *, trees: bool) -> None:
    """Docs that are put together have what each of them had."""
    joined = Doc.from_docs(docs, ensure_whitespace=False)
    if joined is None:
        return
    whole = layers(joined)
    parts = [layers(doc) for doc in docs if len(doc)]
    # where their makers left out that they begin a sentence, two become one
    if trees and all(doc[0].is_sent_start for doc in docs if len(doc)):
        assert whole["trees"] == [tree for part in parts for tree in part["trees"]]
        assert whole["frames"] == [frame for part in parts for frame in part["frames"]]
    assert [error.span.text for error in joined._.grammar_errors] == [
        error.span.text for doc in docs for error in doc._.grammar_errors
    ]


@pytest.mark.parametrize("name", PIPELINES)
def test_anything(name: str) -> None:
    nlp = loaded(name)

    @seed(0)
    @settings(
        max_examples=4,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # to shrink what fails takes minutes
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(batches)
    def run(batch: list[Made]) -> None:
        try_batch(nlp, batch)

    run()


def test_a_token_of_a_megabyte(nlp: Language) -> None:
    """Of letters, marks or numbers: in seconds, and in tens of megabytes."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    words = ["She", "saw", "x" * 1_000_000, "\u0301" * 1_000_000, "1.5," * 250_000, "."]
    doc = nlp(Doc(nlp.vocab, words=words))
    check(doc, nlp)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert kilobytes < 300_000
    same(next(carried(doc)), doc)
