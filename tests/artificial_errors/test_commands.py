"""`corrupt` on the command line: errors are learned and made."""

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations.grammar_errors import get_errors
from spacy_lal.artificial_errors.error_model import ErrorModel
from spacy_lal.cli import app
from spacy_lal.formats.treebank_sentence import TreebankSentence, write_docs

from .small import MODEL, made_up


def run(*command):
    result = CliRunner().invoke(app, [str(part) for part in command])
    return result.exit_code, result.output


def read(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


@pytest.fixture
def text(tmp_path):
    lines = []
    for words, spaces in made_up(100):
        lines.append("".join(w + " " * s for w, s in zip(words, spaces, strict=True)))
    path = tmp_path / "text.txt"
    path.write_text(" ".join(lines[:50]) + "\n\n" + "\n".join(lines[50:]) + "\n")
    return path


def test_text_to_errors(text, tmp_path):
    code, printed = run("corrupt", "--learn", text, tmp_path / "model.json")
    assert code == 0, printed
    out = tmp_path / "out.spacy"
    options = ["--model", tmp_path / "model.json", "--rate", 0.2, "--types"]
    code, printed = run("corrupt", text, out, *options)
    assert code == 0, printed
    docs = read(out)
    assert f"{len(docs)} Docs" in printed
    assert len(docs) > 66
    labels = [label for doc in docs for label in get_errors(doc)]
    assert set(labels) == {"", "R", "M", "U"}


def test_docs_with_labels_stay(tmp_path):
    MODEL.save(tmp_path / "model.json")
    (words, _), *_ = made_up(1)
    gold = TreebankSentence(words, errors=["R"] + [""] * (len(words) - 1))
    write_docs([gold, TreebankSentence(words)], tmp_path / "in.spacy", "en")
    options = ["--model", tmp_path / "model.json", "--rate", 0.5]
    assert run("corrupt", tmp_path / "in.spacy", tmp_path / "out.spacy", *options)[0] == 0
    first, *others = read(tmp_path / "out.spacy")
    assert get_errors(first) == list(gold.errors)
    assert len(others) == 1
    assert all("errors" in doc.spans for doc in others)


def test_other_languages(text, tmp_path):
    code, _ = run("corrupt", "--learn", text, tmp_path / "model.json", "--lang", "de")
    assert code == 0
    assert ErrorModel.load(tmp_path / "model.json").lang == "de"


def test_bad_input_is_one_line(tmp_path):
    (tmp_path / "empty.txt").touch()
    (tmp_path / "bad.json").write_text("{}")
    MODEL.save(tmp_path / "model.json")
    (tmp_path / "bad.spacy").write_text("x")
    out = tmp_path / "out.spacy"
    for name, model, message in (
        ("empty.txt", "model.json", "corrupt: no sentences in "),
        ("empty.txt", "bad.json", "bad.json: lang: Field required"),
        ("bad.spacy", "model.json", "bad.spacy as a .spacy file"),
    ):
        code, printed = run("corrupt", tmp_path / name, out, "--model", tmp_path / model)
        assert code == 1
        assert message in printed
    code, printed = run("corrupt", "--learn", tmp_path / "empty.txt", out)
    assert code == 1
    assert "corrupt: no sentences in " in printed
