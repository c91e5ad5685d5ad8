"""Products of Thinc's layers by PyTorch are those of Thinc."""

from itertools import product

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import NumpyOps

from spacy_lal.bridge import products
from spacy_lal.bridge.products import TorchProducts, use_torch_products


@pytest.mark.parametrize(("trans1", "trans2", "out"), list(product([False, True], repeat=3)))
def test_products(trans1, trans2, out):
    generator = numpy.random.default_rng(0)
    x, y = generator.normal(size=(2, 4, 4)).astype("float32")
    x, y = (x[:3] if trans1 else x[:, :3]), (y[:, :3] if trans2 else y[:3])
    x, y = numpy.ascontiguousarray(x), numpy.ascontiguousarray(y)
    expected = (x.T if trans1 else x) @ (y.T if trans2 else y)
    there = numpy.zeros(expected.shape, "float32") if out else None
    found = TorchProducts().gemm(x, y, out=there, trans1=trans1, trans2=trans2)
    numpy.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert not out or found is there or numpy.shares_memory(found, there)


def test_arrays_that_pytorch_does_not_take():
    fixed = numpy.eye(2, dtype="float32")
    fixed.flags.writeable = False
    numpy.testing.assert_array_equal(TorchProducts().gemm(fixed, fixed), fixed)


def test_all_layers_of_a_pipeline():
    config = {"nlp": {"after_pipeline_creation": {"@callbacks": "spacy-lal.torch_products.v1"}}}
    nlp, plain = spacy.blank("en", config=config), spacy.blank("en")
    for each in (nlp, plain):
        each.add_pipe("senter")
        each.initialize()
    use_torch_products(nlp)
    senter, other = nlp.get_pipe("senter"), plain.get_pipe("senter")
    assert {type(node.ops) for node in senter.model.walk()} == {TorchProducts}
    assert {type(node.ops) for node in other.model.walk()} == {NumpyOps}
    senter.model.from_bytes(other.model.to_bytes())
    doc = nlp.make_doc("The cat sat. It slept, too.")
    scores = [pipe.model.predict([doc])[0] for pipe in (senter, other)]
    numpy.testing.assert_allclose(*scores, rtol=1e-4, atol=1e-5)


def test_taggers_read_few_words_at_a_time(monkeypatch):
    """In their order, whatever their lengths; each Doc as it is read alone."""
    monkeypatch.setattr(products, "WORDS_AT_ONCE", 6)
    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.initialize()
    use_torch_products(nlp)
    model = nlp.get_pipe("senter").model
    docs = [Doc(nlp.vocab, words=["a", "cat", "sat"] * n) for n in (1, 0, 5, 1, 1, 2, 0, 9)]
    read = []
    tok2vec = model.get_ref("tok2vec")
    forward = tok2vec._func

    def counting(model, docs, is_train):
        read.append(sum(map(len, docs)))
        return forward(model, docs, is_train)

    monkeypatch.setattr(tok2vec, "_func", counting)
    scores = model.predict(docs)
    assert sum(read) == sum(map(len, docs))
    assert len(read) > 3
    assert [len(rows) for rows in scores] == list(map(len, docs))
    for doc, rows in zip(docs, scores, strict=True):
        numpy.testing.assert_allclose(rows, model.predict([doc])[0], rtol=1e-4, atol=1e-5)
