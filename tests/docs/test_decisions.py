"""Decisions: one a page, numbered, all in the index; files that pages name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs/decisions"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))


def test_numbers_go_on_without_a_gap() -> None:
    assert [int(page.name[:3]) for page in PAGES] == list(range(1, len(PAGES) + 1))


def test_every_decision_is_in_the_index_by_its_title() -> None:
    lines = (FOLDER / "README.md").read_text("utf8").splitlines()
    listed = sorted(line for line in lines if line.startswith("- "))
    titles = [page.read_text("utf8").splitlines()[0].removeprefix("# ") for page in PAGES]
    pages = zip(PAGES, titles, strict=True)
    assert listed == [f"- [{page.name[:3]}]({page.name}) {title}" for page, title in pages]


@pytest.mark.parametrize(
    "page", [ROOT / "docs/architecture.md", *PAGES], ids=lambda page: page.stem
)
def test_files_that_are_named_are_there(page: Path) -> None:
    text = page.read_text("utf8")
    named = re.findall(r"`((?:[\w-]+/)+[\w-]+\.(?:py|cfg|json|md))`", text)
    named += re.findall(r"`((?:scripts|benchmarks)/\w+\.py)\b", text)
    for name in named:
        assert (ROOT / name).exists() or (ROOT / "spacy_lal" / name).exists(), name
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / link).exists(), link
