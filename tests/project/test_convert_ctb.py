"""Conversion of the Chinese Treebank."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_lal.cli.convert import command
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.penn_treebanks import ChineseTreebank, Split, numbered_files
from spacy_lal.formats.treebank_format import Losses

from .running import ROOT, read_docs


def test_ctb_splits(tmp_path: Path) -> None:
    toy = ROOT / "assets/toy/ctb"
    found = {}
    for split in Split:
        command(ChineseTreebank)(toy, tmp_path / split, split=split)
        found[str(split)] = {
            part: "".join(doc.text for doc in read_docs(tmp_path / split / f"{part}.spacy", "zh"))
            for part in ("dev", "test")
        }
    assert found == {
        "constituency": {
            "dev": "她是学校校长。孩子们唱歌和跳舞。",
            "test": "船长慢慢关上门。卖茶叶的商人回家了。",
        },
        "dependency": {
            "dev": "医生给病人一杯水。学生看书。",
            "test": "渔民说：“海水很冷”。旧桥不安全。火车明天到南湖。",
        },
    }


@pytest.mark.parametrize("option", ["auto", "gb18030"])
def test_ctb_encodings(tmp_path: Path, option: str) -> None:
    text = (ROOT / "assets/toy/ctb/bracketed/chtb_001.fid").read_text("utf8")
    path = tmp_path / "chtb_001.fid"
    path.write_bytes(text.encode("gb18030"))
    first, *_, last = ChineseTreebank(encoding=option).read(path, Losses())
    assert list(first.words) == ["老师", "已经", "打开", "了", "窗户", "。"]
    assert not any(first.spaces)
    assert last.constituents[0] == (0, 4, "NP")
    with pytest.raises(FormatError, match="not utf-8"):
        ChineseTreebank(encoding="utf-8").read(path, Losses())


def test_ctb_file_names(tmp_path: Path) -> None:
    for name in ("a/chtb_0040.nw", "b/CHTB_1148.FID", "chtb_007.fid", "readme.txt", ".chtb_1.fid"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(numbered_files(tmp_path)) == [7, 40, 1148]
    (tmp_path / "chtb_0007.fid").touch()
    with pytest.raises(ValueError, match="have the same number"):
        numbered_files(tmp_path)
