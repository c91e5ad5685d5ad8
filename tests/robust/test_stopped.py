"""Conversions that are stopped anywhere: what is under a name is whole, and made again."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.cli import app
from spacy_lal.formats import treebank_sentence

TREES = "(TOP (S (NP (PRP She)) (VP (VBD ate) (NP (NN fish))) (. .)))\n" * 3


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    for section in ("02", "22", "23"):
        (tmp_path / "wsj" / section).mkdir(parents=True)
        (tmp_path / "wsj" / section / "a.mrg").write_text(TREES)
    out = tmp_path / "out"
    return ["convert", "ptb", str(tmp_path / "wsj"), str(out), "--report", str(out / "report.json")]


def stopping(step: int, number: int, call: Callable[[], Any]) -> Any:
    """Send this process a signal when it has made so many steps that make something last."""
    steps = 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def count(*arguments: Any, **more: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == step:
                os.kill(os.getpid(), number)
            return function(*arguments, **more)

        return count

    patch = pytest.MonkeyPatch()
    for module, name in (
        (os, "replace"),
        (os, "fsync"),
        (treebank_sentence, "to_doc"),
        (DocBin, "to_disk"),
    ):
        patch.setattr(module, name, counted(getattr(module, name)))
    try:
        return call()
    finally:
        patch.undo()


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def whole(folder: Path, expected: dict[str, bytes]) -> None:
    for name, data in files(folder).items():
        if not name.startswith("."):
            assert data == expected[name], name
            if name.endswith(".spacy"):
                assert len(list(DocBin().from_bytes(data).get_docs(Vocab()))) == 3


def run(arguments: list[str]) -> Any:
    return CliRunner().invoke(app, arguments)


def test_stopped_anywhere(
    arguments: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = tmp_path / "out"
    assert run(arguments).exit_code == 0
    expected = files(out)
    assert sorted(expected) == ["dev.spacy", "report.json", "test.spacy", "train.spacy"]
    context = multiprocessing.get_context("fork")

    def emptied() -> None:
        for path in out.iterdir():
            path.unlink()

    step, met = 1, True
    while met:  # kill -9
        emptied()
        worker = context.Process(
            target=stopping, args=(step, signal.SIGKILL, lambda: run(arguments))
        )
        worker.start()
        worker.join()
        met = worker.exitcode == -signal.SIGKILL
        whole(out, expected)
        step += 1
    assert step > 4 * 3
    # and the files that are left do no harm
    assert run(arguments).exit_code == 0
    whole(out, expected)
    assert {name for name in files(out) if not name.startswith(".")} == set(expected)

    # where tests run in the background, it may be switched off
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    step, met = 1, True
    while met:  # Ctrl-C
        emptied()
        result = stopping(step, signal.SIGINT, lambda: run(arguments))
        met = result.exit_code != 0
        if met:
            assert isinstance(result.exception, SystemExit)
            assert result.exit_code in (1, 130)  # by version of typer
            assert result.stderr.strip() in ("", "Aborted!", "Aborted.")
        whole(out, expected)
        assert not any(name.startswith(".") for name in files(out))
        step += 1
    assert step > 4 * 3
