"""The API reference has an entry for every public name.

It is made of the sources: of all modules, their functions, classes and methods, whether they have a
docstring or not, and of the constants that have one.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from itertools import zip_longest
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")


def without_entry(source: str) -> list[str]:
    """The module's constants without a docstring; names of types and private names are none."""
    body = ast.parse(source).body
    found = []
    for statement, after in zip_longest(body, body[1:]):
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if isinstance(statement.value, ast.Call) and "TypeVar" in ast.unparse(statement.value.func):
            continue
        names = {
            node.id for target in targets for node in ast.walk(target) if type(node) is ast.Name
        }
        documented = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
        if not documented:
            found += sorted(name for name in names if CONSTANT.fullmatch(name))
    return found


def test_every_public_constant_has_an_entry() -> None:
    sources = sorted((ROOT / "spacy_lal").rglob("*.py"))
    lacking = {
        str(path.relative_to(ROOT)): without_entry(path.read_text("utf8")) for path in sources
    }
    assert {path: names for path, names in lacking.items() if names} == {}


@pytest.mark.parametrize(
    ("source", "lacking"),
    [
        ("LENGTH = 3", ["LENGTH"]),
        ("LENGTH: int = 3\n\ndef f(): ...", ["LENGTH"]),
        ("LEFT, TOP = 1, 2\nWIDTH = 3\n'''In pixels.'''", ["LEFT", "TOP"]),
        ("LENGTH = 3\n'''Of a piece.'''", []),
        ("_LENGTH = 3\nT = TypeVar('T')\nPoint = tuple[int, int]\nlogger = None", []),
    ],
)
def test_what_lacks_one(source: str, lacking: list[str]) -> None:
    assert without_entry(source) == lacking


def test_every_public_function_has_one() -> None:
    """Sphinx asks `skip_member` about what it would leave out, and about all else."""
    spec = importlib.util.spec_from_file_location("conf", ROOT / "docs/conf.py")
    assert spec is not None
    assert spec.loader is not None
    conf = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conf)

    from spacy_lal.drawing.svg import svg
    from spacy_lal.visualize.render import render

    def asked(name: str, value: object, module: str, skip: bool) -> bool | None:
        document = SimpleNamespace(autodoc_module=module)
        app = SimpleNamespace(env=SimpleNamespace(current_document=document))
        return conf.skip_member(app, "module", name, value, skip, None)

    assert asked("render", render, "spacy_lal.visualize.render", True) is False
    assert asked("render", render, "spacy_lal.visualize", False) is True
    assert asked("svg", svg, "spacy_lal.drawing.svg", True) is False
    assert asked("_hidden", render, "spacy_lal.visualize.render", True) is None
    assert asked("Path", Path, "spacy_lal.visualize.render", True) is None
