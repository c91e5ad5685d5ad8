"""Description of a training: its config, its files, and its initial pipeline."""

from __future__ import annotations

import json
import os.path
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import dict_to_dot
from thinc.api import Config

from .checkpoint import models_of

MAY_CHANGE = ("training.max_steps", "training.patience", "training.logger")
"""Settings that decide when training stops and what it prints, not its results."""

MISSING = "not there"
"""Value of missing settings."""


def describe_run(config: Config, files: Iterable[Path], output: Path) -> dict[str, Any]:
    """Describe the config and files of a training, before the pipeline is made.
    config: the interpolated config. files: further input. output: a folder that isn't read. Files
        and folders named in [corpora] and [initialize] are described by their contents."""
    settings = dict_to_dot(config)
    named = [
        Path(text)
        for key, value in settings.items()
        if key.startswith(("corpora.", "initialize."))
        for text in (value if isinstance(value, list) else [value])
        # no text is no folder, though Path("") is one
        if isinstance(text, str) and text
    ]
    contents = {
        str(path): _digest_file(path)
        for start in (*named, *files)
        for path in _files(start)
        if output.resolve() not in path.resolve().parents
    }
    return {
        "config": json.loads(json.dumps(settings)),
        "files": contents,
        "versions": {
            name: version(name) for name in ("spacy", "thinc", "torch", "numpy", "spacy-lal")
        },
    }


def describe_pipeline(nlp: Language, frozen: Collection[str]) -> dict[str, str]:
    """Return a digest of each component before the first update; with weights if it is `frozen`."""
    digests = {}
    for name, model in models_of(nlp).items():
        exclude = ["vocab"] if name in frozen else ["vocab", "model"]
        headers = [getattr(shim, "header", None) for node in model.walk() for shim in node.shims]
        component: bytes = nlp.get_pipe(name).to_bytes(exclude=exclude)  # type: ignore[attr-defined]
        digests[name] = blake2b(component + repr(headers).encode(), digest_size=16).hexdigest()
    return digests


def differences(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """Return the fixed settings and the files that differ in two results of `describe_run`."""
    found = []
    for key, now, before in unequal(here["config"], there["config"]):
        if not any(key == name or key.startswith(f"{name}.") for name in MAY_CHANGE):
            found.append(f"{key} is {now}, and was {before}")
    for path, now, before in unequal(here["files"], there["files"]):
        what = "is" if now == MISSING else "was" if before == MISSING else None
        found.append(f"{path} {what} {MISSING}" if what else f"{path} has changed")
    return found


def unequal(here: dict[str, Any], there: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield the keys whose values differ, with both values."""
    for key in sorted(here.keys() | there.keys()):
        now, before = here.get(key, MISSING), there.get(key, MISSING)
        if now != before:
            yield key, now, before


def _files(start: Path) -> list[Path]:
    # unlike Path's methods, these take any text
    inside = sorted(start.rglob("*")) if os.path.isdir(start) else [start]
    return [path for path in inside if os.path.isfile(path)]


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()
