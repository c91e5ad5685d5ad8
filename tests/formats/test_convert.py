"""`spacy lal convert`, from files to files."""

import json

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import sentence_trees
from spacy_lal.cli import app

UD = """# newdoc id = email-{split}
# sent_id = {split}-1
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = {split}-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""


@pytest.fixture
def run():
    def invoke(*arguments):
        return CliRunner().invoke(app, ["convert", *map(str, arguments)])

    return invoke


def read(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def test_brackets(run, tmp_path):
    (tmp_path / "b.mrg").write_text("( (S (NP-SBJ (NN tea)) (VP (VBZ cools))) )\n")
    (tmp_path / "a.mrg").write_text("( (NP (-NONE- *)) )\n( (NP (`` ``) (NN tea)) )\n")
    (tmp_path / "notes.txt").write_text("not a tree")
    out, report = tmp_path / "tea.spacy", tmp_path / "report.json"
    result = run("brackets", tmp_path, out, "--ptb-escapes", "--report", report)
    assert result.exit_code == 0
    assert [str(tree) for doc in read(out) for tree in sentence_trees(doc)] == [
        '(TOP (NP (`` ") (NN tea)))',
        "(TOP (S (NP (NN tea)) (VP (VBZ cools))))",
    ]
    counts = json.loads(report.read_text())["tea.spacy"]
    assert counts["dropped"] == [[f"{tmp_path / 'a.mrg'}: tree 1", "no words"]]

    result = run("brackets", tmp_path / "b.mrg", out, "--functions", "--no-spaces")
    assert result.exit_code == 0
    (doc,) = read(out)
    assert doc.text == "teacools"
    assert "(NP-SBJ (NN tea))" in str(*sentence_trees(doc))
    assert not doc.has_annotation("DEP")

    result = run("brackets", tmp_path / "b.mrg", out, "--heads", "collins")
    assert result.exit_code == 0
    (doc,) = read(out)
    assert [(token.head.text, token.dep_) for token in doc] == [("cools", "dep"), ("cools", "ROOT")]


def test_words_without_spaces(run, tmp_path):
    tree = "(S (NN tea) (-LRB- -LRB-) (JJ hot) (, ,) (JJ sweet) (-RRB- -RRB-) (VBZ cools) (. .))"
    (tmp_path / "b.mrg").write_text(tree)
    out = tmp_path / "tea.spacy"
    assert run("brackets", tmp_path / "b.mrg", out).exit_code == 0
    assert read(out)[0].text == "tea ( hot , sweet ) cools ."
    options = ("--closing", ". , )", "--opening", "(")
    assert run("brackets", tmp_path / "b.mrg", out, *options).exit_code == 0
    assert read(out)[0].text == "tea (hot, sweet) cools."


def test_bad_brackets(run, tmp_path):
    path = tmp_path / "a.mrg"
    path.write_text("(S\n  (NN tea)")
    result = run("brackets", path, tmp_path / "out.spacy")
    assert result.exit_code == 1
    assert f"{path}:1:1: this bracket is never closed" in result.output
    result = run("brackets", tmp_path, tmp_path / "out.spacy", "--pattern", "*.parse")
    assert result.exit_code == 1
    assert f"no *.parse in {tmp_path}" in result.output


def test_conllu(run, tmp_path):
    path = tmp_path / "tea.conllu"
    path.write_text(UD.format(split="x").replace("2\tnsubj", "0\tnsubj"))
    out = tmp_path / "tea.spacy"
    result = run("conllu", path, out, "--lang", "en")
    assert result.exit_code == 0
    first, second = read(out)
    assert not first.has_annotation("DEP")
    assert second[0].dep_ == "ROOT"
    assert "without heads: 2 roots in the dependency tree" in result.output
    result = run("conllu", path, out, "--lang", "qq")
    assert result.exit_code == 1
    assert "E048" in result.output


def test_the_commands_are_spacys():
    from spacy.cli._util import app as spacy_app

    result = CliRunner().invoke(spacy_app, ["lal", "--help"])
    assert result.exit_code == 0
    assert "convert" in result.output
    assert "score" in result.output
