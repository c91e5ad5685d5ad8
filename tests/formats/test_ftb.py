"""Conversion of the French Treebank, on invented sentences."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import typer

from spacy_lal.annotations import get_constituents, sentence_trees
from spacy_lal.cli.convert import command
from spacy_lal.formats.ftb import FrenchTreebank

from ..project.running import read_docs

convert_ftb = command(FrenchTreebank)

CAT = (
    "( (SENT (NP-SUJ (DET##cpos=D|g=m|n=s|s=def## le) (NC##cpos=N|lem=chat-huant## chat))"
    " (VN (CLO-A_OBJ##cpos=CL## y) (V##cpos=V|mwehead=V+## dort)) (PONCT##cpos=PONCT|s=s## .)))\n"
)
STAMP = (
    "( (SENT (VN (VIMP##cpos=V## Goûtez)) (NP-OBJ##head=2## (DET le) (MWN##x=y## (NC thé)"
    " (P+D##s=def du) (NC matin))) (PONCT -LRB-) (NP (NPP+ (NPP Cap) (PONCT -) (NPP Est)))"
    " (PONCT -RRB-)))\n"
)
CAT_TREE = "(TOP (SENT (NP (DET le) (NC chat)) (VN (CLO y) (V dort)) (PONCT .)))"
STAMP_TREE = (
    "(TOP (SENT (VN (VIMP Goûtez)) (NP (DET le) (MWN (NC thé) (P+D du) (NC matin)))"
    " (PONCT -LRB-) (NP (NPP+ (NPP Cap) (PONCT -) (NPP Est))) (PONCT -RRB-)))"
)


@pytest.fixture
def ftb(tmp_path: Path) -> Path:
    """A folder laid out as the shared task's."""
    for part in ("train", "train5k", "dev", "test"):
        folder = tmp_path / "FRENCH_SPMRL/gold/ptb" / part
        folder.mkdir(parents=True)
        (folder / f"{part}.French.gold.ptb").write_text(CAT + STAMP, "utf8")
    return tmp_path


def trees_of(output: Path, part: str) -> list[str]:
    docs = read_docs(output / f"{part}.spacy", "fr")
    return [str(tree) for doc in docs for tree in sentence_trees(doc)]


def test_features_and_functions(ftb: Path, capsys: pytest.CaptureFixture[str]) -> None:
    convert_ftb(ftb, ftb / "out")
    for part in ("train", "dev", "test"):
        assert trees_of(ftb / "out", part) == [CAT_TREE, STAMP_TREE]
    cat, stamp = read_docs(ftb / "out/dev.spacy", "fr")
    assert [token.tag_ for token in cat] == ["DET", "NC", "CLO", "V", "PONCT"]
    assert get_constituents(cat)[:2] == [(0, 5, "SENT"), (0, 2, "NP")]
    assert [token.text for token in stamp][5:10] == ["(", "Cap", "-", "Est", ")"]
    assert [token.is_sent_start for token in cat] == [True, *[False] * 4]
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["train", "dev", "test"] in printed
    assert ["words", "15", "15", "15"] in printed
    assert ["constituents", "9", "9", "9"] in printed


def test_functions_kept(ftb: Path) -> None:
    convert_ftb(ftb, ftb / "out", functions=True)
    first, second = trees_of(ftb / "out", "test")
    assert first == CAT_TREE.replace("(NP (DET", "(NP-SUJ (DET").replace("CLO", "CLO-A_OBJ")
    assert second == STAMP_TREE.replace("(NP (DET", "(NP-OBJ (DET")


def test_encodings(ftb: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = ftb / "FRENCH_SPMRL/gold/ptb/dev/dev.French.gold.ptb"
    path.write_bytes((CAT + STAMP).encode("latin-1"))
    for encoding in ("auto", "latin-1"):
        convert_ftb(path.parents[1], ftb / "out", encoding=encoding)
        assert trees_of(ftb / "out", "dev") == [CAT_TREE, STAMP_TREE]
        printed = " ".join(capsys.readouterr().out.split())  # lines were wrapped
        assert (f"{path} isn't UTF-8, read as latin-1" in printed) == (encoding == "auto")
    for encoding, message in (("utf-8", f"{path}:2: not utf-8"), ("utf-88", "utf-88")):
        with pytest.raises(typer.Exit):
            convert_ftb(ftb, ftb / "out", encoding=encoding)
        assert message in capsys.readouterr().err


def test_files(ftb: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = ftb / "FRENCH_SPMRL/gold/ptb/train/train.French.gold.ptb"
    (train.parent / "TRAIN.txt").touch()
    zipped = train.with_name("train.french.gold.ptb.gz")
    zipped.write_bytes(gzip.compress(train.read_bytes()))
    with pytest.raises(typer.Exit):
        convert_ftb(ftb, ftb / "out")
    assert f"train: both {train} and {zipped} are there: say which" in capsys.readouterr().err
    train.unlink()
    assert FrenchTreebank().part_files(ftb)["train"] == [zipped]
    zipped.unlink()
    small = "FRENCH_SPMRL/gold/ptb/train5k/train5k.French.gold.ptb"
    convert_ftb(ftb, ftb / "out", train=small)
    assert trees_of(ftb / "out", "train") == [CAT_TREE, STAMP_TREE]
    for options, message in (
        ({}, f"train: no train.French.gold.ptb in {ftb}"),
        ({"train": "x.ptb"}, f"train: no x.ptb in {ftb}"),
        ({"train": small, "dev": small}, f"{ftb / small} is in both train and dev"),
    ):
        with pytest.raises(typer.Exit):
            convert_ftb(ftb, ftb / "out", **options)
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("( (SENT (NC thé))\n", ":3:1: this bracket is never closed"),
        ("( (SENT (NC thé vert)))\n", ":3:17: second word 'vert' in one bracket"),
        ("( (SENT (NP (NC)) (PONCT .)))\n", ":3:13: neither words nor phrases in (NC)"),
    ],
)
def test_bad_input_names_the_place(
    ftb: Path, capsys: pytest.CaptureFixture[str], bad: str, message: str
) -> None:
    path = ftb / "FRENCH_SPMRL/gold/ptb/test/test.French.gold.ptb"
    path.write_text(CAT + STAMP + bad, "utf8")
    with pytest.raises(typer.Exit):
        convert_ftb(ftb, ftb / "out")
    assert f"convert: {path}{message}" in capsys.readouterr().err


def test_sentences_without_words_are_left_out_with_their_place(
    ftb: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = ftb / "FRENCH_SPMRL/gold/ptb/test/test.French.gold.ptb"
    path.write_text("( (SENT (NP (-NONE- *))) )\n" + CAT, "utf8")
    convert_ftb(ftb, ftb / "out")
    assert trees_of(ftb / "out", "test") == [CAT_TREE]
    printed = " ".join(capsys.readouterr().out.split())
    assert f"left out: {path}: tree 1: no words" in printed
