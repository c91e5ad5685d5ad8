"""The tokenizer of a pretrained encoder, out of its folder."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from ..encoders.hugging_face import import_transformers

TOKENIZERS = "tokenizers>=0.21"
"""What a package of an imported pipeline needs besides this one."""
FAST = "tokenizer.json"
"""The file that all tokenizers are read from."""
SENTENCE_PIECES = ("spiece.model", "sentencepiece.bpe.model")
"""Files of sentence pieces."""
OLD = ("vocab.txt", *SENTENCE_PIECES, "vocab.json")
"""What folders have that were written before there was a tokenizer.json."""
OF_PIECES = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}
"""What reads sentence pieces, and its module."""


def read_tokenizer(folder: Path) -> str:
    """The contents of a tokenizer.json, of the folder or made of its older files.

    Making one needs transformers, and of sentence pieces sentencepiece and protobuf. Raises
    ImportError if one is missing, ValueError if there is nothing to read; both name the file.
    """
    path = folder / FAST
    if path.is_file():
        text = path.read_text("utf-8")
        try:
            if not isinstance(json.loads(text)["model"], dict):
                raise TypeError("its model is no JSON object")
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}: no tokenizer that can be read: {error!r}") from error
        return text
    if not any((folder / name).is_file() for name in OLD):
        raise ValueError(f"{path}: no such file, nor any of {', '.join(OLD)}, to make it of")
    pieces = next((folder / n for n in SENTENCE_PIECES if (folder / n).is_file()), None)
    missing = [name for name, module in OF_PIECES.items() if not _is_there(module)]
    if pieces is not None and missing:
        raise ImportError(
            f"{pieces}: a {FAST} can be made of it with {' and '.join(missing)}: pip install "
            f"{' '.join(missing)}, or put the model's {FAST} beside it"
        )
    try:
        tokenizer = import_transformers().AutoTokenizer.from_pretrained(
            folder, local_files_only=True, use_fast=True, trust_remote_code=False
        )
        made: str = tokenizer.backend_tokenizer.to_str()
    except ImportError:
        raise
    except Exception as error:  # each of its converters fails in its own way
        raise ValueError(f"{folder}: no tokenizer that can be read: {error}") from error
    return made


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False
