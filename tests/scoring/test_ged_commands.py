"""`spacy lal score errors` and `convert tsv`, and thresholds of detectors."""

from __future__ import annotations

import numpy
import pytest
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.cli import app
from spacy_lal.evaluation import detection_scores
from spacy_lal.evaluation.detection_scores import (
    best_threshold,
    detection,
    lowest_threshold,
    score_words,
)
from spacy_lal.formats.treebank_sentence import language_vocab
from spacy_lal.ged.scorer import Detection
from spacy_lal.pipeline.pipes import pipes_before, run_pipes
from spacy_lal.training.corpus import Corpus

GOLD = "He\tc\ngo\ti\nhome\tc\n\nA\ti\nbook\tc\n"
FOUND = "He\ti\ngo\ti\nhome\tc\n\nA\tc\nbook\tc\n"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path):
    gold, found = tmp_path / "gold.tsv", tmp_path / "found.tsv"
    gold.write_text(GOLD)
    found.write_text(FOUND)
    return gold, found


def test_score_errors(files):
    result = run("score", "errors", *files)
    assert result.exit_code == 0
    assert result.output.splitlines()[1].split() == [
        "overall",
        "1",
        "1",
        "1",
        "0.5000",
        "0.5000",
        "0.5000",
    ]


def test_score_errors_of_types(files):
    gold, found = files
    gold.write_text(GOLD.replace("go\ti", "go\tR").replace("A\ti", "A\tU"))
    found.write_text(FOUND.replace("go\ti", "go\tR").replace("He\ti", "He\tU"))
    rows = [
        line.split() for line in run("score", "errors", gold, found, "--types").output.splitlines()
    ]
    assert rows[2] == ["R", "1", "0", "0", "1.0000", "1.0000", "1.0000"]
    assert rows[3] == ["U", "0", "1", "1", "0.0000", "0.0000", "0.0000"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (FOUND.replace("home", "house"), "sentence 1 has 'house' in"),
        (FOUND.rpartition("A\t")[0], "ends before sentence 2"),
        ("He\ngo\nhome\n\nA\nbook\n", "has no labels"),
        ("He\tc\ti\n", ":1: expected 2 columns, found 3"),
    ],
)
def test_score_errors_says_what_is_wrong(files, text, message):
    files[1].write_text(text)
    result = run("score", "errors", *files)
    assert result.exit_code == 1
    assert message in result.output
    assert "found.tsv" in result.output


def docs(*labels):
    made = []
    for of_doc in labels:
        doc = Doc(language_vocab("en"), words=["He", "go", '"', "\n"])
        if of_doc is not None:
            set_errors(doc, of_doc)
        made.append(doc)
    return made


def test_write_tsv(tmp_path):
    DocBin(docs=docs(["", "R", "", ""])).to_disk(tmp_path / "a.spacy")
    out = tmp_path / "new" / "a.tsv"
    assert run("convert", "tsv", tmp_path / "a.spacy", out).exit_code == 0
    assert out.read_text() == 'He\tc\ngo\ti\n"\tc\n\n'
    assert run("convert", "tsv", tmp_path / "a.spacy", out, "--types", "full").exit_code == 0
    assert out.read_text() == 'He\tc\ngo\tR\n"\tc\n\n'
    assert run("convert", "tsv", tmp_path / "a.spacy", out, "--multiged-escapes").exit_code == 0
    assert out.read_text() == 'He\tc\ngo\ti\n\\"\tc\n\n'


def test_write_tsv_without_errors(tmp_path):
    DocBin(docs=docs(["", "R", "", ""], None)).to_disk(tmp_path / "a.spacy")
    result = run("convert", "tsv", tmp_path / "a.spacy", tmp_path / "a.tsv")
    assert result.exit_code == 1
    assert "a.spacy: Doc 2: doc.spans['errors'] isn't set" in result.output


def test_best_threshold_is_the_best_of_all():
    """Against trying every score, with ties among them."""
    rng = numpy.random.default_rng(0)
    for _ in range(50):
        gold = rng.random(30) < 0.3
        scores = numpy.round(rng.random(30), 1)
        found = best_threshold(gold, scores)
        tried = {}
        for threshold in set(scores.tolist()):
            marked = scores >= threshold
            right = int((gold & marked).sum())
            counts = Detection(right, int(marked.sum()) - right, int(gold.sum()) - right)
            # 1.25 TP / (TP + FP + 0.25 (TP + FN)): nothing rightly marked is 0
            tried[threshold] = counts.f() if right else 0.0
        assert tried[found] == pytest.approx(max(tried.values()))
        if max(tried.values()):
            at_best = detection(gold, scores >= found)
            assert at_best.f() == pytest.approx(max(tried.values()))


def test_docs_that_nobody_annotated_don_t_count(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector")
    annotated, other = (Doc(nlp.vocab, words=["He", "go"]) for _ in range(2))
    set_errors(annotated, ["", "ERROR"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["He", "go"]), annotated)])
    DocBin(docs=[annotated, other]).to_disk(tmp_path / "a.spacy")
    gold, scores = score_words(nlp, Corpus(tmp_path / "a.spacy"))
    assert gold.tolist() == [False, True]
    assert len(scores) == 2


@Language.component("cut_behind_full_stops")
def cut_behind_full_stops(doc):
    for token in doc:
        token.is_sent_start = token.i == 0 or doc[token.i - 1].text == "."
    return doc


def test_functions_before_the_detector_are_called():
    nlp = spacy.blank("en")
    nlp.add_pipe("cut_behind_full_stops")
    pipe = nlp.add_pipe("gec_detector")
    (doc,) = run_pipes(pipes_before(nlp, pipe), [Doc(nlp.vocab, words=["Go", ".", "I", "see"])])
    assert [len(sentence) for sentence in doc.sents] == [2, 2]


def test_threshold_leaves_correct_text_alone():
    """Of all that mark few enough tokens, a lower one marks no more."""
    rng = numpy.random.default_rng(1)
    for most in (0.0, 0.1, 0.29, 0.3, 0.58, 1.0):
        for _ in range(20):
            scores = numpy.round(rng.random(100) * 0.8, 2)
            found = lowest_threshold(scores, most)
            stored = srsly.json_loads(srsly.json_dumps(found))
            marked = (scores >= stored).mean()
            assert marked <= most
            tried = [(scores >= t).mean() for t in [*scores.tolist(), 0.0, 1.0]]
            assert marked == max(share for share in tried if share <= most)
    every = numpy.arange(100) / 100
    assert (every >= lowest_threshold(every, 0.29)).sum() == 29
    sure = numpy.array([1.0] * 10 + [0.1] * 90)
    assert lowest_threshold(sure, 0.1) == pytest.approx(0.1)
    with pytest.raises(ValueError, match=r"no threshold marks at most 5\.00%"):
        lowest_threshold(sure, 0.05)


def test_the_strictest_kind_of_text_decides(tmp_path, monkeypatch):
    """By hand: of four tokens one may be marked, so 0.6 is too low; 30 of a hundred may."""
    scores = {"large": [0.9] + [0.1] * 99, "small": [0.8, 0.6, 0.2, 0.1]}
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector")
    wrong = Doc(nlp.vocab, words=["He", "go"])
    set_errors(wrong, ["", "ERROR"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["He", "go"]), wrong)])
    nlp.to_disk(tmp_path / "model")
    paths = [tmp_path / f"{name}.spacy" for name in scores]
    for path in paths:
        path.touch()

    def known(nlp, corpus):
        of_file = numpy.asarray(scores[corpus.path.stem])
        return numpy.zeros(len(of_file), dtype=bool), of_file

    monkeypatch.setattr(detection_scores, "score_words", known)
    output = tmp_path / "stricter"
    result = run("find-threshold", tmp_path / "model", output, *paths, "--most", 0.3)
    assert result.exit_code == 0, result.output
    chosen = spacy.load(output).get_pipe("gec_detector").cfg["threshold"]
    assert chosen == pytest.approx(0.6, abs=1e-8)
    assert chosen > 0.6
    assert "large.spacy: 1.00% of 100 tokens" in result.output
    assert "small.spacy: 25.00% of 4 tokens" in result.output


def test_a_threshold_for_learners(tmp_path, monkeypatch):
    """By hand: F0.5 is best at 0.5, with three of four marks right. Correct text may ask for more,
    not for less."""
    scores = {"learners": [0.9, 0.7, 0.6, 0.5, 0.2], "strict": [0.8, 0.1], "lenient": [0.3, 0.1]}
    errors_of = {"learners": [True, False, True, True, False]}
    nlp = spacy.blank("de")
    nlp.add_pipe("gec_detector")
    wrong = Doc(nlp.vocab, words=["Er", "gehen"])
    set_errors(wrong, ["", "ERROR"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["Er", "gehen"]), wrong)])
    nlp.to_disk(tmp_path / "model")
    paths = {name: tmp_path / f"{name}.spacy" for name in scores}
    for path in paths.values():
        path.touch()

    def known(nlp, corpus):
        of_file = numpy.asarray(scores[corpus.path.stem])
        return numpy.asarray(errors_of.get(corpus.path.stem, [False] * 2)), of_file

    monkeypatch.setattr(detection_scores, "score_words", known)
    for correct, expected in (([], 0.5), (["lenient"], 0.5), (["strict"], 0.8)):
        files = [paths[name] for name in correct]
        output = tmp_path / f"chosen-{'-'.join(correct)}"
        options = ["--tune", paths["learners"], "--most", 0.0]
        result = run("find-threshold", tmp_path / "model", output, *files, *options)
        assert result.exit_code == 0, result.output
        chosen = spacy.load(output).get_pipe("gec_detector").cfg["threshold"]
        assert chosen == pytest.approx(expected, abs=1e-8)
        if not correct:
            assert chosen <= 0.5
    output = tmp_path / "none"
    refused = run("find-threshold", tmp_path / "model", output)
    assert "no files to choose a threshold by" in refused.output
    refused = run("find-threshold", tmp_path / "model", output, "--tune", paths["strict"])
    assert "labelled as an error" in refused.output
    assert not output.exists()
