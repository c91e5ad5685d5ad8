"""Loading of pipelines from disk, with the damaged file in the error."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import spacy
import srsly
from spacy.language import Language
from spacy.util import load_config
from thinc.config import ConfigValidationError


def load_pipeline(model: str | Path, **options: Any) -> Language:
    """Load a pipeline by its name or folder, as `spacy.load` does. Raises OSError or ImportError if
    it is missing, ValueError in one line if it is damaged, with the file and place if known."""
    try:
        return spacy.load(model, **options)
    except FileNotFoundError:
        raise
    except ImportError as error:
        raise ImportError(f"{model}: {' '.join(str(error).split())}") from error
    except Exception as error:  # spaCy raises many types for damaged files
        if isinstance(error, OSError) and not Path(model).exists():
            raise
        if isinstance(error, ConfigValidationError):
            # without the long config
            error = ConfigValidationError.from_error(error, show_config=False)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        if isinstance(error, ValueError) and f"{model}" in said:  # a component of ours
            said = said.removeprefix("ValueError: ")
        else:
            said = _damaged(Path(model)) or f"{model}: can't be loaded: {said}"
        raise ValueError(said) from error


def _damaged(folder: Path) -> str:
    """Return the first malformed file and the place in it; "" if there is none."""
    for path in sorted(folder.rglob("*")):
        read = _READERS.get(path.name, _READERS.get(path.suffix))
        if read is not None and path.is_file():
            try:
                read(path)
            except Exception as error:
                return f"{path}: {' '.join(str(error).split()) or type(error).__name__}"
    return ""


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf8"))


def _msgpack(path: Path) -> Any:
    return srsly.read_msgpack(path)


def _array(path: Path) -> Any:
    return numpy.load(path, allow_pickle=False)


_READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".json", "cfg", "vectors.cfg"), _json),
    **dict.fromkeys(("model", "tokenizer", "key2row", "lookups.bin"), _msgpack),
    "config.cfg": lambda path: load_config(path),
    "vectors": _array,
}
"""Readers by file name, else by suffix."""
