"""Description of a training: its config, its files, and its initial pipeline."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b, file_digest
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language
from spacy.util import dict_to_dot
from thinc.api import Config, Model
from thinc.model import serialize_attr

from .parameters import models_of, read_weights

MAY_CHANGE = ("training.max_steps", "training.patience", "training.logger")
"""Settings that decide when training stops and what it prints, not its results."""

MISSING = "not there"
"""Value of missing settings."""

Described = dict[str, Any]


def describe_run(config: Config, files: Iterable[Path], output: Path) -> Described:
    """Describe the config and files of a training, before the pipeline is made.
    config: the interpolated config. files: further input. output: a folder that isn't read. Files
        and folders named in [corpora] and [initialize] are described by their contents."""
    named = [Path(value) for value in _strings([config.get("corpora"), config.get("initialize")])]
    contents = {
        str(path): _digest_file(path)
        for start in (*named, *files)
        for path in _files(start)
        if output.resolve() not in path.resolve().parents
    }
    packages = ("spacy", "thinc", "torch", "numpy", "spacy-lal")
    return {
        "config": json.loads(json.dumps(dict_to_dot(config))),
        "files": contents,
        "versions": {name: version(name) for name in packages},
    }


def describe_pipeline(nlp: Language, frozen: Collection[str]) -> dict[str, str]:
    """Return a digest of each component before the first update; with weights if it is `frozen`."""
    return {
        name: _digest_component(nlp, name, model, name in frozen)
        for name, model in models_of(nlp).items()
    }


def differences(here: Described, there: Described) -> list[str]:
    """Return the fixed settings and the files that differ in two results of `describe_run`."""
    found = []
    for key, now, before in _unequal(here["config"], there["config"]):
        if not any(key == name or key.startswith(f"{name}.") for name in MAY_CHANGE):
            found.append(f"{key} is {now}, and was {before}")
    for path, now, before in _unequal(here["files"], there["files"]):
        what = "is" if now == MISSING else "was" if before == MISSING else None
        found.append(f"{path} {what} {MISSING}" if what else f"{path} has changed")
    return found


def other_versions(here: Described, there: Described) -> list[str]:
    """Return the packages whose versions have changed."""
    return [
        f"{name} is {now}, and was {before}"
        for name, now, before in _unequal(here["versions"], there["versions"])
    ]


def _unequal(here: dict[str, Any], there: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for key in sorted(here.keys() | there.keys()):
        now, before = here.get(key, MISSING), there.get(key, MISSING)
        if now != before:
            yield key, now, before


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        # an empty value is no folder, though Path("") is one
        yield from [value] if value else []
    elif isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _files(path: Path) -> Iterator[Path]:
    try:
        if path.is_dir():
            yield from sorted(inner for inner in path.rglob("*") if inner.is_file())
        elif path.is_file():
            yield path
    except OSError:  # too long for a name
        return


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, lambda: blake2b(digest_size=16)).hexdigest()


def _digest_component(nlp: Language, name: str, model: Model, frozen: bool) -> str:
    digest = blake2b(digest_size=16)
    pipe = nlp.get_pipe(name)
    for part in (getattr(pipe, "labels", ()), getattr(pipe, "cfg", None)):
        digest.update(json.dumps(part, default=lambda _: "no setting").encode())
    for node in model.walk():
        digest.update(node.name.encode())
        for attribute, value in sorted(node.attrs.items()):
            try:
                digest.update(attribute.encode() + serialize_attr(value, value, attribute, node))
            except TypeError:  # is not stored with the model either
                continue
        for shim in node.shims:
            digest.update(repr(getattr(shim, "header", None)).encode())
    others = [other for other in nlp.pipe_names if other != name]
    for place, tensor in read_weights(nlp, others)[0].items():
        digest.update(f"{place} {tuple(tensor.shape)}".encode())
        if frozen:
            values = tensor.cpu().contiguous().reshape(-1).view(torch.uint8)
            digest.update(values.numpy().data)
    return digest.hexdigest()
