"""The component: training, thresholds, storage, odd input."""

from __future__ import annotations

import math
import pickle
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.grammar_errors import error_scores, get_errors, set_errors
from tests.pipeline.toy_errors import MODEL, agreement_examples

WRONG, RIGHT = "he walk today .", "they walk now ."


def blank(**settings) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL, **settings})
    return nlp


@pytest.fixture(scope="module")
def trained() -> Language:
    spacy.util.fix_random_seed(0)
    nlp = blank()
    examples = agreement_examples(nlp, 200)
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.01
    for _ in range(15):
        for start in range(0, 200, 50):
            nlp.update(examples[start : start + 50], sgd=optimizer, drop=0.1)
    return nlp


def test_finds_errors_in_sentences_it_has_not_seen(trained: Language) -> None:
    scores = trained.evaluate(agreement_examples(trained, 100, seed=1))
    assert scores["ged_f05"] > 0.9
    doc = trained("he walk today . they walk now .")
    assert [t.text for t in doc if t._.is_error] == ["walk"]
    assert doc[1]._.error_score > 0.5
    (span,) = doc.spans["errors"]
    assert (span.text, span.label_) == ("walk", "ERROR")


def test_each_marked_word_is_an_error(trained: Language) -> None:
    """The model judges words one by one, so it knows no error of several words."""
    pipe = trained.get_pipe("gec_detector")
    before = pipe.cfg["threshold"]
    pipe.cfg["threshold"] = 0.0
    doc = trained("he  walk")
    pipe.cfg["threshold"] = before
    assert [span.text for span in doc.spans["errors"]] == ["he", "walk"]
    assert doc.spans["errors"].attrs["scores"] == [doc[0]._.error_score, doc[2]._.error_score]


def test_threshold_is_read_when_predicting(trained: Language) -> None:
    pipe = trained.get_pipe("gec_detector")
    text = f"{WRONG} {RIGHT}"
    before = pipe.cfg["threshold"]
    found = {}
    for threshold in (0.0, 0.5, 1.0):
        pipe.cfg["threshold"] = threshold
        doc = trained(text)
        assert error_scores(doc) == pytest.approx(error_scores(trained(text)))
        marked = [label != "" for label in get_errors(doc)]
        assert marked == [score >= threshold for score in error_scores(doc)]
        found[threshold] = sum(marked)
    # one that no number of 32 bits is: just above a score
    pipe.cfg["threshold"] = math.nextafter(max(error_scores(trained(text))), 1.0)
    assert not trained(text).spans["errors"]
    for bad in ("0.5", None, 2, -1, math.nan):
        pipe.cfg["threshold"] = bad
        with pytest.raises(ValueError, match=r"threshold must be from 0 to 1, got"):
            trained(text)
    pipe.cfg["threshold"] = before
    assert found[0.0] >= found[0.5] >= found[1.0]
    assert found[0.0] == 8


def test_find_threshold(trained: Language, tmp_path: Path) -> None:
    from spacy.cli.find_threshold import find_threshold
    from spacy.tokens import DocBin

    examples = agreement_examples(trained, 40, seed=2)
    DocBin(docs=[example.reference for example in examples]).to_disk(tmp_path / "dev.spacy")
    trained.to_disk(tmp_path / "model")
    best, score, _ = find_threshold(
        tmp_path / "model",
        tmp_path / "dev.spacy",
        "gec_detector",
        "threshold",
        "ged_f05",
        n_trials=5,
        silent=True,
    )
    assert 0 < best < 1
    assert score > 0.8


def test_storage_keeps_threshold_and_scores(trained: Language, tmp_path: Path) -> None:
    pipe = trained.get_pipe("gec_detector")
    pipe.cfg["threshold"] = 0.3
    trained.to_disk(tmp_path / "model")
    assert not list((tmp_path / "model").rglob("*.pkl"))
    config = {"components.gec_detector.threshold": 0.9}
    copies = [spacy.load(tmp_path / "model"), spacy.load(tmp_path / "model", config=config)]
    copies += [blank().from_bytes(trained.to_bytes())]
    copies.append(pickle.loads(pickle.dumps(trained)))
    for copy in copies:
        assert copy.get_pipe("gec_detector").cfg["threshold"] == pytest.approx(0.3)
        assert copy.get_pipe("gec_detector").labels == ("ERROR",)
        assert error_scores(copy(WRONG)) == pytest.approx(error_scores(trained(WRONG)), abs=1e-6)
    pipe.cfg["threshold"] = 0.5


def test_config_decides_how_text_is_read(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    text = f"{WRONG} They walk now ."
    scores = {}
    for policy in ("split", "doc"):
        config = {"components.gec_detector.model.layers.sentences": policy}
        nlp = spacy.load(tmp_path / "model", config=config)
        again = pickle.loads(pickle.dumps(nlp))
        scores[policy] = error_scores(nlp(text))
        assert error_scores(again(text)) == pytest.approx(scores[policy])
    parts = (WRONG, "They walk now .")
    alone = [score for part in parts for score in error_scores(trained(part))]
    assert scores["split"] == pytest.approx(alone, abs=1e-5)
    assert scores["doc"] != pytest.approx(scores["split"], rel=0.1, abs=1e-9)


def test_whitespace_is_never_an_error(trained: Language) -> None:
    trained.get_pipe("gec_detector").cfg["threshold"] = 0.0
    doc = trained("he  walk\n\ntoday .")
    trained.get_pipe("gec_detector").cfg["threshold"] = 0.5
    assert [t._.is_error for t in doc] == [not t.is_space for t in doc]
    assert [t._.error_score for t in doc if t.is_space] == [0.0, 0.0]


def test_long_text_without_boundaries(trained: Language) -> None:
    doc = Doc(trained.vocab, words=["they", "walk", "now"] * 2000)
    assert len(error_scores(trained(doc))) == 6000


def test_gradient_of_the_loss(trained: Language) -> None:
    """Against finite differences; unknown gold and whitespace have none."""
    nlp = blank(error_weight=3.0)
    examples = agreement_examples(nlp, 3)
    without = Example(nlp.make_doc("not annotated"), nlp.make_doc("not annotated"))
    spaces = Example.from_dict(nlp.make_doc("he  walk"), {})
    set_errors(spaces.reference, ["", "ERROR", "ERROR"])
    examples += [without, spaces]
    nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("gec_detector")
    n = sum(len(example.predicted) for example in examples)
    scores = numpy.random.default_rng(0).normal(size=(n, 2)).astype("float32")
    loss, gradient = pipe.get_loss(examples, scores)
    for i in range(n):
        for k in range(2):
            values = []
            for step in (0.01, -0.01):
                moved = scores.copy()
                moved[i, k] += step
                values.append(pipe.get_loss(examples, moved)[0])
            assert gradient[i, k] == pytest.approx((values[0] - values[1]) / 0.02, abs=2e-4)
    assert not gradient[12:14].any()
    assert not gradient[15].any()
    # the mean over 14 words, with errors three times
    logs = torch.log_softmax(torch.from_numpy(scores), -1)
    expected, row = 0.0, 0
    for example in examples:
        if "errors" in example.reference.spans:
            for token, label in zip(example.reference, get_errors(example.reference), strict=True):
                if not token.is_space:
                    k = int(label != "")
                    expected -= float(logs[row + token.i, k]) * (3 if k else 1)
        row += len(example.predicted)
    assert loss == pytest.approx(expected / 14, rel=1e-5)


def test_types_of_errors() -> None:
    spacy.util.fix_random_seed(0)
    nlp = blank()
    examples = agreement_examples(nlp, 80)
    for example in examples:
        labels = get_errors(example.reference)
        of_type = "S" if example.reference[1].text.endswith("s") else "P"
        set_errors(example.reference, [of_type if label else "" for label in labels])
    optimizer = nlp.initialize(lambda: examples)
    assert nlp.get_pipe("gec_detector").labels == ("P", "S")
    optimizer.learn_rate = 0.01
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    scores = nlp.evaluate(examples)
    assert scores["ged_per_type"]["P"]["f05"] > 0.9
    assert scores["ged_per_type"]["S"]["f05"] > 0.9


def test_other_tokens_in_training() -> None:
    nlp = blank()
    reference = Doc(nlp.vocab, words=["I", "cannot", "goes"])
    set_errors(reference, ["", "", "ERROR"])
    example = Example(Doc(nlp.vocab, words=["I", "can", "not", "goes"]), reference)
    nlp.initialize(lambda: [example])
    assert nlp.update([example])["gec_detector"] > 0


def test_warm_start_takes_weights_and_rows_of_labels(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path / "model")
    nlp = blank()
    examples = agreement_examples(nlp, 20)
    nlp.get_pipe("gec_detector").initialize(
        lambda: examples, nlp=nlp, warm_start=str(tmp_path / "model")
    )
    mine = nlp.get_pipe("gec_detector").predict([nlp.make_doc(WRONG)])[0]
    theirs = trained.get_pipe("gec_detector").predict([trained.make_doc(WRONG)])[0]
    numpy.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_clear_errors() -> None:
    nlp = blank()
    with pytest.raises(ValueError, match="no weights yet"):
        nlp("text")
    clean = Example(nlp.make_doc("a b"), nlp.make_doc("a b"))
    with pytest.raises(ValueError, match=r"none of the 1 training Docs has errors.*1 are not"):
        nlp.initialize(lambda: [clean])
    with pytest.raises(ValueError, match=r"threshold must be from 0 to 1, got 1\.5"):
        blank(threshold=1.5)
    with pytest.raises(ValueError, match="error_weight must be above 0"):
        blank(error_weight=0.0)
    with pytest.raises(ValueError, match="must be types of errors"):
        nlp.get_pipe("gec_detector").initialize(lambda: [clean], labels=[])


def test_one_component_for_two_keys() -> None:
    nlp = blank(spans_key="mistakes")
    examples = agreement_examples(nlp, 20)
    for example in examples:
        labels = get_errors(example.reference)
        del example.reference.spans["errors"]
        set_errors(example.reference, labels, key="mistakes")
    nlp.initialize(lambda: examples)
    doc = nlp(WRONG)
    assert "mistakes" in doc.spans
    assert "errors" not in doc.spans
    assert nlp.evaluate(examples)["ged_f05"] is not None
