"""Transformers of all kinds, built from the contents of their config.json, with one way to read.

BERT and its kin are this package's own: Hugging Face's library, which knows all others, takes
seconds to import.
"""

from __future__ import annotations

import inspect
from typing import Any, Self

import torch.nn.functional as F
from torch import Tensor, nn

from ..layers.bert import ACTIVATIONS, Bert

SIZES = {
    "d": "hidden_size",
    "n_layers": "num_hidden_layers",
    "n_heads": "num_attention_heads",
    "d_ff": "intermediate_size",
    "words": "vocab_size",
    "positions": "max_position_embeddings",
    "types": "type_vocab_size",
    "activation": "hidden_act",
    "dropout": "hidden_dropout_prob",
    "attention_dropout": "attention_probs_dropout_prob",
    "eps": "layer_norm_eps",
}
"""What `Bert` is built from, by the names of config.json."""
PADDING = {"bert": 0, "electra": 0, "roberta": 1, "xlm-roberta": 1}
"""The number of the piece that pads a text, where config.json has none."""


class HuggingFace(nn.Module):
    """A transformer of Hugging Face's library that reads as `Bert` does.

    Of one with a decoder (T5) the outputs are the decoder's, over the same pieces behind the one
    that begins a text there [B, l + 1, d].
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        transformers = import_transformers()
        values = {name: value for name, value in config.items() if name != "model_type"}
        made = transformers.AutoConfig.for_model(config["model_type"], **values)
        model = transformers.AutoModel.from_config(made, trust_remote_code=False)
        self._take(model)

    @classmethod
    def of(cls, model: Any) -> Self:
        """Around a model that is there."""
        made = cls.__new__(cls)
        nn.Module.__init__(made)
        made._take(model)
        return made

    def _take(self, model: Any) -> None:
        if getattr(model, "pooler", None) is not None:
            # it reads the whole text's vector, which nothing here wants
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
    """A transformer with fresh parameters, from the contents of config.json.

    Raises ImportError if it needs Hugging Face's library, which is not there.
    """
    return Bert(**_of_bert(config)) if is_bert(config) else HuggingFace(config)


def width_and_depth(config: dict[str, Any]) -> tuple[int, int]:
    """How wide a transformer's layers are, and how many it has. Raises ValueError if unknown."""
    for width, depth in (("hidden_size", "num_hidden_layers"), ("d_model", "n_layer")):
        if width in config and depth in config:
            return int(config[width]), int(config[depth])
    raise ValueError(
        "config.json says neither hidden_size and num_hidden_layers nor d_model, n_layer"
    )


def padding_of(config: dict[str, Any]) -> int:
    """The number of the piece that pads a text."""
    found = config.get("pad_token_id")
    return int(PADDING.get(config.get("model_type", ""), 0) if found is None else found)


def is_bert(config: dict[str, Any]) -> bool:
    """Whether `Bert` is what this config.json describes."""
    return (
        config.get("model_type") in PADDING
        and set(SIZES.values()) <= config.keys()
        and config["hidden_act"] in ACTIVATIONS
        and config.get("position_embedding_type", "absolute") in ("absolute", None)
        and not config.get("is_decoder")
        and (config["model_type"] != "electra" or "embedding_size" in config)
    )


def first_position(config: dict[str, Any]) -> int:
    """The position of a text's first piece in BERT and its kin.

    RoBERTa's and XLM-R's are behind that of padding, which stands behind 0.
    """
    return padding_of(config) + 1 if config["model_type"] in ("roberta", "xlm-roberta") else 0


def _of_bert(config: dict[str, Any]) -> dict[str, Any]:
    electra = config["model_type"] == "electra"
    return {name: config[key] for name, key in SIZES.items()} | {
        "d_embedding": config["embedding_size" if electra else "hidden_size"],
        "first_position": first_position(config),
    }


def import_transformers() -> Any:
    """The library `transformers`. Raises ImportError that says what to install."""
    try:
        import transformers
    except ImportError as error:
        raise ImportError(
            "this encoder needs transformers: pip install 'spacy-lal[encoders]'"
        ) from error
    return transformers
