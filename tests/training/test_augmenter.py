"""Errors in a training corpus, epoch after epoch."""

import random
from itertools import islice

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.training import Corpus
from spacy.training.loop import create_train_batches

from spacy_lal.annotations.grammar_errors import get_errors, set_errors
from spacy_lal.training.corpus import CorruptAugmenter

from ..artificial_errors.small import MODEL, made_up


@pytest.fixture
def model(tmp_path):
    MODEL.save(tmp_path / "model.json")
    return tmp_path / "model.json"


@pytest.fixture
def corpus(tmp_path):
    """40 Docs; the first two have gold labels, one of them none."""
    nlp = spacy.blank("en")
    docs = DocBin()
    for number, (words, spaces) in enumerate(made_up(40)):
        starts = [at == 0 for at in range(len(words))]
        tags = ["X"] * len(words)
        doc = Doc(nlp.vocab, words=words, spaces=spaces, tags=tags, sent_starts=starts)
        if number < 2:
            set_errors(doc, ["GOLD" if number and at == 1 else "" for at in range(len(doc))])
        docs.add(doc)
    docs.to_disk(tmp_path / "train.spacy")
    return tmp_path / "train.spacy"


def texts(examples):
    return [(example.reference.text, get_errors(example.reference)) for example in examples]


def test_every_reading_makes_new_errors(corpus, model):
    nlp = spacy.blank("en")
    augment = CorruptAugmenter(model, rate=0.2, level=1.0, seed=1)
    reader = Corpus(corpus, gold_preproc=False, augmenter=augment)
    first, second = list(reader(nlp)), list(reader(nlp))
    assert len(first) == len(second) == 40
    gold = [example.reference for example in first[:2]]
    assert [set(get_errors(doc)) for doc in gold] == [{""}, {"", "GOLD"}]
    assert gold[1].has_annotation("TAG")
    assert texts(first[:2]) == texts(second[:2])
    assert texts(first) != texts(second)
    for example in first:
        assert "errors" in example.reference.spans
        assert example.predicted.text == example.reference.text
    again = CorruptAugmenter(model, rate=0.2, level=1.0, seed=1)
    assert texts(Corpus(corpus, augmenter=again)(nlp)) == texts(first)
    other = CorruptAugmenter(model, rate=0.2, level=1.0, seed=2)
    assert texts(Corpus(corpus, augmenter=other)(nlp)) != texts(first)


@pytest.mark.parametrize(("max_epochs", "same"), [(2, True), (0, True), (-1, False)])
def test_epochs_differ_only_in_a_stream(corpus, model, max_epochs, same):
    """As spaCy's training reads a corpus."""
    nlp = spacy.blank("en")
    augment = CorruptAugmenter(model, rate=0.2, level=1.0, seed=1)
    batches = create_train_batches(nlp, Corpus(corpus, augmenter=augment), list_of_all, max_epochs)
    (_, first), (_, second) = islice(batches, 2)
    assert (sorted(texts(first)) == sorted(texts(second))) == same


def list_of_all(examples):
    yield list(examples)


def test_order_makes_no_difference(corpus, model):
    nlp = spacy.blank("en")
    augment = CorruptAugmenter(model, rate=0.2, level=0.5, seed=1)
    expected = texts(Corpus(corpus, augmenter=augment)(nlp))
    random.seed(0)
    augment = CorruptAugmenter(model, rate=0.2, level=0.5, seed=1)
    shuffled = texts(Corpus(corpus, augmenter=augment, shuffle=True)(nlp))
    assert shuffled != expected
    assert sorted(shuffled) == sorted(expected)


def test_level_is_the_share_of_examples(corpus, model):
    nlp = spacy.blank("en")
    augment = CorruptAugmenter(model, rate=0.9, level=0.5, seed=1)
    examples = list(Corpus(corpus)(nlp))[2:]
    found = [new for example in examples for _ in range(20) for new in augment(nlp, example)]
    kept = [new for new in found if new.reference.has_annotation("TAG")]
    assert len(kept) / len(found) == pytest.approx(0.5, abs=0.06)
    # what is not corrupted is correct text, and the corpus's own Docs have no labels afterwards
    assert all(list(new.reference.spans["errors"]) == [] for new in kept)
    assert not any("errors" in example.reference.spans for example in examples)


@pytest.mark.parametrize("settings", [{"rate": 1.5, "level": 1.0}, {"rate": 0.1, "level": -1.0}])
def test_bad_settings(model, settings):
    with pytest.raises(ValueError, match=r"spacy-lal\.corrupt\.v1: (rate|level) must be"):
        CorruptAugmenter(model, seed=0, **settings)
