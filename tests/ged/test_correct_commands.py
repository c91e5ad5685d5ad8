"""`spacy lal correct` and `spacy lal score corrections`: a rule in place of a trained detector, and
counts by hand."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_lal.annotations.grammar_errors import Correction, set_errors
from spacy_lal.cli import app, correct
from spacy_lal.formats.m2 import M2
from spacy_lal.ged.correction_scorer import score_corrections
from spacy_lal.ged.scorer import Detection

MADE = {"go": ("R:VERB:SVA", "goes", 0.8), "goes": ("R:VERB", "walks", 0.6)}
MADE |= {"very": ("U:ADV", "", 0.9), "school": ("M:DET", "the", 0.3)}


@Language.component("corrects_some_words")
def corrects_some_words(doc: Doc) -> Doc:
    known = {i: MADE[token.text] for i, token in enumerate(doc) if token.text in MADE}
    labels = [known[i][0] if i in known else "" for i in range(len(doc))]
    found = {i: [Correction(text, p)] for i, (_, text, p) in known.items()}
    set_errors(doc, labels, [0.9] * len(doc), begins=found, corrections=found)
    return doc


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    nlp = spacy.blank("en")
    nlp.add_pipe("corrects_some_words")
    nothing = spacy.blank("en")
    pipelines = {"some": nlp, "none": nothing}
    module = __import__(correct.__module__, fromlist=["load"])
    monkeypatch.setattr(module, "load", lambda model, threads, gpu: pipelines[model])
    (tmp_path / "in.txt").write_text("He go to school.\n\nIt is very fine.\n")
    return tmp_path


def test_corrected_lines(files: Path) -> None:
    text = files / "in.txt"
    assert run("correct", "some", text) == (0, "He goes to school.\n\nIt is fine.\n")
    rounds = ("--rounds", 3, "--likely", 0.2)
    twice = "He walks to the the the school.\n\nIt is fine.\n"
    assert run("correct", "some", text, *rounds) == (0, twice)
    diff = "He [-go-]{+goes+} to school.\n\nIt is [-very-] fine.\n"
    assert run("correct", "some", text, files / "out", "--format", "diff") == (0, "")
    assert (files / "out").read_text() == diff


def test_an_empty_file_stays_empty(files: Path) -> None:
    (files / "empty.txt").touch()
    for format in ("text", "diff", "m2"):
        assert run("correct", "some", files / "empty.txt", "--format", format) == (0, "")


def test_stdin_and_line_ends_of_windows(files: Path) -> None:
    lines = b"He go.\r\nIt is very fine.\r\n"
    (files / "crlf.txt").write_bytes(lines)
    for format, right in ("text", "goes"), ("diff", "[-go-]{+goes+}"):
        options = (files / f"{format}.txt", "--format", format)
        assert run("correct", "some", files / "crlf.txt", *options) == (0, "")
        first = (files / f"{format}.txt").read_bytes().partition(b"\n")[0]
        assert first == f"He {right}.\r".encode()
    result = CliRunner().invoke(app, ["correct", "some", "-"], input=lines)
    assert result.stdout_bytes == b"He goes.\r\nIt is fine.\r\n"


def test_tokenised_text_keeps_its_spaces(files: Path) -> None:
    text = files / "tokens.txt"
    text.write_text("He go to school .\nIt is n't very .\n")
    expected = "He goes to school .\nIt is n't .\n"
    assert run("correct", "some", text, "--tokenised") == (0, expected)


def test_corrections_as_m2(files: Path) -> None:
    assert run("correct", "some", files / "in.txt", files / "out.m2", "--format", "m2")[0] == 0
    sentences = list(M2().edited((files / "out.m2").read_text(), "out.m2"))
    assert [(e.start, e.end, e.type, e.correction) for s in sentences for e in s.edits] == [
        (1, 2, "R:VERB:SVA", "goes"),
        (3, 3, "M:DET", "the"),
        (2, 3, "U:ADV", ""),
    ]


def test_what_can_not_be_corrected(files: Path) -> None:
    text = files / "in.txt"
    code, said = run("correct", "none", text)
    assert (code, said) == (
        1,
        "correct: none has no detector that has learned corrections\n",
    )
    code, said = run("correct", "some", text, "--rounds", 2, "--format", "diff")
    assert code == 1
    assert "--rounds 2 is for --format text" in said
    code, said = run("correct", "some", text, text)
    assert code == 1
    assert "would overwrite the input" in said


def test_scores_by_hand(tmp_path: Path) -> None:
    lines = {
        "text": "He go to school .\nI am fine .\nShe like cat .\n",
        "found": "He goes to school .\nI am well .\nShe likes cat .\n",
        "one": "He goes to the school .\nI am fine .\nShe likes a cat .\n",
        "two": "He went to school .\nI 'm fine .\nShe liked cats .\n",
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text)
    paths = [tmp_path / name for name in lines]
    code, said = run("score", "corrections", *paths[:2], "--gold", paths[2], "--gold", paths[3])
    assert code == 0
    # annotator one everywhere: goes; (the); a wrong "well"; likes; (a)
    assert said.split()[-9:-2] == ["overall", "2", "1", "2", "0.6667", "0.5000", "0.6250"]
    (tmp_path / "two").write_text("He went to school .\n")
    code, said = run("score", "corrections", *paths[:2], "--gold", paths[3])
    assert code == 1
    assert re.search("two has 1 lines, but .*text 3", said)


def test_the_annotator_is_chosen_sentence_by_sentence() -> None:
    rng = Random(1)
    words = ["a", "b", "c"]
    for _ in range(100):
        sentences = []
        for _ in range(3):
            made = [[rng.choice([word, "x"]) for word in words] for _ in range(3)]
            sentences.append((words, made[0], made[1:]))
        total = Detection()
        for source, own, annotators in sentences:
            options = []
            for theirs in annotators:
                found, gold = (
                    {
                        (i, new)
                        for i, (old, new) in enumerate(zip(source, of, strict=True))
                        if new != old
                    }
                    for of in (own, theirs)
                )
                options.append(
                    Detection(
                        total.right + len(found & gold),
                        total.wrong + len(found - gold),
                        total.missed + len(gold - found),
                    )
                )
            best = max(of.f() for of in options)
            total = max(
                (of for of in options if of.f() == best),
                key=lambda of: (of.right, -of.wrong, -of.missed),
            )
        assert score_corrections(sentences) == total
