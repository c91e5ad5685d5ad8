"""A packaged pipeline without the words of its training data finds what it found with them."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
import srsly
from spacy.vectors import Vectors

from spacy_lal.cli.package import forget_words

from .contract import CASES, annotations, copy_of, same

TEXT = "The cat sat on the mat. He walk today, and the dogz don't."


@pytest.mark.parametrize("name", CASES)
def test_no_component_needs_them(name: str, tmp_path: Path) -> None:
    nlp = copy_of(name)
    nlp.vocab.strings.add("seen-in-training")
    expected = annotations(nlp(TEXT))
    nlp.to_disk(tmp_path)
    forget_words(tmp_path)
    strings = srsly.read_json(tmp_path / "vocab/strings.json")
    assert "seen-in-training" not in strings
    same(annotations(spacy.load(tmp_path)(TEXT)), expected)


def test_keys_of_vectors_and_strings_of_others_stay(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, shape=(1, 2))
    nlp.vocab.vectors.add("tree", vector=numpy.ones(2, dtype="float32"))
    for word in ("tree", "forest"):
        nlp.vocab.strings.add(word)
    for factory, kept in (("sentencizer", {"tree"}), ("tagger", {"tree", "forest"})):
        nlp.add_pipe(factory)
        if factory == "tagger":
            nlp.get_pipe("tagger").add_label("NN")
            nlp.initialize()
        folder = tmp_path / factory
        nlp.to_disk(folder)
        forget_words(folder)
        assert {"tree", "forest"} & set(spacy.load(folder).vocab.strings) == kept
