"""Pretrained transformers in the folders of Hugging Face's libraries.

BERT and its kin are modules of this package: Hugging Face's library takes seconds to import.
"""

import hashlib
import inspect
import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import safetensors.torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..layers.bert import ACTIVATIONS, Bert, BertSizes

WEIGHTS = "model.safetensors"
"""The file with the weights in the folder of a pretrained transformer."""
BUCKETS = "relative_attention_num_buckets"
"""Key of the number of relative distances, which MPNet alone has."""
SIZES = {size.name for size in fields(BertSizes)} - {"embedding_size", "first_position", BUCKETS}
"""Sizes of `Bert` that config.json always has."""
PADDING = {"bert": 0, "electra": 0, "mpnet": 1, "roberta": 1, "xlm-roberta": 1}
"""Id of the padding piece, where config.json has none."""


class HuggingFace(nn.Module):
    """A transformer of Hugging Face's library with the interface of `Bert`.

    With a decoder (T5), outputs are the decoder's, over the same pieces after the piece that begins
    its texts [B, l + 1, d].
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        if getattr(model, "pooler", None) is not None:
            # it reads the whole text's vector, which is unused here
            model.pooler = None
        self.decodes = bool(model.config.is_encoder_decoder)
        if self.decodes:
            # tables of pieces that are `shared` by another name
            model.encoder.embed_tokens = model.decoder.embed_tokens = None
        self.model = model
        self._takes_types = "token_type_ids" in inspect.signature(model.forward).parameters

    def forward(self, pieces: Tensor, types: Tensor, mask: Tensor) -> list[Tensor]:
        given = {"attention_mask": mask, "output_hidden_states": True, "return_dict": True}
        if self.decodes:
            table = self.model.shared
            shifted = F.pad(pieces, (1, 0), value=self.model.config.pad_token_id)
            output = self.model(
                inputs_embeds=table(pieces),
                decoder_inputs_embeds=table(shifted),
                decoder_attention_mask=F.pad(mask, (1, 0), value=1),
                use_cache=False,
                **given,
            )
            return list(output.decoder_hidden_states)
        if self._takes_types:
            given["token_type_ids"] = types
        return list(self.model(input_ids=pieces, **given).hidden_states)


def build_transformer(config: dict[str, Any]) -> Bert | HuggingFace:
    """Builds a transformer with fresh parameters, from the contents of config.json. Raises
    ImportError if it needs Hugging Face's library, which is not installed."""
    if not is_bert(config):
        library = import_transformers()
        values = {name: value for name, value in config.items() if name != "model_type"}
        made = library.AutoConfig.for_model(config["model_type"], **values)
        return HuggingFace(library.AutoModel.from_config(made, trust_remote_code=False))
    sizes = {name: config.get(name, 0) for name in (*SIZES, BUCKETS)}
    own = "embedding_size" if config["model_type"] == "electra" else "hidden_size"
    return Bert(
        BertSizes(**sizes, embedding_size=config[own], first_position=first_position(config))
    )


def width_and_depth(config: dict[str, Any]) -> tuple[int, int]:
    """Returns the width and the number of a transformer's layers. Raises ValueError if unknown."""
    for width, depth in (("hidden_size", "num_hidden_layers"), ("d_model", "n_layer")):
        if width in config and depth in config:
            return int(config[width]), int(config[depth])
    raise ValueError(
        "config.json says neither hidden_size and num_hidden_layers nor d_model, n_layer"
    )


def padding_of(config: dict[str, Any]) -> int:
    """Returns the id of the padding piece."""
    found = config.get("pad_token_id")
    return int(PADDING.get(config.get("model_type", ""), 0) if found is None else found)


def is_bert(config: dict[str, Any]) -> bool:
    """Whether config.json describes a `Bert`."""
    return (
        config.get("model_type") in PADDING
        and config.keys() >= SIZES - ({"type_vocab_size"} if BUCKETS in config else set())
        and config["hidden_act"] in ACTIVATIONS
        and config.get("position_embedding_type", "absolute") in ("absolute", None)
        and not config.get("is_decoder")
        and (config["model_type"] != "electra" or "embedding_size" in config)
    )


def first_position(config: dict[str, Any]) -> int:
    """Returns the position of a text's first piece in BERT and its kin. In MPNet, RoBERTa and
    XLM-R it follows the position of padding."""
    behind = config["model_type"] in ("mpnet", "roberta", "xlm-roberta")
    return padding_of(config) + 1 if behind else 0


def import_transformers() -> Any:
    """Imports the library `transformers`. Raises ImportError with the command to install it."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError(
            "this encoder needs transformers: pip install 'spacy-lal[encoders]'"
        ) from error
    return transformers


def read_transformer(
    folder: str | Path, sha256: str | None = None
) -> tuple[dict[str, Any], str, dict[str, Tensor]]:
    """Reads a model's configuration, its tokenizer's JSON and its parameters from a folder.

    The folder holds config.json, tokenizer.json and model.safetensors. sha256: hash of
    model.safetensors. Raises ValueError, naming the file, if one is missing or wrong. Nothing is
    downloaded."""
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
        if is_bert(config):
            given = safetensors.torch.load_file(folder / WEIGHTS)
            names = build_transformer(config).state_dict()
            tensors = {name: _named(given, name).float() for name in names}
        else:
            model = import_transformers().AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, trust_remote_code=False
            )
            tensors = HuggingFace(model).state_dict()
    except ImportError:
        raise
    except Exception as error:  # a config of another shape is a TypeError, and so on
        raise ValueError(f"{folder}: no transformer that can be read: {error}") from error
    return config, tokenizer, tensors


def old_name(name: str) -> str:
    """Returns a parameter's name in files of the first BERT."""
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )


MPNET = {
    "attention.self.query": "attention.attn.q",
    "attention.self.key": "attention.attn.k",
    "attention.self.value": "attention.attn.v",
    "attention.output.dense": "attention.attn.o",
    "attention.output.LayerNorm": "attention.LayerNorm",
}
"""Names of a layer's parameters in BERT, and in MPNet."""


def mpnet_name(name: str) -> str:
    """Returns a parameter's name in files of MPNet."""
    for ours, theirs in MPNET.items():
        name = name.replace(ours, theirs)
    return name


def _named(tensors: dict[str, Tensor], name: str) -> Tensor:
    """Finds a tensor by its name in a model alone, below a task, or by its old name."""
    for start in ("", "bert.", "roberta.", "electra.", "mpnet."):
        for known in (name, old_name(name), mpnet_name(name)):
            if start + known in tensors:
                return tensors[start + known]
    raise KeyError(f"{WEIGHTS} has no {name}")
