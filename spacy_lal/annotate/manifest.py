"""Settings of an output folder, and its complete shards."""

import json
import os
from collections.abc import Mapping
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

from ..formats.files import remove_unfinished, write_whole

SETTINGS = "annotate.json"
"""Name of the file of settings in the output folder."""

Counts = dict[str, Any]
"""Numbers of a shard: "shard" (its own), "digest" (of its texts), "texts", "words", "failed"."""
FAILED = "failed"
"""Name of the folder of failed texts, as JSON lines with their errors."""


def check_same(folder: Path, name: str, settings: Mapping[str, Any]) -> None:
    """Write `settings` to this file of the folder, or compare them with the file. Raises
    ValueError, naming the setting, if a value differs, or if the file holds no settings;
    FileExistsError if the folder has other files under the names of output files."""
    path = folder / name
    plain = json.loads(json.dumps(settings))
    before = settings_of(folder, name)
    if before is None:
        if others := sorted(folder.glob("part-*")):
            raise FileExistsError(f"{others[0]} is there, but no {name}: take another folder")
        write_whole(path, srsly.json_dumps(plain, indent=2))
        return
    for setting in plain | before:
        there, here = before.get(setting), plain.get(setting)
        if there != here:
            said, wanted = str(there)[:200], str(here)[:200]
            raise ValueError(f"{folder} was made with {setting} {said}, not {wanted}")


def settings_of(folder: Path, name: str = SETTINGS) -> dict[str, Any] | None:
    """Return the settings in this file of the folder, None without the file. Raises ValueError if
    the file holds no settings."""
    path = folder / name
    if not path.exists():
        return None
    try:
        return dict(srsly.read_json(path))
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} should hold the settings of a run in JSON: {error}") from error


def describe(nlp: Language) -> str:
    """Return a pipeline's name and version, and a digest of its files."""
    meta = nlp.meta
    digest = blake2b(digest_size=8)
    folder = nlp.path
    for path in sorted(folder.rglob("*")) if folder is not None else ():
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
            with path.open("rb") as file:
                file_digest(file, lambda: digest)
    return f"{meta['lang']}_{meta['name']} {meta['version']} {digest.hexdigest()}"


class Manifest:
    """Log of the complete shards, one line per shard, in order of completion."""

    def __init__(self, folder: Path) -> None:
        """Read the log, without lines that were cut off; their shards are made again."""
        self._path = folder / "shards.jsonl"
        self.shards: dict[int, Counts] = {}
        if self._path.exists():
            lines = srsly.read_jsonl(self._path, skip=True)
            self.shards = {counts["shard"]: counts for counts in lines if "shard" in counts}
            self.finish()
        remove_unfinished(folder)
        remove_unfinished(folder / FAILED)

    def add(self, counts: Counts) -> None:
        """Add a shard whose files are complete."""
        self.shards[counts["shard"]] = counts
        with self._path.open("a", encoding="utf8") as file:
            file.write(json.dumps(counts) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Write the lines anew, sorted by shard."""
        lines = (json.dumps(self.shards[number]) + "\n" for number in sorted(self.shards))
        write_whole(self._path, "".join(lines))
