"""Components that listen to one encoder in spaCy's `tok2vec`."""

from __future__ import annotations

import gc
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.bridge.weights import has_weights, store_as, to_float16, to_int8
from spacy_lal.parsing.decoders import read_parses
from spacy_lal.parsing.kept_scores import KEPT, decode_with_arcs, keep_scores
from spacy_lal.srl import frame_decoding
from spacy_lal.structure.hpsg import lexicalise

from .toy_shared import (
    WORDS,
    annotations,
    encoder_shim,
    shared_examples,
    shared_pipeline,
    step,
)

pytest.importorskip("transformers")

TEXTS = ["The cat sat on the mat.", "", "  \n ", "Dogs eat and cats sat. Hello.", "She ate."]
LISTENING = ["tagger", "senter", "lal_constituency", "lisa_srl"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A trained pipeline on disk; the transformer that it began as is gone."""
    from ..tiny_transformers import write_bert

    bert = tmp_path_factory.mktemp("bert")
    spacy.util.fix_random_seed(0)
    # without dropout of its own, so that gradients can be compared
    write_bert(bert, WORDS, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    nlp = shared_pipeline(bert)
    examples = shared_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(60):
        step(nlp, examples, optimizer)
    for path in bert.iterdir():
        path.unlink()
    path = tmp_path_factory.mktemp("pipeline")
    nlp.to_disk(path)
    return path


@pytest.fixture
def nlp(folder):
    return spacy.load(folder)


def encoder_gradients(nlp, examples):
    nlp.update(examples, sgd=False)
    parameters = encoder_shim(nlp).module.named_parameters()
    return {name: p.grad.clone() for name, p in parameters if p.grad is not None}


def test_it_learned(nlp):
    examples = shared_examples(nlp)
    scores = nlp.evaluate(examples)
    for name in ("const_evalb_f", "srl_f", "conll18_las", "tag_acc"):
        assert scores[name] > 0.9, name


def test_the_encoder_gets_the_sum_of_all_gradients(folder):
    together = spacy.load(folder)
    found = encoder_gradients(together, shared_examples(together))
    assert len(found) > 30
    assert "mix.weights" in found
    total = {name: torch.zeros_like(gradient) for name, gradient in found.items()}
    for name in LISTENING:
        alone = spacy.load(folder, exclude=[other for other in LISTENING if other != name])
        for part, gradient in encoder_gradients(alone, shared_examples(alone)).items():
            assert gradient.any() or "key.bias" in part
            total[part] += gradient
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, total[name], rtol=1e-3, atol=1e-6)


def test_a_last_listener_without_gold_lets_the_others_teach(folder):
    """spaCy walks back through the encoder when the last listener hands its gradient over."""
    all_, without = spacy.load(folder), spacy.load(folder, exclude=["lisa_srl"])
    assert all_.pipe_names[-1] == "lisa_srl"
    pairs = []
    for nlp in (all_, without):
        examples = shared_examples(nlp, frames=False)
        for example in examples:
            for token in example.reference:
                token.dep_ = token.tag_ = ""
        pairs.append(encoder_gradients(nlp, examples))
    found, expected = pairs
    assert any(gradient.any() for gradient in expected.values())
    for name, gradient in expected.items():
        torch.testing.assert_close(found[name], gradient, rtol=1e-3, atol=1e-6)
    # and with nothing to learn at all, or nothing to read, training goes on
    doc = Doc(all_.vocab, words=["cats"])
    blank = Doc(all_.vocab, words=["\n"])
    empty = Doc(all_.vocab)
    for docs in ([doc, empty, blank], [empty], [blank]):
        all_.update([Example(d, d.copy()) for d in docs], sgd=False)


def test_a_text_is_encoded_once(nlp):
    calls = []
    encoder_shim(nlp).module.register_forward_hook(lambda *_: calls.append(1))
    docs = list(nlp.pipe(["The cat sat."] * 8, batch_size=4))
    assert len(calls) == 2
    assert len(docs) == 8
    for examples in (shared_examples(nlp), shared_examples(nlp)[:2]):
        calls.clear()
        nlp.update(examples, sgd=False)
        assert len(calls) == 1


def test_batches_empty_docs_and_whitespace(nlp):
    alone = annotations([nlp(text) for text in TEXTS])
    assert annotations(nlp.pipe(TEXTS, batch_size=2)) == alone
    assert annotations(nlp.pipe(TEXTS, batch_size=100)) == alone


def test_components_can_be_left_out(folder, nlp):
    docs = [nlp(text) for text in TEXTS]
    without = spacy.load(folder, exclude=["lisa_srl"])
    assert "lisa_srl" not in without.pipe_names
    for text, doc in zip(TEXTS, docs, strict=True):
        found = without(text)
        assert "srl" not in found.spans
        assert [t.head.i for t in found] == [t.head.i for t in doc]
        assert [str(tree) for tree in found._.trees] == [str(tree) for tree in doc._.trees]
    disabled = spacy.load(folder, disable=["lisa_srl"])
    assert "srl" not in disabled(TEXTS[0]).spans
    disabled.enable_pipe("lisa_srl")
    assert annotations(map(disabled, TEXTS)) == annotations(docs)


@pytest.mark.parametrize("name", ["lal_constituency", "lisa_srl"])
def test_a_component_without_its_encoder_says_so(folder, nlp, name):
    other = spacy.blank("en")
    other.add_pipe(name, source=nlp)
    with pytest.raises(ValueError, match=r"listens to 'tok2vec', which has not read"):
        other("The cat sat.")
    assert len(other("")) == 0
    alone = spacy.load(folder, disable=["tok2vec"])
    with pytest.raises(ValueError, match="listens to 'tok2vec'"):
        alone("The cat sat.")


@pytest.mark.parametrize("name", ["lal_constituency", "lisa_srl"])
def test_a_sourced_component_works_alone(folder, nlp, name, tmp_path):
    """By `replace_listeners`, before it is sourced; the encoder's copy goes with it."""
    key = {"lal_constituency": "constituents", "lisa_srl": "srl"}[name]
    texts = ["The cat sat on the mat.", "She ate."]
    spans = [
        [(s.start, s.end, s.label_) for s in doc.spans[key]]
        for doc in spacy.load(folder, exclude=["senter"]).pipe(texts)
    ]
    nlp.replace_listeners("tok2vec", name, ["model.tok2vec.encoder"])
    other = spacy.blank("en")
    other.add_pipe(name, source=nlp)
    other.to_disk(tmp_path / "alone")
    config = other.config.copy()
    config["components"] = {
        name: {"source": str(folder), "replace_listeners": ["model.tok2vec.encoder"]}
    }
    by_config = spacy.util.load_model_from_config(config, auto_fill=True)
    for alone in (
        other,
        spacy.load(tmp_path / "alone"),
        spacy.blank("en").from_config(other.config).from_bytes(other.to_bytes()),
        by_config,
    ):
        assert alone.pipe_names == [name]
        found = [[(s.start, s.end, s.label_) for s in doc.spans[key]] for doc in alone.pipe(texts)]
        assert found == spans
    # the copy learns by itself, and the optimizer takes it for another
    copied = [
        shim
        for node in other.get_pipe(name).model.walk()
        for shim in node.shims
        if node.name == "pretrained_encoder"
    ]
    assert len(copied) == 1
    assert copied[0].id != encoder_shim(nlp).id


def test_storage(folder, nlp, tmp_path):
    expected = annotations(nlp.pipe(TEXTS))
    nlp.to_disk(tmp_path / "again")
    for again in (
        spacy.load(tmp_path / "again"),
        spacy.util.load_model_from_config(nlp.config, auto_fill=True).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ):
        assert annotations(again.pipe(TEXTS)) == expected
    # the weights are safetensors inside spaCy's own file, and the tokenizer is beside them
    data = (tmp_path / "again" / "tok2vec" / "model").read_bytes()
    assert b'"headers"' in data
    assert b"WordPiece" in data


def test_an_encoder_in_eight_bits(folder, nlp, tmp_path):
    shutil.copytree(folder, tmp_path / "nlp")
    packed = tmp_path / "nlp" / "tok2vec"
    assert {folder.name for folder in (tmp_path / "nlp").iterdir() if has_weights(folder)} == {
        "tok2vec",
        "lal_constituency",
        "lisa_srl",
    }
    store_as(packed, to_int8)
    store_as(packed, to_float16)
    sizes = [(path / "tok2vec" / "model").stat().st_size for path in (folder, tmp_path / "nlp")]
    assert sizes[1] < 0.5 * sizes[0]
    loaded = spacy.load(tmp_path / "nlp")
    assert {t.dtype for t in encoder_shim(loaded).tensors().values()} == {torch.float32}
    for text in TEXTS:
        doc, found = nlp(text), loaded(text)
        scale = numpy.abs(doc.tensor).max(initial=0.0)
        numpy.testing.assert_allclose(found.tensor, doc.tensor, atol=0.05 * scale)
        # rounding may change a close choice of so young a parser: of trees only that they are there
        assert [str(span) for span in found.sents] == [str(span) for span in doc.sents]
        assert len(found._.trees) == len(doc._.trees)


def test_an_encoder_in_several_files(nlp, tmp_path, monkeypatch):
    expected = annotations(nlp.pipe(TEXTS))
    config = nlp.config.copy()
    config["components"]["tok2vec"]["factory"] = "lal_tok2vec"
    other = spacy.util.load_model_from_config(config, auto_fill=True).from_bytes(nlp.to_bytes())
    other.to_disk(tmp_path)
    folder = tmp_path / "tok2vec"
    assert has_weights(folder)
    assert b'"headers"' not in (folder / "model").read_bytes()
    for most, number in ((10_000, 3), (5_000, 4), (10_000_000, 1)):
        monkeypatch.setattr("spacy_lal.bridge.weights.MOST_BYTES", most)
        store_as(folder, lambda tensors: None)
        parts = list(folder.glob("*.safetensors"))
        assert len(parts) >= number if number > 1 else len(parts) == 1
        again = spacy.load(tmp_path)
        assert annotations(again.pipe(TEXTS)) == expected
        if number == 4:
            (folder / f"model-{len(parts)}.safetensors").unlink()
            with pytest.raises(ValueError, match=r"model\.safetensors: .* is missing"):
                spacy.load(tmp_path)
            other.to_disk(tmp_path)
    assert annotations(again.from_bytes(other.to_bytes()).pipe(TEXTS)) == expected


def test_an_encoder_that_spacy_wrote_becomes_one_in_safetensors(folder, nlp, tmp_path):
    expected = annotations(nlp.pipe(TEXTS))
    assert not list((folder / "tok2vec").glob("*.safetensors"))
    config = {"components": {"tok2vec": {"factory": "lal_tok2vec"}}}
    other = spacy.load(folder, config=config)
    assert annotations(other.pipe(TEXTS)) == expected
    other.to_disk(tmp_path)
    assert annotations(spacy.load(tmp_path).pipe(TEXTS)) == expected
    (tmp_path / "tok2vec" / "model.safetensors").unlink()
    for load in (spacy.load, other.from_disk):
        with pytest.raises(ValueError, match=r"model\.safetensors: no such file"):
            load(tmp_path)


def test_threads(nlp):
    texts = [*TEXTS, *WORDS] * 2
    expected = annotations(map(nlp, texts))
    with ThreadPoolExecutor(4) as pool:
        assert annotations(pool.map(nlp, texts)) == expected


def test_processes(nlp):
    # processes that are spawned take a pickle, of which `test_storage` takes care
    expected = annotations(nlp.pipe(TEXTS))
    assert annotations(nlp.pipe(TEXTS, n_process=2, batch_size=2)) == expected


def test_a_frozen_encoder_that_annotates(nlp):
    before = {name: t.clone() for name, t in encoder_shim(nlp).tensors().items()}
    examples = shared_examples(nlp)
    parser = torch_shim(nlp.get_pipe("lal_constituency").model)
    own = {name: t.clone() for name, t in parser.tensors().items()}
    optimizer = nlp.resume_training()
    frozen = {"exclude": ["tok2vec", "tagger"], "annotates": ["tok2vec"]}
    step(nlp, examples, optimizer, **frozen)
    for name, tensor in encoder_shim(nlp).tensors().items():
        assert torch.equal(tensor, before[name])
    assert any(not torch.equal(t, own[name]) for name, t in parser.tensors().items())


def test_vectors_can_leave_the_docs(nlp, tmp_path):
    expected = annotations(nlp.pipe(TEXTS))
    (doc,) = nlp.pipe(TEXTS[:1])
    assert doc.tensor.shape == (7, 32)
    nlp.add_pipe("lal_empty_tensor")
    nlp.to_disk(tmp_path)
    cleaned = list(spacy.load(tmp_path).pipe(TEXTS))
    assert annotations(cleaned) == expected
    assert not any(numpy.size(doc.tensor) for doc in cleaned)
    assert cleaned[0][:3].as_doc().text.strip() == cleaned[0][:3].text
    assert not cleaned[0][0].vector.any()
    assert len(cleaned[0].to_bytes()) < len(doc.to_bytes())
    assert annotations([Doc(nlp.vocab).from_bytes(cleaned[0].to_bytes())]) == expected[:1]


@pytest.fixture
def decoded_again(nlp, monkeypatch):
    """The pipeline with arc scores of LISA that contradict the trees, and trees decoded again."""
    nlp.get_pipe("lisa_srl").overwrite_parser = 2.0
    nlp.get_pipe("lal_constituency").keep_scores = True
    plain = frame_decoding.from_self_loops

    def shifted(arcs):
        generator = torch.Generator().manual_seed(arcs.shape[1])
        noise = torch.randn(arcs.shape[1:], generator=generator)
        return plain(arcs + 8 * noise)

    monkeypatch.setattr(frame_decoding, "from_self_loops", shifted)
    return nlp


def conflicts(doc):
    spans = [(s.start, s.end, s.label_) for s in doc.spans["constituents"]]
    heads = [0 if t.head == t else t.head.i + 1 for t in doc]
    return lexicalise(spans, heads, len(doc)).conflicts


def gold_words(nlp):
    return [Doc(nlp.vocab, words=[t.text for t in e.y]) for e in shared_examples(nlp)]


def test_trees_decoded_with_both_networks_agree_with_heads(decoded_again):
    nlp = decoded_again
    docs = list(nlp.pipe(gold_words(nlp)))
    assert not KEPT
    assert [conflicts(doc) for doc in docs] == [0] * len(docs)
    assert annotations(map(nlp, gold_words(nlp))) == annotations(docs)
    for doc in docs:
        # the tree's probability is still that of its constituents
        assert doc._.trees[0].log_prob <= 0
    nlp.get_pipe("lal_constituency").keep_scores = False
    apart = list(nlp.pipe(gold_words(nlp)))
    assert any(map(conflicts, apart))
    assert annotations(apart) != annotations(docs)


def test_a_doc_of_other_sentences_keeps_the_trees_of_the_parser(decoded_again):
    """LISA reads the long sentence in pieces, and the short one as the parser does."""
    nlp = decoded_again
    lisa, parser = nlp.get_pipe("lisa_srl"), nlp.get_pipe("lal_constituency")
    lisa.reading = replace(lisa.reading, max_sentence_length=6)
    lisa._configure_model()
    words = [
        ["The", "cat", "sat", "on", "the", "mat", "."],
        ["Dogs", "eat", "and", "cats", "sat", "."],
    ]
    starts = [i == 0 for sentence in words for i in range(len(sentence))]

    def annotated(keep):
        parser.keep_scores = keep
        return annotations([nlp(Doc(nlp.vocab, words=[*words[0], *words[1]], sent_starts=starts))])

    assert annotated(True) == annotated(False)
    assert not KEPT


def test_scores_are_kept_no_longer_than_docs(decoded_again):
    nlp = decoded_again
    with nlp.select_pipes(disable=["lisa_srl"]):
        doc = nlp(gold_words(nlp)[0])
        assert list(KEPT) == [doc]
        assert Doc(nlp.vocab).from_bytes(doc.to_bytes()).has_annotation("DEP")
        del doc
    gc.collect()
    assert not KEPT


def test_arcs_of_another_network_choose_heads(nlp):
    parser = nlp.get_pipe("lal_constituency")
    docs = [nlp.get_pipe("tok2vec")(doc) for doc in gold_words(nlp)]
    scores = keep_scores(parser, docs, parser.model.predict(docs))
    kept = [next(iter(KEPT[doc].by_words.values())) for doc in docs]
    lengths = torch.tensor([len(doc) for doc in docs])
    n = int(lengths.max())
    # without preferences of the other network the parser's own trees stay
    own = read_parses(scores, parser.find)
    again = decode_with_arcs(parser, kept, torch.zeros(len(docs), n, n + 1), lengths)
    for number, parse in enumerate(again):
        assert parse.heads.tolist() == own[number].heads.tolist()
        assert parse.labels.tolist() == own[number].labels.tolist()
        assert parse.log_prob == pytest.approx(own[number].log_prob, abs=1e-5)
    # each word depends on the next one; an arc is worth more than all constituents
    parser.decoder = replace(parser.decoder, arc_weight=100)
    arcs = torch.zeros(len(docs), n, n + 1)
    for row, length in enumerate(lengths.tolist()):
        chain = [*range(2, length + 1), 0]
        arcs[row, range(length), chain] = 1e3
        assert decode_with_arcs(parser, kept, arcs, lengths)[row].heads.tolist() == chain


def test_keeping_scores_needs_arcs(nlp):
    config = nlp.config["components"]["lal_constituency"].copy()
    config = {"keep_scores": True, "model": {**config["model"], "dependencies": None}}
    with pytest.raises(ValueError, match="keep_scores needs"):
        nlp.add_pipe("lal_constituency", name="other", config=config)
