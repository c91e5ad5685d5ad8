"""The Vietnamese Treebank's trees and UD's heads of the same sentences."""

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
import typer
from vtb_with_heads import VietnameseWithHeads

from spacy_lal.cli.convert import command
from tests.formats.test_vtb import BOAT, READ, TREES, docs_of, trees_of

convert_vtb = command(VietnameseWithHeads)

UD = """# newdoc
# sent_id = 1
1\tThuyền trưởng\t_\tNOUN\tN\t_\t5\tnsubj\t_\t_
2\t(\t_\tPUNCT\tPUNCT\t_\t3\tpunct\t_\tSpaceAfter=No
3\tNam\t_\tPROPN\tNNP\t_\t1\tappos\t_\tSpaceAfter=No
4\t)\t_\tPUNCT\tPUNCT\t_\t3\tpunct\t_\t_
5\tmở\t_\tVERB\tV\t_\t0\troot\t_\t_
6\tcánh cửa\t_\tNOUN\tN\t_\t5\tobj\t_\tSpaceAfter=No
7\t,\t_\tPUNCT\tPUNCT\t_\t5\tpunct\t_\t_
8\t.\t_\tPUNCT\tPUNCT\t_\t5\tpunct\t_\t_

# sent_id = 2
1\tTrời\t_\tNOUN\tN\t_\t2\tnsubj\t_\t_
2\tbắt đầu\t_\tVERB\tV\t_\t0\troot\t_\t_

"""


def test_heads_of_ud(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a sentence of the same text; what has no trees is written by itself."""
    (tmp_path / "trees").mkdir()
    for part in ("train", "dev", "test"):
        (tmp_path / f"trees/{part}.prd").write_text(READ + BOAT, "utf8")
    ud = tmp_path / "ud.conllu"
    ud.write_text(normalize("NFC", UD), "utf8")
    output = tmp_path / "out"
    convert_vtb(tmp_path / "trees", output, ud=ud)
    for part in ("train", "dev", "test"):
        read, boat = docs_of(output, part)
        assert not read.has_annotation("DEP")
        assert [token.head.i for token in boat] == [4, 2, 0, 2, 4, 4, 4, 4]
        assert [token.dep_ for token in boat][3:6] == ["punct", "ROOT", "obj"]
        assert [token.tag_ for token in boat][:2] == ["N", "LBKT"]
        assert boat[5:7].text == "cánh_cửa,"
        assert trees_of(output, part) == [TREES["READ"], TREES["BOAT"]]
    (rain,) = docs_of(output, "ud")
    assert [(token.text, token.dep_, token.tag_) for token in rain] == [
        ("Trời", "nsubj", ""),
        ("bắt_đầu", "ROOT", ""),
    ]
    assert "constituents" not in rain.spans
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["with", "heads", "of", "UD", "1", "1", "1", "0"] in printed
    convert_vtb(tmp_path / "trees", tmp_path / "cut", ratio="4:1:1", ud=ud)
    assert len(docs_of(tmp_path / "cut", "ud")) == 1
    for wrong, message in (
        (UD.replace("cánh", "canh"), "has none of the sentences that have trees"),
        ("1\tx\n", "ud.conllu:1"),
    ):
        ud.write_text(wrong, "utf8")
        with pytest.raises(typer.Exit):
            convert_vtb(tmp_path / "trees", output, ud=ud)
        assert message in capsys.readouterr().err
    with pytest.raises(typer.Exit):
        convert_vtb(tmp_path / "trees", output, ud=tmp_path / "trees")
    assert "no *.conllu in" in capsys.readouterr().err
