"""Folders take each other's place, whenever the process is killed."""

from pathlib import Path

import pytest

from spacy_lal.formats.files import replace_folder


def write(text):
    def to(path: Path) -> None:
        path.mkdir()
        (path / "it").write_text(text)

    return to


def fail(path: Path) -> None:
    path.mkdir()
    raise OSError("disk full")


def test_the_other_stays_until_all_is_written(tmp_path):
    folder = tmp_path / "model"
    replace_folder(folder, write("a"))
    with pytest.raises(OSError, match="disk full"):
        replace_folder(folder, fail)
    assert (folder / "it").read_text() == "a"
    replace_folder(folder, write("b"))
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert (folder / "it").read_text() == "b"


def test_killed_between_the_renames(tmp_path):
    folder = tmp_path / "model"
    write("a")(tmp_path / ".model.old")
    write("b")(tmp_path / ".model.new")
    with pytest.raises(OSError, match="disk full"):
        replace_folder(folder, fail)
    assert (folder / "it").read_text() == "a"
