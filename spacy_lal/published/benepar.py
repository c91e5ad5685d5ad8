"""benepar 0.2's checkpoints: the folder of a release, or the .pt file of its training."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import spacy
from spacy.language import Language
from torch import Tensor

from ..bridge.shim import torch_shim
from ..encoders.hugging_face import first_position, is_bert
from ..parsing.constituency import ConstituencyPipe
from .benepar_names import EMBEDDINGS, renamed
from .benepar_network.characters import SENTENCE, SENTENCE_END, UNKNOWN, WORD, WORD_END
from .benepar_network.settings import BeneparSizes
from .imported import Imported
from .restricted import read_checkpoint
from .tokenizers import TOKENIZERS
from .transformer import CONFIG, EncoderFolder, Json, check_pieces, read_encoder, read_json

KIND = "benepar"
"""The format, as messages and meta.json name it."""
MODEL = "benepar_model.bin"
"""The file with the weights in a folder of benepar's."""
KNOWN = "bert, electra, roberta, xlm-roberta, t5"
"""Encoders that are read, by model_type."""
WINDOW = 512
"""In pieces, of an encoder that has no limit of its own: T5."""
LONGEST = 512
"""Words of a sentence that is parsed whole, if the model has positions for so many."""


def read_benepar(
    source: Path, *, lang: str = "en", encoder: Path | None = None, escaped: bool = False
) -> Imported:
    """A pipeline with one `lal_constituency` that finds the trees which benepar would find.

    source: the folder of a release (config.json, benepar_model.bin and the tokenizer's files), or a
    .pt file that benepar's training wrote. Such a file has neither the encoder's configuration nor
    its tokenizer: encoder is a folder with both; a model that reads characters needs none.
    escaped: see `spacy-lal.BeneparParser.v1`.
    Raises ValueError or OSError, which name the file and what should be there.
    """
    config: Any
    state: Any
    folder, weights = encoder, source
    if source.is_dir():
        folder, weights = source, source / MODEL
        config = read_json(folder / CONFIG).get("benepar")
    state = _load(weights)
    if weights is source:
        config, state = state.get("config"), state.get("state_dict")
    if not isinstance(config, dict) or not isinstance(state, dict):
        raise ValueError(f"{source}: no checkpoint of benepar: it lacks its config or parameters")
    hparams: Json = config.get("hparams") or {}
    try:
        header = _header(config, hparams)
        tensors = renamed(state)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise ValueError(f"{weights}: no checkpoint of benepar 0.2: {error!r}") from error
    _check_rows(header, state, weights)
    if header["characters"] is None:
        read = read_encoder(weights, folder, repr(hparams.get("pretrained_model")))
        header |= _encoder(read, tensors, weights)
    nlp = _pipeline(lang, header, escaped, hparams.get("force_root_constituent", True))
    pipe = cast(ConstituencyPipe, nlp.get_pipe("lal_constituency"))
    try:
        torch_shim(pipe.model).load(header, tensors)
    except ValueError as error:
        raise ValueError(f"{weights}: {error}") from error
    nlp.meta["name"] = re.sub(r"\W+", "_", source.stem).strip("_").lower() or KIND
    if header["tokenizer"] is not None:
        nlp.meta["requirements"] = [TOKENIZERS]
    return Imported(nlp, KIND, weights, _score_in(source.name))


def _load(path: Path) -> Json:
    """What torch saved: tensors and plain containers, nothing else."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file")
    try:
        loaded = read_checkpoint(path)
    except ValueError as error:
        reason = str(error).removeprefix(f"{path}: ")
        raise ValueError(f"{path}: no file of tensors that can be read: {reason}") from error
    if not isinstance(loaded, dict):
        raise ValueError(f"{path}: holds {type(loaded).__name__}, and should be a dict of tensors")
    return loaded


def _header(config: Json, hparams: Json) -> Json:
    """What the network is built from, all but its encoder."""
    reads_characters = bool(hparams.get("use_chars_lstm"))
    attends = bool(hparams["use_encoder"])
    sizes = BeneparSizes(
        width=hparams["d_model"],
        layers=hparams["num_layers"] if attends else 0,
        heads=hparams["num_heads"],
        key_width=hparams["d_kv"],
        feed_forward_width=hparams["d_ff"],
        positions=hparams["encoder_max_len"] if attends else 0,
        hidden_width=hparams["d_label_hidden"],
        tag_width=hparams["d_tag_hidden"] if hparams["predict_tags"] else None,
        character_width=hparams["d_char_emb"] if reads_characters else None,
    )
    if not reads_characters and not hparams["use_pretrained"]:
        raise ValueError("it reads neither characters nor a pretrained encoder")
    labels = _in_order(config["label_vocab"], "label_vocab")
    if labels[0] != "":
        raise ValueError(f"label 0 is {labels[0]!r}, and should be empty, for no constituent")
    characters = dict(config["char_vocab"]) if reads_characters else None
    if characters is not None and not {*characters} >= {
        *(UNKNOWN, SENTENCE, WORD, WORD_END, SENTENCE_END)
    }:
        raise ValueError("char_vocab lacks a character that begins or ends words and sentences")
    return {
        "settings": sizes.to_json(),
        "labels": labels[1:],
        "tags": _in_order(config["tag_vocab"], "tag_vocab") if hparams["predict_tags"] else [],
        "characters": characters,
        "transformer": None,
        "tokenizer": None,
        "window": None,
    }


def _in_order(vocabulary: Mapping[str, int], name: str) -> list[str]:
    names = sorted(vocabulary, key=lambda key: vocabulary[key])
    if [vocabulary[n] for n in names] != list(range(len(names))):
        raise ValueError(f"{name} does not number its {len(names)} names from 0")
    return names


def _check_rows(header: Json, state: Mapping[str, Tensor], weights: Path) -> None:
    """Raise ValueError unless every name of the vocabularies has a row of parameters."""
    for kind, name, count in (
        ("label_vocab", "f_label.3.weight", len(header["labels"])),
        ("tag_vocab", "f_tag.3.weight", len(header["tags"])),
        (
            "char_vocab",
            "char_encoder.emb.weight",
            max((header["characters"] or {"": -1}).values()) + 1,
        ),
    ):
        rows = len(state[name]) if name in state else 0
        if rows != count:
            raise ValueError(
                f"{weights}: {name} has {rows} rows, and should have {count}, as {kind} says"
            )


def _encoder(encoder: EncoderFolder, tensors: Mapping[str, Tensor], weights: Path) -> Json:
    """The part of the header that describes the pretrained encoder, and its tokenizer."""
    config, path = encoder.config, encoder.path / CONFIG
    kind = str(config.get("model_type"))
    if kind != "t5" and not is_bert(config):
        raise ValueError(
            f"{path}: an encoder of model_type {kind!r}, hidden_act "
            f"{config.get('hidden_act')!r} is not read; known are {KNOWN}, in their usual form"
        )
    if EMBEDDINGS[kind] not in tensors:
        raise ValueError(f"{weights}: has no embeddings of a {kind}, which {path} wants")
    rows = len(tensors[EMBEDDINGS[kind]])
    if rows != config.get("vocab_size"):
        raise ValueError(
            f"{weights}: embeddings of {rows} pieces, and should have "
            f"{config.get('vocab_size')}, as {path} says"
        )
    check_pieces(encoder)
    own = {"benepar", "_name_or_path", "architectures", "task_specific_params", "torch_dtype"}
    return {
        "transformer": {key: value for key, value in config.items() if key not in own},
        "tokenizer": encoder.tokenizer,
        "window": _window(encoder.path, config),
    }


def _window(folder: Path, config: Json) -> int:
    """The most pieces, special ones included, that the encoder reads at once."""
    limits = []
    if (folder / "tokenizer_config.json").is_file():
        limits.append(read_json(folder / "tokenizer_config.json").get("model_max_length"))
    if "max_position_embeddings" in config:
        limits.append(config["max_position_embeddings"] - first_position(config))
    # what has no limit has one of 1e30
    return min([int(limit) for limit in limits if limit and limit < 1e6], default=WINDOW)


def _pipeline(lang: str, header: Json, escaped: bool, force_root: bool) -> Language:
    nlp = spacy.blank(lang)
    positions = header["settings"]["positions"]
    objective = f"spacy-lal.margin_objective.v{2 if force_root else 1}"
    pipe = nlp.add_pipe(
        "lal_constituency",
        config={
            "model": {"@architectures": "spacy-lal.BeneparParser.v1", "escaped": escaped},
            "objective": {"@misc": objective},
            "decoder": {"@misc": "spacy-lal.map_decoder.v1"},
            "max_sentence_length": min(LONGEST, positions - 2) if positions else LONGEST,
        },
    )
    assert isinstance(pipe, ConstituencyPipe)
    pipe.cfg |= {"labels": header["labels"], "tags": header["tags"]}
    return nlp


def _score_in(name: str) -> dict[str, float]:
    """What benepar's training writes into a file's name: EVALB's F on the development set."""
    found = re.search(r"_dev=(\d+\.\d+)", name)
    return {"const_evalb_f": round(float(found[1]) / 100, 6)} if found else {}
