"""What imports what, and what spaCy pays for our entry points: it imports all factories for any
pipeline."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from spacy.util import is_package

import spacy_lal
from spacy_lal.trees.tree import ConstituentTree
from tests.pipeline.toy import tiny_pipeline, train

PACKAGE = Path(spacy_lal.__file__).parent
FLOORS = [
    *("drawing", "trees", "annotations", "structure", "layers", "bridge", "batching"),
    *("embeddings", "encoders", "formats", "artificial_errors", "scoring", "training"),
    *("pipeline", "parsing", "srl", "ged", "published", "compat", "annotate", "silver"),
    *("evaluation", "interpret", "visualize", "tables", "search", "page", "cli"),
]
"""The package's folders from the ground up: none imports what is above it."""

Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    """The package's files by the names of their modules, without `spacy_lal` in front.

    The package's own `__init__` is none: it hands on names from all floors.
    """
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


def imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Modules that a module imports anywhere in its text: in functions and for types, too."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.removeprefix("spacy_lal.")
        elif isinstance(node, ast.ImportFrom):
            base = (node.module or "").split(".") if node.module else []
            if node.level:
                base = package[: len(package) + 1 - node.level] + base
            elif base[:1] == ["spacy_lal"]:
                base = base[1:]
            else:
                continue
            for alias in node.names:
                whole = ".".join([*base, alias.name])
                yield whole if whole in known else ".".join(base)


def graph() -> Graph:
    known = modules()
    return {
        name: {found for found in imported(name, path, known) if found in known and found != name}
        for name, path in known.items()
    }


def circles(of: Graph) -> list[list[str]]:
    """Groups of modules each of which imports all others, directly or not (Tarjan 1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for other in of[name]:
            if other not in number:
                visit(other)
            if other in stack:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == number[name]:
            at = stack.index(name)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for name in of:
        if name not in number:
            visit(name)
    return [group for group in found if len(group) > 1]


def test_circles_are_found() -> None:
    line = {"a": {"b"}, "b": {"c"}, "c": set()}
    assert circles(line) == []
    assert circles(line | {"c": {"b"}, "d": {"a"}}) == [["b", "c"]]


def test_all_folders_have_a_floor() -> None:
    assert sorted(FLOORS) == sorted(
        path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()
    )


def test_no_import_runs_against_the_floors() -> None:
    upward: dict[str, list[str]] = defaultdict(list)
    for name, others in graph().items():
        here = FLOORS.index(name.split(".")[0])
        upward[name] += [o for o in sorted(others) if FLOORS.index(o.split(".")[0]) > here]
    assert {name: others for name, others in upward.items() if others} == {}


def test_no_circles() -> None:
    assert circles(graph()) == []


def test_public_names_are_loaded_when_asked_for() -> None:
    script = "import sys, spacy_lal; print({'torch', 'spacy', 'numpy'} & {*sys.modules})"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "set()\n"
    assert set(spacy_lal.__all__) <= set(dir(spacy_lal))
    for name in spacy_lal.__all__:
        assert getattr(spacy_lal, name) is not None
    assert spacy_lal.ConstituentTree is ConstituentTree
    with pytest.raises(AttributeError, match="explicate"):
        _ = spacy_lal.explicate


SCRIPT = """
import json, sys, time
from importlib.metadata import entry_points
import catalogue
groups = catalogue.AVAILABLE_ENTRY_POINTS
def only(*beginnings):
    # spaCy imports what has entry points, spacy-transformers, too, with every pipeline
    catalogue.AVAILABLE_ENTRY_POINTS = {
        group: tuple(e for e in groups.select(group=group) if e.value.startswith(beginnings))
        for group in groups.groups
    }
only("spacy.", "thinc.")
import spacy
spacy.blank("en")
before = set(sys.modules)
factories = [e for e in entry_points(group="spacy_factories") if e.value.startswith("spacy_lal")]
seconds = []
# compiled once, as an installed package is
sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[1]
for _ in range(3):  # where others work beside, the quickest says most
    for name in [name for name in sys.modules if name.startswith("spacy_lal")]:
        del sys.modules[name]
    begun = time.process_time()
    for factory in factories:
        factory.load()
    seconds.append(time.process_time() - begun)
new = {name.split(".")[0] for name in set(sys.modules) - before}
only("spacy.", "thinc.", "spacy_lal.")
loaded = {}
for model in sys.argv[2:]:
    assert spacy.load(model)("It works.")._.trees
    loaded[model] = sorted(set(sys.modules))
import spacy_lal.visualize, spacy_lal.cli, spacy_lal.cli.serve
servers = [name for name in ("starlette", "uvicorn", "spacy_lal.page.app") if name in sys.modules]
print(json.dumps({"factories": len(factories), "seconds": min(seconds), "new": sorted(new),
    "torch": "torch" in before, "loaded": loaded, "servers": servers}))
"""

HEAVY = {"transformers", "spacy_transformers", "ray", "pyarrow", "pandas", "fastapi", "uvicorn"}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the script prints in a new process: once, as its imports take seconds."""
    folder = tmp_path_factory.mktemp("imports")
    train(tiny_pipeline(), steps=1).to_disk(folder / "tiny")
    models = [str(folder / "tiny"), *filter(is_package, ["en_lal_md"])]
    command = [sys.executable, "-c", SCRIPT, str(folder / "compiled"), *models]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return said


def test_entry_points_cost_little(said: dict[str, Any]) -> None:
    """Beside spaCy's own imports, torch among them: 0.15 CPU seconds at most, nothing heavy."""
    assert said["factories"] >= 5
    assert said["torch"]
    assert not HEAVY & set(said["new"]), said["new"]
    assert said["seconds"] <= 0.15
    assert said["servers"] == []  # nor from the command line


def test_loading_imports_no_compiler(said: dict[str, Any]) -> None:
    """Of PyTorch, nor its algebra: random numbers of tensors without memory need the one, tensors
    like these the other, and both take seconds."""
    (tiny,) = (names for model, names in said["loaded"].items() if model != "en_lal_md")
    assert not {"torch._dynamo", "sympy"} & set(tiny)


def test_en_lal_md_loads_without_transformers(said: dict[str, Any]) -> None:
    """Its tokenizer and weights are its own."""
    if "en_lal_md" not in said["loaded"]:
        pytest.skip("pip install ./packages/en_lal_md")
    assert "transformers" not in said["loaded"]["en_lal_md"]
