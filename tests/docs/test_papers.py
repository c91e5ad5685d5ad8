"""docs/papers.md leads from every equation to code and tests that are there."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/papers.md"
TEXT = PAGE.read_text("utf8")
LINKS = sorted(set(re.findall(r"\[`([\w.]+)`\]\(([^)]+)\)", TEXT)))
ROWS = re.findall(r"^\| ((?:eqs?\.|sections?|figure|A\.).*?) \| .* \| (.+) \| (.+) \|$", TEXT, re.M)
# how many equations have a number; of Floquet et al. none has
EQUATIONS = {"Mrini": 12, "Vu-Tran": 25, "Strubell": 8, "Floquet": 0, "Kaneko": 10}


@pytest.mark.parametrize(("name", "link"), LINKS, ids=[f"{link[3:]}-{n}" for n, link in LINKS])
def test_every_symbol_and_test_is_there(name: str, link: str) -> None:
    path = (PAGE.parent / link).resolve()
    if path.is_relative_to(ROOT / "tests"):
        assert re.search(rf"^ *def {name}\(", path.read_text("utf8"), re.M)
        return
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    in_module = f"spacy_lal.{name}".removeprefix(f"{module}.").split(".")
    assert reduce(getattr, in_module, import_module(module)) is not None


def test_every_row_has_code_and_a_test() -> None:
    assert len(ROWS) == sum(line.startswith("| ") for line in TEXT.splitlines()) - len(EQUATIONS)
    for place, code, tests in ROWS:
        assert "](../spacy_lal/" in code, place
        assert "](../tests/" in tests, place


@pytest.mark.parametrize("paper", EQUATIONS)
def test_every_equation_is_there(paper: str) -> None:
    (part,) = [part for part in TEXT.split("\n## ") if f"{paper} " in part.splitlines()[0]]
    found: set[int] = set()
    for first, last, second in re.findall(r"^\| eqs?\. (\d+)(?: to (\d+)|, (\d+))?", part, re.M):
        end = int(last or first)
        found |= {*range(int(first), end + 1), *([int(second)] if second else [])}
    assert found == set(range(1, EQUATIONS[paper] + 1))


def test_the_readme_leads_here() -> None:
    assert "(docs/papers.md)" in (ROOT / "README.md").read_text("utf8")
