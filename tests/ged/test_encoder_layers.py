"""All layers of a pretrained encoder, and a layer above them that sees capitals."""

from __future__ import annotations

import math
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model, set_dropout_rate

from spacy_lal.annotations.grammar_errors import error_scores
from spacy_lal.bridge.shim import torch_shim, torch_shims
from spacy_lal.bridge.warm_start import take_weights
from spacy_lal.embeddings.forms import build_word_affix_embed_v1, learn_vocabulary
from spacy_lal.encoders.network import build_pretrained_encoder_v1
from spacy_lal.ged import network
from spacy_lal.ged.network import (
    WordLayer,
    build_encoder_layers_v1,
    build_mhmla_v1,
    build_with_word_layer_v1,
)
from spacy_lal.layers.dropout import Dropout

from ..pipeline.toy_errors import agreement_examples

TEXTS = ["The cat sat. It slept.", "", "One  two\n\nthree", "So long and thanks for all the fish"]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    from tests.tiny_transformers import write_bert

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("bert")
    write_bert(path, ["abcdefghijklmnopqrstuvwxyz.,"], num_hidden_layers=3)
    return path


@pytest.fixture
def docs() -> list[Doc]:
    return list(spacy.blank("en").pipe(TEXTS))


def encoder_layers(bert: Path, **settings) -> Model:
    encoder = build_pretrained_encoder_v1(path=str(bert), output="all")
    model = build_encoder_layers_v1(encoder, **settings)
    model.initialize()
    return model


def with_word_layer(bert: Path, docs: list[Doc]) -> Model:
    torch.manual_seed(0)
    embed = build_word_affix_embed_v1(
        word_width=8, affix_width=4, min_count=1, word_dropout=0.0, feature_dropout=0.0
    )
    model = build_with_word_layer_v1(
        build_encoder_layers_v1(build_pretrained_encoder_v1(path=str(bert), output="all")),
        embed,
        16,
    )
    learn_vocabulary(model, docs)
    model.initialize(X=docs)
    return model


def test_the_layer_above_equals_the_equation() -> None:
    """LayerNorm(h + W_2 gelu(W_1 [h; words] + b_1) + b_2), number by number."""
    torch.manual_seed(0)
    layer = WordLayer(4, 3, 5).double().eval()
    torch.nn.init.normal_(layer.norm.weight)
    torch.nn.init.normal_(layer.norm.bias)
    h, words = torch.randn(2, 4).double(), torch.randn(2, 3).double()
    p = {name: value.detach().numpy() for name, value in layer.named_parameters()}
    expected = []
    for row in torch.cat([h, words], 1).numpy():
        hidden = p["hidden.weight"] @ row + p["hidden.bias"]
        gelu = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in hidden]
        added = row[:4] + p["output.weight"] @ numpy.array(gelu) + p["output.bias"]
        normed = (added - added.mean()) / math.sqrt(added.var() + 1e-5)
        expected.append(p["norm.weight"] * normed + p["norm.bias"])
    numpy.testing.assert_allclose(layer(h, words).detach().numpy(), expected, atol=1e-9)


def test_rounded_layers_read_each_doc_by_itself(bert: Path, docs: list[Doc]) -> None:
    """Encoder, word layer and attention: nothing is rounded to another integer in a batch."""
    encoder = build_pretrained_encoder_v1(path=str(bert), output="all", prediction="int8")
    embed = with_word_layer(bert, docs).layers[1]
    layers = build_with_word_layer_v1(
        build_encoder_layers_v1(encoder), embed, 16, prediction="int8"
    )
    model = build_mhmla_v1(layers, prediction="int8", heads=2)
    model.attrs["labels"] = ["correct", "ERROR"]
    model.initialize(X=docs)
    together = model.predict(docs)
    alone = numpy.concatenate([model.predict([doc]) for doc in docs])
    numpy.testing.assert_allclose(alone, together, atol=1e-6)
    model.attrs["prediction"] = layers.attrs["prediction"] = "float32"
    exact = model.predict(docs)
    assert 0 < abs(together - exact).max() < 0.05 * abs(exact).max()


def test_predictions_are_made_part_by_part(
    bert: Path, docs: list[Doc], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of few words, or of one Doc alone that has more; of no Doc, too."""
    model = build_mhmla_v1(with_word_layer(bert, docs), heads=2)
    model.attrs["labels"] = ["correct", "ERROR"]
    model.initialize(X=docs)
    whole = model.predict(docs)
    layers, read = model.get_ref("layers"), []
    forward = layers._func
    layers._func = lambda of, X, is_train: read.append(len(X)) or forward(of, X, is_train)
    for part, sizes in ((1, [1, 1, 1, 1]), (9, [2, 1, 1]), (12, [3, 1]), (100, [4])):
        monkeypatch.setattr(network, "PART", part)
        read.clear()
        numpy.testing.assert_allclose(model.predict(docs), whole, atol=1e-6)
        assert read == sizes
    assert model.predict([]).shape == (0, 2)


def test_a_warm_start_takes_the_layer(bert: Path, docs: list[Doc]) -> None:
    """All of it, though its output has the name of a classifier's."""
    first, second = with_word_layer(bert, docs), with_word_layer(bert, docs)
    for _, shim in torch_shims(first):
        for parameter in shim.module.parameters():
            parameter.data += torch.randn_like(parameter)
    taken, total = take_weights(second, first)
    assert taken == total
    numpy.testing.assert_array_equal(second.predict(docs), first.predict(docs))


def test_what_a_listener_waits_for(bert: Path, docs: list[Doc]) -> None:
    """It refuses to go on with zeros."""
    layers = build_encoder_layers_v1(build_pretrained_encoder_v1(path=str(bert), output="all"))
    model = build_with_word_layer_v1(layers, Tok2VecListener("tok2vec", 8), 16)
    model.initialize(X=docs)
    for doc in docs:
        doc.tensor = numpy.zeros((0,), "f")
    with pytest.raises(ValueError, match="listens to 'tok2vec', which has not read the Doc"):
        model.predict(docs)


def without_dropout(model: Model) -> None:
    set_dropout_rate(model, 0.0)
    for _, shim in torch_shims(model):
        for part in shim.module.modules():
            if isinstance(part, Dropout):
                part.rate = 0.0


def test_layers_are_what_the_encoder_puts_side_by_side(bert: Path, docs: list[Doc]) -> None:
    """One sentence a Doc: then the encoder reads the Docs just so."""
    model = encoder_layers(bert, sentences="doc")
    found = model.predict(docs)
    assert found.shape == (3, sum(map(len, docs)), 32)
    single = [docs[0], docs[3]]
    beside = numpy.concatenate(model.layers[0].predict(single))
    for k in range(3):
        expected = beside[:, 32 * k : 32 * (k + 1)]
        numpy.testing.assert_allclose(model.predict(single)[k], expected, atol=1e-5)
    spaces = numpy.asarray([token.is_space for doc in docs for token in doc])
    assert not found[:, spaces].any()
    assert found[:, ~spaces].any((0, 2)).all()


def test_each_sentence_is_read_by_itself(bert: Path) -> None:
    """Also where the encoder would read several together; found by rule or already there."""
    nlp = spacy.blank("en")
    whole = nlp("The cat sat. It slept.")
    first, second = nlp("The cat sat."), nlp("It slept.")
    model = encoder_layers(bert)
    apart = model.predict([first, second])
    numpy.testing.assert_allclose(model.predict([whole]), apart, atol=1e-5)
    assert not whole.has_annotation("SENT_START")
    assert numpy.abs(encoder_layers(bert, sentences="doc").predict([whole]) - apart).max() > 0.01
    # boundaries that are there win: none between these two, one inside
    for start in (5, 2):
        for token in whole:
            token.is_sent_start = token.i in (0, start)
        cut = [whole[:start].as_doc(), whole[start:].as_doc()]
        for policy in ("split", "existing"):
            found = encoder_layers(bert, sentences=policy).predict([whole])
            numpy.testing.assert_allclose(found, model.predict(cut), atol=1e-5)
    with pytest.raises(ValueError, match="has no sentence boundaries"):
        encoder_layers(bert, sentences="existing").predict([first])


def test_the_layer_above_sees_capitals(bert: Path, docs: list[Doc]) -> None:
    nlp = spacy.blank("en")
    model = with_word_layer(bert, [*docs, nlp("the cat sat")])
    lower, upper = (model.predict([nlp(text)]) for text in ("the cat sat", "The cat sat"))
    numpy.testing.assert_allclose(lower[:3], upper[:3], atol=1e-6)
    assert numpy.abs(lower[3, 0] - upper[3, 0]).max() > 1e-3
    numpy.testing.assert_allclose(lower[3, 1:], upper[3, 1:], atol=1e-6)


def test_gradients_of_all_layers_are_right(bert: Path, docs: list[Doc]) -> None:
    """Finite differences along the gradient, for each layer by itself."""
    model = with_word_layer(bert, docs)
    without_dropout(model)
    for _, shim in torch_shims(model):
        shim.module.double()
    parts = {
        "encoder": (torch_shim(model.get_ref("layers").layers[0]), "layer.0.output.dense.weight"),
        "embedding": (torch_shim(model.get_ref("tok2vec")), "tables.1.weight"),
        "above": (torch_shim(model), "hidden.weight"),
    }
    generator = numpy.random.default_rng(0)
    for k in range(4):
        stack, backprop = model.begin_update(docs)
        direction = numpy.zeros_like(stack)
        direction[k] = generator.normal(size=stack.shape[1:])
        backprop(direction)
        for part, (shim, ending) in parts.items():
            (parameter,) = (p for n, p in shim.module.named_parameters() if n.endswith(ending))
            gradient = parameter.grad
            if part != "encoder" and k < 3:
                assert gradient is None or not gradient.any()
                continue
            step = 1e-5 / gradient.norm()
            values = []
            for sign in (1, -2):
                parameter.data += sign * step * gradient
                values.append((model.predict(docs) * direction).sum())
            parameter.data += step * gradient
            slope = (values[0] - values[1]) / (2 * step)
            assert float(slope) == pytest.approx(float((gradient**2).sum()), rel=1e-4)
        for shim, _ in parts.values():
            shim.module.zero_grad()


def test_no_tokens_at_all(bert: Path, docs: list[Doc]) -> None:
    model = with_word_layer(bert, docs)
    for nothing in ([], [docs[1]]):
        assert model.predict(nothing).shape == (4, 0, 32)
    stack, backprop = model.begin_update([docs[1]])
    backprop(stack)


def test_what_is_refused(bert: Path) -> None:
    for encoder in (build_pretrained_encoder_v1(path=str(bert)), build_word_affix_embed_v1()):
        with pytest.raises(ValueError, match='with output = "all"'):
            build_encoder_layers_v1(encoder)


def test_a_pipeline_learns_and_comes_back_from_disk(bert: Path, tmp_path: Path) -> None:
    """Without the transformer's folder, which it was initialised from."""
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("en")
    encoder = {
        "@architectures": "spacy-lal.PretrainedEncoder.v1",
        "path": str(bert),
        "output": "all",
        "mixed_precision": True,
    }
    embed = {"@architectures": "spacy-lal.WordAffixEmbed.v1", "word_width": 8, "affix_width": 4}
    layers = {"@architectures": "spacy-lal.EncoderLayers.v1", "encoder": encoder}
    above = {
        "@architectures": "spacy-lal.WithWordLayer.v1",
        "layers": layers,
        "embed": embed,
        "hidden_width": 32,
    }
    model = {"@architectures": "spacy-lal.MHMLA.v1", "heads": 4, "layers": above}
    nlp.add_pipe("gec_detector", config={"model": model})
    examples = agreement_examples(nlp, 60)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.003
    losses = [nlp.update(examples, sgd=optimizer, drop=0.1)["gec_detector"] for _ in range(25)]
    assert losses[-1] < 0.5 * losses[0]
    text = "he walk today . They walk now ."
    scores = error_scores(nlp(text))
    nlp.to_disk(tmp_path / "model")
    bert.rename(bert.with_name("gone"))
    try:
        assert error_scores(spacy.load(tmp_path / "model")(text)) == pytest.approx(scores, abs=1e-6)
    finally:
        bert.with_name("gone").rename(bert)
    # how text is read is the config's to decide
    setting = "components.gec_detector.model.layers.layers.sentences"
    whole = spacy.load(tmp_path / "model", config={setting: "doc"})
    assert error_scores(whole(text)) != pytest.approx(scores, abs=1e-4)
