"""Conversion of the Vietnamese Treebank, on invented sentences."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
import typer
from spacy.tokens import Doc

from spacy_lal.annotations import sentence_trees
from spacy_lal.cli.convert import command
from spacy_lal.formats.penn_brackets import parse_sentences
from spacy_lal.formats.vtb import Malformed, VietnameseTreebank

from ..project.running import read_docs

convert_vtb = command(VietnameseTreebank)

READ = """<s>
(S (NP-SUB (P-H Tôi)) (VP (V-H đọc)
    (NP-DOB (N-H sách))) (. .))
</s>
"""
BOAT = """<s id=2>
(S (NP-SUB (N-H thuyền_trưởng) (LBKT LBKT) (Np-H Nam) (RBKT RBKT))
   (VP (V-H mở) (NP-DOB (N-H cánh cửa)) (SBAR (-NONE- *T*-1) (S (NP-SUB (N *E*)))))
   (, ,))
(. .)
</s>
"""
RAIN = """
(S1 (VP (V-H mưa)) (. .))
( (S (AP (A--H lạnh))) )
"""
TREES = {
    "READ": "(TOP (S (NP (P Tôi)) (VP (V đọc) (NP (N sách))) (. .)))",
    "BOAT": (
        "(TOP (S (NP (N thuyền_trưởng) (LBKT -LRB-) (Np Nam) (RBKT -RRB-))"
        " (VP (V mở) (NP (N cánh_cửa))) (, ,)) (. .))"
    ),
    "RAIN": "(TOP (S1 (VP (V mưa)) (. .)))",
    "COLD": "(TOP (S (AP (A lạnh))))",
}


def docs_of(output: Path, part: str) -> list[Doc]:
    return read_docs(output / f"{part}.spacy", "vi")


def trees_of(output: Path, part: str) -> list[str]:
    return [str(tree) for doc in docs_of(output, part) for tree in sentence_trees(doc)]


def test_splits_as_folders_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train/2.prd").write_text(BOAT, "utf8")
    (tmp_path / "train/1.prd").write_text(READ, "utf8")
    (tmp_path / "train/1.raw").write_text("Tôi đọc sách.", "utf8")
    (tmp_path / "dev.txt").write_text(RAIN, "utf-8-sig")
    (tmp_path / "test.PRD").write_text(normalize("NFD", READ).replace("\n", "\r\n"), "utf8")
    output = tmp_path / "out"
    convert_vtb(tmp_path, output)
    assert trees_of(output, "train") == [TREES["READ"], TREES["BOAT"]]
    assert trees_of(output, "dev") == [TREES["RAIN"], TREES["COLD"]]
    assert trees_of(output, "test") == [TREES["READ"]]
    (read,) = docs_of(output, "test")
    assert [token.tag_ for token in read] == ["P", "V", "N", "."]
    assert [token.is_sent_start for token in read] == [True, False, False, False]
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["train", "dev", "test"] in printed
    assert ["files", "2", "1", "1"] in printed
    assert ["words", "12", "3", "4"] in printed
    # *T* and *E*; what was SBAR, S and NP over them
    assert ["empty", "elements", "removed", "2", "0", "0"] in printed
    assert ["phrases", "removed", "that", "had", "no", "words", "3", "0", "0"] in printed
    assert ["words", "whose", "syllables", "were", "apart", "1", "0", "0"] in printed
    assert ["words", "brought", "to", "NFC", "0", "0", "3"] in printed


def test_splits_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(5):
        (tmp_path / f"{number}.prd").write_text(READ * (number + 1), "utf8")
    output = tmp_path / "out"
    convert_vtb(tmp_path, output, train="[01].prd, 0.prd", dev="2.prd", test="3.*")
    assert [len(docs_of(output, part)) for part in ("train", "dev", "test")] == [3, 3, 4]
    assert "1 files of" in capsys.readouterr().out
    for options, message in (
        ({"train": "1.prd", "dev": "[12].prd", "test": "3.prd"}, "1.prd is in both train and dev"),
        ({"train": "1.prd", "dev": "9*"}, f"no trees in {tmp_path / '9*'}"),
        ({"train": "1.prd,"}, "no trees in '1.prd,'"),
        ({"train": "/absent/*.prd"}, "no trees in /absent/*.prd"),
        ({"train": "1.prd", "ratio": "18:1:1"}, "not both"),
        ({"ratio": "18:1"}, "ratio '18:1': write it as 18:1:1"),
        ({"ratio": "1000:1:1"}, f"dev: no sentences in 1/1002 of {tmp_path}"),
    ):
        with pytest.raises(typer.Exit):
            convert_vtb(tmp_path, output, **options)
        assert message in capsys.readouterr().err


def test_ratio_cuts_one_file(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(READ * 7 + BOAT + READ + BOAT, "utf8")
    convert_vtb(path, tmp_path / "out", ratio="8:1:1")
    assert trees_of(tmp_path / "out", "train") == [TREES["READ"]] * 7 + [TREES["BOAT"]]
    assert trees_of(tmp_path / "out", "dev") == [TREES["READ"]]
    assert trees_of(tmp_path / "out", "test") == [TREES["BOAT"]]
    with pytest.raises(typer.Exit):
        convert_vtb(path, tmp_path / "out")


@pytest.mark.parametrize(
    ("bad", "line", "fault"),
    [
        ("<s>\n(S\n (N-H trà)\n</s>", 6, "this bracket is never closed"),
        ("<s>\n(S\n (N-H trà)))\n</s>", 7, "closing bracket without an opening one"),
        ("<s>\ntrà nguội\n</s>", 6, "'trà' stands outside any bracket"),
        ("<s>\n\n</s>", 5, "no words"),
        ("<s>\n(S (NP (N *T*)))\n</s>", 5, "no words"),
        ("<s>\n(S (NP (trà)))\n</s>", 5, "neither words nor phrases in (trà)"),
        ("<s>\n(S (NP ( trà)))\n</s>", 5, "word 'trà' has no tag"),
        ("<s>\n(S ((N trà)))\n</s>", 5, "a phrase without a label"),
        ("<s>\n(S (N trà))", 5, "<s> without </s>"),
        ("<title>Trà</title>\n\n(S (N trà))", 7, "'(S' stands outside <s> and </s>"),
        ("\n</s>", 6, "</s> without <s>"),
    ],
)
def test_malformed_sentences_stop_or_are_dropped(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    bad: str,
    line: int,
    fault: str,
) -> None:
    path = tmp_path / "train.prd"
    path.write_text(f"{READ}{bad}\n{READ}", "utf8")
    for part in ("dev", "test"):
        (tmp_path / f"{part}.prd").write_text(READ, "utf8")
    output = tmp_path / "out"
    if fault != "no words":
        with pytest.raises(typer.Exit):
            convert_vtb(tmp_path, output)
        assert capsys.readouterr().err == f"convert: {path}:{line}: {fault}\n"
    convert_vtb(tmp_path, output, malformed=Malformed.drop)
    assert trees_of(output, "train") == [TREES["READ"]] * 2
    printed = " ".join(capsys.readouterr().out.split())  # lines were wrapped
    assert f"left out: {path}:{line}: {fault}" in printed


def test_malformed_text_without_marks_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trees.txt"
    for bad, place in (("\n(S (N trà)", ":4:1: this"), ("(S (trà))", ":3:28: neither words")):
        path.write_text(RAIN.removesuffix("\n") + bad, "utf8")
        with pytest.raises(typer.Exit):
            convert_vtb(path, tmp_path / "out", ratio="1:1:1")
        assert f"{path}{place}" in capsys.readouterr().err


def test_sentences_of_several_trees() -> None:
    text = "<s>\n( (S (N trà)))\n(. .)\n</s>\n<S>( (N trà))</S>\n"
    first, second = parse_sentences(text, source="tea.prd")
    assert (first.place, str(first.tree)) == ("tea.prd:1", "( (S (N trà)) (. .))")
    # marks are lines of their own
    assert second.fault == "'<S>(' stands outside <s> and </s>"
