"""The tokenizer of a pretrained encoder, out of its folder."""

from __future__ import annotations

import json
from pathlib import Path

from ..models.encoders.transformers import import_transformers

TOKENIZERS = "tokenizers>=0.21"
"""What a package of an imported pipeline needs besides this one."""
FAST = "tokenizer.json"
OLD = ("vocab.txt", "spiece.model", "sentencepiece.bpe.model", "vocab.json")
"""What folders have that were written before there was a tokenizer.json."""


def read_tokenizer(folder: Path) -> str:
    """The contents of a tokenizer.json, of the folder or made of its older files.

    Making one needs transformers. Raises ValueError, naming the file, if there is none to read.
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
