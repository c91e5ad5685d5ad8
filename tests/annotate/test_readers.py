"""Texts of files, folders and stdin."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from spacy_lal.annotate.texts import Texts


def test_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffOne é.\r\n\n \nTwo\x0btwo\u2028two.\n".encode() + b"\xff\nend")
    texts = Texts(str(path))
    found = list(texts)
    assert found[0] == {"id": "a.txt:1", "text": "One é."}
    assert found[1] == {"id": "a.txt:4", "text": "Two\x0btwo\u2028two."}
    assert found[2]["id"] == "a.txt:5"
    assert found[2]["error"].startswith("UnicodeDecodeError")
    assert found[3] == {"id": "a.txt:6", "text": "end"}
    assert texts.position == texts.size == path.stat().st_size


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = [
        '{"id": 7, "text": "One.", "lang": "en", "other": 1}',
        '{"text": "Two.", "lang": {"is": ["en"]}}',
        "{",
        "[1]",
        '{"text": 3}',
        '{"id": "x"}',
        '{"text": ""}',
        '{"text": "Numbers.", "lang": [NaN, 1e999, 1180591620717411303424]}',
        '{"text": "A piece.", "offset": 51, "error": "RuntimeError: of another run"}',
    ]
    with gzip.open(path, "wt") as file:
        file.write("\n".join(lines))
    found = list(Texts(str(path), keep=["id", "lang"]))
    assert found[0] == {"id": "7", "lang": "en", "text": "One."}
    assert found[1] == {"id": "a.jsonl.gz:2", "lang": {"is": ["en"]}, "text": "Two."}
    assert [("error" in record) for record in found] == [False] * 2 + [True] * 4 + [False] * 3
    assert found[3]["error"] == "ValueError: expected a JSON object on each line, found '[1]'"
    assert found[5] == {"id": "x", "lang": None, "text": "", "error": "no text in 'text'"}
    assert found[2]["text"] == "{"
    assert found[7]["lang"] == [None, None, 2**70]
    assert found[8]["offset"] == 51


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "in/b").mkdir(parents=True)
    (tmp_path / "in/c.txt").write_text("C\n")
    (tmp_path / "in/b/a.jsonl").write_text('{"text": "A"}\n')
    (tmp_path / "in/readme.md").write_text("no text\n")
    texts = Texts(str(tmp_path / "in"))
    assert [(r["id"], r["text"]) for r in texts] == [("b/a.jsonl:1", "A"), ("c.txt:1", "C")]
    assert [r["id"] for r in Texts(str(tmp_path / "in"), "txt")] == ["c.txt:1"]
    (tmp_path / "in/D.TXT").write_text("D\n")
    assert [r["id"] for r in Texts(str(tmp_path / "in"), "txt")] == ["D.TXT:1", "c.txt:1"]
    with pytest.raises(ValueError, match="no input format 'csv': it is one of txt, jsonl, parquet"):
        Texts(str(tmp_path / "in/c.txt"), "csv")


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"One.\nTwo.\n")))
    texts = Texts("-")
    assert [r["id"] for r in texts] == ["stdin:1", "stdin:2"]
    assert texts.size is None
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"text": "a"}')))
    assert list(Texts("-", "jsonl")) == [{"id": "stdin:1", "text": "a"}]


def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    import datetime

    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    day = datetime.date(2020, 2, 3)
    columns = {"id": ["x", None], "body": ["One.", None], "day": [day, day], "other": [1, 2]}
    pyarrow.parquet.write_table(arrow.table(columns), path)
    texts = Texts(str(path), text_field="body", keep=["day"])
    first, second = texts
    assert first == {"id": "x", "day": "2020-02-03", "text": "One."}
    assert second["id"] == "a.parquet:2"
    assert "error" in second
    assert texts.position == path.stat().st_size
    with pytest.raises(ValueError, match=r"a\.parquet: expected a column 'text'"):
        list(Texts(str(path)))
    path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(ValueError, match=r"a\.parquet: "):
        list(Texts(str(path)))


def test_rows_of_parquet_that_are_no_text(tmp_path: Path) -> None:
    """Bytes become text; a row that Python can't express fails alone."""
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "a.parquet"
    broken = arrow.array([b"good", b"\xff\xfe", b"also"])
    buffers = [None, *arrow.array([b"good", b"\xff\xfe", b"also"]).buffers()[1:]]
    columns = {
        "id": arrow.array([b"1", b"\xff", None]),
        "text": ["One.", "Two.", "Three."],
        "raw": broken,
        "in": arrow.array([[{"b": b"\xe9", "s": "é"}], None, []]),
    }
    pyarrow.parquet.write_table(arrow.table(columns), path)
    first, second, third = Texts(str(path), keep=["id", "raw", "in"])
    assert first == {"id": "1", "raw": "good", "in": [{"b": "\ufffd", "s": "é"}], "text": "One."}
    assert second == {"id": "\ufffd", "raw": "\ufffd\ufffd", "in": None, "text": "Two."}
    assert (third["id"], third["in"]) == ("a.parquet:3", [])
    columns["raw"] = arrow.StringArray.from_buffers(3, *buffers[1:])
    far = arrow.array([0, 10**12, 0], arrow.timestamp("s"))
    for column in (columns["raw"], far):
        table = arrow.table({"text": columns["text"], "raw": column})
        pyarrow.parquet.write_table(table, path)
        texts = Texts(str(path), keep=["raw"])
        found = list(texts)
        assert ["error" in record for record in found] == [False, True, False]
        assert [record["id"] for record in found] == [f"a.parquet:{k}" for k in (1, 2, 3)]
        assert texts.position == path.stat().st_size


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(ImportError, match=r"pip install 'spacy-lal\[parquet\]'"):
        Texts(str(tmp_path / "a.parquet"))


def test_what_can_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "a.doc").write_text("?")
    (tmp_path / "b.txt").write_text("?")
    with pytest.raises(ValueError, match=r"a\.doc doesn't say its format"):
        Texts(str(tmp_path / "a.doc"))
    with pytest.raises(FileNotFoundError):
        Texts(str(tmp_path / "c.txt"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no text in"):
        Texts(str(tmp_path / "empty"))
    with pytest.raises(ValueError, match="no fields to keep"):
        Texts(str(tmp_path / "b.txt"), keep=["lang"])
    with pytest.raises(ValueError, match="'heads' of their own"):
        Texts("-", "jsonl", keep=["heads"])
    with pytest.raises(ValueError, match="stdin"):
        Texts("-", "parquet")


def test_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    with gzip.open(path, "wt") as file:
        file.writelines(f"{k} {hash(str(k))}\n" for k in range(5000))
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ValueError, match=r"a\.txt\.gz: damaged, somewhere after text \d+"):
        list(Texts(str(path)))
