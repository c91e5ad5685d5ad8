"""`spacy lal search`: every input and output."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_lal.annotate.records import doc_record
from spacy_lal.annotations import sentence_trees
from spacy_lal.cli import app
from spacy_lal.formats.conllu import format_conllu
from spacy_lal.formats.docbins import write_spacy

from .material import doc

PASSIVES = "{}=verb >/nsubj:pass/~r {}=subject"


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    made = doc()
    made.user_data["id"] = "news"
    write_spacy([made, doc()], tmp_path / "texts.spacy")
    return tmp_path / "texts.spacy"


def searched(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["search", *map(str, arguments)])
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def refused(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["search", *map(str, arguments)])
    assert result.exit_code == 1
    return str(result.stderr)


def test_in_context(corpus: Path) -> None:
    lines = searched(PASSIVES, corpus).splitlines()
    assert [line.split()[0] for line in lines] == [
        *("news.1", "news.2", "texts.spacy:2.1", "texts.spacy:2.2")
    ]
    assert lines[0].index("closed") == lines[1].index("lost")
    assert "The old bridge was closed by the council" in lines[0]
    assert lines[0].endswith(".  verb=closed  subject=bridge  ~r=nsubj:pass")
    assert "\x1b" not in lines[0]


def test_long_contexts_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    tree = "(S " + "(DT a) " * 40 + "(NN tea) " + "(RB so) " * 40 + ")\n"
    (tmp_path / "a.mrg").write_text(tree)
    (line,) = searched("NN", tmp_path / "a.mrg").splitlines()
    assert line == "a.mrg:1.1  …" + "a a " * 6 + "a tea " + "so " * 8 + "s…"


def test_colours_on_a_terminal(corpus: Path) -> None:
    command = ["search", "{lemma:close}", str(corpus), "--limit", "1"]
    result = CliRunner().invoke(app, command, color=True)
    assert typer.style("closed", fg="red", bold=True) in result.stdout


def test_tsv(corpus: Path) -> None:
    header, *rows = searched(PASSIVES, corpus, "--tsv", "--limit", 2).splitlines()
    assert header.split("\t") == [
        *("id", "sentence", "match", "label", "verb", "subject", "~r", "text")
    ]
    assert rows[1].split("\t") == [
        *("news", "2", "lost", "VBN", "lost", "that", "nsubj:pass"),
        "Mira gave Tom maps and letters that were lost .",
    ]


def test_jsonl(corpus: Path) -> None:
    query = "NP=o && {}=v >obj {}=o ?>iobj {tag:X}=none"
    (record, _) = map(json.loads, searched(query, corpus, "--jsonl").splitlines())
    assert record == {
        "id": "news",
        "sentence": 2,
        "words": [token.text for token in doc()[10:]],
        "match": {"start": 3, "end": 9, "text": "maps and letters that were lost", "label": "NP"},
        "nodes": {
            "o": {"start": 3, "end": 9, "text": "maps and letters that were lost", "label": "NP"},
            "v": {"start": 1, "end": 2, "text": "gave", "label": "VBD"},
        },
        "relations": {},
    }


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("match", "2\tThe old bridge\n2\tMira\n2\tby the council\n"),
        ("a.label", "4\tARG0\n2\tARG1\n"),
        ("a.lemma", "2\tbridge\n2\tMira\n2\tcouncil\n"),
        ("match.ent", "4\t\n2\tPERSON\n"),
        ("r", "4\tARG0\n2\tARG1\n"),
    ],
)
def test_counts_by(corpus: Path, by: str, expected: str) -> None:
    found = searched("{}=a [<ARG0~r {} | </ARG1/~r {lemma:close}]", corpus, "--by", by)
    assert sorted(found.splitlines()) == sorted(expected.splitlines())
    assert found.splitlines()[0][0] >= found.splitlines()[-1][0]


def test_a_count_by_what_the_corpus_lacks(tmp_path: Path) -> None:
    made = doc()
    words, heads = [token.text for token in made], [token.head.i for token in made]
    write_spacy(
        [Doc(made.vocab, words, heads=heads, deps=["x"] * len(made))], tmp_path / "bare.spacy"
    )
    command = ["search", "{}=a > {}", str(tmp_path / "bare.spacy"), "--by", "a.lemma"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 1
    assert "the query needs lemmas, token.lemma_, which the corpus doesn't have" in result.stderr


def test_count(corpus: Path) -> None:
    assert searched("NP", corpus, "--count") == "16 matches in 4 of 4 sentences read\n"


def files(folder: Path) -> dict[str, Path]:
    """The same sentences in every format; those of `annotate` in a folder."""
    made = doc()
    folder.mkdir()
    trees = "".join(f"{tree}\n" for tree in sentence_trees(made))
    texts = {
        "a.mrg": trees,
        "a.unknown": f"( {trees.splitlines()[0]} )\n(X (YY z))",
        "a.conllu": format_conllu(made, "news"),
        "a.jsonl": json.dumps(doc_record({"id": "news", "offset": 7, "text": made.text}, made)),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf8")
    with gzip.open(folder / "a.jsonl.gz", "wt") as file:
        file.write(texts["a.jsonl"] + "\n")
    out = folder / "annotated"
    out.mkdir()
    for name in ("annotate.json", "shards.jsonl"):
        (out / name).write_text("{}")
    (out / "part-00000.jsonl").write_text(texts["a.jsonl"])
    (out / "part-00001.jsonl").write_text(texts["a.jsonl"])
    return {path.name: path for path in folder.iterdir()}


def test_formats(tmp_path: Path) -> None:
    found = files(tmp_path / "corpus")
    ids: dict[str, Any] = {}
    for name, path in found.items():
        query = "{tag:NN} >det {}" if name == "a.conllu" else "NP < NN"
        rows = [json.loads(line) for line in searched(query, path, "--jsonl").splitlines()]
        ids[name] = [(row["id"], row["sentence"]) for row in rows]
    assert ids == {
        "a.mrg": [("a.mrg:1", 1)] * 2,
        "a.unknown": [("a.unknown:1", 1)] * 2,
        "a.conllu": [("news-1", 1)] * 2,
        "a.jsonl": [("news@7", 1)] * 2,
        "a.jsonl.gz": [("news@7", 1)] * 2,
        "annotated": [("news@7", 1)] * 4,
    }


def test_processes(tmp_path: Path) -> None:
    folder = files(tmp_path / "corpus")["annotated"]
    alone = searched("NP=n", folder, "--tsv")
    assert searched("NP=n", folder, "--tsv", "--n-process", 2) == alone


def test_index(tmp_path: Path) -> None:
    """A file of lines is read by lines, others whole; a changed corpus is indexed anew."""
    found = files(tmp_path / "corpus")
    for path in (found["a.unknown"], found["annotated"] / "part-00001.jsonl"):
        path.unlink()
    corpus, index = [found[name] for name in ("a.mrg", "a.jsonl", "annotated")], tmp_path / "i"
    for query in ("NP < WHNP", "NN=n && NP=n", "SBAR < WHNP", "S << /^th/ && NN", "NP << xyz"):
        alone = searched(query, *corpus, "--tsv")
        for _ in range(2):
            assert searched(query, *corpus, "--tsv", "--index", index) == alone
    assert searched("SBAR", found["a.mrg"], "--count", "--index", tmp_path / "j") == (
        "1 matches in 1 of 1 sentences read\n"
    )
    with found["a.mrg"].open("a") as file:
        file.write("(X (YY bread))\n")
    assert searched("YY < bread", *corpus, "--index", index).split()[0] == "a.mrg:3.1"
    assert "is no index" in refused("NP", found["a.mrg"], "--index", found["a.mrg"])


def test_texts_without_annotation(tmp_path: Path, corpus: Path) -> None:
    made = doc()
    del made.spans["srl"]
    write_spacy([made, doc()], corpus)
    result = CliRunner().invoke(app, ["search", "{} >ARG2 {}=x", str(corpus), "--by", "x"])
    assert result.stdout == "1\tTom\n"
    assert "left out 1 of 2 texts without roles" in result.stderr
    write_spacy([made], corpus)
    assert refused("{} >ARG2 {}=x", corpus).startswith("search: the query needs roles")


def test_bad_input(tmp_path: Path, corpus: Path) -> None:
    assert "column 5: " in refused("NP <", corpus)
    assert refused("NP <", corpus).splitlines()[-1].endswith("^")
    assert "has no name 'x', only match, a" in refused("{}=a", corpus, "--by", "x")
    assert "comes one of label, word" in refused("{}=a", corpus, "--by", "a.sense")
    assert "one of --tsv" in refused("{}", corpus, "--tsv", "--jsonl")
    assert "no-such.mrg" in refused("NP", tmp_path / "no-such.mrg")
    assert "doesn't end in .spacy" in refused("NP", tmp_path / "a.props")
    (tmp_path / "a.jsonl").write_text('{"id": 1}\n')
    assert "a.jsonl:1: a record: " in refused("NP", tmp_path / "a.jsonl")
    (tmp_path / "a.mrg").write_text("(S (NN tea)\n")
    assert "a.mrg:1:1: this bracket is never closed" in refused("NN", tmp_path / "a.mrg")
    (tmp_path / "a.mrg").write_text("(S (NN tea))\n")
    assert "trees without a Doc don't have" in refused("{} > {}", tmp_path / "a.mrg")


def test_limit_of_time(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text("(S " + "(DT a) " * 40 + ")\n")
    query = "DT=n0" + "".join(f" .. (DT=n{i}" for i in range(1, 12)) + ")" * 11
    said = refused(query, tmp_path / "a.mrg", "--seconds", 0.1)
    assert "a.mrg:1: the query took more than 0.1 seconds" in said
