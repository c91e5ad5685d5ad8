"""The transformer of a published checkpoint, and the folder of its tokenizer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from ..bridge.shim import WithoutFirstValues
from ..encoders.hugging_face import HuggingFace, build_transformer, import_transformers, old_name
from ..encoders.word_pieces import Tokenizer

CONFIG = "config.json"
"""The file with the settings of a transformer."""
FAST = "tokenizer.json"
"""The file that all tokenizers are read from."""
SENTENCE_PIECES = ("spiece.model", "sentencepiece.bpe.model")
"""Files of sentence pieces."""
OLD = ("vocab.txt", *SENTENCE_PIECES, "vocab.json")
"""Tokenizer files older than tokenizer.json."""
OF_PIECES = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}
"""Modules of the packages that read sentence pieces."""
Json = dict[str, Any]


class EncoderFolder(NamedTuple):
    """Contents of config.json and tokenizer.json, and their folder."""

    config: Json
    tokenizer: str
    path: Path

    @property
    def pieces(self) -> dict[str, int]:
        """Return the number of each piece."""
        return Tokenizer.from_str(self.tokenizer).get_vocab(with_added_tokens=True)

    def number(self, piece: str) -> int:
        """Return the number of a special piece. Raises ValueError if there is none."""
        number = Tokenizer.from_str(self.tokenizer).token_to_id(piece)
        if number is None:
            raise ValueError(f"{self.path / FAST}: it has no piece {piece!r}")
        return int(number)


def read_json(path: Path) -> Json:
    """Return the object in a JSON file. Raises OSError or ValueError, naming the file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        values = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path}: no JSON object")
    return values


def read_encoder(checkpoint: Path, folder: Path | None) -> EncoderFolder:
    """Return config and tokenizer of a checkpoint. Raises ValueError or OSError for bad files."""
    if folder is None:
        raise ValueError(
            f"{checkpoint}: it has the parameters of a transformer, and neither its configuration "
            f"nor its tokenizer: --encoder FOLDER must name a folder with {CONFIG} and {FAST}"
        )
    config = read_json(folder / CONFIG)
    text = read_tokenizer(folder)
    try:
        Tokenizer.from_str(text)
    except Exception as error:
        raise ValueError(f"{folder / FAST}: no tokenizer that can be read: {error}") from error
    return EncoderFolder(config, text, folder)


def read_tokenizer(folder: Path) -> str:
    """Return a folder's tokenizer.json, or one converted from older files. The conversion needs
    transformers and, for sentence pieces, sentencepiece and protobuf. Raises ImportError if one is
    missing, ValueError without any files, both naming the file."""
    path = folder / FAST
    if path.is_file():
        return path.read_text("utf-8")
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
    except Exception as error:  # each converter fails in its own way
        raise ValueError(f"{folder}: no tokenizer that can be read: {error}") from error
    return made


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def transformer_state(
    given: Mapping[str, Tensor], prefix: str, encoder: EncoderFolder, checkpoint: Path
) -> dict[str, Tensor]:
    """Return the parameters of `build_transformer`, from those whose names begin with `prefix`.
    Raises ValueError, naming the file, if they don't fit config.json or a piece has no vector."""
    try:
        with torch.device("meta"), WithoutFirstValues():
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
    last, rows = max(encoder.pieces.values(), default=-1), encoder.config["vocab_size"]
    if last >= rows:
        raise ValueError(
            f"{encoder.path}: the tokenizer has a piece number {last}, but the encoder only {rows} "
            f"pieces, as {CONFIG} says"
        )
    return state
