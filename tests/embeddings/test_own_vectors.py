"""Static vectors that a component carries with it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy
import pytest
import spacy
from click.testing import Result
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Model
from typer.testing import CliRunner

from spacy_lal.bridge.compact import store_bytes
from spacy_lal.bridge.shim import torch_shim
from spacy_lal.cli import app
from spacy_lal.embeddings.own_vectors import take_vectors
from tests.pipeline.toy import TINY, TREES, examples, predicted, tiny_pipeline, train

WIDTH, OF_VECTORS = 6, 10
OF_EMBED = TINY["tok2vec"]["word_width"] + 8 * TINY["tok2vec"]["affix_width"]
WORDS = ["The", "cat", "unheard-of", "ω"]


@pytest.fixture(scope="module")
def vectors() -> Vectors:
    data = numpy.random.default_rng(0).normal(size=(50, OF_VECTORS)).astype("float32")
    return Vectors(data=data, mode="floret", minn=2, maxn=3, hash_count=2)


@pytest.fixture(scope="module")
def folder(vectors: Vectors, tmp_path_factory: pytest.TempPathFactory) -> Path:
    nlp = spacy.blank("en")
    nlp.vocab.vectors = vectors
    path = tmp_path_factory.mktemp("vectors")
    nlp.to_disk(path)
    return path


def pipeline(folder: Path | None) -> Language:
    tok2vec = {
        "@architectures": "spacy-lal.WithOwnVectors.v1",
        "embed": TINY["tok2vec"],
        "width": WIDTH,
    }
    nlp = tiny_pipeline(model={**TINY, "tok2vec": tok2vec})
    nlp.config["initialize"]["vectors"] = folder and str(folder)
    return nlp


def layer(nlp: Language) -> Model:
    return nlp.get_pipe("lal_constituency").model.get_ref("tok2vec")


@pytest.fixture(scope="module")
def trained(folder: Path) -> Language:
    nlp = pipeline(folder)
    train(nlp, steps=30)
    # nothing of the pipeline's own is needed any more
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings)
    return nlp


def test_vectors_stand_behind_the_embedding(trained: Language, vectors: Vectors) -> None:
    doc = trained.make_doc(" ".join(WORDS))
    rows = layer(trained).predict([doc])[0]
    assert rows.shape == (len(doc), OF_EMBED + WIDTH)
    embedded = layer(trained).get_ref("embed").predict([doc])[0]
    numpy.testing.assert_array_equal(rows[:, :OF_EMBED], embedded)
    projection = torch_shim(layer(trained)).module.projection.weight.detach().numpy()
    expected = vectors.get_batch([t.text for t in doc]) @ projection.T
    # 8 bits a number: an error of at most half of a 127th of a row's largest
    numpy.testing.assert_allclose(rows[:, OF_EMBED:], expected, atol=0.05)


def test_rounding_is_to_the_nearest_of_255_values(trained: Language, vectors: Vectors) -> None:
    module = torch_shim(layer(trained)).module
    found = (module.table.float() * module.scale).numpy()
    largest = numpy.abs(vectors.data).max(1, keepdims=True)
    assert (numpy.abs(found - vectors.data) <= largest / 127 / 2 + 1e-6).all()


def test_projection_is_trained_and_vectors_are_not(folder: Path) -> None:
    nlp = pipeline(folder)
    optimizer = nlp.initialize(lambda: examples(nlp))
    module = torch_shim(layer(nlp)).module
    before = {name: value.clone() for name, value in module.state_dict().items()}
    nlp.update(examples(nlp), sgd=optimizer)
    after = module.state_dict()
    assert not after["projection.weight"].equal(before["projection.weight"])
    assert after["table"].equal(before["table"])
    assert after["scale"].equal(before["scale"])


def test_storage_and_sourcing(trained: Language, tmp_path: Path) -> None:
    trees = [predicted(trained, tree) for tree in TREES]
    trained.to_disk(tmp_path / "model")
    other = spacy.blank("en")
    other.add_pipe("lal_constituency", source=spacy.load(tmp_path / "model"))
    copies = [spacy.load(tmp_path / "model"), pickle.loads(pickle.dumps(trained)), other]
    for copy in copies:
        assert [predicted(copy, tree) for tree in TREES] == trees


def by_word(path: Path) -> numpy.ndarray:
    """A pipeline with vectors of two rows, one of which is that of two words; its numbers."""
    nlp = spacy.blank("en")
    data = numpy.random.default_rng(1).normal(size=(2, OF_VECTORS)).astype("float32")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data)
    for word, row in (("cat", 0), ("The", 1), ("PERSON", 0)):  # the last is one of spaCy's symbols
        nlp.vocab.vectors.add(nlp.vocab.strings.add(word), row=row)
    nlp.to_disk(path)
    return data


def test_vectors_by_word(tmp_path: Path) -> None:
    """As they are written; zero for others."""
    data = by_word(tmp_path / "vectors")
    nlp = pipeline(tmp_path / "vectors")
    train(nlp, steps=30)
    nlp.to_disk(tmp_path / "model")
    for copy in (nlp, spacy.load(tmp_path / "model")):
        copy.vocab.vectors = Vectors(strings=nlp.vocab.strings)
        module = torch_shim(layer(copy)).module
        found = module.lookup(["cat", "the", "PERSON", "The", "", "Cat"]).numpy()
        expected = numpy.zeros((6, OF_VECTORS))
        expected[[0, 2, 3]] = data[[0, 0, 1]]
        numpy.testing.assert_allclose(found, expected, atol=numpy.abs(data).max() / 127)
        assert not module.lookup(["", ""]).any()


def test_keys_are_exact_on_disk(tmp_path: Path) -> None:
    """Hashes of 32 bits have more digits than numbers of 16 or 32 bits with a point."""
    nlp = spacy.blank("en")
    words = [f"word{k}" for k in range(500)]
    data = numpy.arange(1, 501, dtype="float32")[:, None] * numpy.ones(3, dtype="float32")
    keys = [nlp.vocab.strings.add(word) for word in words]
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data, keys=keys)
    nlp.to_disk(tmp_path / "vectors")
    trained = pipeline(tmp_path / "vectors")
    trained.initialize(lambda: examples(trained))
    trained.to_disk(tmp_path / "model")
    store_bytes(tmp_path / "model" / "lal_constituency")
    found = torch_shim(layer(spacy.load(tmp_path / "model"))).module.lookup(words)
    numpy.testing.assert_allclose(found.numpy(), data, rtol=1e-5)


def test_vectors_that_cannot_be_kept() -> None:
    unfit = pipeline(None)
    with pytest.raises(ValueError, match="but the pipeline has none"):
        unfit.initialize(lambda: examples(unfit))
    data = numpy.ones((1, 3), dtype="float32")
    lowered = Vectors(data=data, keys=[unfit.vocab.strings.add("cat")], attr="LOWER")
    with pytest.raises(ValueError, match="vectors of words as they are written"):
        take_vectors(layer(unfit), lowered)


def test_what_was_trained_with_the_pipelines_vectors(folder: Path, tmp_path: Path) -> None:
    """`lal edit --own-vectors`: the same trees without the pipeline's vectors."""
    nlp = pipeline(folder)
    shared = {**nlp.config["components"]["lal_constituency"]["model"]["tok2vec"]}
    shared["@architectures"] = "spacy-lal.WithVectors.v1"
    nlp = tiny_pipeline(model={**TINY, "tok2vec": shared})
    nlp.config["initialize"]["vectors"] = str(folder)
    train(nlp, steps=60)
    nlp.to_disk(tmp_path / "shared")
    made = own_vectors(tmp_path / "shared", tmp_path / "own")
    assert made.exit_code == 0
    own = spacy.load(tmp_path / "own")
    assert 0 in own.vocab.vectors.shape
    assert [predicted(own, tree) for tree in TREES] == [predicted(nlp, tree) for tree in TREES]
    doc = own.make_doc(" ".join(WORDS))
    theirs = embedding_of_shared(nlp, doc)
    numpy.testing.assert_allclose(layer(own).predict([doc])[0], theirs, atol=0.05)
    again = own_vectors(tmp_path / "own", tmp_path / "twice")
    assert again.exit_code == 1
    assert "no component of the pipeline has spacy-lal.WithVectors.v1" in again.stderr


def own_vectors(model: Path, output: Path) -> Result:
    return CliRunner().invoke(app, ["edit", str(model), str(output), "--own-vectors"])


def embedding_of_shared(nlp: Language, doc: Doc) -> numpy.ndarray:
    doc = Doc(nlp.vocab, words=[t.text for t in doc])
    return layer(nlp).predict([doc])[0]
