"""Sections and equations that docstrings cite are such as the papers have."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "spacy_lal"
# sections of the model and of what is measured or set, and the last number of an equation; sections
# 2 of Kaneko and Komachi and 3 of Strubell et al. are related work
PAPERS = {
    "Mrini et al.": ({"2", "3", "3.1", "3.2", "3.3", "3.4", "4.1", "4.5", "4.6"}, 12),
    "Vu-Tran et al.": ({"2.1", "2.2", "2.3", "2.4", "2.5", "3.1"}, 25),
    "Strubell et al.": ({"2", "2.1", "2.2", "2.3", "2.4", "2.5", "A.4"}, 8),
    "Floquet et al.": ({"2.1", "2.2", "3", "3.1"}, 0),
    "Kaneko and Komachi": ({"3.1", "3.2", "4.2", "4.3", "6"}, 10),
}
# whole files that are about one paper
FILES = {
    "layers/lisa_encoder.py": "Strubell et al.",
    "layers/role_scorer.py": "Strubell et al.",
    "srl/gold_frames.py": "Strubell et al.",
    "srl/network.py": "Strubell et al.",
    "layers/layer_attention.py": "Kaneko and Komachi",
}
NUMBERS = r"([A-Z0-9.]*\d)(?:(?:,| and| to|-) ?([\dA.]*\d))?"


def cited(text: str) -> list[tuple[str, str]]:
    """Sections as ("section", "2.1") and equations as ("eq", "4") in the text."""
    found = []
    for kind, first, second in re.findall(rf"\b(section|eq)s?\.?\s+{NUMBERS}", text, re.I):
        found += [(kind.lower(), number) for number in (first, second) if number]
    return found


def citations() -> list[tuple[str, str, str, str]]:
    """File, paper, kind and number of all citations."""
    found = []
    names = "|".join(map(re.escape, PAPERS))
    for path in sorted(SOURCE.rglob("*.py")):
        name, text = path.relative_to(SOURCE).as_posix(), " ".join(path.read_text("utf8").split())
        if name in FILES:
            found += [(name, FILES[name], *place) for place in cited(text)]
            continue
        # a citation ends where another paper's name, a bracket or a sentence does
        for paper, rest in re.findall(rf"({names})((?:(?!{names}|[;)]|\. [A-Z]).)*)", text):
            found += [(name, paper, *place) for place in cited(rest[:80])]
    return found


@pytest.mark.parametrize("paper", PAPERS)
def test_the_paper_has_what_is_cited(paper: str) -> None:
    sections, last = PAPERS[paper]
    places = [place for place in citations() if place[1] == paper]
    assert places
    for name, _, kind, number in places:
        if kind == "section":
            assert number in sections, name
        else:
            assert number.isdigit(), name
            assert 1 <= int(number) <= last, name


def test_no_paper_has_a_year_that_its_text_has_not() -> None:
    for path in SOURCE.rglob("*.py"):
        assert not re.search(r"(Floquet|Vu-Tran) et\s+al\.,?\s+\(?20", path.read_text("utf8")), path
