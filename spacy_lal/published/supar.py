"""Parsers of supar: constituents (Zhang et al. 2020), heads (Dozat and Manning 2017)."""

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from spacy.language import Language
from torch import Tensor

from ..layers.biaffine_spans import BiaffineSpanSettings
from ..layers.dependency_scorer import DependencySettings
from ..layers.label_attention import EncoderSettings
from .imported import biaffine, converting, published_pipeline, renamed
from .network import Format
from .restricted import Inert, read_checkpoint
from .transformer import FAST, EncoderFolder, read_encoder, transformer_state

Values = dict[str, Any]
State = dict[str, Tensor]
FORMATS: dict[str, Format] = {
    "crf-constituency": "supar-constituency",
    "biaffine-dependency": "supar-dependency",
}
"""Supported formats, by supar's architecture names."""
CLASSES = [
    f"supar.utils.{name}"
    for name in (
        *("config.Config", "vocab.Vocab", "transform.Tree", "transform.CoNLL"),
        *("field.RawField", "field.Field", "field.SubwordField", "field.ChartField"),
    )
]
"""Classes in the pickle whose objects are read as data."""
FUNCTIONS = [
    *("dill.", "builtins.getattr", "transformers.", "tokenizers."),
    *("supar.utils.transform.__dict__", "supar.utils.transform.CoNLL.get_arcs"),
]
"""supar's functions on trees and text, unused here."""
ABOVE = ("span_mlp_l.linear.weight", "arc_mlp_h.linear.weight")
"""Names of parameters that read the encoder's rows."""
BINARISED = ("|<>", "*")
"""Ends of labels that binarisation makes, which are read as empty."""
NEVER = -1e4
"""Score of the label "none", which supar lacks."""
POSITIONS = 2
"""Positions of a transformer that supar leaves empty."""


def read_supar(checkpoint: Path, encoder: Path | None = None, lang: str = "en") -> Language:
    """Return a pipeline with `lal_constituency` or `lal_dependency`, from a file of supar.
    encoder: folder with config.json and tokenizer.json of the model's transformer, if any.
    Raises ValueError, naming the file, for another format or an unsupported model."""
    with converting("supar 1.1", checkpoint, encoder):
        return _convert(checkpoint, encoder, lang)


def _convert(checkpoint: Path, folder: Path | None, lang: str) -> Language:
    saved = dict(read_checkpoint(checkpoint, CLASSES, FUNCTIONS))
    name, args = saved["name"], dict(vars(saved["args"]))
    fields = _fields(saved["transform"])
    given: State = dict(saved["state_dict"])
    if saved["pretrained"] is not None:
        given["pretrained.weight"] = saved["pretrained"]
    if name not in FORMATS:
        raise ValueError(
            f"{checkpoint}: the architecture is {name!r}; {', '.join(FORMATS)} can be read"
        )
    kind = args["encoder"]
    if kind not in ("lstm", "bert"):
        raise ValueError(f"{checkpoint}: the encoder is {kind!r}, not 'lstm' or 'bert'")
    feat: list[str] = (args["feat"] or []) if kind == "lstm" else ["bert"]
    for unknown in ("elmo", "lemma"):
        if unknown in feat:
            raise ValueError(f"{checkpoint}: it reads {unknown!r}, which can't be read here")
    state = renamed(given, {})
    reading: dict[str, Any] = {}
    parts: list[str] = []
    stop = bool(fields["words"].get("eos"))
    width = next(given[name] for name in ABOVE if name in given).shape[1]
    settings: dict[str, Any] = {"width": width, "parts": parts, "side_by_side": True, "stop": stop}
    if kind == "lstm":
        parts.append("words")
        reading["words"] = _table(fields["words"])
        settings["unknown"] = args["unk_index"]
    if "tag" in feat:
        parts.append("tags")
        reading["tags"] = _table(fields["tags"])
    if "char" in feat:
        parts.append("characters")
        reading["characters"] = _table(fields["chars"])
        reading["characters"]["most"] = fields["chars"]["fix_len"] or None
    encoder = None
    if "bert" in feat:
        parts.append("pieces")
        encoder = read_encoder(checkpoint, folder)
        field = fields["words" if kind == "bert" else "bert"]
        _same_pieces(checkpoint, field["vocab"], encoder)
        prefix = "encoder.bert." if kind == "bert" else "bert_embed.bert."
        state |= transformer_state(given, prefix, encoder)
        settings["pooling"] = args.get("bert_pooling", "mean")
        before, behind = (
            [encoder.number(field[k])] if field.get(k) else [] for k in ("bos", "eos")
        )
        limit = max(0, encoder.config.get("max_position_embeddings") or 0)
        reading["pieces"] = {
            "padding": encoder.number(field["pad"]),
            "window": limit - POSITIONS if limit else None,
            "before": before,
            "behind": behind,
            "unknown": encoder.number(field["unk"]),
            "most": field["fix_len"] or None,
            "space": field.get("fn") is not None,
        }
    above = _spans if name == "crf-constituency" else _arcs
    return published_pipeline(
        checkpoint,
        FORMATS[name],
        reading=reading,
        encoder=encoder,
        input_encoder=settings,
        lang=lang,
        **above(state, given, fields, args),
    )


def _fields(transform: Inert) -> dict[str, Values]:
    found: dict[str, Values] = {}
    for value in vars(transform).values():
        for field in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(field, Inert) and isinstance(vars(field).get("name"), str):
                found[vars(field)["name"]] = vars(field)
    return found


def _spans(state: State, given: State, fields: dict[str, Values], args: Values) -> Values:
    labels = [label or "" for label in vars(fields["charts"]["vocab"])["itos"]]
    of_labels = given["label_attn.weight"]
    # the first label stands for none
    whole = torch.cat([torch.zeros_like(of_labels[:1]), of_labels])
    whole[0, -1, -1] = NEVER
    # [l;1]^T W r, and [l;1]^T W [r;1]
    state = state | biaffine("spans.product", F.pad(given["span_attn.weight"], (0, 1)))
    state |= biaffine("labels.product", whole)
    widths = (len(given[f"{kind}_mlp_l.linear.bias"]) for kind in ("span", "label"))
    return {
        "state": state,
        "outputs": {"labels": ["" if la.endswith(BINARISED) else la for la in labels]},
        "network": {"encoder": EncoderSettings(heads=0), "spans": BiaffineSpanSettings(*widths)},
        "config": {"decoder": {"@misc": "spacy-lal.mbr_decoder.v1", "threshold": None}},
    }


def _arcs(state: State, given: State, fields: dict[str, Values], args: Values) -> Values:
    arcs, of_relations = given["arc_attn.weight"], given["rel_attn.weight"]
    arcs = arcs / arcs.shape[-1] ** args.get("scale", 0)
    # supar's left side is the dependent, here the head: [d;1]^T W h
    state = state | biaffine("dependencies.arc", F.pad(arcs, (0, 1)).transpose(1, 2))
    state |= biaffine("dependencies.relation", of_relations.transpose(1, 2))
    arc_width, width = (len(given[f"{kind}_mlp_h.linear.bias"]) for kind in ("arc", "rel"))
    layers, dependencies = EncoderSettings(heads=0), DependencySettings(arc_width, width)
    return {
        "state": state,
        "outputs": {"relations": list(vars(fields["rels"]["vocab"])["itos"])},
        "network": {"encoder": layers, "dependencies": dependencies},
        "config": {"decoder": "nonprojective"},
    }


def _table(field: Values) -> Values:
    """Return a field's vocabulary as settings of a `Table`."""
    vocabulary = vars(field["vocab"])
    values = list(vocabulary["itos"])
    return {
        "values": values,
        "unknown": vocabulary["unk_index"],
        "start": values.index(field["bos"]),
        "stop": values.index(field["eos"]) if field.get("eos") else None,
        "lower": bool(field.get("lower")),
    }


def _same_pieces(checkpoint: Path, vocabulary: dict[str, int], encoder: EncoderFolder) -> None:
    """Raise ValueError if the folder's vocabulary differs from the checkpoint's."""
    found = encoder.tokenizer.get_vocab()
    if found != vocabulary:
        differs = sorted(found.items() ^ vocabulary.items(), key=str)
        raise ValueError(
            f"{encoder.path / FAST}: its {len(found)} pieces are not the {len(vocabulary)} of "
            f"{checkpoint.name}: {differs[0][0]!r} differs"
        )
