"""What the component knows besides its model's probabilities, by hand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_lal.annotations.grammar_errors import error_scores, grammar_errors
from spacy_lal.cli import app
from tests.pipeline.toy_errors import MODEL, agreement_examples

SCRIPT = Path(__file__).parents[2] / "scripts/word_list.py"

LABELS = ["R:DET =a", "R:DET =an", "R:DET =the", "R:NOUN", "R:SPELL"]


def detector(**settings: float) -> Language:
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("gec_detector", config={"model": MODEL, **settings})
    pipe.cfg.update(labels=LABELS, words=["letter", "apple", "pear", "wrote"])
    return nlp


def found_in(nlp: Language, words: list[str], rows: list[list[float]]) -> Doc:
    """A Doc with the errors by such probabilities of the labels."""
    wrong = numpy.array(rows, "float32")
    doc = Doc(nlp.vocab, words=words)
    nlp.get_pipe("gec_detector").set_annotations(
        [doc], [numpy.concatenate([1 - wrong.sum(1, keepdims=True), wrong], 1)]
    )
    return doc


def test_a_word_that_no_list_has_is_probably_wrong() -> None:
    rows = [[0.0] * 5, [0.0, 0.0, 0.0, 0.15, 0.05], [0.0, 0.0, 0.0, 0.15, 0.05]]
    words = ["we", "wrote", "leters"]
    assert not grammar_errors(found_in(detector(), words, rows))
    doc = found_in(detector(misspelling_odds=36.0), words, rows)
    # odds of 1 to 4, times 36
    assert error_scores(doc) == pytest.approx([0.0, 0.2, 0.9])
    (error,) = grammar_errors(doc)
    assert (error.span.text, error.label) == ("leters", "R:SPELL")
    # the rest is a wrong noun, without saying which one is right
    assert error.suggestions == (("letter", pytest.approx(0.75 / 0.9)),)


def test_such_a_has_the_article_of_the_next_word() -> None:
    """Whatever the model says of the adjective."""
    rows = [[0.0] * 5, [0.0] * 5, [0.0] * 5, [0.0, 0.0, 0.0, 0.9, 0.0], [0.0] * 5, [0.0] * 5]
    words = ["She", "is", "so", "beautiful", "girl", "."]
    (error,) = grammar_errors(found_in(detector(), words, rows))
    assert (error.span.text, error.suggestions) == ("so", (("such a", 1.0),))
    (error,) = grammar_errors(found_in(detector(), ["This", "problems", "are", "."], rows[2:]))
    assert (error.span.text, error.suggestions) == ("This", (("These", 1.0),))


def test_the_next_word_decides_whether_an_article_is_wrong() -> None:
    rows = [[0.0] * 5, [0.1, 0.6, 0.2, 0.0, 0.0], [0.0] * 5, [0.0] * 5, [0.0] * 5, [0.0] * 5]
    doc = found_in(detector(), ["we", "an", "apple", "wrote", "a", "apple"], rows)
    assert error_scores(doc) == pytest.approx([0.0, 0.2, 0.0, 0.0, 1.0, 0.0])
    (error,) = grammar_errors(doc)
    assert (error.span.start, error.label, error.suggestions) == (4, "R:DET", (("an", 1.0),))


def test_a_wrong_phrase_is_one_error() -> None:
    rows = [[0.0, 0.0, 0.0, 0.6, 0.0]] * 4 + [[0.0] * 5] * 4
    words = ["we", "enjoy", "to", "swim", "explain", "me", "the", "pear"]
    rows[4] = [0.0, 0.0, 0.0, 0.8, 0.0]
    doc = found_in(detector(), words, rows)
    # "explain" is right if "to" is missing behind it
    assert [
        (e.span.text, e.label, [of[0] for of in e.suggestions]) for e in grammar_errors(doc)
    ] == [
        ("we", "R:NOUN", []),
        # and "enjoy" because of "swimming"
        ("to swim", "R:VERB:FORM", ["swimming"]),
        ("me", "M:PREP", ["to me"]),
    ]
    assert doc._.corrected == "we enjoy swimming explain to me the pear "


def test_no_article_where_a_preposition_goes() -> None:
    """ "Many students" or "many of the students"."""
    rows = [[0.0] * 6, [0.0] * 6, [0.0] * 5 + [0.9], [0.0] * 6]
    nlp = detector()
    nlp.get_pipe("gec_detector").cfg["labels"] = [*LABELS, "M:DET +the"]
    doc = found_in(nlp, ["Many", "of", "students", "left"], rows)
    assert [(e.span.text, e.label) for e in grammar_errors(doc)] == [("of", "U:PREP")]


def test_the_verb_of_a_noun_without_plural_is_right() -> None:
    rows = [[0.0] * 5, [0.0] * 5, [0.0, 0.0, 0.0, 0.9, 0.0], [0.0] * 5]
    (error,) = grammar_errors(found_in(detector(), ["the", "informations", "was", "new"], rows))
    assert (error.span.text, error.suggestions) == ("informations", (("information", 1.0),))
    assert error_scores(found_in(detector(), ["the", "letters", "was", "new"], rows))[2] > 0.8


def test_edit_gives_a_detector_other_words(tmp_path: Path) -> None:
    nlp = detector()
    nlp.initialize(lambda: agreement_examples(nlp, 20))
    nlp.get_pipe("gec_detector").cfg["words"] = ["letter"]
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "words.txt").write_text("pear 3\nApple 7\nfig 2\nA pear a day\n")
    command = ["edit", str(tmp_path / "model"), str(tmp_path / "new"), "--words"]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "words.txt")]).exit_code == 0
    assert spacy.load(tmp_path / "new").get_pipe("gec_detector").cfg["words"] == ["apple", "pear"]
    (tmp_path / "new/gec_detector/words.gz").write_bytes(b"no gzip")
    with pytest.raises(ValueError, match=r"words\.gz: damaged"):
        spacy.load(tmp_path / "new")


def test_errors_without_kinds_have_no_suggestions() -> None:
    nlp = detector(misspelling_odds=36.0)
    # "schön", in a language with more letters
    nlp.get_pipe("gec_detector").cfg.update(labels=["ERROR"], words=["schön", "wrote"])
    doc = found_in(nlp, ["wir", "schönn", "schon", "wrote"], [[0.0], [0.2], [0.2], [0.2]])
    assert [(e.span.text, e.label, e.suggestions) for e in grammar_errors(doc)] == [
        ("schönn", "ERROR", ()),
        ("schon", "ERROR", ()),
    ]


def test_right_words_of_a_dictionary_and_a_text(tmp_path: Path) -> None:
    often = "receive " * 500 + "recieve " * 4 + "selfie " * 5 + "odour odour odor odor odor "
    (tmp_path / "text.txt").write_text(often + "once twice twice twice co-op McVitie\n")
    (tmp_path / "dictionary.txt").write_text("receive 9\nodour 8\nrare 1\nodd's 1\n")
    names = ("dictionary.txt", "text.txt", "out.txt")
    subprocess.run(
        [sys.executable, SCRIPT, "english", *(tmp_path / name for name in names)], check=True
    )
    words = (tmp_path / "out.txt").read_text().split("\n")
    # "recieve" is a hundred times rarer, "odor" isn't, "once" is there once
    assert words == ["receive 500", "selfie 5", "odor 3", "odour 3", "rare 3", "twice 3", ""]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match=r"misspelling_odds must be from 1 on, got 0\.5"):
        detector(misspelling_odds=0.5)
