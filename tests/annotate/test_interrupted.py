"""Ctrl-C at each step that makes something last: the next run goes on to the same files."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from spacy_lal.annotate import run as runs
from spacy_lal.annotate.run import Workers, annotate_texts
from spacy_lal.annotate.shards import AnnotateSettings
from spacy_lal.annotate.texts import Texts

SETTINGS = AnnotateSettings(shard_chars=30, batch_tokens=20, max_chars=50)


def test_interrupted_anywhere(
    nlp: Language,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    # where tests run in the background, it may be switched off
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    monkeypatch.setattr(runs, "load", lambda *_: nlp)
    text = tmp_path / "text.txt"
    text.write_bytes(b"The cat sat on the mat.\nShe ate \xff\nGive the dog up!\nHello.\n")

    def go(output: Path) -> None:
        list(annotate_texts("toy", Texts(str(text)), output, SETTINGS, Workers()))

    def files(output: Path) -> dict[str, bytes]:
        found = (path for path in output.rglob("*") if path.is_file())
        return {str(path.relative_to(output)): path.read_bytes() for path in found}

    go(tmp_path / "whole")
    expected = files(tmp_path / "whole")
    step, met = 1, True
    while met:
        output, met, steps = tmp_path / f"step-{step}", False, 0

        def counted(function: Callable[..., Any], step: int = step) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                nonlocal steps
                steps += 1
                if steps == step:
                    signal.raise_signal(signal.SIGINT)
                return function(*arguments)

            return call

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", counted(os.replace))
            patch.setattr(os, "fsync", counted(os.fsync))
            try:
                go(output)
            except KeyboardInterrupt:
                met = True
        for name, data in files(output).items():
            if name.startswith(("part-", "failed")):
                assert data == expected[name]
        go(output)
        assert files(output) == expected
        step += 1
    assert step > 2 * 3
