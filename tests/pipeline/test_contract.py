"""What every component must do, whatever it finds."""

from __future__ import annotations

import logging
import pickle
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
import torch
from spacy.cli.init_pipeline import init_labels_cli
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.annotations import get_constituents, set_constituents, set_frames
from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.bridge.shim import torch_shims
from spacy_lal.pipeline import component
from tests.carriers import CARRIERS

from .contract import CASES, Case, annotations, copy_of, same, trained
from .toy import check_heads, headed_doc
from .toy_frames import SENTENCES, frames_doc

TEXTS = [
    "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello",
    "",
    "Hello",
    "Give the dog up! he walk today .",
    " ",
    "A dog with a bone",
    "\n She ate \n",
    "they walks often .",
    "zebra  zebra on",
]
ODD = [
    "",
    " ",
    "\n\n",
    "\t \n",
    "Hello",
    "😀",
    "🎉👍🏽 cats ate 🐟🐟!",
    "x" * 600,
    "\u200b a\u0301",
    "«Ça» — naïve… 猫が座った。",
    "Don't http://x.y/(z) ( -LRB- \u00a0 ''",
]


@pytest.fixture(params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def case(name: str) -> Case:
    return CASES[name]


@pytest.fixture
def nlp(name: str) -> Language:
    return trained(name)


@pytest.fixture
def saved(nlp: Language, tmp_path: Path) -> Path:
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


def results(nlp: Language) -> dict[str, dict[str, Any]]:
    return {text: annotations(nlp(text)) for text in TEXTS}


@cache
def alone(name: str) -> dict[str, dict[str, Any]]:
    """What the trained pipeline finds in each text by itself."""
    return results(trained(name))


def one_sentence(doc: Doc) -> Doc:
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def pipe_of(nlp: Language) -> Any:
    return nlp.get_pipe(nlp.pipe_names[-1])


def weights(pipe: Any) -> list[torch.Tensor]:
    modules = [shim.module for _, shim in torch_shims(pipe.model)]
    return [tensor.clone() for module in modules for tensor in module.state_dict().values()]


def unchanged(pipe: Any, before: list[torch.Tensor]) -> bool:
    return all(map(torch.equal, weights(pipe), before))


def sentence_config(case: Case, policy: str) -> dict[str, Any]:
    """The setting of how a Doc is cut into sentences, as `spacy.load` takes it."""
    where = "model.layers.sentences" if case.factory == "gec_detector" else "sentences"
    return {f"components.{case.factory}.{where}": policy}


# Texts


def test_no_docs(nlp: Language, name: str) -> None:
    """What is predicted of none is set on none; of one Doc, and an empty one, on both."""
    pipe: Any = nlp.get_pipe(CASES[name].factory)
    for texts in ([], ["Cats fight .", ""]):
        docs = [nlp.make_doc(text) for text in texts]
        pipe.set_annotations(docs, pipe.predict(docs))
        for doc in docs:
            same(annotations(doc), annotations(nlp(doc.text)))


def test_learned_by_heart(case: Case, nlp: Language) -> None:
    for example in case.examples(nlp):
        found, gold = nlp(example.predicted), example.reference
        for mine, theirs in zip(found, gold, strict=True):
            for attribute in case.writes:
                value, expected = getattr(mine, attribute), getattr(theirs, attribute)
                assert getattr(value, "i", value) == getattr(expected, "i", expected)
        if case.key is None:
            assert not found.spans
        else:
            assert list(found.spans) == [case.key]
            assert annotations_of(found, case.key) == annotations_of(gold, case.key)


def annotations_of(doc: Doc, key: str) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in doc.spans[key]]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_any_text(case: Case, nlp: Language, text: str) -> None:
    doc = nlp(text)
    assert doc.text == text
    assert [token.text for token in doc] == [token.text for token in nlp.make_doc(text)]
    assert doc.user_data == {}
    assert case.key is None or case.key in doc.spans
    if "head" in case.writes:
        check_heads(doc)
        assert doc.has_annotation("DEP")
    if case.key == "constituents":
        words = [token.text for token in doc if not token.is_space]
        assert [word for tree in doc._.trees for word in tree.leaves] == words
    if not text.strip():
        assert not any(doc.spans.values())
    assert "tag_" not in case.writes or all(t.tag_ for t in doc if not t.is_space)
    for carry in CARRIERS:
        assert annotations(carry(doc)) == annotations(doc)


@pytest.mark.parametrize("words", [[" "], ["\n\n"], [" ", "\n", "\t"]])
def test_whitespace_tokens_alone(case: Case, nlp: Language, words: list[str]) -> None:
    doc = nlp(Doc(nlp.vocab, words=words))
    assert not any(doc.spans.values())
    assert not any(token.tag_ for token in doc)
    if "head" in case.writes:
        assert len(list(doc.sents)) == 1
        check_heads(doc)


def test_results_travel_with_the_doc(nlp: Language) -> None:
    docs = list(nlp.pipe(TEXTS))
    again = DocBin().from_bytes(DocBin(docs=docs).to_bytes()).get_docs(spacy.blank("en").vocab)
    for doc, read in zip(docs, again, strict=True):
        for other in (read, *(carry(doc) for carry in CARRIERS)):
            assert annotations(other) == annotations(doc)
            assert other.user_data == {}


# Batches, threads, processes


@pytest.mark.parametrize("batch_size", [2, 5, 100])
def test_pipe_is_repeated_call(name: str, nlp: Language, batch_size: int) -> None:
    texts = TEXTS * 2
    random.Random(batch_size).shuffle(texts)
    for text, doc in zip(texts, nlp.pipe(texts, batch_size=batch_size), strict=True):
        same(annotations(doc), alone(name)[text])
    assert list(nlp.pipe([])) == []


def test_batches_of_few_words(name: str, nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(component, "MOST_WORDS", 12)
    docs = nlp.pipe(iter(TEXTS), batch_size=100)
    for text, doc in zip(TEXTS, docs, strict=True):
        same(annotations(doc), alone(name)[text])


def test_threads(name: str, nlp: Language) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda text: annotations(nlp(text)), TEXTS * 3))
    finally:
        sys.setswitchinterval(interval)
    assert found == [*alone(name).values()] * 3


def test_two_processes(name: str, nlp: Language) -> None:
    for text, doc in zip(TEXTS, nlp.pipe(TEXTS, batch_size=2, n_process=2), strict=True):
        same(annotations(doc), alone(name)[text])


def test_memory_zones(name: str, nlp: Language) -> None:
    for _ in range(2):
        with nlp.memory_zone():
            found = {text: annotations(nlp(text)) for text in [*TEXTS, "unheardof words diedout"]}
        assert found.pop("unheardof words diedout")
        assert found == alone(name)
    assert results(nlp) == alone(name)


# Storage


def through_disk(case: Case, nlp: Language, folder: Path) -> Language:
    nlp.to_disk(folder)
    assert not list(folder.rglob("*.pkl"))
    return spacy.load(folder)


def through_bytes(case: Case, nlp: Language, folder: Path) -> Language:
    return case.blank().from_bytes(nlp.to_bytes())


def through_pickle(case: Case, nlp: Language, folder: Path) -> Language:
    return pickle.loads(pickle.dumps(nlp))


def through_a_source(case: Case, nlp: Language, folder: Path) -> Language:
    """Into a pipeline with vectors and another component, and to a file from there."""
    other = spacy.blank("en")
    other.vocab.set_vector("unheardof", numpy.ones(4, dtype="f"))
    other.add_pipe("sentencizer")
    with pytest.warns(UserWarning, match="W113"):
        other.add_pipe(case.factory, source=nlp, name="sourced")
    other.remove_pipe("sentencizer")
    other.to_disk(folder)
    return spacy.load(folder)


@pytest.mark.parametrize(
    "carry",
    [through_disk, through_bytes, through_pickle, through_a_source],
    ids=lambda f: f.__name__,
)
def test_stored(name: str, case: Case, nlp: Language, tmp_path: Path, carry: Callable) -> None:
    other = carry(case, nlp, tmp_path)
    assert pipe_of(other).cfg == pipe_of(nlp).cfg
    assert pipe_of(other).label_data == pipe_of(nlp).label_data
    assert results(other) == alone(name)


# Settings of the config win over what was stored


def test_one_sentence_or_several(case: Case, nlp: Language, saved: Path) -> None:
    whole = spacy.load(saved, config=sentence_config(case, "doc"))
    text = "She ate the fish. Go home! he walk today ."
    expected = annotations(nlp(one_sentence(nlp.make_doc(text))))
    found = whole(text)
    if case.factory == "gec_detector":
        one_sentence(found)  # it writes no boundaries
    same(annotations(found), expected)
    assert expected != annotations(one_sentence(nlp(text)) if case.key == "errors" else nlp(text))
    # stored with the one, read with the other
    whole.to_disk(saved)
    strict = spacy.load(saved, config=sentence_config(case, "existing"))
    with pytest.raises(ValueError, match=r"sentencizer.*annotating_components.*\"doc\""):
        strict(text)
    starts = [k in (0, 5) for k in range(12)]
    words = [token.text for token in nlp.make_doc(text)]
    same(*(annotations(each(Doc(each.vocab, words, sent_starts=starts))) for each in (strict, nlp)))


def test_lengths(case: Case, nlp: Language, saved: Path) -> None:
    if case.factory == "gec_detector":
        pytest.skip("reads sentences of any length")
    limit = {"max_sentence_length": 4, "long_sentences": "error"}
    strict = spacy.load(saved, config={"components": {case.factory: limit}})
    with pytest.raises(ValueError, match=r"5 words, but max_sentence_length is 4: 'She ate"):
        strict("She ate the fish.")
    same(annotations(strict("Go home!")), annotations(nlp("Go home!")))
    strict.to_disk(saved)
    limit = {"max_sentence_length": 5, "long_sentences": "error"}
    roomy = spacy.load(saved, config={"components": {case.factory: limit}})
    text = "She ate the fish."
    same(annotations(roomy(text)), annotations(nlp(text)))


def test_key_of_the_span_group(name: str, case: Case, saved: Path) -> None:
    if case.key is None:
        pytest.skip("writes no spans")
    other = spacy.load(saved, config={"components": {case.factory: {"spans_key": "other"}}})
    assert pipe_of(other).cfg["spans_key"] == "other"
    for text in TEXTS:
        doc = other(text)
        assert list(doc.spans) == ["other"]
        assert annotations(doc)["other"] == alone(name)[text][case.key]
    # it is trained and scored on that key, too
    with pytest.raises(ValueError, match=r"doc\.spans\['other'\]"):
        other.initialize(lambda: case.examples(other))


# Training


def test_untrained(case: Case) -> None:
    nlp = case.blank()
    with pytest.raises(ValueError, match=rf"E109.*'{case.factory}'"):
        nlp("Hello")
    with pytest.raises(ValueError, match="E109"):
        pipe_of(nlp).update(case.examples(nlp))


def test_no_gold(case: Case) -> None:
    nlp = case.blank()
    bare = [Example(nlp.make_doc("She ate"), nlp.make_doc("She ate")) for _ in range(2)]
    with pytest.raises(ValueError, match=case.missing):
        nlp.initialize(lambda: bare)


def test_labels_of_init_labels(case: Case, nlp: Language, tmp_path: Path) -> None:
    """`spacy init labels` writes `label_data`; initialisation reads it back."""
    other = case.blank()
    DocBin(docs=[eg.reference for eg in case.examples(other)]).to_disk(tmp_path / "t.spacy")
    config = other.config.copy()
    corpus = {"@readers": "spacy-lal.Corpus.v1", "path": str(tmp_path / "t.spacy")}
    config["corpora"] = {"train": corpus, "dev": corpus}
    config.to_disk(tmp_path / "config.cfg")
    init_labels_cli(
        type("Context", (), {"args": []})(), tmp_path / "config.cfg", tmp_path, None, False, -1
    )
    path = tmp_path / f"{case.factory}.json"
    other.config["initialize"]["components"] = {
        case.factory: {"labels": {"@readers": "spacy.read_labels.v1", "path": str(path)}}
    }
    other.initialize(lambda: case.examples(other)[-2:])
    assert pipe_of(other).label_data == pipe_of(nlp).label_data


def test_labels_are_settled_at_initialisation(case: Case, nlp: Language) -> None:
    pipe = pipe_of(nlp)
    if case.factory == "lisa_srl":
        with pytest.raises(NotImplementedError):
            pipe.add_label("NEW")
        return
    assert pipe.add_label(pipe.labels[0]) == 0
    with pytest.raises(ValueError, match=r"can't add label 'NEW'.*already initialised"):
        pipe.add_label("NEW")
    before = case.blank()
    assert pipe_of(before).add_label("NEW") == 1
    assert pipe_of(before).add_label("NEW") == 0
    before.initialize(lambda: case.examples(before))
    assert pipe_of(before).labels == ("NEW", *pipe.labels)


def test_docs_without_words(case: Case, name: str) -> None:
    nlp = copy_of(name)
    pipe = pipe_of(nlp)
    before = weights(pipe)
    of_training = case.examples(nlp)
    # its decay of weights is nobody's gradient
    optimizer = nlp.create_optimizer()
    optimizer.L2 = 0.0
    empty, space = [Example(Doc(nlp.vocab, words=w), Doc(nlp.vocab, words=w)) for w in ([], [" "])]
    assert pipe.update([]) == {case.factory: 0.0}
    for batch in ([empty], [space], [empty, space, empty]):
        losses = nlp.update(batch, sgd=optimizer)
        assert losses == {case.factory: 0.0}
    assert unchanged(pipe, before)
    among = pipe.update([empty, *of_training, space])
    assert among == pytest.approx(pipe.update(of_training), rel=0.1, abs=0.1)


def test_unknown_names_are_named_once(case: Case, name: str, caplog) -> None:
    nlp = copy_of(name)
    doc = frames_doc(nlp, 0) if case.factory == "lisa_srl" else headed_doc(nlp, 0)
    if case.key == "constituents":
        set_constituents(doc, [(i, j, "NEW") for i, j, _ in get_constituents(doc)])
    elif case.factory == "lal_dependency":
        doc[0].dep_ = "NEW"
    elif case.factory == "lisa_srl":
        (frame,) = SENTENCES[0][4]
        set_frames(doc, [frame._replace(spans=[(0, 2, "NEW"), (2, 3, "V")])])
    else:
        set_errors(doc, ["NEW"] * len(doc))
    example = Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc)
    with caplog.at_level(logging.WARNING, logger="spacy"):
        for _ in range(2):
            assert numpy.isfinite(nlp.update([example])[case.factory])
    (message,) = [r.getMessage() for r in caplog.records if "NEW" in r.getMessage()]
    assert message.startswith(f"{case.factory}: ")
    assert "times in this batch" in message


def test_averages_reach_the_torch_layers(case: Case, name: str) -> None:
    nlp = copy_of(name)
    pipe = pipe_of(nlp)
    of_training = case.examples(nlp)
    optimizer = nlp.create_optimizer()
    optimizer.averages = {}
    for _ in range(2):
        nlp.update(of_training, sgd=optimizer)
    modules = [shim.module for _, shim in torch_shims(pipe.model)]
    assert len(optimizer.averages) >= sum(len(list(module.parameters())) for module in modules)
    own = weights(pipe)
    with nlp.use_params(optimizer.averages):
        assert not unchanged(pipe, own)
    assert unchanged(pipe, own)


def test_frozen_while_others_are_trained(case: Case, name: str) -> None:
    nlp = copy_of(name)
    frozen = pipe_of(nlp)
    before = weights(frozen)
    nlp.add_pipe(case.factory, name="learning", config=case.config)
    of_training = case.examples(nlp)
    with nlp.select_pipes(disable=case.factory):
        optimizer = nlp.initialize(lambda: of_training)
    optimizer.learn_rate = 0.01
    learning = nlp.get_pipe("learning")
    begun = weights(learning)
    for _ in range(2):
        losses = nlp.update(of_training, sgd=optimizer, drop=0.1, exclude=[case.factory])
    assert list(losses) == ["learning"]
    assert not unchanged(learning, begun)
    assert unchanged(frozen, before)
    nlp.remove_pipe("learning")
    assert results(nlp) == alone(name)


def test_dropout_is_off_outside_updates(case: Case, name: str) -> None:
    nlp = copy_of(name)
    nlp.update(case.examples(nlp), sgd=False, drop=0.5)
    assert results(nlp) == alone(name)


@pytest.mark.parametrize("method", ["predict", "set_annotations"])
def test_a_bad_doc_loses_only_itself(
    name: str, nlp: Language, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an error handler; without one, its error ends the batch."""
    kind = type(pipe_of(nlp))
    working = getattr(kind, method)

    def failing(self: Any, docs: Any, *found: Any) -> Any:
        if any("poison" in doc.text for doc in docs):
            raise RuntimeError("no antidote")
        return working(self, docs, *found)

    good = ["The cat sat on the mat.", "", "Dogs eat .", " ", "they walks often ."]
    expected = [annotations(doc) for doc in nlp.pipe(good)]
    monkeypatch.setattr(kind, method, failing)
    texts = [*good[:2], "a poison", *good[2:]]
    with pytest.raises(RuntimeError, match="no antidote"):
        list(nlp.pipe(texts))
    handled = copy_of(name)
    lost: list[Doc] = []
    handled.set_error_handler(lambda name, pipe, docs, error: lost.extend(docs))
    for size in (1, 2, 3, 100):
        lost.clear()
        found = [annotations(doc) for doc in handled.pipe(texts, batch_size=size)]
        assert [doc.text for doc in lost] == ["a poison"]
        for mine, theirs in zip(found, expected, strict=True):
            same(mine, theirs)

    def raising(name: str, pipe: Any, docs: list[Doc], error: Exception) -> None:
        raise ValueError(f"{[doc.text for doc in docs]}") from error

    handled.set_error_handler(raising)
    with pytest.raises(ValueError, match=r"^\['a poison'\]$"):
        list(handled.pipe(texts))
