"""The released parser of Mrini et al. (2020), from the .pt file of its training."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from torch import Tensor

from ..layers.dependency_scorer import DependencySettings
from ..layers.label_attention import EncoderSettings
from ..structure.binarise import JOIN
from .imported import biaffine, character_table, converting, published_pipeline, renamed
from .input_encoder import NAME
from .restricted import read_checkpoint
from .transformer import FAST, EncoderFolder, read_encoder, transformer_state

CLASSES = ["vocabulary.Vocabulary", "makehp.HParams"]
"""Classes in the pickle whose objects are read as data."""
START, STOP, UNKNOWN, UNKNOWN_TAG = "<START>", "<STOP>", "<UNK>", "UNK"
"""Words and tags of the vocabularies outside any text."""
DEFAULTS = {"lal_d_kv": 64, "lal_d_proj": 64, "const_lada": 0.5}
"""Hyperparameters that older files lack; all others are False then."""
UNREAD = ("use_elmo", "use_bert_only", "use_roberta", "bert_transliterate")
"""Hyperparameters of unsupported variants."""
SPECIAL = {
    "bert": {"cls": "[CLS]", "sep": "[SEP]", "unk": "[UNK]", "pad": "[PAD]"},
    "xlnet": {"cls": "<cls>", "sep": "<sep>", "unk": "<unk>", "pad": "<pad>"},
}
"""Special pieces, by transformer."""


def network_state(given: Mapping[str, Tensor], n_layers: int, **more: str) -> dict[str, Tensor]:
    """Return parameters above the input, by their names in this package's network.
    n_layers: number of self-attention layers; that index is the Label Attention Layer and its
        feed-forward layer. more: other names."""
    names = {
        rf"encoder\.attn_{n_layers}\.(.+)": r"encoder.label_attention.\1",
        rf"encoder\.ff_{n_layers}\.(.+)": r"encoder.label_feed_forward.\1",
    }
    state = renamed(given, names | more)
    # [h;1]^T W [c;1]
    return state | biaffine(
        "dependencies.arc", given["dep_score.attention.dep_weight"].unsqueeze(0)
    )


def read_lal_parser(checkpoint: Path, encoder: Path | None = None, lang: str = "en") -> Language:
    """Return a pipeline with `lal_constituency` that finds constituents and heads together.

    encoder: folder with config.json and tokenizer.json of the file's XLNet or BERT.
    Raises ValueError, naming the file, for another format, or a variant that the released code
    can't run or this package has no layers for.
    """
    with converting("the LAL parser", checkpoint, encoder):
        return _convert(checkpoint, encoder, lang)


def _convert(checkpoint: Path, folder: Path | None, lang: str) -> Language:
    saved = dict(read_checkpoint(checkpoint, CLASSES))
    spec, given = saved["spec"], dict(saved["state_dict"])
    hparams: defaultdict[str, Any] = defaultdict(bool, DEFAULTS | spec["hparams"])
    used = [name for name in UNREAD if hparams[name]]
    used += ["pretrain_emb"] if "embedding.pretrain_emb.weight" in given else []
    if used:
        raise ValueError(f"{checkpoint}: it was trained with {used[0]}, which can't be read")
    if hparams["use_bert"] and hparams["use_xlnet"]:
        raise ValueError(f"{checkpoint}: it has both BERT and XLNet, and one can be read")
    values = {
        kind: list(vars(spec[f"{kind}_vocab"])["values"])
        for kind in ("tag", "word", "label", "char", "type")
    }
    parts = [kind for kind in ("tags", "words") if hparams[f"use_{kind}"]]
    names = {
        rf"embedding\.embs\.{number}\.weight": f"{NAME}{kind}.weight"
        for number, kind in enumerate(parts)
    }
    reading: dict[str, Any] = {}
    if "tags" in parts:
        unknown = UNKNOWN_TAG if UNKNOWN_TAG in values["tag"] else values["tag"][0]
        reading["tags"] = _table(values["tag"], unknown)
    if "words" in parts:
        counts = vars(spec["word_vocab"])["counts"]
        known = [word if counts.get(word) else None for word in values["word"]]
        reading["words"] = _table(values["word"], UNKNOWN) | {"values": known, "escape": True}
    transformer = "xlnet" if hparams["use_xlnet"] else "bert" if hparams["use_bert"] else None
    encoder = None
    state: dict[str, Tensor] = {}
    if hparams["use_chars_lstm"]:
        # the transformer's output is ignored then, here too
        parts.append("characters")
        reading["characters"] = character_table(values["char"]) | {"escape": True}
    elif transformer is not None:
        parts.append("pieces")
        names[rf"project_{transformer}\.weight"] = f"{NAME}piece_projection.weight"
        encoder = read_encoder(checkpoint, folder)
        _same_case(checkpoint, encoder, hparams[f"{transformer}_do_lower_case"])
        state = transformer_state(given, f"{transformer}.", encoder)
        special = {name: encoder.number(piece) for name, piece in SPECIAL[transformer].items()}
        before, behind = [special["cls"]], [special["sep"]]
        if transformer == "xlnet" and hparams["pad_left"]:
            # rows are then off by one: START is the first word's, STOP the last piece's
            before, behind = [], [special["sep"], special["cls"]]
        limit = encoder.config.get("max_position_embeddings")
        reading["pieces"] = {
            "padding": special["pad"],
            "window": limit if transformer == "bert" else None,
            "before": before,
            "behind": behind,
            "unknown": special["unk"],
            "plain": True,
            "commas": transformer == "xlnet",
            "literal": transformer == "bert",
        }
    n_layers, partitioned = hparams["num_layers"], hparams["partitioned"]
    queries = f"encoder.attn_{n_layers}.w_qs"
    heads = given.get(queries, given.get(f"{queries}1")) if hparams["use_lal"] else None
    layers = EncoderSettings(
        heads=0 if heads is None else len(heads),
        key_width=hparams["lal_d_kv"],
        value_width=hparams["lal_d_kv"],
        projection_width=hparams["lal_d_proj"],
        self_attention_layers=n_layers,
        self_attention_heads=hparams["num_heads"],
        self_attention_key_width=hparams["d_kv"],
        feed_forward_width=hparams["d_ff"],
        partition_width=hparams["d_model"] // 2 if partitioned else None,
        label_feed_forward=hparams["lal_pwff"],
        arrangement="stack",
        scale="model",
        query="matrix" if hparams["lal_q_as_matrix"] else "vector",
        combine="project" if hparams["lal_combine_as_self"] else "concatenate",
        residual_dropout=hparams["lal_resdrop"],
        label_partitioned=hparams["lal_partitioned"],
    )
    width = hparams["d_label_hidden"]
    dependencies = DependencySettings(hparams["d_biaffine"], width, "dependent", "fenceposts")
    return published_pipeline(
        checkpoint,
        "lal-parser",
        state | network_state(given, n_layers, **names),
        reading,
        outputs={
            "labels": [JOIN.join(label) for label in values["label"][1:]],
            "relations": values["type"],
        },
        encoder=encoder,
        network={"encoder": layers, "hidden_width": width, "dependencies": dependencies},
        input_encoder={
            "width": hparams["d_model"],
            "parts": parts,
            "side_by_side": hparams["use_cat"],
            "partitioned": partitioned,
            "unbiased": True,
        },
        config={
            "objective": {"@misc": "spacy-lal.margin_objective.v2"},
            "decoder": {"@misc": "spacy-lal.map_decoder.v1", "share": hparams["const_lada"]},
        },
        lang=lang,
    )


def _table(values: list[str], unknown: str) -> dict[str, Any]:
    return {
        "values": values,
        "unknown": values.index(unknown),
        "start": values.index(START),
        "stop": values.index(STOP),
    }


def _same_case(checkpoint: Path, encoder: EncoderFolder, lower: bool) -> None:
    """Raise ValueError if the folder's tokenizer and the checkpoint's differ in lower-casing."""
    normalizer = encoder.tokenizer.normalizer
    lowers = normalizer is not None and normalizer.normalize_str("A") == "a"
    if lowers != bool(lower):
        does = {True: "lowers", False: "keeps"}
        raise ValueError(
            f"{encoder.path / FAST}: it {does[lowers]} case, and that of {checkpoint.name} "
            f"{does[bool(lower)]} it"
        )
