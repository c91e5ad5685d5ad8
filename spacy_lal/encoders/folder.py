"""The folder of a pretrained transformer, as Hugging Face's libraries write it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import safetensors.torch
from torch import Tensor

from .transformers import HuggingFace, build_transformer, import_transformers

WEIGHTS = "model.safetensors"
"""The file with the weights in the folder of a pretrained transformer."""


def read_transformer(
    folder: str | Path, sha256: str | None = None
) -> tuple[dict[str, Any], str, dict[str, Tensor]]:
    """The configuration, the tokenizer's JSON and the parameters of a model in a folder.

    The folder holds config.json, tokenizer.json and model.safetensors. sha256: of the last, which
    must have it. The parameters are those of `build_transformer`. Raises ValueError, naming the
    file, if one is missing or not as it should be. Nothing is downloaded.
    """
    folder = Path(folder)
    for name in ("config.json", "tokenizer.json", WEIGHTS):
        if not (folder / name).is_file():
            raise ValueError(f"{folder / name}: no such file; {folder} must hold a transformer")
    if sha256 is not None:
        with (folder / WEIGHTS).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha256:
            raise ValueError(f"{folder / WEIGHTS}: SHA-256 is {found}, and should be {sha256}")
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        tokenizer = (folder / "tokenizer.json").read_text("utf-8")
        built = build_transformer(config)
        if isinstance(built, HuggingFace):
            tensors = _theirs(folder)
        else:
            given = safetensors.torch.load_file(folder / WEIGHTS)
            tensors = {name: _named(given, name).float() for name in built.state_dict()}
    except ImportError:
        raise
    except Exception as error:  # a config of another shape is a TypeError, and so on
        raise ValueError(f"{folder}: no transformer that can be read: {error}") from error
    return config, tokenizer, tensors


def old_name(name: str) -> str:
    """What a parameter was called in files of the first BERT."""
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )


def _named(tensors: dict[str, Tensor], name: str) -> Tensor:
    """The tensor of this name: of a model alone, below a task, or under a name of old."""
    for start in ("", "bert.", "roberta.", "electra."):
        for known in (name, old_name(name)):
            if start + known in tensors:
                return tensors[start + known]
    raise KeyError(f"{WEIGHTS} has no {name}")


def _theirs(folder: Path) -> dict[str, Tensor]:
    model = import_transformers().AutoModel.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
    )
    return HuggingFace.of(model).state_dict()
