"""`spacy-lal.PretrainedEncoder.v1` against Hugging Face's own model and tokenizer."""

import hashlib
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest
import safetensors.torch
import spacy
import torch
from spacy.tokens import Doc

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.encoders.hugging_face import build_transformer, mpnet_name
from spacy_lal.encoders.network import (
    PretrainedNetwork,
    PretrainedSettings,
    build_pretrained_encoder_v1,
)
from spacy_lal.layers.dropout import Dropout
from spacy_lal.layers.precision import has_bfloat16
from tests import tiny_transformers

WORDS = ["She", "does", "n't", "like", "ähnliche", "words", ",", "but", "Unbelievable", "ones", "."]
SPACES = [True, False, True, True, True, False, True, True, True, False, False]
KINDS = ["bert", "xlmr", "xlnet", "roberta", "electra", "mpnet"]


def make(path, layers=2, **settings):
    model = build_pretrained_encoder_v1(path=str(path), layers=layers, **settings)
    model.initialize()
    return model


def without_dropout(model):
    for part in torch_shim(model).module.modules():
        if isinstance(part, Dropout):
            part.rate = 0.0
        if hasattr(part, "attention_dropout"):
            part.attention_dropout = 0.0


def sentence(vocab=None, words=WORDS, spaces=SPACES):
    return Doc(vocab or spacy.blank("en").vocab, words=words, spaces=spaces)


def theirs(path, doc, kind):
    """All layers of all pieces [layers + 1, pieces, d], and the pieces of every word."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(path)
    model = AutoModel.from_pretrained(path).eval()
    if kind == "roberta":
        # the text as it stands: a piece belongs to the word over whose characters it begins
        encoding = tokenizer(doc.text, return_tensors="pt", return_offsets_mapping=True)
        words = [
            next((t.i for t in doc if t.idx + len(t) > end - 1), None) if end else None
            for _, end in encoding.pop("offset_mapping")[0].tolist()
        ]
    else:
        encoding = tokenizer([t.text for t in doc], is_split_into_words=True, return_tensors="pt")
        words = encoding.word_ids()
    with torch.no_grad():
        hidden = model(**encoding, output_hidden_states=True).hidden_states
    of_word = [[k for k, word in enumerate(words) if word == i] for i in range(len(doc))]
    return torch.cat(hidden).numpy(), of_word


@pytest.mark.parametrize("kind", KINDS)
def test_layers_and_pieces_are_those_of_the_original(folders, kind):
    doc = sentence()
    layers, pieces = theirs(folders[kind], doc, kind)
    rows = {
        "first": [word[0] for word in pieces],
        "last": [word[-1] for word in pieces],
    }
    for pooling, chosen in rows.items():
        (found,) = make(folders[kind], output="last", pooling=pooling).predict([doc])
        numpy.testing.assert_allclose(found, layers[-1][chosen], atol=1e-5)
    (found,) = make(folders[kind], output="all").predict([doc])
    firsts = [[layer[word[0]] for layer in layers[1:]] for word in pieces]
    numpy.testing.assert_allclose(found, numpy.asarray(firsts).reshape(len(doc), -1), atol=1e-5)


def test_a_mix_is_the_weighted_sum_of_the_last_layers(folders):
    doc = sentence()
    layers, pieces = theirs(folders["bert"], doc, "bert")
    model = make(folders["bert"], output="mix", layers=2)
    mix = torch_shim(model).module.mix
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([0.0, numpy.log(3.0)]))
        mix.gamma.fill_(2.0)
    (found,) = model.predict([doc])
    first = [word[0] for word in pieces]
    numpy.testing.assert_allclose(
        found, 2 * (0.25 * layers[-2][first] + 0.75 * layers[-1][first]), atol=1e-5
    )


def test_spaces_unknown_characters_and_empty_docs(folders):
    vocab = spacy.blank("en").vocab
    docs = [
        Doc(vocab, words=[]),
        Doc(vocab, words=["She", " ", "\n\n", "☃", "\x00", "ones"]),
        Doc(vocab, words=["   "]),
    ]
    for kind in KINDS:
        empty, odd, blank = make(folders[kind], output="last").predict(docs)
        assert [found.shape for found in (empty, odd, blank)] == [(0, 32), (6, 32), (1, 32)]
        assert not blank.any()
        assert odd.any(1).tolist() == [True, False, False, True, True, True]
        assert numpy.isfinite(odd).all()


def test_bfloat16_products_are_a_setting_of_training_and_one_of_prediction(folders):
    doc = sentence()
    exact, trained, predicted = (
        make(folders["bert"], output="last", **settings)
        for settings in ({}, {"mixed_precision": True}, {"prediction": "bfloat16"})
    )
    (expected,) = exact.predict([doc])
    numpy.testing.assert_array_equal(trained.predict([doc])[0], expected)
    (rounded,) = predicted.predict([doc])
    assert rounded.dtype == "float32"
    native = has_bfloat16("cpu")
    difference = numpy.abs(rounded - expected).max()
    assert 1e-4 < difference < 0.1 if native else difference < 1e-5
    for model, lower in ((exact, False), (trained, native), (predicted, False)):
        without_dropout(model)
        (found,), _ = model.begin_update([doc])
        assert (numpy.abs(found - expected).max() > 1e-4) == lower


def test_a_long_word_does_not_fill_a_window(folders):
    doc = Doc(spacy.blank("en").vocab, words=["She", "o" * 5000, "ones"])
    (found,) = make(folders["bert"], output="last", window=32).predict([doc])
    assert numpy.abs(found).sum(1).all()


def test_a_window_may_have_all_positions(folders, tmp_path):
    tiny_transformers.write_bert(tmp_path, WORDS, positions=21)
    folders = folders | {"short": tmp_path}
    for kind, window in (("bert", 512), ("electra", 512), ("roberta", 512), ("short", 21)):
        with pytest.raises(ValueError, match=f"window = {window + 1} is too long"):
            make(folders[kind], window=window + 1)
        # with the special pieces before and behind
        doc = sentence(words=["e"] * (window - 2), spaces=[False] * (window - 2))
        layers, pieces = theirs(folders[kind], doc, kind)
        assert layers.shape[1] == window
        model = make(folders[kind], output="last", window=window)
        without_dropout(model)
        for (found,) in (model.predict([doc]), model.begin_update([doc])[0]):
            numpy.testing.assert_allclose(found, layers[-1][[p[0] for p in pieces]], atol=1e-5)


def test_vectors_do_not_depend_on_the_batch(folders):
    vocab = spacy.blank("en").vocab
    docs = [Doc(vocab, words=WORDS[:k]) for k in (1, 11, 0, 4, 7, 2)]
    for kind in KINDS:
        model = make(folders[kind], output="all", window=64)
        together = model.predict(docs)
        for doc, found in zip(docs, together, strict=True):
            numpy.testing.assert_allclose(found, model.predict([doc])[0], atol=1e-5)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_8_bit_vectors_are_those_of_a_batch_to_the_last_bit(folders, kind):
    """Or a sum's last bit would decide how a number is rounded."""
    model = make(folders[kind], prediction="int8")
    docs = [sentence(words=WORDS[:n], spaces=SPACES[:n]) for n in (11, 1, 4, 11, 7, 4, 2)]
    exact = make(folders[kind])
    for doc, vectors, near in zip(docs, model.predict(docs), exact.predict(docs), strict=True):
        assert (vectors == model.predict([doc])[0]).all()
        assert 0 < abs(vectors - near).max() < 0.1 * abs(near).max()


def test_gradients_reach_every_layer_and_are_right(folders):
    """Finite differences of a random projection of all layers, along the gradient."""
    model = make(folders["bert"], output="all")
    shim = torch_shim(model)
    without_dropout(model)
    shim.module.double()
    doc = sentence()
    generator = numpy.random.default_rng(0)
    rows, backprop = model.begin_update([doc])
    weights = generator.normal(size=rows[0].shape)
    backprop([weights])
    gradients = {n: p.grad.clone() for n, p in shim.module.named_parameters() if p.grad is not None}
    for part in ("embeddings.word", "layer.0.output.dense.weight", "layer.1.output.dense.weight"):
        (name,) = [name for name in gradients if part in name]
        gradient, parameter = gradients[name], dict(shim.module.named_parameters())[name].data
        step = 1e-5 / gradient.norm()
        values = []
        for sign in (1, -1):
            parameter += sign * step * gradient
            values.append((model.predict([doc])[0] * weights).sum())
            parameter -= sign * step * gradient
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(
            float((gradient**2).sum()), rel=1e-5
        )


def test_frozen_layers_get_no_gradient(folders):
    model = make(folders["bert"], output="last", trained_from=2)
    rows, backprop = model.begin_update([sentence()])
    backprop([numpy.ones_like(rows[0])])
    trained = {n for n, p in torch_shim(model).module.named_parameters() if p.grad is not None}
    assert trained
    assert all("layer.1." in name for name in trained)
    # nothing is left to train
    model = make(folders["bert"], output="last", trained_from=3)
    rows, backprop = model.begin_update([sentence()])
    assert backprop([numpy.ones_like(rows[0])]) == []


def test_what_is_frozen_in_transformers_of_other_names():
    transformers = pytest.importorskip("transformers")
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 40}

    def trained(config, trained_from):
        settings = PretrainedSettings(output="last", layers=1, trained_from=trained_from)
        network = PretrainedNetwork(config.to_dict(), settings)
        model = network.transformer.model
        return model, {n for n, p in model.named_parameters() if p.requires_grad}

    config = transformers.ModernBertConfig(num_hidden_layers=3, pad_token_id=0, **sizes)
    model, found = trained(config, trained_from=3)
    last = {f"layers.2.{name}" for name, _ in model.layers[2].named_parameters()}
    assert found == last | {f"final_norm.{name}" for name, _ in model.final_norm.named_parameters()}
    model, found = trained(config, trained_from=1)
    frozen = {f"embeddings.{name}" for name, _ in model.embeddings.named_parameters()}
    assert found == {name for name, _ in model.named_parameters()} - frozen
    # one layer that is used again and again has no number
    config = transformers.AlbertConfig(embedding_size=16, **sizes)
    with pytest.raises(ValueError, match="trained_from = 2, and no parameter"):
        trained(config, trained_from=2)


def test_bytes_hold_weights_and_tokenizer(folders, tmp_path):
    shutil.copytree(folders["roberta"], tmp_path / "gone")
    model = make(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    doc = sentence()
    other = build_pretrained_encoder_v1(path="nowhere", layers=2).from_bytes(model.to_bytes())
    other.initialize(X=[doc])  # keeps what was loaded
    for copied in (other, pickle.loads(pickle.dumps(other)), other.copy()):
        numpy.testing.assert_array_equal(copied.predict([doc])[0], model.predict([doc])[0])
    assert other.get_dim("nO") == 32


def test_bert_and_its_kin_need_no_transformers(folders, monkeypatch):
    import sys

    expected = {kind: make(folders[kind]).predict([sentence()])[0] for kind in ("bert", "roberta")}
    monkeypatch.setitem(sys.modules, "transformers", None)
    for kind, vectors in expected.items():
        numpy.testing.assert_array_equal(make(folders[kind]).predict([sentence()])[0], vectors)
    with pytest.raises(ImportError, match=r"pip install 'spacy-lal\[encoders\]'"):
        make(folders["xlnet"])


def test_weights_below_a_task_and_under_old_names(folders, tmp_path):
    """As in checkpoints of the first BERT, with a head for its tasks."""
    shutil.copytree(folders["bert"], tmp_path / "old")
    path = tmp_path / "old" / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    renamed = {
        "bert."
        + name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor.half()
        for name, tensor in tensors.items()
    }
    safetensors.torch.save_file(renamed | {"cls.bias": torch.zeros(3)}, path)
    (found,) = make(tmp_path / "old").predict([sentence()])
    (expected,) = make(folders["bert"]).predict([sentence()])
    numpy.testing.assert_allclose(found, expected, atol=0.01)
    del renamed["bert.encoder.layer.1.output.dense.bias"]
    safetensors.torch.save_file(renamed, path)
    with pytest.raises(ValueError, match=r"has no encoder\.layer\.1\.output\.dense\.bias"):
        make(tmp_path / "old")


def test_threads_share_an_encoder(folders):
    model = make(folders["bert"])
    docs = [sentence(words=WORDS[: 1 + k % 11], spaces=SPACES[: 1 + k % 11]) for k in range(24)]
    alone = [model.predict([doc])[0] for doc in docs]
    fresh = build_pretrained_encoder_v1(layers=2).from_bytes(model.to_bytes())
    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(
            pool.map(lambda d: fresh.predict([d])[0], docs), alone, strict=True
        ):
            numpy.testing.assert_allclose(found, expected, atol=1e-6)


def test_what_is_refused(folders, tmp_path):
    right = hashlib.sha256((folders["bert"] / "model.safetensors").read_bytes()).hexdigest()
    assert make(folders["bert"], sha256=right).get_dim("nO") == 32
    with pytest.raises(ValueError, match=r"model\.safetensors: SHA-256 is .* should be 00"):
        make(folders["bert"], sha256="00")
    with pytest.raises(ValueError, match=r"config\.json: no such file"):
        make(tmp_path)
    with pytest.raises(ValueError, match="needs the path"):
        build_pretrained_encoder_v1().initialize()
    with pytest.raises(ValueError, match="output must be one of"):
        build_pretrained_encoder_v1(output="some")
    with pytest.raises(ValueError, match=r"layers must be from 1 to 2, got 4"):
        make(folders["bert"], layers=4)
    with pytest.raises(ValueError, match=r"window = 600 is too long: .* has 512 positions"):
        make(folders["bert"], window=600)
    shutil.copytree(folders["bert"], tmp_path / "broken")
    for config in ("{", "[]", '{"model_type": 3}'):
        (tmp_path / "broken" / "config.json").write_text(config)
        with pytest.raises(ValueError, match="broken: no transformer that can be read"):
            make(tmp_path / "broken")


@pytest.mark.parametrize("feed_forward", ["relu", "gated-gelu"])
def test_t5_gives_the_states_of_its_decoder_over_the_shifted_text(feed_forward):
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    config = transformers.T5Config(
        **{"d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 3},
        **{"num_heads": 2, "vocab_size": 30, "feed_forward_proj": feed_forward},
        **{"relative_attention_num_buckets": 8, "relative_attention_max_distance": 20},
    )
    theirs = transformers.T5Model(config).eval()
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    ours = build_transformer(config.to_dict()).eval()
    state = {k: v for k, v in theirs.state_dict().items() if "embed_tokens" not in k}
    ours.model.load_state_dict(state)
    pieces = torch.randint(1, 30, (3, 40))
    mask = torch.ones_like(pieces)
    mask[1, 30:] = mask[2, 3:] = 0
    start = torch.zeros(3, 1, dtype=torch.long)
    there = torch.cat([mask[:, :1], mask], 1)
    with torch.no_grad():
        found = ours(pieces, mask, mask)[-1]
        wanted = theirs(
            input_ids=pieces,
            attention_mask=mask,
            decoder_input_ids=torch.cat([start, pieces], 1),
            decoder_attention_mask=there,
        ).last_hidden_state
    torch.testing.assert_close(found[there.bool()], wanted[there.bool()], rtol=0, atol=1e-5)


def test_distances_of_long_texts():
    """Two hundred pieces reach the last class of distances, in padded rows and packed ones."""
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(0)
    config = MPNetConfig(
        vocab_size=50,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
    )
    original = MPNetModel(config).eval()
    torch.nn.init.normal_(original.encoder.relative_attention_bias.weight)
    ours = build_transformer(config.to_dict())
    ours.load_state_dict(
        {name: original.state_dict()[mpnet_name(name)] for name in ours.state_dict()}
    )
    ours.eval()
    pieces = torch.randint(5, 50, (3, 200))
    mask = (torch.arange(200) < torch.tensor([[200], [150], [7]])).long()
    pieces[mask == 0] = 1
    expected = original(pieces, attention_mask=mask, output_hidden_states=True).hidden_states
    found = ours(pieces, torch.zeros_like(pieces), mask)
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine[mask.bool()], theirs[mask.bool()], atol=1e-5, rtol=0)


@pytest.mark.parametrize(("trained_from", "output"), [(1, "last"), (2, "all"), (3, "mix")])
@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_outputs_of_frozen_layers_are_kept(
    folders, tmp_path, monkeypatch, kind, trained_from, output
):
    docs = [sentence(), sentence(words=["Again", "."], spaces=[False, False])]
    settings = {"trained_from": trained_from, "output": output}
    plain = make(folders[kind], **settings).predict(docs)

    def kept():
        model = make(folders[kind], cache=str(tmp_path / "kept"), **settings)
        without_dropout(model)
        return model

    model = kept()
    for found, expected in zip(model.begin_update(docs)[0], plain, strict=True):
        # eight bits of a mantissa
        numpy.testing.assert_allclose(found, expected, atol=0.02 * numpy.abs(expected).max())
    monkeypatch.setattr("spacy_lal.encoders.kept_states.KeptStates._add", None)
    again, backprop = model.begin_update(docs[::-1])
    anew = kept().predict(docs)
    for first, second, third in zip(anew, again[::-1], model.predict(docs), strict=True):
        numpy.testing.assert_allclose(first, second, rtol=1e-5, atol=1e-6)
        numpy.testing.assert_allclose(first, third, rtol=1e-5, atol=1e-6)
    backprop([numpy.ones_like(rows) for rows in again])
    network = torch_shim(model).module
    trained = [p.grad is not None for p in network.transformer.encoder["layer"][-1].parameters()]
    assert all(trained) if trained_from < 3 else not any(trained)


def test_a_cache_belongs_to_weights_and_survives_a_kill(folders, tmp_path):
    docs = [sentence()]
    settings = {"trained_from": 2, "cache": str(tmp_path)}
    of_bert = make(folders["bert"], **settings).predict(docs)
    other = make(folders["mpnet"], **settings)
    (index,) = tmp_path.glob("*.index")
    index.write_bytes(index.read_bytes() + b"incomplete")
    numpy.testing.assert_array_equal(make(folders["bert"], **settings).predict(docs), of_bert)
    other.predict(docs)
    assert len(list(tmp_path.glob("*.index"))) == 2


def test_a_cache_needs_frozen_layers_of_a_known_transformer(folders, tmp_path):
    with pytest.raises(ValueError, match="trained_from of at least 1"):
        make(folders["bert"], cache=str(tmp_path))
    with pytest.raises(ValueError, match="a cache needs a transformer like BERT"):
        make(folders["xlnet"], cache=str(tmp_path), trained_from=1)


def test_biases_of_distances_are_frozen_with_the_lowest_layer(folders):
    network = torch_shim(make(folders["mpnet"], trained_from=2)).module
    assert not network.transformer.encoder["relative_attention_bias"].weight.requires_grad
