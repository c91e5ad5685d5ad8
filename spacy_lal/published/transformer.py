"""The transformer of a published checkpoint, and the folder of its tokenizer."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..bridge.shim import WithoutFirstValues
from ..encoders.hugging_face import HuggingFace, build_transformer, import_transformers, old_name
from ..encoders.word_pieces import Tokenizer
from .input_encoder import NAME

CONFIG = "config.json"
"""The file with the settings of a transformer."""
FAST = "tokenizer.json"
"""The file that all tokenizers are read from."""
Json = dict[str, Any]


class EncoderFolder(NamedTuple):
    """Contents of config.json and tokenizer.json, and their folder."""

    config: Json
    tokenizer: Tokenizer
    path: Path

    def number(self, piece: str) -> int:
        """Return the number of a special piece. Raises ValueError if there is none."""
        number: int | None = self.tokenizer.token_to_id(piece)
        if number is None:
            raise ValueError(f"{self.path / FAST}: it has no piece {piece!r}")
        return number


def read_json(path: Path) -> Json:
    """Return the object in a JSON file. Raises OSError or ValueError, naming the file."""
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: no JSON object: {error}") from error


def read_encoder(checkpoint: Path, folder: Path | None) -> EncoderFolder:
    """Return config and tokenizer of a checkpoint.

    Without a tokenizer.json, transformers makes the tokenizer from older files; for files of
    sentence pieces it needs sentencepiece and protobuf. Raises ValueError or OSError, which name
    the file, if a file is missing or damaged."""
    if folder is None:
        raise ValueError(
            f"{checkpoint}: it has the parameters of a transformer, and neither its configuration "
            f"nor its tokenizer: --encoder FOLDER must name a folder with {CONFIG} and {FAST}"
        )
    config = read_json(folder / CONFIG)
    try:
        if (folder / FAST).is_file():
            tokenizer = Tokenizer.from_file(str(folder / FAST))
        else:
            older = import_transformers().AutoTokenizer.from_pretrained(
                folder, local_files_only=True, use_fast=True, trust_remote_code=False
            )
            tokenizer = older.backend_tokenizer
    except Exception as error:  # each converter fails in its own way
        said = str(error).strip().partition("\n")[0]
        raise ValueError(
            f"{folder / FAST}: no tokenizer that can be read or made of older files (of sentence "
            f"pieces, after pip install sentencepiece protobuf): {said}"
        ) from error
    return EncoderFolder(config, tokenizer, folder)


def transformer_state(
    given: Mapping[str, Tensor], prefix: str, encoder: EncoderFolder
) -> dict[str, Tensor]:
    """Return the parameters of `build_transformer`, from those whose names begin with `prefix`, by
    their names in this package's network. Raises KeyError if one is missing; ValueError, naming the
    file, for another config.json, or if a piece has no vector."""
    try:
        with torch.device("meta"), WithoutFirstValues():
            built = build_transformer(encoder.config)
    except Exception as error:
        raise ValueError(f"{encoder.path / CONFIG}: no transformer: {error}") from error
    last = max(encoder.tokenizer.get_vocab().values(), default=-1)
    rows = encoder.config["vocab_size"]
    if last >= rows:
        raise ValueError(
            f"{encoder.path}: the tokenizer has a piece number {last}, but the encoder only {rows} "
            f"pieces, as {CONFIG} says"
        )
    state = {}
    for name in built.state_dict():
        theirs = prefix + (name.removeprefix("model.") if isinstance(built, HuggingFace) else name)
        state[f"{NAME}transformer.{name}"] = given[theirs if theirs in given else old_name(theirs)]
    return state
