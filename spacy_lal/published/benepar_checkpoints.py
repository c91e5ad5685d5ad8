"""Checkpoints of benepar 0.2: the folder of a release, or the .pt file of a training."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from torch import Tensor

from ..encoders.hugging_face import first_position, is_bert, padding_of
from ..layers.label_attention import EncoderSettings
from .imported import character_table, converting, published_pipeline, renamed
from .restricted import read_checkpoint
from .transformer import CONFIG, EncoderFolder, Json, read_encoder, read_json, transformer_state

MODEL = "benepar_model.bin"
"""The file with the weights in a folder of benepar's."""
WINDOW = 512
"""Pieces that an encoder without its own limit (T5) reads at once."""
LONGEST = 512
"""Words of the longest sentence parsed whole, if the model has that many positions."""
ATTENTION = re.compile(r"encoder\.layers\.(\d+)\.self_attn\.w_(qkv|o)_([cp])")
"""Names of self-attention parameters, of content and of position."""


def read_benepar(
    source: Path, *, lang: str = "en", encoder: Path | None = None, escaped: bool = False
) -> Language:
    """Return a pipeline with one `lal_constituency` that finds the trees of benepar.

    source: the folder of a release (config.json, benepar_model.bin and the tokenizer's files), or a
        .pt file of benepar's training.
    encoder: a folder with the encoder's configuration and tokenizer, which .pt files lack; not
        needed by a model that reads characters.
    escaped: see `spacy-lal.ReleasedParser.v1`.
    Raises ValueError or OSError, naming the file and its expected contents.
    """
    weights, config = source, None
    if source.is_dir():
        encoder, weights = source, source / MODEL
        config = read_json(source / CONFIG).get("benepar")
    state = read_checkpoint(weights)
    if weights is source and isinstance(state, dict):
        config, state = state.get("config"), state.get("state_dict")
    if not isinstance(config, dict) or not isinstance(state, dict):
        raise ValueError(f"{source}: no checkpoint of benepar: it lacks its config or parameters")
    with converting("benepar 0.2", weights, encoder):
        nlp = _convert(weights, config, state, encoder, lang=lang, escaped=escaped)
    nlp.meta["name"] = re.sub(r"\W+", "_", source.stem).strip("_").lower() or "benepar"
    return nlp


def _convert(
    weights: Path, config: Json, given: dict[str, Tensor], folder: Path | None, **options: Any
) -> Language:
    hparams: Json = config["hparams"]
    labels = _in_order(config, "label_vocab")
    if labels[0] != "":
        raise ValueError(f"label 0 is {labels[0]!r}, and should be empty, for no constituent")
    attends, width = bool(hparams["use_encoder"]), hparams["d_model"]
    attention = {name for name in given if ATTENTION.fullmatch(name)}
    others = {name: tensor for name, tensor in given.items() if name not in attention}
    state = renamed(others, {}, unread=r"pretrained_model\..+")
    for name in attention:
        state |= _attention(name, given[name])
    if attends and "tags.0.weight" in state:
        # benepar's annotations have even features before odd ones
        state["tags.0.weight"] = state["tags.0.weight"].unflatten(1, (2, -1)).mT.flatten(1)
    reading: Json = {"benepar": True}
    encoder = None
    if hparams.get("use_chars_lstm"):
        parts = ["characters"]
        reading["characters"] = character_table(_in_order(config, "char_vocab"))
    elif hparams["use_pretrained"]:
        parts = ["pieces"]
        encoder = read_encoder(weights, folder)
        kind = encoder.config.get("model_type")
        if kind != "t5" and not is_bert(encoder.config):
            raise ValueError(
                f"{encoder.path / CONFIG}: an encoder of model_type {kind!r}, hidden_act "
                f"{encoder.config.get('hidden_act')!r} is not read; known are bert, electra, "
                "roberta, xlm-roberta, t5, in their usual form"
            )
        own = {"benepar", "_name_or_path", "architectures", "task_specific_params", "torch_dtype"}
        settings = {key: value for key, value in encoder.config.items() if key not in own}
        encoder = encoder._replace(config=settings)
        state |= transformer_state(given, "pretrained_model.", encoder)
        reading["pieces"] = {
            "running": True,
            "padding": padding_of(settings),
            "window": _window(encoder),
            # T5 has a decoder, whose states are shifted by a piece
            "shift": int(kind == "t5"),
        }
    else:
        raise ValueError("it reads neither characters nor a pretrained encoder")
    positions = hparams["encoder_max_len"]
    layers = EncoderSettings(
        heads=0,
        self_attention_layers=hparams["num_layers"] if attends else 0,
        self_attention_heads=hparams["num_heads"],
        self_attention_key_width=hparams["d_kv"],
        feed_forward_width=hparams["d_ff"],
        partition_width=width // 2 if attends else None,
    )
    one_root = hparams.get("force_root_constituent", True)
    tags = _in_order(config, "tag_vocab") if hparams["predict_tags"] else []
    return published_pipeline(
        weights,
        "benepar",
        state,
        reading,
        outputs={"labels": labels[1:], "tags": tags},
        encoder=encoder,
        network={
            "encoder": layers,
            "hidden_width": hparams["d_label_hidden"],
            "tag_width": hparams["d_tag_hidden"] if tags else None,
        },
        input_encoder={"width": width, "parts": parts, "cyclic": False},
        config={
            "objective": {"@misc": f"spacy-lal.margin_objective.v{2 if one_root else 1}"},
            "decoder": {"@misc": "spacy-lal.map_decoder.v1"},
            "max_sentence_length": min(LONGEST, positions - 2) if attends else LONGEST,
        },
        **options,
    )


def _attention(name: str, value: Tensor) -> dict[str, Tensor]:
    """Return self-attention parameters by their names in this package's network."""
    match = ATTENTION.fullmatch(name)
    assert match is not None
    layer, kind, part = match[1], match[2], "cp".index(match[3]) + 1
    ours = f"encoder.attention_layers.{layer}"
    if kind == "o":
        # [heads, d_value, d] -> [d, heads * d_value]
        return {f"{ours}.proj{part}.weight": value.flatten(0, 1).T}
    # [heads, d, 3, d_key]
    return {f"{ours}.w_{which}s{part}": value[:, :, k] for k, which in enumerate("qkv")}


def _in_order(config: Json, name: str) -> list[str]:
    vocabulary: Mapping[str, int] = config[name]
    names = sorted(vocabulary, key=lambda key: vocabulary[key])
    if [vocabulary[n] for n in names] != list(range(len(names))):
        raise ValueError(f"{name} does not number its {len(names)} names from 0")
    return names


def _window(encoder: EncoderFolder) -> int:
    """Return the most pieces, special ones included, that the encoder reads at once."""
    limits = []
    if (encoder.path / "tokenizer_config.json").is_file():
        limits.append(read_json(encoder.path / "tokenizer_config.json").get("model_max_length"))
    if "max_position_embeddings" in encoder.config:
        limits.append(encoder.config["max_position_embeddings"] - first_position(encoder.config))
    # no limit is stored as 1e30
    return min([int(limit) for limit in limits if limit and limit < 1e6], default=WINDOW)
