"""The small encoder: all its layers in token order, its language model, its gradients."""

from __future__ import annotations

from dataclasses import replace

import numpy
import pytest
import spacy
import torch
from thinc.api import Model, set_dropout_rate

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.embeddings.forms import build_word_affix_embed_v1, learn_vocabulary
from spacy_lal.ged.bilstm_layers import (
    BiLSTMLayersSettings,
    LayeredBiLSTM,
    build_bilstm_layers_v1,
)

TEXTS = ["the cat sat . it slept", "", "one  two\n\nthree", "so long and thanks for all the fish"]


@pytest.fixture
def docs():
    return list(spacy.blank("en").pipe(TEXTS))


def encoder(docs, **settings) -> Model:
    torch.manual_seed(0)
    embed = build_word_affix_embed_v1(
        word_width=8, affix_width=4, min_count=1, word_dropout=0.0, feature_dropout=0.0
    )
    model = build_bilstm_layers_v1(embed, **{"hidden_width": 6, "depth": 3, **settings})
    learn_vocabulary(model, docs)
    model.initialize(X=docs)
    return model


@pytest.mark.parametrize("embeddings", [False, True])
def test_layers_are_those_of_each_sentence_alone(docs, embeddings):
    model = encoder(docs, embeddings=embeddings, sentences="doc")
    together = model.predict(docs)
    assert together.shape == (3 + embeddings, sum(map(len, docs)), 12)
    alone = numpy.concatenate([model.predict([doc]) for doc in docs if len(doc)], 1)
    numpy.testing.assert_allclose(together, alone, atol=1e-6)
    spaces = [token.is_space for doc in docs for token in doc]
    assert not together[:, spaces].any()
    assert together[:, ~numpy.asarray(spaces)].any((0, 2)).all()


@pytest.mark.parametrize("width", [6, 16, 32])
@pytest.mark.parametrize("embeddings", [False, True])
def test_rounded_layers(docs, embeddings, width):
    """Without padding: to the bit those of each Doc alone, and near those of float32."""
    model = encoder(docs, hidden_width=width, embeddings=embeddings, sentences="doc")
    exact = model.predict(docs)
    model.attrs["settings"] = replace(model.attrs["settings"], prediction="int8")
    together = model.predict(docs)
    alone = numpy.concatenate([model.predict([doc]) for doc in docs if len(doc)], 1)
    numpy.testing.assert_array_equal(together, alone)
    numpy.testing.assert_allclose(together, exact, atol=0.05 * abs(exact).max())
    assert (together[embeddings:] != exact[embeddings:]).any()
    assert model.predict([]).shape == (3 + embeddings, 0, 2 * width)


def test_sentences_don_t_see_each_other():
    nlp = spacy.blank("en")
    first, both = nlp("The cat sat."), nlp("The cat sat. It slept.")
    model = encoder([both])
    numpy.testing.assert_allclose(model.predict([both])[:, :4], model.predict([first]), atol=1e-6)


def test_gradient_of_all_layers_reaches_the_embedding(docs):
    """By finite differences in one number of the embedding, for each layer by itself."""
    model = encoder(docs, sentences="doc", embeddings=True)
    set_dropout_rate(model, 0.0)
    table = torch_shim(model.get_ref("tok2vec")).module.tables[0].weight
    row = torch_shim(model.get_ref("tok2vec")).module.index[0]["the"]
    rng = numpy.random.default_rng(0)
    for k in range(4):
        stack, backprop = model.begin_update(docs)
        direction = numpy.zeros_like(stack)
        direction[k] = rng.normal(size=stack.shape[1:])
        backprop(direction)
        values = []
        for step in (0.01, -0.02):
            with torch.no_grad():
                table[row, 0] += step
            values.append(float((model.predict(docs) * direction).sum()))
        with torch.no_grad():
            table[row, 0] += 0.01
        slope = (values[0] - values[1]) / 0.02
        assert float(table.grad[row, 0]) == pytest.approx(slope, rel=0.02, abs=1e-4)
        for node in (model, model.get_ref("tok2vec")):
            torch_shim(node).module.zero_grad()


def test_language_loss_word_by_word():
    """Cross-entropies of the next and of the previous word, written out."""
    torch.manual_seed(0)
    settings = BiLSTMLayersSettings(hidden_width=4, depth=2)
    network = LayeredBiLSTM(5, list("abcdef"), settings).eval()
    x, lengths = torch.randn(2, 4, 5), torch.tensor([4, 2])
    words = torch.tensor([[1, 6, 0, 2], [3, 3, 5, 5]])  # what is behind the second is no word
    _, found = network(x, lengths, words)
    states = network.bilstm.states(x, lengths)[0]
    ahead, back = network.language
    end, expected = 7, 0.0
    for b, sentence in enumerate(([1, 6, 0, 2], [3, 3])):
        for t in range(len(sentence)):
            following = sentence[t + 1] if t + 1 < len(sentence) else end
            before = sentence[t - 1] if t else end
            forward, backward = states[b, t].chunk(2)
            expected -= torch.log_softmax(ahead(forward), -1)[following]
            expected -= torch.log_softmax(back(backward), -1)[before]
    torch.testing.assert_close(found, expected)


def test_language_model_learns_and_does_not_change_predictions(docs):
    model = encoder(docs, language_weight=0.5, language_words=5, sentences="doc")
    module = torch_shim(model).module
    # "the" twice, then the first of those seen once
    assert len(module.index) == 5
    assert module.index["the"] == 1
    stack, backprop = model.begin_update(docs)
    numpy.testing.assert_allclose(stack, model.predict(docs), atol=1e-6)
    backprop(numpy.zeros_like(stack))
    # nothing was asked of the layers, so all gradient is the language model's: none above
    lowest = module.bilstm.ahead[0].weight_hh_l0.grad
    above = module.bilstm.ahead[1].weight_hh_l0.grad
    assert lowest.abs().sum() > 0
    assert above is None or not above.any()


def test_without_language_model_there_are_no_words(docs):
    model = encoder(docs)
    assert not torch_shim(model).module.language
    with pytest.raises(ValueError, match="has not seen the training data"):
        build_bilstm_layers_v1(
            build_word_affix_embed_v1(min_count=1), language_weight=0.1
        ).initialize(X=docs)


def test_no_tokens_at_all(docs):
    model = encoder(docs)
    assert model.predict([docs[1]]).shape == (3, 0, 12)
    stack, backprop = model.begin_update([docs[1]])
    backprop(stack)
