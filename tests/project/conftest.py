"""A copy of the project, and a way to run its workflows."""

from __future__ import annotations

import copy
import functools
import json
import logging
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import srsly
from weasel.cli.run import project_run
from weasel.util import parse_config_overrides as weasel_overrides

from tests.in_process import python

from .running import ROOT


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a project run needs."""
    path = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", path)
    for folder in ("projects", "configs", "scripts", "benchmarks", "tests/textbook"):
        # without what was converted and trained here
        made = shutil.ignore_patterns("corpus", "training", "metrics")
        shutil.copytree(ROOT / folder, path / folder, ignore=made)
    for folder in ("assets/toy", "assets/vectors"):
        shutil.copytree(ROOT / folder, path / folder)
    # what is said of them, not the pipelines
    for file in filter(Path.is_file, ROOT.glob("packages/*/*.*")):
        (path / file.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, path / file.relative_to(ROOT))
    return path


# A project's files are read three times for every command, by a parser in Python that takes longer
# than many of the commands. JSON is YAML, too, so the file of what was run is written so.
parsed_yaml = functools.cache(srsly.yaml_loads)


def read_yaml(path: Path | str) -> Any:
    text = Path(path).read_text("utf8")
    return json.loads(text) if text.startswith("{") else copy.deepcopy(parsed_yaml(text))


def write_yaml(path: Path | str, data: Any, **_: Any) -> None:
    Path(path).write_text(json.dumps(data), "utf8")


@pytest.fixture
def run_here(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., str]:
    """`run` without new processes, which take longer than what they do.

    folder: of the project, seen from the top. Returns what is printed, then what spaCy logs.
    """

    def run_command(command: list[str], **options: Any) -> None:
        assert python(command[1:]) == 0, command

    def run(workflow: str, folder: str = ".", **variables: str) -> str:
        caplog.clear()
        capsys.readouterr()
        options = [part for name, value in variables.items() for part in (f"--vars.{name}", value)]
        project_run(project / folder, workflow, overrides=weasel_overrides(options))
        return capsys.readouterr().out + caplog.text

    monkeypatch.setattr("srsly.read_yaml", read_yaml)
    monkeypatch.setattr("srsly.write_yaml", write_yaml)
    monkeypatch.setattr("weasel.cli.run.run_command", run_command)
    monkeypatch.setattr("subprocess.run", run_command)  # of scripts that start others
    for folder in ("benchmarks", "scripts"):
        monkeypatch.syspath_prepend(ROOT / folder)
    caplog.set_level(logging.INFO, "spacy")
    return run
