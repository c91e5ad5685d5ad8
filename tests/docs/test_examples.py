"""The examples run, and say what is right."""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any

import pytest

from .pages import ROOT

for package in ("en_lal_sm", "en_lal_ged_sm"):
    pytest.importorskip(package, reason=f"pip install ./packages/{package}")

ALL_SPELLINGS = True
EXAMPLES = ROOT / "examples"


def printed(name: str, capsys: Any, monkeypatch: Any, *arguments: str) -> list[str]:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    lines: list[str] = capsys.readouterr().out.splitlines()
    return lines


def test_noun_phrases(capsys: Any, monkeypatch: Any) -> None:
    lines = printed("noun_phrases.py", capsys, monkeypatch, "The dog of my aunt sleeps. We don't.")
    assert [line.split("  ")[1] for line in lines] == ["The dog of my aunt", "We"]


def test_who_did_what(capsys: Any, monkeypatch: Any) -> None:
    (line,) = printed("who_did_what.py", capsys, monkeypatch, "Mary gave her brother the book.")
    assert line == "verb: gave  who: Mary  what: the book  to whom: her brother"


def test_check_essay(capsys: Any, monkeypatch: Any) -> None:
    lines = printed("check_essay.py", capsys, monkeypatch)
    assert {line.split("*")[1] for line in lines} >= {"go", "learning"}


def test_train_a_parser() -> None:
    train = runpy.run_path(str(EXAMPLES / "train_a_parser.py"))["train"]
    doc = train(2)("the cat sees the birds .")
    assert doc._.trees[0].leaves == ["the", "cat", "sees", "the", "birds", "."]


def test_the_tour() -> None:
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text("utf8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # a cell is a script of its own
            assert not cell["outputs"], "clear the notebook's outputs before a commit"
    assert [token.text for token in names["essay"] if token._.is_error] == ["go", "learning"]
