"""Settings of an output folder, and its complete shards."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

from ..formats.whole_files import remove_unfinished, whole_file

SETTINGS = "annotate.json"
"""Name of the file of settings in the output folder."""
SHARDS = "shards.jsonl"
"""Name of the file with a line for every complete shard in the output folder."""

Counts = dict[str, Any]
"""Numbers of a shard: "shard" (its own), "digest" (of its texts), "texts", "words", "failed"."""


def check_same(folder: Path, name: str, settings: Mapping[str, Any]) -> None:
    """Write `settings` to this file of the folder, or compare them with the file. Raises
    ValueError, naming the setting, if a value differs, or if the file holds no settings;
    FileExistsError if the folder has other files under the names of output files."""
    path = folder / name
    plain = json.loads(json.dumps(settings))
    if not path.exists():
        if others := sorted(folder.glob("part-*")):
            raise FileExistsError(
                f"{others[0]} is there, but no {name}: take a folder without files named part-…"
            )
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as unfinished:
            srsly.write_json(unfinished, plain)
        return
    try:
        before = srsly.read_json(path)
    except ValueError as error:
        raise ValueError(f"{path} can't be read as JSON: {error}") from error
    if not isinstance(before, dict):
        raise ValueError(
            f"{path} should hold the settings of a run, a JSON object, and holds something else"
        )
    for setting in sorted({*plain, *before}, key=[*plain, *before].index):
        there, here = before.get(setting), plain.get(setting)
        if there != here:
            raise ValueError(
                f"{folder} was made with {setting} {_short(there)}, not {_short(here)}"
            )


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"


def describe(nlp: Language) -> str:
    """Return a pipeline's name and version, and a digest of its files."""
    meta = nlp.meta
    digest = blake2b(digest_size=8)
    folder = nlp.path
    for path in sorted(folder.rglob("*")) if folder is not None else ():
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return f"{meta['lang']}_{meta['name']} {meta['version']} {digest.hexdigest()}"


class Manifest:
    """Log of the complete shards, one line per shard, in order of completion."""

    def __init__(self, folder: Path) -> None:
        """Read the log. Raises ValueError, naming the file and the line, if it is malformed."""
        self._path = folder / SHARDS
        self.shards: dict[int, Counts] = {}
        if self._path.exists():
            self._read()
        remove_unfinished(folder)
        remove_unfinished(folder / FAILED)

    def _read(self) -> None:
        text = self._path.read_bytes()
        whole = text.rfind(b"\n") + 1  # the last line may be cut off
        for number, line in enumerate(text[:whole].splitlines(), start=1):
            try:
                counts = json.loads(line)
                self.shards[counts["shard"]] = counts
            except (ValueError, TypeError, KeyError):
                raise ValueError(
                    f"{self._path}, line {number}: expected the counts of one output file, a JSON "
                    "object"
                ) from None
        if whole < len(text):
            os.truncate(self._path, whole)

    def add(self, counts: Counts) -> None:
        """Add a shard whose files are complete."""
        self.shards[counts["shard"]] = counts
        with self._path.open("a", encoding="utf8") as file:
            file.write(json.dumps(counts) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Sort the lines by shard."""
        with whole_file(self._path) as unfinished:
            lines = (json.dumps(self.shards[number]) + "\n" for number in sorted(self.shards))
            unfinished.write_text("".join(lines), encoding="utf8")


FAILED = "failed"
"""Name of the folder of failed texts, as JSON lines with their errors."""
