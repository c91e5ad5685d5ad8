"""docs/papers.md leads from every equation to code and tests that are there."""

from __future__ import annotations

import re
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import spacy

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/papers.md"
PAGES = sorted((ROOT / "docs/components").glob("*.md"))
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


def default(component: str) -> dict[str, Any]:
    """The component's model without settings."""
    nlp = spacy.blank("en")
    nlp.add_pipe(component)
    model: dict[str, Any] = nlp.get_pipe_config(component)["model"]
    return model


def test_pages_of_components_say_the_defaults() -> None:
    pages = {p.stem: " ".join(p.read_text("utf8").split()) for p in PAGES}
    parser, lisa = default("lal_constituency"), default("lisa_srl")
    lstm, heads = parser["input_encoder"], parser["encoder"]
    said = {
        "lal_constituency": [
            f"BiLSTM ({lstm['depth']} layers of {lstm['hidden_width']})",
            f"{heads['heads']} heads, keys and values of {heads['key_width']}, outputs of "
            f"{heads['projection_width']}",
            f'`"{heads["arrangement"]}"`: beside',
        ],
        "lal_dependency": [
            "{arc_width} outputs for heads and {relation_width} for relations".format(
                **default("lal_dependency")["dependencies"]
            )
        ],
        "lisa_srl": [f"has {lisa['layers']} layers (the paper 10 or 12) above a BiLSTM"],
        "spanformer": ["predicted tags", "less probable than 0.45 are left out"],
        "gec_detector": [
            "({heads} heads, dropout of {attention_dropout}".format(**default("gec_detector")),
            f"BiLSTM of {default('gec_detector')['layers']['depth']} layers",
        ],
    }
    assert said.keys() == pages.keys()
    for name, parts in said.items():
        assert [part for part in parts if part not in pages[name]] == [], name
        assert "papers.md#what-differs" in pages[name] or "configs/" in pages[name]
    assert heads["self_attention_layers"] == 0


def test_the_readme_leads_here() -> None:
    assert "(docs/papers.md)" in (ROOT / "README.md").read_text("utf8")
