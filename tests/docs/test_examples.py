"""The examples run, and say what is right."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from .pages import ROOT

for package in ("en_lal_sm", "en_lal_ged_md"):
    pytest.importorskip(package, reason=f"pip install ./packages/{package}")

ALL_SPELLINGS = True
EXAMPLES = ROOT / "examples"


def printed(name: str, capsys: Any, monkeypatch: Any, *arguments: str) -> list[str]:
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    lines: list[str] = capsys.readouterr().out.splitlines()
    return lines


def run_notebook(name: str) -> dict[str, Any]:
    """Return the names that a notebook defines."""
    cells = json.loads((EXAMPLES / name).read_text("utf8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # a cell is a script of its own
            assert not cell["outputs"], "clear the notebook's outputs before a commit"
    return names


def test_application(capsys: Any, monkeypatch: Any) -> None:
    lines = printed("application.py", capsys, monkeypatch, "Ann never sold the house in 2019.")
    (fact,) = map(json.loads, lines)
    assert fact["who"] == "Ann"
    assert fact["what"] == "the house"
    assert fact["negated"]
    assert fact["when"] == "in 2019"


def test_corpus() -> None:
    names = run_notebook("corpus.ipynb")
    verbs = ["closed", "lost", "told", "elected", "written"]
    assert [str(match.nodes["verb"]) for match in names["passives"]] == verbs
    assert dict(names["with_agent"]) == {True: 2, False: 3}
    lines = zip(verbs, names["concordance"], strict=True)
    assert len({line.index(f"  {verb}  ") for verb, line in lines}) == 1


def test_teacher(capsys: Any, monkeypatch: Any, tmp_path: Path) -> None:
    essay = tmp_path / "ann.txt"
    essay.write_text("He go to school every day, because he want to learning English.", "utf8")
    page = tmp_path / "report.html"
    first, *marks = printed("teacher.py", capsys, monkeypatch, str(page), str(essay))
    assert first == "ann: 12 words, 3 marks, 25.0 in a hundred words"
    assert {line.split("*")[1] for line in marks} == {"go", "want", "learning"}
    assert "learning" in page.read_text("utf8")


def test_training_in_python() -> None:
    train = runpy.run_path(str(EXAMPLES / "researcher.py"))["train"]
    doc = train(2)("the cat sees the birds .")
    assert doc._.trees[0].leaves == ["the", "cat", "sees", "the", "birds", "."]


def test_research() -> None:
    names = run_notebook("researcher.ipynb")
    first, second = names["trees"]
    assert first.log_prob > second.log_prob
    assert [token.text for token in names["essay"] if token._.is_error] == [
        "go",
        "want",
        "learning",
    ]
