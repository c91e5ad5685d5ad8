"""Install the package in every supported environment and run its short tests there.

python scripts/matrix.py FOLDER [--cells NAME,NAME] [--list] [--torch WHAT] [--tests "ARGUMENTS"]

Builds a wheel and a source distribution, and in FOLDER a virtual environment for each cell, which
sees only the tests of the repository. Cells without interpreter or wheels are reported. Prints a
Markdown table, and returns 1 if a cell failed; environments of failed cells stay.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = (
    "tests/test_registry.py tests/trees tests/annotations tests/test_imports.py "
    "tests/structure/test_sequence.py tests/pipeline/test_damaged.py tests/formats"
)
"""Quick tests that need no pipeline."""
SMOKE = """
import spacy
from spacy.training import Example
nlp = spacy.blank("en")
nlp.add_pipe("lal_constituency")
from spacy_lal.annotations import set_constituents
doc = nlp.make_doc("She ate the fish")
for token, tag in zip(doc, ["PRP", "VBD", "DT", "NN"]): token.tag_ = tag
set_constituents(doc, [(0, 4, "S"), (0, 1, "NP"), (1, 4, "VP"), (2, 4, "NP")])
nlp.initialize(lambda: [Example(nlp.make_doc(doc.text), doc)])
assert nlp("She ate it")._.trees
from spacy_lal import render
assert "<svg" in render(nlp("She ate it"), page=True, jupyter=False)
from spacy_lal.artificial_errors.english import *
from spacy_lal.scoring.evalb import EvalbParameters
EvalbParameters.load("collins")
import torch, numpy
print("torch", torch.__version__, "numpy", numpy.__version__, "spacy", spacy.__version__)
"""
"""A program of a user's first steps, which needs the data files."""


@dataclass(frozen=True)
class Cell:
    """An environment: interpreter, versions that pip is held to, extras, and the distribution.
    tests: whether the short tests run there, or only `SMOKE`."""

    python: str
    pins: Sequence[str] = ()
    extras: str = ""
    source: bool = False
    tests: bool = True

    @property
    def name(self) -> str:
        parts = [f"py{self.python}", *self.pins, self.extras, "sdist" if self.source else ""]
        return "-".join(filter(None, parts)).replace("==", "").replace("<", "to").replace(",", "+")


OLDEST = ("torch==2.6.0", "numpy==1.26.4", "thinc==8.3.4", "safetensors==0.4.5")
CELLS = [
    *(Cell(python) for python in ("3.11", "3.12", "3.13", "3.14")),
    *(Cell(python, OLDEST) for python in ("3.11", "3.12")),
    Cell("3.11", source=True, tests=False),
    # All versions with wheels; cells without pins have the newest. 3.8.12 was withdrawn, as it
    # can't make a pipeline.
    *(Cell("3.11", (f"spacy==3.8.{patch}",), tests=False) for patch in range(2, 18) if patch != 12),
    *(
        Cell("3.11", extras=extra)
        for extra in ("encoders", "transformers", "parquet", "ray", "demo", "benepar")
    ),
    Cell("3.12", extras="encoders,parquet"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cells", default="", help="names, commas between; all without")
    parser.add_argument("--list", action="store_true", help="print the names of all cells")
    parser.add_argument("--torch", default="torch", help="where a cell doesn't say: torch==2.13.0")
    parser.add_argument("--tests", default=TESTS, help="what pytest is given")
    options = parser.parse_args()
    if options.list:
        print("\n".join(cell.name for cell in CELLS))
        return 0
    known = {cell.name: cell for cell in CELLS}
    names = options.cells.split(",") if options.cells else list(known)
    if unknown := set(names) - known.keys():
        parser.error(f"no cell {min(unknown)}; --list shows all")
    folder = options.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wheel, sdist = build(folder)
    print("| cell | what is there | result |\n|---|---|---|", flush=True)
    failed = False
    for name in names:
        begun = time.perf_counter()
        versions, result = run(known[name], folder / name, wheel, sdist, options)
        failed |= result.startswith("failed")
        if not result.startswith("failed"):
            shutil.rmtree(folder / name, ignore_errors=True)
        print(
            f"| {name} | {versions} | {result} ({time.perf_counter() - begun:.0f} s) |", flush=True
        )
    return int(failed)


def build(folder: Path) -> tuple[Path, Path]:
    """Return the wheel and the source distribution, built from a copy of the repository."""
    copy = folder / "source"
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "spacy_lal", copy / "spacy_lal", ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    tools = folder / "tools"
    if not (tools / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", tools], check=True)
        _pip(tools, "build", "setuptools>=77")
    out = folder / "dist"
    shutil.rmtree(out, ignore_errors=True)
    command = [tools / "bin/python", "-m", "build", "-n", "-o", out, copy]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl")), next(out.glob("*.tar.gz"))


def run(
    cell: Cell, venv: Path, wheel: Path, sdist: Path, options: argparse.Namespace
) -> tuple[str, str]:
    """Return the installed versions, and the outcome."""
    if (python := _interpreter(cell.python)) is None:
        return "", f"no Python {cell.python} on this machine"
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([python, "-m", "venv", venv], check=True)
    package = sdist if cell.source else wheel
    extras = ",".join(filter(None, [cell.extras, "dev" if cell.tests else ""]))
    try:
        torch = [] if any(pin.startswith("torch") for pin in cell.pins) else [options.torch]
        _pip(venv, f"{package}[{extras}]" if extras else str(package), *cell.pins, *torch)
    except subprocess.CalledProcessError as error:
        lines = error.stderr.splitlines()
        said = next((line for line in lines if line.startswith("ERROR")), _last_line(error.stderr))
        return "", f"not installable: {said[:150]}"
    done = _python(venv, "-c", SMOKE, cwd=venv)
    if done.returncode:
        return "", f"failed at first use: {_last_line(done.stderr)}"
    versions = _last_line(done.stdout)
    if not cell.tests:
        return versions, "works"
    # the tests without the source, so that they import the installed package
    shutil.copytree(
        ROOT / "tests", venv / "run/tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "pyproject.toml", venv / "run")
    done = _python(venv, "-m", "pytest", *options.tests.split(), cwd=venv / "run")
    said = _last_line(done.stdout.strip() or done.stderr)
    (venv / "pytest.txt").write_text(done.stdout + done.stderr)
    return versions, f"{'failed: ' if done.returncode else ''}{said.strip('= ')}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing"])[-1]


def _interpreter(version: str) -> str | None:
    pyenv = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for name in (f"python{version}", f"/usr/bin/python{version}", *map(str, pyenv)):
        found = shutil.which(name)
        if (
            found
            and not subprocess.run([found, "-c", "import venv"], capture_output=True).returncode
        ):
            return found
    return None


def _pip(venv: Path, *what: str) -> None:
    index = os.environ.get("TORCH_INDEX")
    more = ["--extra-index-url", index] if index else []
    command = [venv / "bin/python", "-m", "pip", "install", "-q", "--prefer-binary", *more, *what]
    subprocess.run(command, check=True, capture_output=True, text=True)


def _python(venv: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [venv / "bin/python", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
    )


if __name__ == "__main__":
    sys.exit(main())
