"""A joint parser reads sentences of more than 100 words among probable spans alone."""

import time

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.structure import pruned

pytest.importorskip("en_lal_sm", reason="pip install ./packages/en_lal_sm")

TEXT = "the old man who saw a dog yesterday said that his friends like it and we went home"
WORDS = TEXT.split()


@pytest.fixture(scope="module")
def nlp():
    return spacy.load("en_lal_sm", exclude=["lisa_srl"])


def stream(nlp, n, shift=0):
    words = [WORDS[(k + shift) % len(WORDS)] for k in range(n)]
    return Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(n)])


def parse(doc):
    spans = [(span.start, span.end, span.label_) for span in doc.spans["constituents"]]
    return spans, [(token.head.i, token.dep_) for token in doc]


def all_trees(nlp, monkeypatch, doc):
    with monkeypatch.context() as patch:
        patch.setattr(pruned, "EXACT_WORDS", 10**9)
        return nlp(doc)


@pytest.mark.parametrize("n", [100, 101, 140])
def test_the_same_trees(nlp, monkeypatch, n):
    found, exact = nlp(stream(nlp, n)), all_trees(nlp, monkeypatch, stream(nlp, n))
    assert parse(found) == parse(exact)
    scores, expected = (doc.spans["constituents"].attrs for doc in (found, exact))
    assert scores["scores"] == expected["scores"]
    if n <= 100:
        assert scores == expected
    assert found._.trees[0].log_prob == pytest.approx(exact._.trees[0].log_prob, rel=1e-4)


def test_whatever_else_is_in_the_batch(nlp):
    sizes = [130, 7, 104, 101, 99, 12]
    together = list(nlp.pipe([stream(nlp, n, k) for k, n in enumerate(sizes)]))
    for k, (n, doc) in enumerate(zip(sizes, together, strict=True)):
        assert parse(doc) == parse(nlp(stream(nlp, n, k)))


def test_time_grows_little_faster_than_length(nlp):
    """From 128 to 256 words the search among all trees takes 16 times as long."""
    nlp(stream(nlp, 128))
    seconds = []
    for n in (128, 256):
        runs = []
        for _ in range(3):
            doc = stream(nlp, n)
            start = time.process_time()
            nlp(doc)
            runs.append(time.process_time() - start)
        seconds.append(min(runs))
    assert seconds[1] < 5 * seconds[0]
