"""Converters that are called by their path in a project's commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.converters.test_vtb_with_heads import UD
from tests.formats.test_vtb import BOAT, READ

from .running import read_docs


def test_vietnamese_with_heads(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    (tmp_path / "trees").mkdir()
    for part in ("train", "dev", "test"):
        (tmp_path / f"trees/{part}.prd").write_text(READ + BOAT, "utf8")
    (tmp_path / "ud").mkdir()
    (tmp_path / "ud/vi_vtb-ud-train.conllu").write_text(UD, "utf8")
    paths = {"data": str(tmp_path / "trees"), "ud": str(tmp_path / "ud")}
    run_here("convert-with-heads", "projects/vtb", **paths)
    corpus = project / "projects/vtb/corpus"
    found = [doc.has_annotation("DEP") for doc in read_docs(corpus / "train.spacy", "vi")]
    assert found == [False, True]
    assert len(read_docs(corpus / "ud.spacy", "vi")) == 1
