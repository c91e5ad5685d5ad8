"""The transformer inside a published checkpoint, and the folder that brings its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..encoders.hugging_face import HuggingFace, build_transformer, old_name
from ..encoders.word_pieces import Tokenizer
from .tokenizers import FAST, read_tokenizer

CONFIG = "config.json"
"""The file with the settings of a transformer."""
Json = dict[str, Any]


class EncoderFolder(NamedTuple):
    """The contents of config.json and tokenizer.json, and where they were."""

    config: Json
    tokenizer: str
    path: Path

    def number(self, piece: str) -> int:
        """The number of a special piece. Raises ValueError if the tokenizer has none."""
        number = Tokenizer.from_str(self.tokenizer).token_to_id(piece)
        if number is None:
            raise ValueError(f"{self.path / FAST}: it has no piece {piece!r}")
        return int(number)


def read_json(path: Path) -> Json:
    """The object in a file of JSON. Raises OSError or ValueError, naming the file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path}: no JSON object")
    return values


def read_encoder(
    checkpoint: Path, folder: Path | None, name: str = "a transformer"
) -> EncoderFolder:
    """Configuration and tokenizer of the transformer whose parameters are in a checkpoint.

    name: of the transformer. Raises ValueError or OSError if there is no folder, a file of it is
    missing or not as it should be.
    """
    if folder is None:
        raise ValueError(
            f"{checkpoint}: it has the parameters of {name}, and neither its configuration nor its "
            f"tokenizer: --encoder FOLDER must name a folder with {CONFIG} and {FAST}"
        )
    config = read_json(folder / CONFIG)
    text = read_tokenizer(folder)
    try:
        Tokenizer.from_str(text)
    except Exception as error:
        raise ValueError(f"{folder / FAST}: no tokenizer: {error}") from error
    return EncoderFolder(config, text, folder)


def check_pieces(encoder: EncoderFolder) -> None:
    """Raise ValueError if the tokenizer has a piece that the transformer has no vector for."""
    numbers = Tokenizer.from_str(encoder.tokenizer).get_vocab(with_added_tokens=True).values()
    last, rows = max(numbers, default=-1), encoder.config["vocab_size"]
    if last >= rows:
        raise ValueError(
            f"{encoder.path}: the tokenizer has a piece number {last}, but the encoder only {rows} "
            f"pieces, as {CONFIG} says"
        )


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
        raise ValueError(f"{encoder.path / CONFIG}: no transformer: {error}") from error
    state = {}
    for name, expected in built.state_dict().items():
        theirs = prefix + (name.removeprefix("model.") if isinstance(built, HuggingFace) else name)
        tensor = given.get(theirs, given.get(old_name(theirs)))
        if tensor is None or tensor.shape != expected.shape:
            found = "missing" if tensor is None else tuple(tensor.shape)
            raise ValueError(
                f"{checkpoint}: {theirs} is {found}, and by {encoder.path / CONFIG} should "
                f"be {tuple(expected.shape)}"
            )
        state[name] = tensor
    check_pieces(encoder)
    return state
