"""Trainings that are killed, each in a process of its own; test_resume.py goes on with them.

    python -m tests.training.killed_runs FOLDER MEMORY_CONFIG STREAM_CONFIG

To start takes longer than these trainings, so it is done once, and every training is a fork. They
kill themselves with SIGKILL, which nothing can catch. The process that goes on with them has
another seed of Python's hashes, and other numbers of Thinc's layers.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
import typer.main
from spacy.training.initialize import init_nlp
from spacy.util import load_config

from spacy_lal.cli import app
from spacy_lal.training import loop


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def at_call(number: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which at its call of this number, from 1, kills the process instead."""
    calls = 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            kill()
        return function(*args, **kwargs)

    return counted


def in_an_update() -> None:
    """Between two checkpoints."""
    loop._update = at_call(8, loop._update)


def in_the_first_update() -> None:
    loop._update = at_call(1, loop._update)


def half_written() -> None:
    """Half of a checkpoint's bytes are on the disk."""
    save, calls = safetensors.torch.save_file, []

    def half(tensors: dict[str, torch.Tensor], path: Path, metadata: dict[str, str]) -> None:
        calls.append(path)
        save(tensors, path, metadata)
        if len(calls) == 3:
            os.truncate(path, path.stat().st_size // 2)
            kill()

    safetensors.torch.save_file = half


def between_pipelines() -> None:
    """model-best has lost its name, and the new one has not got it: the first after step 4."""
    Path.rename = at_call(5, Path.rename)  # type: ignore[method-assign]


KILLS = {
    "update": in_an_update,
    "first": in_the_first_update,
    "half": half_written,
    "pipelines": between_pipelines,
}


def without_transformers() -> None:
    """spaCy loads all that is registered; of what is not used here, that takes longest."""
    load = EntryPoint.load

    def load_ours(entry_point: EntryPoint) -> Any:
        unused = entry_point.value.startswith("spacy_transformers")
        return None if unused else load(entry_point)

    EntryPoint.load = load_ours  # type: ignore[method-assign]


def main(folder: Path, memory: str, stream: str) -> None:
    without_transformers()
    command = typer.main.get_command(app)
    for config in (memory, stream):
        # what is slow the first time
        init_nlp(load_config(config))
    torch.autograd.backward(torch.zeros((), requires_grad=True), torch.ones(()))
    trainings = [(f"memory-{name}", memory, name) for name in KILLS]
    trainings.append(("stream-update", stream, "update"))
    for output, config, name in trainings:
        if (child := os.fork()) == 0:
            KILLS[name]()
            every = ["--checkpoint-steps", "3"] if config == stream else []
            command.main(["train", config, "--output", str(folder / output), *every])
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), output
        assert os.WTERMSIG(status) == signal.SIGKILL, output


if __name__ == "__main__":
    torch.set_num_threads(1)
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
