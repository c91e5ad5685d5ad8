"""`download`: a pipeline's wheel from a place that the user names, checked, then installed."""

import hashlib
import http.client
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from wasabi import msg

from .checks import clear_errors

WHEELS = Path(__file__).with_name("wheels.toml")
"""Version, size in bytes and SHA-256 of each pipeline's wheel; `make release` writes it."""
PAGES = ("https://", "http://")
"""How an address begins; any other place is a folder."""
SECONDS = 60.0
"""How long a server may be silent."""


def download(
    name: Annotated[str, typer.Argument(help="A pipeline, such as en_lal_md.")],
    source: Annotated[
        str, typer.Option("--from", help="A folder with its wheel, or a folder's address.")
    ],
) -> None:
    """Install a pipeline's wheel from a folder or an address, if it is the published one.

    The wheel must have the size and the SHA-256 of the list that the library brings; otherwise
    nothing is installed. pip may fetch what the pipeline requires.
    """
    with clear_errors("download"), tempfile.TemporaryDirectory() as scratch:
        wheels = tomllib.loads(WHEELS.read_text("utf8"))
        if name not in wheels:
            raise ValueError(f"no pipeline {name}; there are {', '.join(sorted(wheels))}")
        wheel = Path(scratch) / f"{name}-{wheels[name]['version']}-py3-none-any.whl"
        fetch(wheel, source, wheels[name])
        command = [sys.executable, "-m", "pip", "install", "-q", str(wheel)]
        if subprocess.run(command).returncode:
            raise OSError(f"pip did not install {wheel.name}")
    msg.good(f'{name} {wheels[name]["version"]} is installed: spacy.load("{name}")')


def fetch(target: Path, source: str, listed: Mapping[str, Any]) -> None:
    """Write the file of target's name that is in the folder or at the address `source` to target.

    Raises OSError if it can't be read, and ValueError if it isn't the listed file.
    """
    size = listed["bytes"]
    try:
        if source.startswith(PAGES):
            address = f"{source.rstrip('/')}/{target.name}"
            with urllib.request.urlopen(address, timeout=SECONDS) as stream:
                content = stream.read(size + 1)  # a server's answer may have no end
        else:
            address = str(Path(source) / target.name)
            with open(address, "rb") as stream:
                content = stream.read(size + 1)
    except (OSError, http.client.HTTPException) as error:
        raise OSError(f"can't read {address}: {error}") from None
    found, said = hashlib.sha256(content).hexdigest(), ""
    if len(content) > size:
        said = f"has more than the {size:,} bytes of the published wheel"
    elif len(content) < size:
        said = f"has {len(content):,} bytes, the published wheel {size:,}"
    elif found != listed["sha256"]:
        said = f"has SHA-256 {found}, the published wheel {listed['sha256']}"
    if said:
        raise ValueError(f"{address} {said}; nothing was installed")
    target.write_bytes(content)
