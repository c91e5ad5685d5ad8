"""The transformer inside a published checkpoint, and the folder that brings its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor

from ..models.encoders.transformers import HuggingFace, build_transformer
from .tokenizers import FAST, read_tokenizer


class EncoderFolder(NamedTuple):
    """The contents of config.json and tokenizer.json, and where they were."""

    config: dict[str, Any]
    tokenizer: str
    path: Path

    def number(self, piece: str) -> int:
        """The number of a special piece. Raises ValueError if the tokenizer has none."""
        number = Tokenizer.from_str(self.tokenizer).token_to_id(piece)
        if number is None:
            raise ValueError(f"{self.path / 'tokenizer.json'}: it has no piece {piece!r}")
        return int(number)


def read_encoder(checkpoint: Path, folder: Path | None) -> EncoderFolder:
    """Configuration and tokenizer of the transformer whose parameters are in a checkpoint.

    Raises ValueError if there is no folder, or a file of it is missing or not as it should be.
    """
    if folder is None:
        raise ValueError(
            f"{checkpoint}: it has a transformer's parameters and not its tokenizer: name a folder "
            "with config.json and tokenizer.json, --encoder FOLDER"
        )
    path = folder / "config.json"
    if not path.is_file():
        raise ValueError(f"{path}: no such file; --encoder needs it")
    try:
        config = json.loads(path.read_text("utf-8"))
        assert isinstance(config, dict)
    except Exception as error:
        raise ValueError(f"{path}: no configuration of a transformer: {error}") from error
    tokenizer = read_tokenizer(folder)
    try:
        Tokenizer.from_str(tokenizer)
    except Exception as error:
        raise ValueError(f"{folder / FAST}: no tokenizer: {error}") from error
    return EncoderFolder(config, tokenizer, folder)


def transformer_state(
    given: Mapping[str, Tensor], prefix: str, encoder: EncoderFolder, checkpoint: Path
) -> dict[str, Tensor]:
    """The parameters of `build_transformer`, from those whose names begin with `prefix`.

    Raises ValueError, naming the file, if they are not those of the folder's config.json.
    """
    try:
        with torch.device("meta"):
            built = build_transformer(encoder.config)
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"{encoder.path / 'config.json'}: no transformer: {error}") from error
    state = {}
    for name, expected in built.state_dict().items():
        theirs = prefix + (name.removeprefix("model.") if isinstance(built, HuggingFace) else name)
        old = theirs.replace("LayerNorm.weight", "LayerNorm.gamma")
        old = old.replace("LayerNorm.bias", "LayerNorm.beta")
        tensor = given.get(theirs, given.get(old))
        if tensor is None or tensor.shape != expected.shape:
            found = "missing" if tensor is None else tuple(tensor.shape)
            raise ValueError(
                f"{checkpoint}: {theirs} is {found}, and by {encoder.path / 'config.json'} should "
                f"be {tuple(expected.shape)}"
            )
        state[name] = tensor
    return state
