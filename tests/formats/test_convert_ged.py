"""`convert tsv`, `m2`, `character-edits` and `parallel`, from files to files."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import ERRORS_KEY, get_errors
from spacy_lal.cli import app

TSV = 'Teas\ti\ncool\tc\n\\"\tc\n\nYes\tR:OTHER\n\n'
M2 = """S Teas cool
A 0 1|||R:NOUN:NUM|||Tea|||REQUIRED|||-NONE-|||0
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1

S
A 0 0|||M:OTHER|||Yes|||REQUIRED|||-NONE-|||0

"""
FORMATS = {".tsv": "tsv", ".m2": "m2", ".json": "character-edits", ".txt": "parallel"}
TEXT = {"text": "Teas don't cool.\nYes", "edits": [[0, [[0, 4, "Tea", "AGN"]]], [1, []]]}


@pytest.fixture
def run(tmp_path):
    """Writes a file, converts it, and returns how that went and (words, errors) of the Docs."""
    out = tmp_path / "out.spacy"

    def invoke(name, text, *options):
        (tmp_path / name).write_text(text)
        command = ["convert", FORMATS[Path(name).suffix], tmp_path / name, out, *options]
        result = CliRunner().invoke(app, [str(part) for part in command])
        docs = DocBin().from_disk(out).get_docs(Vocab()) if out.exists() else ()
        out.unlink(missing_ok=True)
        return result, [([t.text for t in doc], get_errors(doc)) for doc in docs]

    return invoke


def test_tsv(run):
    result, docs = run("tea.tsv", TSV)
    assert result.exit_code == 0, result.output
    assert docs == [(["Teas", "cool", '\\"'], ["ERROR", "", ""]), (["Yes"], ["ERROR"])]
    table = [line.split() for line in result.output.splitlines()]
    assert ["sentences", "2"] in table
    assert ["words", "4"] in table
    assert ["errors", "2"] in table
    _, docs = run("tea.tsv", TSV, "--multiged-escapes", "--types", "full")
    assert docs == [(["Teas", "cool", '"'], ["ERROR", "", ""]), (["Yes"], ["R:OTHER"])]


@pytest.mark.parametrize("labels", ["CI", "01"])
def test_labels_of_which_none_says_correct(run, labels):
    result, docs = run("tea.tsv", f"Tea\t{labels[0]}\ncool\t{labels[1]}\n")
    assert (result.exit_code, docs) == (1, [])
    assert 'tea.tsv:1: no token in this file has the label "c"' in result.output
    assert run("tea.tsv", "Tea\ti\n")[1] == [(["Tea"], ["ERROR"])]


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [("tea.tsv", "\n\n", []), ("tea.m2", "", []), ("tea.tsv", TSV, ["--without-block", "1/1"])],
)
def test_nothing_is_no_file(run, name, text, options):
    result, docs = run(name, text, *options)
    assert (result.exit_code, docs) == (1, [])
    assert "no sentences" in result.output
    assert name in result.output


@pytest.mark.parametrize("module", [bz2, gzip, lzma])
def test_damaged_files_are_named(tmp_path, module):
    packed = bytearray(module.compress(TSV.encode() * 500))
    for at in (len(packed) // 2, len(packed) // 2 + 1):
        packed[at] ^= 255
    suffix = {bz2: ".bz2", gzip: ".gz", lzma: ".xz"}[module]
    (tmp_path / f"tea.tsv{suffix}").write_bytes(packed)
    command = ["convert", "tsv", str(tmp_path / f"tea.tsv{suffix}"), str(tmp_path / "out.spacy")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert f"tea.tsv{suffix}: damaged" in result.output


@pytest.mark.parametrize(
    ("text", "message"),
    [("He \ud800 go.", "Invalid JSON"), ("He go. " * 150_000, "exceeds maximum")],
)
def test_texts_that_spacy_refuses(run, text, message):
    record = json.dumps({"text": text, "edits": [[0, []]]})
    result, docs = run("tea.json", record, "--lang", "en")
    assert (result.exit_code, docs) == (1, [])
    assert "tea.json:1: " in result.output
    assert message in result.output


def test_without_labels(run, tmp_path):
    result, docs = run("tea.tsv", "Tea\ncools\n", "--report", tmp_path / "report.json")
    assert docs == [(["Tea", "cools"], ["", ""])]
    assert "errors" not in result.output
    assert "errors" not in json.loads((tmp_path / "report.json").read_text())["out.spacy"]


@pytest.mark.parametrize(("text", "annotated"), [("Tea\tc\n", True), ("Tea\n", False)])
def test_no_errors_are_told_from_no_labels(tmp_path, text, annotated):
    (tmp_path / "tea.tsv").write_text(text)
    out = tmp_path / "out.spacy"
    CliRunner().invoke(app, ["convert", "tsv", str(tmp_path / "tea.tsv"), str(out)])
    (doc,) = DocBin().from_disk(out).get_docs(Vocab())
    assert (ERRORS_KEY in doc.spans) == annotated
    assert doc.has_annotation("SENT_START")


def test_m2(run, tmp_path):
    result, docs = run("tea.m2", M2, "--report", tmp_path / "report.json")
    assert result.exit_code == 0, result.output
    assert docs == [(["Teas", "cool"], ["ERROR", "ERROR"])]
    counts = json.loads((tmp_path / "report.json").read_text())["out.spacy"]
    assert counts["dropped"] == [[f"{tmp_path / 'tea.m2'}:5", "no words"]]
    assert (counts["words"], counts["errors"]) == (2, 2)
    _, docs = run("tea.m2", M2, "--types", "operations")
    assert docs == [(["Teas", "cool"], ["R", "M"])]
    _, docs = run("tea.m2", M2, "--types", "full")
    assert docs == [(["Teas", "cool"], ["R:NOUN:NUM", "M:PUNCT"])]


def test_errors_that_no_word_is_marked_for_are_counted(run, tmp_path):
    edit = "A 3 3|||M:PUNCT|||.|||REQUIRED|||-NONE-|||{}\n"
    text = f"S I like tea\n{edit.format(0)}{edit.format(1)}\nS Yes it is\n{edit.format(0)}"
    result, docs = run("tea.m2", text, "--report", tmp_path / "report.json")
    assert [labels for _, labels in docs] == [["", "", ""]] * 2
    counts = json.loads((tmp_path / "report.json").read_text())["out.spacy"]
    assert counts["errors at the end of a sentence, marked on no word"] == 2
    assert "marked on no word" in " ".join(result.output.split())
    run("tea.m2", M2, "--report", tmp_path / "report.json")
    assert "no word" not in (tmp_path / "report.json").read_text().replace("no words", "")


def test_edits_side_by_side_are_errors_of_their_own(tmp_path):
    """Also of one type; an edit of two words is one error."""
    words = "S He have go to to school yesterday"
    edits = [(1, 2), (2, 3), (3, 5), (5, 6), (4, 7)]
    lines = [f"A {s} {e}|||R|||x|||REQUIRED|||-NONE-|||0" for s, e in edits]
    (tmp_path / "a.m2").write_text("\n".join([words, *lines, ""]))
    CliRunner().invoke(app, ["convert", "m2", str(tmp_path / "a.m2"), str(tmp_path / "a.spacy")])
    (doc,) = DocBin().from_disk(tmp_path / "a.spacy").get_docs(Vocab())
    # of overlapping edits the first in the file decides
    assert [(s.start, s.end) for s in doc.spans[ERRORS_KEY]] == [
        *((1, 2), (2, 3), (3, 5), (5, 6), (6, 7))
    ]


def test_json(run):
    result, docs = run("tea.json", json.dumps(TEXT), "--lang", "en", "--types", "full")
    assert result.exit_code == 0, result.output
    words = ["Teas", "do", "n't", "cool", "."]
    assert docs == [(words, ["AGN", "", "", "", ""]), (["Yes"], [""])]


def test_parallel(run, tmp_path):
    (tmp_path / "a").write_text("Tea cools\nYes\n")
    (tmp_path / "b").write_text("Teas all cool\nYes\n")
    options = ["--corrected", tmp_path / "a", "--corrected", tmp_path / "b"]
    result, docs = run("tea.txt", "Teas cool\nYes\n", *options)
    assert result.exit_code == 0, result.output
    assert docs == [(["Teas", "cool"], ["ERROR", "ERROR"]), (["Yes"], [""])]


def test_folder(run, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.m2").write_text("S b\n")
    (tmp_path / "more" / "a.m2").write_text("S a\n")
    out = tmp_path / "out.spacy"
    command = ["convert", "m2", tmp_path, out]
    CliRunner().invoke(app, [str(part) for part in command])
    assert [doc[0].text for doc in DocBin().from_disk(out).get_docs(Vocab())] == ["a", "b"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--block", "1/3"], "a"),
        (["--block", "2/3"], "bc"),
        (["--block", "3/3"], "de"),
        (["--without-block", "2/3"], "ade"),
        (["--block", "1/1"], "abcde"),
        (["--without-block", "1/3", "--without-block", "3/3"], "bc"),
    ],
)
def test_blocks(run, options, words):
    result, docs = run("tea.tsv", "".join(f"{word}\tc\n\n" for word in "abcde"), *options)
    assert result.exit_code == 0, result.output
    assert "".join(text for (text,), _ in docs) == words


def test_bad_input_is_one_line_that_names_the_place(run, tmp_path):
    result, docs = run("tea.tsv", "Tea\tc\ncools\n")
    assert (result.exit_code, docs) == (1, [])
    assert f"{tmp_path / 'tea.tsv'}:2: expected 2 columns, found 1" in result.output
    result, _ = run("tea.json", "{}", "--lang", "en")
    assert result.exit_code == 1
    assert f"{tmp_path / 'tea.json'}:1: text: Field required" in result.output
    result, _ = run("tea.json", "{}", "--lang", "qq")
    assert result.exit_code == 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("tea.tsv", ["--block", "1/2", "--without-block", "1/2"], "not both"),
        ("tea.tsv", ["--block", "3/2"], "is not a block"),
        ("tea.tsv", ["--block", "0/2"], "is not a block"),
        ("tea.tsv", ["--block", "half"], "is not a block"),
        ("tea.tsv", ["--types", "operations"], "don't say which operation"),
    ],
)
def test_options_that_do_not_fit(run, name, options, message):
    result, docs = run(name, "Tea\tc\n", *options)
    assert (result.exit_code, docs) == (1, [])
    assert message in result.output


def test_one_file_beside_its_corrections(tmp_path):
    for name in "abc":
        (tmp_path / name).write_text("Tea\n")
    command = ["convert", "parallel", *(str(tmp_path / name) for name in ("a", "b", "o.spacy"))]
    result = CliRunner().invoke(app, [*command, "--corrected", str(tmp_path / "c")])
    assert result.exit_code == 1
    assert "got 2" in result.output
