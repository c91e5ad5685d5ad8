"""What the makefile, the pinned versions and project.yml promise."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import srsly
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from .running import ROOT


def test_project_names_files_that_exist() -> None:
    for path in (ROOT / "project.yml", *ROOT.glob("projects/*/project.yml")):
        config = srsly.read_yaml(path)
        scripts = " ".join(line for command in config["commands"] for line in command["script"])
        named = set(
            re.findall(
                r"(?:\.\./)*(?:scripts|benchmarks|configs|converters|assets/toy|assets/vectors)/[\w./]+|(?<![\w/])\w+\.py\b",
                scripts + str(config["vars"]),
            )
        )
        assert named
        assert [name for name in sorted(named) if not (path.parent / name).exists()] == []


def clean_environment() -> dict[str, str]:
    """Variables of this process without those of a make around it."""
    of_make = ("TEXT", "DEMO_TEXT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    return {name: value for name, value in os.environ.items() if name not in of_make}


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    "text",
    [
        'It\'s "odd" `date` $HOME ${HOME} $(date) $(shell date) $$ \\',
        "--model x",
        "-n",
        "",
        "naïve 😀 #1 100% a=b:=c",
        "two\nlines",
        None,
    ],
)
def test_make_demo_passes_text_on_as_it_is(text: str | None, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "meta.json").touch()
    later = (tmp_path / "meta.json").stat().st_mtime + 60
    for stamp in ("bin/pip", ".torch", ".package", ".en_lal_sm"):
        (tmp_path / "venv" / stamp).touch()
        os.utime(tmp_path / "venv" / stamp, (later, later))
    command = ["make", "demo", f"VENV={tmp_path / 'venv'}", f"PIPELINE={tmp_path}"]
    result = subprocess.run(
        command if text is None else [*command, f"TEXT={text}"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        encoding="utf8",
        check=True,
    )
    arguments = result.stdout.split("\0")[:-1]
    assert arguments == ["scripts/demo.py", *([] if text is None else ["--", text])]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("broken", [None, "torch==", "-e", "en_lal_sm"])
def test_make_stops_at_the_step_that_fails_and_shows_why(
    broken: str | None, tmp_path: Path
) -> None:
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/pip").touch()
    python = venv / "bin/python"
    refuse = f'case "$*" in *{broken}*) echo "no such wheel" >&2; exit 3;; esac\n' if broken else ""
    python.write_text(f'#!/bin/sh\n{refuse}echo "ran $*"\n')
    python.chmod(0o755)
    result = subprocess.run(
        ["make", "demo", f"VENV={venv}"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        encoding="utf8",
    )
    steps = {".torch": "torch==", ".package": "-e", ".en_lal_sm": "en_lal_sm"}
    reached = list(steps.values()).index(broken) if broken else len(steps)
    assert [name for name in steps if (venv / name).exists()] == list(steps)[:reached]
    assert (result.returncode == 0) == (broken is None)
    assert ("no such wheel" in result.stderr) == (broken is not None)
    assert ("scripts/demo.py" in result.stdout) == (broken is None)


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_test_installs_every_pipeline_of_the_repository(tmp_path: Path) -> None:
    """Whatever its language."""
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin/pip").touch()
    python = venv / "bin/python"
    python.write_text('#!/bin/sh\necho "ran $*"\n')
    python.chmod(0o755)
    result = subprocess.run(
        ["make", "test", f"VENV={venv}"],
        cwd=ROOT,
        env=clean_environment(),
        capture_output=True,
        encoding="utf8",
        check=True,
    )
    names = {path.parent.name for path in (ROOT / "packages").glob("*/meta.json")}
    assert {"en_lal_sm", "it_lal_ged_sm"} <= names
    (installed,) = re.findall(r"ran .*pip install .*?((?: \./packages/\w+)+)$", result.stdout, re.M)
    assert set(re.findall(r"\w+$", installed.replace(" ", "\n"), re.M)) == names
    assert all((venv / f".{name}").exists() for name in names)


def test_constraints_pin_every_dependency_within_its_range() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    pinned = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pinned[canonicalize_name(name)] = version
    with (ROOT / "pyproject.toml").open("rb") as file:
        package = tomllib.load(file)["project"]
    extras = package["optional-dependencies"]
    of_dev = ("encoders", "transformers", "demo", "dev")
    for text in [*package["dependencies"], *(text for extra in of_dev for text in extras[extra])]:
        requirement = Requirement(text)
        if requirement.name == package["name"]:  # of other extras
            assert requirement.extras == {*of_dev[:-1]}
            continue
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text


def test_the_wheel_has_every_data_file_of_the_package() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        patterns = tomllib.load(file)["tool"]["setuptools"]["package-data"]["spacy_lal"]
    package = ROOT / "spacy_lal"
    named = {path for pattern in patterns for path in package.glob(pattern)}
    data = {p for p in package.rglob("*") if p.is_file() and p.suffix not in (".py", ".pyc")}
    assert data == named


def test_the_citation_names_this_version_and_five_papers() -> None:
    citation = srsly.yaml_loads((ROOT / "CITATION.cff").read_text("utf8"))
    with (ROOT / "pyproject.toml").open("rb") as file:
        package = tomllib.load(file)["project"]
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] == package["name"]
    assert citation["version"] == package["version"]
    assert citation["license"] == package["license"]
    assert [paper["authors"][0]["family-names"] for paper in citation["references"]] == [
        *("Mrini", "Vu-Tran", "Floquet", "Strubell", "Kaneko")
    ]


def test_ci_runs_what_the_package_supports() -> None:
    workflow = srsly.yaml_loads((ROOT / ".github/workflows/ci.yml").read_text("utf8"))
    job = workflow["jobs"]["test"]
    with (ROOT / "pyproject.toml").open("rb") as file:
        classifiers = tomllib.load(file)["project"]["classifiers"]
    supported = re.findall(r"Python :: (3\.\d+)", " ".join(classifiers))
    assert job["strategy"]["matrix"]["python"] == supported
    assert job["steps"][-1] == {"run": ".ci/run"}


def test_changelog_has_every_version_in_the_repository() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text("utf8")
    with (ROOT / "pyproject.toml").open("rb") as file:
        assert f"### {tomllib.load(file)['project']['version']} " in changelog
    for path in (ROOT / "packages").glob("*/meta.json"):
        assert f"`{path.parent.name}` {srsly.read_json(path)['version']}" in changelog


def test_a_cell_that_was_killed_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends so says nothing."""
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import matrix

    def killed(command, **_):
        code = -11 if matrix.SMOKE in command else 0
        return subprocess.CompletedProcess(command, code, stdout="", stderr="")

    monkeypatch.setattr(matrix.subprocess, "run", killed)
    monkeypatch.setattr(matrix, "_interpreter", lambda version: "python")
    options = argparse.Namespace(torch="torch", tests="")
    cell = matrix.Cell("3.11", tests=False)
    result = matrix.run(cell, tmp_path / "cell", tmp_path / "a.whl", tmp_path / "a.tar.gz", options)
    assert result == ("", "failed at first use: nothing")
