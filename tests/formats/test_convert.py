"""`spacy lal convert`, from files to files."""

import json

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import get_frames, sentence_trees
from spacy_lal.cli import app

UD = """# newdoc id = email-{split}
# sent_id = {split}-1
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = {split}-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""
SKELETON = """x 0 0 [WORD] NN  (TOP(S(NP*)  -    -       (ARG1*)
x 0 1 [WORD] NNS (VP*)             cool cool.01 (V*)
x 0 2 [WORD] .   *))               -    -       *

x 1 0 [WORD] UH (TOP* - -
x 1 1 [WORD] .  *)    - -
"""


@pytest.fixture
def run():
    def invoke(*arguments):
        return CliRunner().invoke(app, ["convert", *map(str, arguments)])

    return invoke


def read(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


@pytest.fixture
def treebank(tmp_path):
    folder = tmp_path / "propbank" / "email" / "00"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (tmp_path / f"en_ewt-ud-{split}.conllu").write_text(UD.format(split=split))
        (folder / f"{split}.xml.gold_skel").write_text(SKELETON)
    return tmp_path


def convert(run, treebank):
    out, report = treebank / "out", treebank / "reports" / "ewt.json"
    options = ("--ud", treebank, "--propbank", treebank / "propbank", "--report", report)
    return run("ewt", out, *options), out, report


def test_ewt(run, treebank):
    result, out, report = convert(run, treebank)
    assert result.exit_code == 0
    for split in ("train", "dev", "test"):
        (doc,) = read(out / f"{split}.spacy")
        assert doc.text == "Tea cools. "
        assert [token.tag_ for token in doc] == ["NN", "NNS", "."]  # the skeleton's
        assert [token.head.i for token in doc] == [1, 1, 1]
        assert list(map(str, sentence_trees(doc))) == [
            "(TOP (S (NP (NN Tea)) (VP (NNS cools)) (. .)))"
        ]
        (frame,) = get_frames(doc)
        assert (frame.predicate.text, frame.roleset) == ("cools", "cool.01")
    counts = json.loads(report.read_text())["dev"]
    assert counts == {
        "sentences": 1,
        "words": 3,
        "constituents": 3,
        "predicates": 1,
        "dropped": [["dev-2", "number of tokens differs"]],
        "without heads": [],
        "frames left out": [],
        "skeleton sentences without words": 1,
        "tags that agree": 2,
    }
    table = [line.split() for line in result.output.splitlines()]
    assert ["train", "dev", "test"] in table
    assert ["words", "3", "3", "3"] in table
    assert ["dropped:", "number", "of", "tokens", "differs", "1", "1", "1"] in table


def test_bad_input_is_one_line_that_names_the_place(run, treebank):
    path = treebank / "en_ewt-ud-dev.conllu"
    path.write_text(path.read_text().replace("2\tcools", "7\tcools"))
    result, *_ = convert(run, treebank)
    assert result.exit_code == 1
    assert f"{path}:4: expected word 2, found '7'" in result.output
    path.unlink()
    result, *_ = convert(run, treebank)
    assert result.exit_code == 1
    assert "neither *-ud-dev.conllu[.xz]" in result.output


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
    assert "evalb" in result.output


def test_some_of_the_trees(run, tmp_path):
    trees = tmp_path / "trees.mrg"
    trees.write_text("".join(f"( (CAPTION (NP (NN w{k}))))\n" for k in range(1, 9)))
    out = tmp_path / "out.spacy"
    for options, words in (
        (["--every", 3], ["w3", "w6"]),
        (["--skip", "3-7"], ["w1", "w2", "w8"]),
        (["--every", 2, "--skip", "2-3"], ["w4", "w6", "w8"]),
    ):
        assert run("brackets", trees, out, *options, "--splice", "CAPTION,X").exit_code == 0
        docs = read(out)
        assert [doc[0].text for doc in docs] == words
        assert str(sentence_trees(docs[0])[0]) == f"(TOP (NP (NN {words[0]})))"
    assert "--skip must be FIRST-LAST" in run("brackets", trees, out, "--skip", "3").stderr
    assert "no trees are left of 8" in run("brackets", trees, out, "--skip", "1-8").stderr
    # trees without words count, as they do in reports
    trees.write_text("( (NP (-NONE- *)))\n( (NP (NN w2)))\n( (NP (NN w3)))\n")
    assert run("brackets", trees, out, "--skip", "2-2").exit_code == 0
    assert [doc[0].text for doc in read(out)] == ["w3"]


def test_some_splits(run, treebank):
    options = ("--ud", treebank, "--propbank", treebank / "propbank")
    out = treebank / "out"
    assert run("ewt", out, *options, "--splits", "dev").exit_code == 0
    assert [path.name for path in out.iterdir()] == ["dev.spacy"]
    assert "'de', which is none of train" in run("ewt", out, *options, "--splits", "de").stderr


def test_listed_documents_of_conllu(run, tmp_path):
    text = "".join(UD.format(split=split) for split in ("train", "dev"))
    (tmp_path / "a.conllu").write_text(text.replace("# sent_id", "# newpar\n# sent_id", 1))
    (tmp_path / "list.txt").write_text("email-dev\n")
    out = tmp_path / "out.spacy"
    options = ("--documents", tmp_path / "list.txt", "--no-tags", ".")
    assert run("conllu", tmp_path / "a.conllu", out, *options).exit_code == 0
    docs = read(out)
    assert [doc.user_data["sent_id"] for doc in docs] == ["dev-1", "dev-2"]
    assert [token.tag_ for token in docs[0]] == ["NN", "VBZ", ""]
    assert len({doc.user_data["paragraph"] for doc in docs}) == 1
