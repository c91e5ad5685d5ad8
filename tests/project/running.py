"""Runs of the project's workflows and scripts, and what one reads of their results."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from subprocess import PIPE, STDOUT
from subprocess import run as run_process
from types import ModuleType
from typing import Any

import safetensors.torch
import srsly
import torch
from spacy.tokens import Doc, DocBin

from spacy_lal.formats.treebank_sentence import language_vocab

ROOT = Path(__file__).parents[2]
FEW_STEPS = " --training.max_steps 2 --training.eval_frequency 2"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "COLUMNS": "200"}
ATTACHMENT = {"dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las"}


def run(project: Path, command: str) -> str:
    """Run what a command of project.yml does, in a process of its own, also within `run_here`.
    Returns what it prints."""
    commands = srsly.read_yaml(project / "project.yml")["commands"]
    ((script,),) = (each["script"] for each in commands if each["name"] == command)
    python, *arguments = shlex.split(script)
    assert python == "python"
    result = run_process(
        [sys.executable, *arguments],
        cwd=project,
        env=os.environ | ONE_THREAD,
        stdout=PIPE,
        stderr=STDOUT,
        encoding="utf8",
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def scores_of(path: Path) -> dict[str, Any]:
    """What `lal evaluate --json` wrote of its first corpus."""
    scores: dict[str, Any] = srsly.read_json(path)["results"][0]
    return scores


def read_docs(path: Path, lang: str = "en") -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(language_vocab(lang)))


def load_benchmark(name: str) -> ModuleType:
    """A benchmark as a module, with the others within its reach."""
    spec = spec_from_file_location(name, ROOT / f"benchmarks/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # typer reads annotations through it
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    return module


def weight_types(folder: Path) -> set[torch.dtype]:
    """Of all weights in a pipeline's folder or in a package."""
    paths = list(folder.rglob("model.safetensors"))
    assert paths
    return {t.dtype for path in paths for t in safetensors.torch.load_file(path).values()}
