"""The transformer inside a published checkpoint, and the folder that brings its tokenizer."""

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
"""Files of folders that were written before there was a tokenizer.json."""
OF_PIECES = {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}
"""Packages that read sentence pieces, and their modules."""
Json = dict[str, Any]


class EncoderFolder(NamedTuple):
    """The contents of config.json and tokenizer.json, and where they were."""

    config: Json
    tokenizer: str
    path: Path

    @property
    def pieces(self) -> dict[str, int]:
        """The number of each piece."""
        return Tokenizer.from_str(self.tokenizer).get_vocab(with_added_tokens=True)

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


def read_encoder(checkpoint: Path, folder: Path | None) -> EncoderFolder:
    """Configuration and tokenizer of the transformer whose parameters are in a checkpoint.

    Raises ValueError or OSError if there is no folder, a file of it is missing or not as it should
    be.
    """
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
    """The contents of a tokenizer.json, of the folder or made of its older files.

    Making one needs transformers, and of sentence pieces sentencepiece and protobuf. Raises
    ImportError if one is missing, ValueError if there is nothing to read; both name the file.
    """
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
    except Exception as error:  # each of its converters fails in its own way
        raise ValueError(f"{folder}: no tokenizer that can be read: {error}") from error
    return made


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that it is in
        return False


def transformer_state(
    given: Mapping[str, Tensor], prefix: str, encoder: EncoderFolder, checkpoint: Path
) -> dict[str, Tensor]:
    """The parameters of `build_transformer`, from those whose names begin with `prefix`.

    Raises ValueError, naming the file, if they are not those of the folder's config.json, or if the
    tokenizer has a piece without a vector.
    """
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
