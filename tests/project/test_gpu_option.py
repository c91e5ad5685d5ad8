"""Every command that runs a pipeline can run it on a GPU."""

from __future__ import annotations

import pytest
import typer.main
from thinc.compat import has_cupy_gpu
from typer.testing import CliRunner

from spacy_lal.cli import app

RUNNING = {
    "annotate": "MODEL IN OUT --input-format txt",
    "attention": "MODEL DATA",
    "correct": "MODEL IN",
    "evaluate": "MODEL DATA",
    "find-threshold": "MODEL OUT DATA",
    "serve": "MODEL",
    "silver": "MODEL IN OUT --trees 0",
}
NOT_RUNNING = {
    *("convert", "corrupt", "download", "edit", "import", "import-encoder", "inspect"),
    *("package", "score", "search"),
}


def test_all_commands_are_known() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    assert set(commands) == {*RUNNING, *NOT_RUNNING, "train"}
    for name in (*RUNNING, "train"):
        assert any("--gpu-id" in of.opts for of in commands[name].params), name


@pytest.mark.skipif(has_cupy_gpu, reason="for machines without a GPU")
@pytest.mark.parametrize("name", RUNNING)
def test_a_gpu_that_is_not_there(name: str, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "IN").write_text("She ate .\n", "utf8")
    (tmp_path / "DATA").touch()
    pytest.importorskip("uvicorn") if name == "serve" else None
    given = [name, *RUNNING[name].split(), "--gpu-id", "0", *(["--port", "0"] * (name == "serve"))]
    done = CliRunner().invoke(app, given)
    assert done.exit_code == 1
    assert "GPU" in done.output
    assert len(done.output.splitlines()) == 1
