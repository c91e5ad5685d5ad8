"""A pipeline made from a file that others have published, and how it is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from spacy.language import Language


@dataclass(frozen=True)
class Imported:
    """What an importer hands over.

    kind: the format's name, as the command has it. weights: the file that was read, whose SHA-256
    goes into meta.json. scores: what the file says of its own scores, if anything.
    """

    nlp: Language
    kind: str
    weights: Path
    scores: dict[str, float] = field(default_factory=dict)


def write_imported(imported: Imported, output: Path, licence: str | None = None) -> None:
    """Write the pipeline to a new folder, at once: if anything fails, there is none.

    licence: of the published weights, as the user states it. meta.json has it under `license`, the
    scores under `performance`, and under `imported` the kind, the file's name and its SHA-256.
    Raises FileExistsError if the folder is there and not empty.
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise FileExistsError(f"{output} is there already, and not empty")
    meta = imported.nlp.meta
    meta["license"] = licence or ""
    meta["performance"] = dict(imported.scores)
    meta["imported"] = {
        "kind": imported.kind,
        "source": imported.weights.name,
        "sha256": sha256_of(imported.weights),
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{output.name}.", dir=output.parent))
    try:
        folder = beside / output.name
        imported.nlp.to_disk(folder)
        # takes the place of an empty folder
        os.replace(folder, output)
    finally:
        shutil.rmtree(beside)


def sha256_of(path: Path) -> str:
    """The digest of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
