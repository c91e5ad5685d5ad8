"""Components that share a BiLSTM over sentences in `lal_tok2vec`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from thinc.api import Model
from torch import nn

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.encoders.sentence_bilstm import build_sentence_bilstm_v1
from spacy_lal.evaluation.role_scores import measure_roles
from spacy_lal.layers.bilstm import BiLSTM
from spacy_lal.layers.input_encoders import SharedInput

from ..tiny_transformers import write_bert
from .toy import TINY, headed_examples, joint_pipeline
from .toy_frames import srl_pipeline
from .toy_shared import (
    BESIDE,
    BILSTM,
    WORDS,
    annotations,
    bilstm_pipeline,
    bilstm_shim,
    shared_examples,
    shared_pipeline,
    step,
    toy_tags,
)

PARTS = ["The cats \n sat. Dogs\teat fish.", "", " \n ", "She saw it.", "No stop"]


def numbers(given: list[Any]) -> Model:
    """A layer of random vectors for each word, which keeps the gradient that it is given."""

    def forward(model: Model, docs: list[Doc], is_train: bool) -> tuple[list, Any]:
        vectors = [
            numpy.asarray([numpy.sin(numpy.arange(1, 4) * (1 + t.orth % 97)) for t in doc], "f")
            for doc in docs
        ]
        return [of.reshape(-1, 3) for of in vectors], lambda d_rows: given.append(d_rows) or []

    return Model("numbers", forward, dims={"nO": 3})


def docs_of(nlp: Language) -> list[Doc]:
    docs = [nlp.make_doc(text) for text in PARTS]
    for token in docs[0]:
        token.is_sent_start = token.i in (0, 5)
    return docs


@pytest.fixture(params=[0, 5])
def shared(request: pytest.FixtureRequest) -> tuple[Model, list[Any], list[Doc]]:
    given: list[Any] = []
    torch.manual_seed(0)
    settings = {"hidden_width": 4, "depth": 3, "tags": request.param, "tag_width": 3}
    model = build_sentence_bilstm_v1(numbers(given), **settings)
    docs = docs_of(spacy.blank("en"))
    model.initialize(X=docs)
    return model, given, docs


def pytorch_states(bilstm: BiLSTM, x: torch.Tensor) -> torch.Tensor:
    """Of PyTorch's own bidirectional LSTM with the same weights."""
    depth, d_in = len(bilstm.ahead), bilstm.ahead[0].input_size
    lstm = nn.LSTM(d_in, bilstm.ahead[0].hidden_size, depth, bidirectional=True)
    state = {}
    for k in range(depth):
        for end, layers in (("", bilstm.ahead), ("_reverse", bilstm.back)):
            for name, value in layers[k].state_dict().items():
                state[name.replace("_l0", f"_l{k}{end}")] = value
    lstm.load_state_dict(state)
    return lstm(x)[0]


def states_one_by_one(model: Model, doc: Doc) -> numpy.ndarray:
    """Features of a sentence at a time: states, and shares of tags, if there are tags."""
    module = torch_shim(model).module
    (vectors,) = model.get_ref("tok2vec").predict([doc])
    found = numpy.zeros((len(doc), model.get_dim("nO")), "f")
    for sentence in doc.sents:
        if words := [t.i for t in sentence if not t.is_space]:
            with torch.no_grad():
                states = pytorch_states(module.lower, torch.from_numpy(vectors[words]))
                shares = states[:, :0]
                if module.upper is not None:
                    scores = module.tag_scores
                    shares = (states @ scores.weight.T + scores.bias).exp()
                    shares = shares / shares.sum(1, keepdim=True)
                    expected = shares @ module.tag_embedding
                    states = pytorch_states(module.upper, torch.cat([states, expected], 1))
                found[words] = torch.cat([states, shares], 1).numpy()
    return found


def test_states_of_each_sentence_by_itself(shared: tuple[Model, list[Any], list[Doc]]) -> None:
    model, _, docs = shared
    rows = model.predict(docs)
    width = 8 + model.attrs["settings"].tags
    assert [row.shape for row in rows] == [(len(doc), width) for doc in docs]
    assert model.get_dim("nO") == width
    numpy.testing.assert_allclose(rows[0], states_one_by_one(model, docs[0]), atol=1e-6)
    assert not rows[0][[t.is_space for t in docs[0]]].any()
    assert not rows[2].any()
    # a Doc alone, and one whose sentence is found by rule
    numpy.testing.assert_allclose(model.predict([docs[3]])[0], rows[3], atol=1e-6)
    assert rows[3].any()


def test_gradients_by_finite_differences(shared: tuple[Model, list[Any], list[Doc]]) -> None:
    model, given, docs = shared
    generator = numpy.random.default_rng(0)
    rows, backprop = model.begin_update(docs)
    d_rows = [generator.normal(size=row.shape).astype("f") for row in rows]
    backprop(d_rows)
    module = torch_shim(model).module

    def value() -> float:
        pairs = zip(model.predict(docs), d_rows, strict=True)
        return float(sum((row.astype("d") * d).sum() for row, d in pairs))

    for name, parameter in module.named_parameters():
        assert parameter.grad is not None
        at = int(parameter.grad.abs().argmax())
        flat = parameter.data.view(-1)
        before = float(flat[at])
        ends = []
        for moved in (before - 1e-2, before + 1e-2):
            flat[at] = moved
            ends.append(value())
        flat[at] = before
        slope = (ends[1] - ends[0]) / 2e-2
        assert float(parameter.grad.view(-1)[at]) == pytest.approx(slope, rel=2e-2), name
    # every word hands its gradient on, and whitespace none
    (d_vectors,) = given
    assert [d.any(-1).tolist() for d in d_vectors] == [[not t.is_space for t in d] for d in docs]


@pytest.fixture(scope="module", params=[False, True], ids=["states", "tags"])
def folder(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    spacy.util.fix_random_seed(0)
    nlp = bilstm_pipeline(tags=len(toy_tags()) if request.param else 0)
    examples = shared_examples(nlp)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(60):
        step(nlp, examples, optimizer)
    path = tmp_path_factory.mktemp("shared")
    nlp.to_disk(path)
    return path


def test_parser_and_roles_learn_from_nothing(folder: Path) -> None:
    """`lal_tok2vec` teaches its embedding the words of the training data."""
    nlp = spacy.load(folder)
    scores = nlp.evaluate(shared_examples(nlp))
    for name in ("const_evalb_f", "srl_f", "conll18_las", "tag_acc"):
        assert scores[name] > 0.9, name
    if bilstm_shim(nlp).module.tag_scores is not None:
        # the parser's tags are those of the shared BiLSTM
        parser = torch_shim(nlp.get_pipe("lal_constituency").model).module
        assert parser.input_encoder.tag_scores is None
    assert not nlp("Dogs eat.").tensor.size


def test_the_same_from_bytes_and_on_its_own(folder: Path) -> None:
    nlp = spacy.load(folder)
    texts = [example.text for example in shared_examples(nlp)]
    expected = annotations(nlp.pipe(texts))
    again = spacy.util.load_model_from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert annotations(again.pipe(texts)) == expected
    assert annotations(map(nlp, texts)) == expected
    rounded = spacy.load(folder, config={"components.lal_tok2vec.model.prediction": "int8"})
    vectors = [
        pipeline.get_pipe("lal_tok2vec").predict([pipeline.make_doc(texts[0])])[0]
        for pipeline in (nlp, rounded)
    ]
    assert 0 < numpy.abs(vectors[0] - vectors[1]).max() < 0.05
    # a component that left keeps a copy of what it listened to
    nlp.replace_listeners("lal_tok2vec", "lal_constituency", ["model.tok2vec"])
    alone = spacy.blank("en")
    alone.add_pipe("lal_constituency", source=nlp)
    trees = [[s[:3] for s in of[1].get("constituents", [])] for of in expected]
    assert [a[1]["constituents"] for a in annotations(alone.pipe(texts))] == trees


def test_best_trees_of_docs_that_nothing_has_read(folder: Path) -> None:
    """Or whose vectors are gone, as behind the pipeline."""
    nlp = spacy.load(folder)
    parser = nlp.get_pipe("lal_constituency")
    text = shared_examples(nlp)[0].text
    doc = nlp(text)
    ((first, second),) = parser.kbest(doc, 2)
    assert first.log_prob > second.log_prob
    read = nlp.get_pipe("lal_tok2vec")(nlp.make_doc(text))
    unread = nlp.make_doc(text)
    for other in (unread, read):
        assert [list(map(str, trees)) for trees in parser.kbest(other, 2)] == [
            [str(first), str(second)]
        ]
    assert not unread.tensor.size


def test_a_parser_begins_with_a_shared_bilstm(folder: Path) -> None:
    nlp = joint_pipeline()
    nlp.config["initialize"]["components"] = {"lal_constituency": {"warm_start": str(folder)}}
    nlp.initialize(lambda: headed_examples(nlp))
    mine = torch_shim(nlp.get_pipe("lal_constituency").model).module.input_encoder
    theirs = bilstm_shim(spacy.load(folder)).module
    tagged = theirs.upper is not None
    for direction in ("ahead", "back"):
        lower, upper = (getattr(half, direction)[0] for half in (mine.lower, mine.upper))
        first, second = [*getattr(theirs.lower, direction), *getattr(theirs.upper, direction, [])]
        assert torch.equal(lower.weight_ih_l0, first.weight_ih_l0)
        assert torch.equal(upper.weight_hh_l0, second.weight_hh_l0)
        # it also reads tags, which add nothing at first if the other didn't
        read, width = upper.weight_ih_l0, 40 if tagged else 32
        assert torch.equal(read[:, :width], second.weight_ih_l0)
        assert read.shape[1] == 40
        assert not read[:, width:].any()
    if tagged:
        own, given = (
            torch_shim(pipeline.get_pipe("lal_constituency").model).header["tags"]
            for pipeline in (nlp, spacy.load(folder))
        )
        common = [tag for tag in own if tag in given]
        assert len(common) > 5
        for tag in common:
            row, of = own.index(tag), given.index(tag)
            assert torch.equal(mine.tag_scores.weight[row], theirs.tag_scores.weight[of])
            assert torch.equal(mine.tag_embedding[row], theirs.tag_embedding[of])


def test_roles_with_a_layer_above_a_shared_bilstm(tmp_path: Path) -> None:
    """Others begin with their attention, but not with layers that read the parser's words."""
    nlp = bilstm_pipeline(thin=True)
    nlp.initialize(lambda: shared_examples(nlp))
    nlp.to_disk(tmp_path)
    assert [len(list(doc.sents)) for doc in nlp.pipe(["Dogs eat. Cats sat."] * 2)] == [2, 2]
    other = srl_pipeline({"input_encoder": TINY["input_encoder"]})
    other.config["initialize"]["components"] = {"lisa_srl": {"warm_start": str(tmp_path)}}
    other.initialize(lambda: shared_examples(other))
    mine, theirs = (
        torch_shim(pipeline.get_pipe("lisa_srl").model).module for pipeline in (other, nlp)
    )
    assert torch.equal(mine.roles.views.weight, theirs.roles.views.weight)
    ahead = mine.input_encoder.lower.ahead[0].weight_hh_l0
    assert not torch.equal(ahead, bilstm_shim(nlp).module.lower.ahead[0].weight_hh_l0)


def test_rows_of_a_shared_encoder_are_its_vectors() -> None:
    encoder = SharedInput().build(3, 2).eval()
    x, lengths = torch.randn(2, 3, 3), torch.tensor([3, 1])
    with torch.no_grad():
        rows, tags = encoder(x, lengths)
        assert torch.equal(rows[:, 0], encoder.start.expand(2, 3))
        assert torch.equal(rows[0, 1:4], x[0])
        assert torch.equal(rows[0, 4], encoder.stop)
        assert torch.equal(rows[1, 1:3], torch.stack([x[1, 0], encoder.stop]))
        assert not rows[1, 3:].any()
        assert encoder.tag_scores is not None
        expected = x[0, 1] @ encoder.tag_scores.weight.T + encoder.tag_scores.bias
        torch.testing.assert_close(tags[0, 1], expected)
    with pytest.raises(ValueError, match='tags = "doc" is not for'):
        SharedInput(tags="doc")


def test_shares_of_tags_behind_the_states() -> None:
    encoder = SharedInput(width=3).build(5, 2).eval()
    shares = torch.tensor([[[0.25, 0.75], [1.0, 0.0]]])
    states = torch.randn(1, 2, 3)
    with torch.no_grad():
        rows, tags = encoder(torch.cat([states, shares], -1), torch.tensor([2]))
    assert torch.equal(rows[0, 1:3], states[0])
    torch.testing.assert_close(torch.softmax(tags, -1), shares)
    assert torch.isfinite(tags).all()
    message = "5 wide: 3 features, 2 tags and 0 passed on, but the parser has 4 tags"
    with pytest.raises(ValueError, match=message):
        SharedInput(width=3).build(5, 4)


def test_a_parser_does_not_read_what_is_passed_on() -> None:
    x, lengths = torch.randn(2, 4, 9), torch.tensor([4, 2])
    for settings, width in ((SharedInput(width=3, passed=4), 5), (SharedInput(passed=4), 5)):
        encoder = settings.build(9, 2).eval()
        alone = replace(settings, passed=0).build(width, 2).eval()
        alone.load_state_dict(encoder.state_dict())
        with torch.no_grad():
            pairs = zip(encoder(x, lengths), alone(x[..., :width], lengths), strict=True)
            assert all(torch.equal(mine, expected) for mine, expected in pairs)


@pytest.mark.parametrize("prediction", ["float32", "int8"])
def test_vectors_that_a_bilstm_passes_on(prediction: str) -> None:
    """They follow the same features as without, for padded sentences and for those without."""
    nlp = spacy.blank("en")
    embed = {"@architectures": "spacy.HashEmbedCNN.v2", **CNN}
    docs = [nlp.make_doc(text) for text in ("Dogs eat.", "", "The cat sat on  the mat. It ate.")]
    found = []
    for passed in (0, 5):
        config = {**BILSTM, "tags": 3, "tok2vec": embed, "prediction": prediction}
        spacy.util.fix_random_seed(0)
        pipe = nlp.create_pipe("lal_tok2vec", config={"model": {**config, "passed": passed}})
        pipe.model.initialize(X=docs)
        assert pipe.model.get_dim("nO") == 35 + passed
        found.append(pipe.predict(docs))
        vectors = pipe.model.get_ref("tok2vec").predict(docs)
    for without, rows, words in zip(*found, vectors, strict=True):
        assert numpy.array_equal(rows[:, :35], without)
        is_word = numpy.abs(rows).any(-1)
        assert numpy.array_equal(rows[is_word, 35:], words[is_word, -5:])
    assert [int(numpy.abs(rows).any(-1).sum()) for rows in found[1]] == [3, 0, 10]
    config = {**BILSTM, "tok2vec": embed, "passed": 13}
    with pytest.raises(ValueError, match="from 0 to the width of the word vectors, 12, got 13"):
        nlp.create_pipe("lal_tok2vec", config={"model": config}).model.initialize(X=docs)


CNN = {
    "pretrained_vectors": None,
    "width": 12,
    "depth": 1,
    "embed_size": 50,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}


@pytest.mark.parametrize("positions", [True, False])
def test_without_positions_lisa_reads_a_bag_of_words(positions: bool) -> None:
    nlp = srl_pipeline({"positions": positions})
    nlp.initialize(lambda: shared_examples(nlp))
    network = torch_shim(nlp.get_pipe("lisa_srl").model).module
    x, order = torch.randn(1, 5, network.encoder.project.in_features), [3, 0, 4, 2, 1]
    with torch.no_grad():
        joint, moved = (network(of, torch.tensor([5])).joint for of in (x, x[:, order]))
    same = torch.allclose(joint[:, order], moved, atol=1e-5)
    assert same is not positions


def test_another_tok2vec_in_its_place_is_refused(folder: Path) -> None:
    """As when a component is added to a pipeline of spaCy's, whose `tok2vec` has the same name."""
    nlp = spacy.load(folder)
    doc = nlp.make_doc("Dogs eat.")
    doc.tensor = numpy.zeros((3, 96), "f")
    for name in ("lal_constituency", "lisa_srl"):
        with pytest.raises(
            ValueError, match=r"listens to 'lal_tok2vec', which had vectors of width \d+"
        ):
            nlp.get_pipe(name)(doc)


def test_a_bilstm_above_a_transformer(tmp_path: Path) -> None:
    """What is asked of one component by itself asks both encoders."""
    spacy.util.fix_random_seed(0)
    write_bert(tmp_path, WORDS)
    below = bilstm_pipeline(thin=True)
    config = below.config.copy()
    encoder = shared_pipeline(tmp_path).config["components"]["tok2vec"]["model"]
    config["components"]["tok2vec"] = {"factory": "lal_tok2vec", "model": encoder}
    config["components"]["lal_tok2vec"]["model"]["tok2vec"] = BESIDE
    config["nlp"]["pipeline"] = ["tok2vec", *below.pipe_names]
    nlp = load_model_from_config(config, auto_fill=True)
    optimizer = nlp.initialize(lambda: shared_examples(nlp))
    optimizer.learn_rate = 0.01
    for _ in range(40):
        step(nlp, shared_examples(nlp), optimizer)
    examples = shared_examples(nlp)
    scores = measure_roles(nlp, examples, predicates=["model"])
    assert scores["srl_f"] == nlp.evaluate(examples)["srl_f"] > 0.5
    parser = nlp.get_pipe("lal_constituency")
    text = examples[0].text
    first, *_ = parser.kbest(nlp(text), 2)
    again, *_ = parser.kbest(nlp.make_doc(text), 2)
    assert [str(tree) for tree in again] == [str(tree) for tree in first]
    assert [tree.log_prob for tree in again] == pytest.approx([tree.log_prob for tree in first])
