"""Static vectors that a component carries with it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vectors import Vectors
from thinc.api import Model

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.bridge.weights import store_as, to_int8
from spacy_lal.embeddings import own_vectors
from spacy_lal.embeddings.own_vectors import OwnVectors, take_vectors
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


def pipeline(folder: Path | None, embed: dict[str, object] = TINY["tok2vec"]) -> Language:
    tok2vec = {
        "@architectures": "spacy-lal.WithOwnVectors.v1",
        "embed": embed,
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


@pytest.mark.parametrize("most", [0, 1, 10])
def test_vectors_are_the_same_whether_kept_or_not(
    trained: Language, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(own_vectors, "MOST_KEPT", most)
    module = torch_shim(layer(trained)).module
    data = (module.table.float() * module.scale).numpy()
    by_spacy = Vectors(data=data, mode="floret", minn=2, maxn=3, hash_count=2)
    kept = OwnVectors(torch_shim(layer(trained)).header)
    kept.load_state_dict(module.state_dict())
    for words in (["cat", "The"], ["ω", "cat"], ["The", "ω", "", "cat"]):
        numpy.testing.assert_array_equal(kept.lookup(words).numpy(), by_spacy.get_batch(words))
    assert len(kept._kept) == min(most, 4)


def test_projection_is_trained_and_vectors_are_not(folder: Path) -> None:
    """By the formula: rows are linear in the projection, dW = the rows' gradient by the vectors."""
    nlp = pipeline(folder)
    assert layer(nlp).get_dim("nO") == OF_EMBED + WIDTH  # before the initialisation
    optimizer = nlp.initialize(lambda: examples(nlp))
    module = torch_shim(layer(nlp)).module
    before = {name: value.clone() for name, value in module.state_dict().items()}
    nlp.update(examples(nlp), sgd=optimizer)
    after = module.state_dict()
    assert not after["projection.weight"].equal(before["projection.weight"])
    assert after["table"].equal(before["table"])
    assert after["scale"].equal(before["scale"])
    docs = [Doc(nlp.vocab, words=WORDS[:3]), Doc(nlp.vocab), Doc(nlp.vocab, words=WORDS[1:2])]
    model = layer(nlp)
    Y, backprop = model.begin_update(docs)
    # the training's dropout leaves them alone
    of_words = model.predict(docs)[0][:, OF_EMBED:]
    numpy.testing.assert_allclose(Y[0][:, OF_EMBED:], of_words, rtol=1e-5, atol=1e-6)
    d_rows = [numpy.random.default_rng(1).normal(size=y.shape).astype("float32") for y in Y]
    backprop(d_rows)
    static = module.lookup([token.text for doc in docs for token in doc]).numpy()
    expected = numpy.concatenate(d_rows)[:, OF_EMBED:].T @ static
    found = module.projection.weight.grad.numpy()
    numpy.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_nothing_to_embed(trained: Language) -> None:
    empty = Doc(trained.vocab)
    for docs in ([], [empty], [empty, empty]):
        Y, backprop = layer(trained).begin_update(docs)
        assert [y.shape for y in Y] == [(0, OF_EMBED + WIDTH)] * len(docs)
        backprop(Y)
    assert list(trained.pipe(["", "A dog", "", "\n\n"]))


def test_beside_any_other_embedding(folder: Path) -> None:
    embed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM", "SUFFIX"],
        "rows": [50, 50],
        "include_static_vectors": False,
    }
    nlp = pipeline(folder, embed)
    train(nlp, steps=2)
    (rows,) = layer(nlp).predict([Doc(nlp.vocab, words=["A", "dog"])])
    assert rows.shape == (2, 8 + WIDTH)


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
    store_as(tmp_path / "model" / "lal_constituency", to_int8)
    found = torch_shim(layer(spacy.load(tmp_path / "model"))).module.lookup(words)
    numpy.testing.assert_allclose(found.numpy(), data, rtol=1e-5)


def test_vectors_that_cannot_be_kept() -> None:
    unfit = pipeline(None)
    with pytest.raises(ValueError, match=r"\[initialize\] .*`python -m spacy init vectors`"):
        unfit.initialize(lambda: examples(unfit))
    data = numpy.ones((1, 3), dtype="float32")
    lowered = Vectors(data=data, keys=[unfit.vocab.strings.add("cat")], attr="LOWER")
    with pytest.raises(ValueError, match="vectors of words as they are written"):
        take_vectors(layer(unfit), lowered)


@torch.no_grad()
def test_a_word_has_the_same_bits_beside_any_number_of_others() -> None:
    """What comes of them is rounded, so that a last bit would matter."""
    torch.manual_seed(0)
    layer = OwnVectors({"shape": [1, 300], "width": 128}).eval()
    which, vectors = torch.arange(700), torch.randn(700, 300)
    of_all = layer(which, vectors)
    for count in (1, 2, 3, 5, 8, 13, 100, 333):
        assert torch.equal(layer(which[:count], vectors[:count]), of_all[:count])
