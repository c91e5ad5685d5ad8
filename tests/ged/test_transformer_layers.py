"""The detector on all layers of a transformer."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_lal.ged import transformer_layers
from spacy_lal.ged.transformer_layers import build_transformer_layers_v1
from tests.pipeline.toy_errors import agreement_examples

from ..tiny_transformers import write_bert

pytestmark = pytest.mark.spacy_transformers

DEPTH = 3


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of three tiny layers that reads letters, 40 pieces at most."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(0)
    sizes = {"hidden_size": 24, "num_hidden_layers": DEPTH, "intermediate_size": 48}
    write_bert(folder, ["abcdefghijklmnopqrstuvwxyz."], positions=40, **sizes)
    return folder


def layers(bert: Path, **settings) -> Model:
    model = build_transformer_layers_v1(str(bert), **settings)
    model.initialize()
    return model


def test_layers_are_those_of_the_transformer(bert: Path) -> None:
    from transformers import AutoModel, AutoTokenizer

    doc = spacy.blank("en")("he walks today .")
    tokens = AutoTokenizer.from_pretrained(bert)("he walks today .", return_tensors="pt")
    firsts = [tokens.char_to_token(token.idx) for token in doc]
    with torch.no_grad():
        expected = AutoModel.from_pretrained(bert)(**tokens, output_hidden_states=True)
    for embeddings in (False, True):
        found = layers(bert, embeddings=embeddings).predict([doc])
        hidden = expected.hidden_states[0 if embeddings else 1 :]
        assert found.shape == (len(hidden), 4, 24)
        for mine, theirs in zip(found, hidden, strict=True):
            numpy.testing.assert_allclose(mine, theirs[0, firsts], atol=1e-5)


def test_without_pretraining(bert: Path, tmp_path: Path) -> None:
    """The same sizes and tokenizer, BERT's new weights, and no file of weights is read."""
    for path in bert.iterdir():
        if path.suffix not in (".safetensors", ".bin"):
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(OSError, match="safetensors"):
        layers(tmp_path)
    doc = spacy.blank("en")("he walks today .")
    found, models = [], []
    for seed in (1, 1, 2):
        spacy.util.fix_random_seed(seed)
        models.append(layers(tmp_path, pretrained=False))
        found.append(models[-1].predict([doc]))
    numpy.testing.assert_array_equal(found[0], found[1])
    assert numpy.abs(found[0] - found[2]).max() > 0.1
    assert found[0].shape == layers(bert).predict([doc]).shape
    weight = models[0].layers[0].transformer.encoder.layer[0].output.dense.weight
    assert weight.std().item() == pytest.approx(0.02, rel=0.1)  # BertConfig.initializer_range
    models[0].initialize()  # what is there stays
    numpy.testing.assert_array_equal(models[0].predict([doc]), found[0])
    loaded = build_transformer_layers_v1(str(tmp_path), pretrained=False)
    loaded.from_bytes(models[0].to_bytes())
    numpy.testing.assert_array_equal(loaded.predict([doc]), found[0])


def test_gradient_of_every_layer_reaches_the_transformer(bert: Path) -> None:
    """Of its lowest layer too; against finite differences."""
    model = layers(bert)
    docs = list(spacy.blank("en").pipe(["he walks .", "they walk now"]))
    network = model.layers[0].transformer
    network.config.hidden_dropout_prob = 0.0
    for module in network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    network.double()
    weight = network.encoder.layer[0].output.dense.weight
    for k in range(DEPTH):
        stack, backprop = model.begin_update(docs)
        direction = numpy.zeros_like(stack)
        direction[k] = numpy.random.default_rng(k).normal(size=stack.shape[1:])
        backprop(direction)
        step = torch.zeros_like(weight)
        step[0, 0] = 0.02
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                weight += sign * step
            values.append(float((model.predict(docs) * direction).sum()))
            with torch.no_grad():
                weight -= sign * step
        slope = (values[0] - values[1]) / 0.04
        assert float(weight.grad[0, 0]) == pytest.approx(slope, rel=0.02, abs=1e-3)
        network.zero_grad()


def test_long_text_is_read_in_windows(bert: Path) -> None:
    """All tokens have outputs, also where a window has more pieces than the transformer takes."""
    model = layers(bert, window=8, stride=6)
    doc = spacy.blank("en")(" ".join(["they walk today and often"] * 20))
    found = model.predict([doc])
    assert found.shape[1] == len(doc) == 100
    assert numpy.abs(found).sum((0, 2)).min() > 0


def test_sentences_are_read_one_by_one(bert: Path) -> None:
    nlp = spacy.blank("en")
    text, alone = nlp("He walks. They walk today."), [nlp("He walks."), nlp("They walk today.")]
    together, apart = layers(bert, sentences="doc"), layers(bert)
    numpy.testing.assert_allclose(apart.predict([text]), apart.predict(alone), atol=1e-5)
    assert numpy.abs(together.predict([text]) - apart.predict([text])).max() > 0.01
    with pytest.raises(ValueError, match="no sentence boundaries"):
        layers(bert, sentences="existing").predict([text])


def test_of_two_windows_a_token_takes_the_one_it_is_deeper_in(bert: Path) -> None:
    doc = spacy.blank("en")("a b c d e f g h i j")
    model = layers(bert, window=6, stride=4)  # tokens 0-5 and 4-9
    found = model.predict([doc])
    parts = [model.predict([doc[start : start + 6].as_doc()]) for start in (0, 4)]
    # token 4 has one token between it and the first window's end, and none before it in the second
    numpy.testing.assert_allclose(found[:, :5], parts[0][:, :5], atol=1e-5)
    numpy.testing.assert_allclose(found[:, 5:], parts[1][:, 1:], atol=1e-5)


def test_whitespace_and_empty_docs(bert: Path) -> None:
    nlp = spacy.blank("en")
    model = layers(bert)
    docs = [nlp(""), nlp("he  walks"), nlp("\n")]
    found = model.predict(docs)
    assert found.shape == (DEPTH, 4, 24)
    assert not found[:, 1].any()
    assert model.predict([nlp("")]).shape == (DEPTH, 0, 24)


def test_the_same_doc_twice(bert: Path) -> None:
    nlp = spacy.blank("en")
    model = layers(bert)
    doc, other = nlp("he walks"), nlp("now")
    found = model.predict([doc, other, doc])
    numpy.testing.assert_allclose(found[:, :2], found[:, 3:], atol=1e-5)


def test_a_tokenizer_without_a_limit(bert: Path) -> None:
    """Then the model's positions are the limit."""
    model = layers(bert, window=16, stride=16)
    model.layers[0].tokenizer.model_max_length = int(1e30)
    doc = spacy.blank("en")(" ".join(["walking"] * 16))
    assert model.predict([doc]).shape[1] == 16


def test_the_end_of_a_token_of_too_many_pieces_is_cut_off(bert: Path) -> None:
    """Also if the tokenizer knows of no limit; its neighbours are read."""
    doc = Doc(Vocab(), words=["he", "x" * 60, "now"])
    for limit in (40, int(1e30)):
        model = layers(bert)
        model.layers[0].tokenizer.model_max_length = limit
        found = model.predict([doc])
        assert (numpy.abs(found).sum((0, 2)) > 0).all()


def test_windows_are_predicted_in_batches(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of like length, none much larger than asked; the outputs are those of all at once."""
    nlp = spacy.blank("en")
    words = ["they", "walk", "today", "and", "often", "\n"]
    rng = numpy.random.default_rng(0)
    texts = [" ".join(rng.choice(words, length)) for length in (3, 50, 1, 7, 0, 12, 4, 30)]
    docs = [nlp(text) for text in texts]
    model = layers(bert, window=8, stride=6)
    for module in model.layers[0].transformer.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if hasattr(module, "dropout_prob"):
            module.dropout_prob = 0.0
    at_once, _ = model(docs, is_train=True)
    areas = []
    read = transformer_layers._read

    def spy(transformer, windows, skipped, is_train):
        areas.append(len(windows) * max(map(len, windows)))
        return read(transformer, windows, skipped, is_train)

    monkeypatch.setattr(transformer_layers, "_read", spy)
    monkeypatch.setattr(transformer_layers, "MOST_TOKENS", 24)
    numpy.testing.assert_allclose(model.predict(docs), at_once, atol=1e-5)
    assert len(areas) > 5
    assert max(areas) <= 24


def test_threads_don_t_disturb_each_other(bert: Path) -> None:
    nlp = detector(bert)
    nlp.initialize(lambda: agreement_examples(nlp, 40))
    texts = ["he walks today .", "they walk", "a b c d e f g", "x " * 60] * 5

    def score(text: str) -> list[float]:
        scores: list[float] = nlp(text).spans["errors"].attrs["token_scores"]
        return scores

    expected = [score(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        for found, scores in zip(threads.map(score, texts), expected, strict=True):
            assert found == pytest.approx(scores, abs=1e-6)


def test_settings_are_checked(bert: Path) -> None:
    with pytest.raises(ValueError, match="stride"):
        build_transformer_layers_v1(str(bert), window=10, stride=11)


def detector(bert: Path) -> Language:
    nlp = spacy.blank("en")
    layers = {"@architectures": "spacy-lal.TransformerLayers.v1", "name": str(bert)}
    model = {"@architectures": "spacy-lal.MHMLA.v1", "heads": 4, "layers": layers}
    nlp.add_pipe("gec_detector", config={"model": model})
    return nlp


def test_trains_saves_and_loads(bert: Path, tmp_path: Path) -> None:
    spacy.util.fix_random_seed(0)
    nlp = detector(bert)
    examples = agreement_examples(nlp, 60)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.003
    first = nlp.update(examples, sgd=optimizer)["gec_detector"]
    for _ in range(40):
        last = nlp.update(examples, sgd=optimizer)["gec_detector"]
    assert last < 0.5 * first
    nlp.to_disk(tmp_path / "model")
    loaded = spacy.load(tmp_path / "model")
    # another one may begin with it, the transformer included
    begun = detector(bert)
    begun.get_pipe("gec_detector").initialize(lambda: examples, warm_start=str(tmp_path / "model"))
    for text in ("he walk today .", "they walk now ."):
        mine = nlp(text).spans["errors"].attrs["token_scores"]
        for other in (loaded, begun):
            theirs = other(text).spans["errors"].attrs["token_scores"]
            assert mine == pytest.approx(theirs, abs=1e-5)
