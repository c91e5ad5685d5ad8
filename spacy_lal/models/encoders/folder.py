"""The folder of a pretrained transformer, as Hugging Face's libraries write it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

WEIGHTS = "model.safetensors"


def read_transformer(
    folder: str | Path, sha256: str | None = None
) -> tuple[dict[str, Any], str, dict[str, Tensor]]:
    """The configuration, the tokenizer's JSON and the parameters of a model in a folder.

    The folder holds config.json, tokenizer.json and model.safetensors. sha256: of the last, which
    must have it. Raises ValueError, naming the file, if one is missing or not as it should be.
    Nothing is downloaded.
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
    transformers = import_transformers()
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        model = transformers.AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
        )
        tokenizer = (folder / "tokenizer.json").read_text("utf-8")
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ValueError(f"{folder}: no transformer that can be read: {error}") from error
    return config, tokenizer, _without_pooler(model).state_dict()


def build_transformer(config: dict[str, Any]) -> nn.Module:
    """A transformer with fresh parameters, from the contents of config.json."""
    transformers = import_transformers()
    values = {name: value for name, value in config.items() if name != "model_type"}
    made = transformers.AutoConfig.for_model(config["model_type"], **values)
    # BertModel for a BertConfig, and so on. AutoModel knows too, but reads all configurations and
    # half the library first, which takes a second.
    name = type(made).__name__.removesuffix("Config") + "Model"
    if hasattr(transformers, name):
        return _without_pooler(getattr(transformers, name)(made))
    return _without_pooler(transformers.AutoModel.from_config(made, trust_remote_code=False))


def import_transformers() -> Any:
    """The library `transformers`. Raises ImportError that says what to install."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError(
            "spacy-lal.PretrainedEncoder.v1 needs transformers: pip install 'spacy-lal[encoders]'"
        ) from error
    return transformers


def _without_pooler(model: Any) -> Any:
    # it reads the whole text's vector, which nothing here wants
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    return model
