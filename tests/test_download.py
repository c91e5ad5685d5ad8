"""`lal download` installs a wheel only if it is the listed one."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import sys
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_lal.cli import download as module_of_command
from tests.in_process import python

module: Any = sys.modules[module_of_command.__module__]
ROOT = Path(__file__).parents[1]
WHEEL = "xx_toy-1.2-py3-none-any.whl"
CONTENT = b"as published"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What pip was given to install, while xx_toy is the only listed pipeline."""
    sha256 = hashlib.sha256(CONTENT).hexdigest()
    listed = tmp_path / "wheels.toml"
    listed.write_text(f'[xx_toy]\nversion = "1.2"\nbytes = {len(CONTENT)}\nsha256 = "{sha256}"\n')
    given: list[bytes] = []

    def run(command: list[str]) -> Any:
        given.append(Path(command[-1]).read_bytes())
        return type("Done", (), {"returncode": 0})

    monkeypatch.setattr(module, "WHEELS", listed)
    monkeypatch.setattr(module.subprocess, "run", run)
    return given


def download(source: object, name: str = "xx_toy") -> int:
    return python(["-m", "spacy", "lal", "download", name, "--from", str(source)])


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None: ...


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A folder's address on a server of this machine."""
    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_from_a_folder_and_an_address(tmp_path: Path, installed: list[bytes], address: str) -> None:
    (tmp_path / WHEEL).write_bytes(CONTENT)
    assert download(tmp_path) == 0
    assert download(f"{address}/") == 0
    assert installed == [CONTENT, CONTENT]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"as publishet", "has SHA-256 "),
        (b"as pub", "has 6 bytes, the published wheel 12"),
        (CONTENT * 1000, "has more than the 12 bytes of the published wheel"),
    ],
)
def test_another_file(
    content: bytes, said: str, tmp_path: Path, installed: list[bytes], address: str, capsys: Any
) -> None:
    (tmp_path / WHEEL).write_bytes(content)
    for source in (tmp_path, address):
        assert download(source) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"download: {source}/{WHEEL} {said}")
        assert error.endswith("; nothing was installed\n")
    assert not installed


def test_what_is_not_there(
    tmp_path: Path, installed: list[bytes], address: str, capsys: Any
) -> None:
    assert download(tmp_path, "xx_other") == 1
    assert capsys.readouterr().err == "download: no pipeline xx_other; there are xx_toy\n"
    for source in (tmp_path, address):
        assert download(source) == 1
        assert f"download: can't read {source}/{WHEEL}: " in capsys.readouterr().err
    assert not installed


def test_the_list_has_the_packages_here() -> None:
    """If this fails, run `make release`."""
    listed = tomllib.loads((ROOT / "spacy_lal/cli/wheels.toml").read_text("utf8"))
    packages = {
        path.parent.name: json.loads(path.read_text("utf8"))["version"]
        for path in ROOT.glob("packages/*/meta.json")
    }
    assert {name: wheel["version"] for name, wheel in listed.items()} == packages
