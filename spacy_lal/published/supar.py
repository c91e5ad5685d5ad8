"""supar's parsers (`crf-constituency` of Zhang et al. 2020, `biaffine-dependency` of Dozat and
Manning 2017), from the files that its `save` writes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..layers.released import lstm_name
from .imported import Imported
from .released import check_rows, converting, released_pipeline
from .restricted import Inert, read_checkpoint
from .transformer import EncoderFolder, read_encoder, transformer_state

FORMATS = {"crf-constituency": "supar-constituency", "biaffine-dependency": "supar-dependency"}
"""What can be read, by supar's names of its architectures."""
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
"""What reads trees and text there; here something else does."""
BINARISED = ("|<>", "*")
"""What labels of nothing end in."""
NEVER = -1e4
"""The score of the label that no span has: supar's are all among the others."""
POSITIONS = 2
"""A transformer's positions that supar leaves empty."""


def read_supar(checkpoint: Path, encoder: Path | None = None, lang: str = "en") -> Imported:
    """A pipeline with `lal_constituency` or `lal_dependency`, from a file of supar's.

    encoder: the folder of config.json and tokenizer.json, of a model that has a transformer.
    Raises ValueError, naming the file, if it is none, or one that can't be read as supar does.
    """
    state = read_checkpoint(checkpoint, CLASSES, FUNCTIONS)
    try:
        if not isinstance(state, dict):
            raise TypeError(f"it holds {type(state).__name__}")
        name = state["name"]
        args, transform = dict(vars(state["args"])), dict(vars(state["transform"]))
        given: dict[str, Tensor] = dict(state["state_dict"])
        if state["pretrained"] is not None:
            given["pretrained.weight"] = state["pretrained"]
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{checkpoint}: not a file of supar's: {error!r}") from error
    if name not in FORMATS:
        raise ValueError(
            f"{checkpoint}: the architecture is {name!r}; {', '.join(FORMATS)} can be read"
        )
    with converting("supar 1.1", checkpoint, encoder):
        header, tensors = _convert(
            checkpoint, FORMATS[name], args, _fields(transform), given, encoder
        )
    config: dict[str, Any] = {}
    if name == "crf-constituency":
        factory = "lal_constituency"
        config["decoder"] = {"@misc": "spacy-lal.mbr_decoder.v1", "threshold": None}
    else:
        factory = "lal_dependency"
        config["decoder"] = "nonprojective"
    nlp = released_pipeline(lang, factory, config, header, tensors, checkpoint)
    return Imported(nlp, "supar", checkpoint)


def _fields(transform: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The attributes of all fields, by their names."""
    found: dict[str, dict[str, Any]] = {}
    for value in transform.values():
        for field in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(field, Inert) and isinstance(vars(field).get("name"), str):
                found[vars(field)["name"]] = vars(field)
    return found


def _convert(
    checkpoint: Path,
    format: str,
    args: dict[str, Any],
    fields: dict[str, dict[str, Any]],
    given: dict[str, Tensor],
    folder: Path | None,
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header, and the parameters by the names of its network."""
    feat = args["feat"] if args["encoder"] == "lstm" else []
    for unknown in ("elmo", "lemma"):
        if unknown in (feat or ()):
            raise ValueError(f"{checkpoint}: it reads {unknown!r}, which can't be read here")
    if args["encoder"] not in ("lstm", "bert"):
        raise ValueError(f"{checkpoint}: the encoder is {args['encoder']!r}, not 'lstm' or 'bert'")
    pieces = {"bert": "words"} if args["encoder"] == "bert" else {"bert": "bert"}
    has_transformer = args["encoder"] == "bert" or "bert" in feat
    encoder = read_encoder(checkpoint, folder) if has_transformer else None
    header: dict[str, Any] = {
        "format": format,
        "labels": [],
        "tags": [],
        "relations": [],
        "tokenizer": encoder.tokenizer if encoder else None,
        "transformer": encoder.config if encoder else None,
        "reading": {},
        "settings": {},
    }
    state: dict[str, Tensor] = {}
    rows: dict[str, Any] = {}
    sizes: dict[str, Any] = {"rows": rows, "d_hidden": 0, "depth": 0, "unknown": 0}
    header["sizes"] = sizes

    def take(theirs: str, ours: str) -> tuple[int, ...]:
        """All parameters below a name; the shape of its weight."""
        for name in [n for n in given if n.startswith(f"{theirs}.")]:
            state[ours + name.removeprefix(theirs)] = given[name]
        return tuple(given[f"{theirs}.weight"].shape)

    parts = "rows.parts"
    if args["encoder"] == "lstm":
        words, vocabulary = fields["words"], vars(fields["words"]["vocab"])
        rows["words"] = take("word_embed", f"{parts}.words")
        check_rows(checkpoint, "word_embed.weight", rows["words"][0], vocabulary["n_init"], "words")
        header["reading"]["words"] = _table(words)
        sizes["unknown"] = args["unk_index"]
        if "pretrained.weight" in given:
            rows["pretrained"] = take("pretrained", f"{parts}.pretrained")
            found = rows["pretrained"][0]
            check_rows(checkpoint, "pretrained", found, len(vocabulary["itos"]), "words")
            if args["n_embed"] != args["n_pretrained"]:
                width = take("embed_proj", f"{parts}.pretrained_projection")[0]
                rows["pretrained_width"] = width
        if "tag" in feat:
            rows["tags"] = take("tag_embed", f"{parts}.tags")
            header["reading"]["tags"] = _table(fields["tags"])
            n_tags = len(header["reading"]["tags"]["values"])
            check_rows(checkpoint, "tag_embed.weight", rows["tags"][0], n_tags, "tags")
        if "char" in feat:
            rows["characters"] = take("char_embed.embed", f"{parts}.characters.embedding")
            table = _table(fields["chars"]) | {"most": fields["chars"]["fix_len"] or None}
            header["reading"]["characters"] = table
            n_characters = len(table["values"])
            check_rows(checkpoint, "char_embed", rows["characters"][0], n_characters, "characters")
            rows["character_hidden"] = given["char_embed.lstm.weight_hh_l0"].shape[1]
            for name in [n for n in given if n.startswith("char_embed.lstm.")]:
                ours = lstm_name(name.removeprefix("char_embed.lstm."))
                state[f"{parts}.characters.lstm.{ours}"] = given[name]
            if "char_embed.projection.weight" in given:
                width = take("char_embed.projection", f"{parts}.character_projection")[0]
                rows["character_width"] = width
        sizes["d_in"] = given["encoder.f_cells.0.weight_ih"].shape[1]
        sizes["d_hidden"] = given["encoder.f_cells.0.weight_hh"].shape[1]
        while f"encoder.f_cells.{sizes['depth']}.weight_ih" in given:
            depth = sizes["depth"]
            for theirs, direction in (("f_cells", "ahead"), ("b_cells", "back")):
                for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                    ours = f"rows.lstm.{direction}.{depth}.{kind}_l0"
                    state[ours] = given[f"encoder.{theirs}.{depth}.{kind}"]
            sizes["depth"] += 1
    if encoder is not None:
        start = "encoder" if args["encoder"] == "bert" else "bert_embed"
        field = fields[pieces["bert"]]
        _same_pieces(checkpoint, field["vocab"], encoder)
        inside = transformer_state(given, f"{start}.bert.", encoder, checkpoint)
        state |= {f"{parts}.pieces.transformer.{n}": t for n, t in inside.items()}
        for name in ("weights", "gamma"):
            state[f"{parts}.pieces.mix.{name}"] = given[f"{start}.scalar_mix.{name}"]
        rows["layers"] = len(given[f"{start}.scalar_mix.weights"])
        rows["pooling"] = args.get("bert_pooling", "mean")
        rows["limit"] = max(0, encoder.config.get("max_position_embeddings") or 0) or None
        if rows["limit"]:
            rows["limit"] -= POSITIONS
        if f"{start}.projection.weight" in given:
            width = take(f"{start}.projection", f"{parts}.pieces.projection")[0]
            rows["piece_width"] = width
        around = [[encoder.number(field[k])] if field.get(k) else [] for k in ("bos", "eos")]
        header["reading"]["pieces"] = {
            "before": around[0],
            "behind": around[1],
            "unknown": encoder.number(field["unk"]),
            "padding": encoder.number(field["pad"]),
            "most": field["fix_len"] or None,
            "space": field.get("fn") is not None,
        }
        sizes.setdefault(
            "d_in",
            rows.get("piece_width")
            or given[f"{start}.bert.embeddings.word_embeddings.weight"].shape[1],
        )
    if format == "supar-constituency":
        _take_spans(checkpoint, header, state, given, fields["charts"])
    else:
        _take_arcs(checkpoint, header, state, given, fields["rels"], args.get("scale", 0))
    return header, state


def _take_spans(
    checkpoint: Path,
    header: dict[str, Any],
    state: dict[str, Tensor],
    given: dict[str, Tensor],
    charts: dict[str, Any],
) -> None:
    labels = [label or "" for label in vars(charts["vocab"])["itos"]]
    header["labels"] = ["" if label.endswith(BINARISED) else label for label in labels]
    for kind in ("span", "label"):
        for side, ours in (("l", "left"), ("r", "right")):
            for what in ("weight", "bias"):
                theirs = given[f"{kind}_mlp_{side}.linear.{what}"]
                state[f"{kind}s.views.{ours}.{what}"] = theirs
        header["settings"][f"n_{kind}_mlp"] = len(given[f"{kind}_mlp_l.linear.bias"])
    spans, of_labels = given["span_attn.weight"], given["label_attn.weight"]
    check_rows(checkpoint, "label_attn.weight", len(of_labels), len(labels), "labels")
    zero = spans.new_zeros(1)
    # [l;1]^T W r, and [l;1]^T W [r;1]
    state |= {
        "spans.product.bilinear": spans[:, :-1],
        "spans.product.left": torch.zeros_like(spans[:, :-1, 0]),
        "spans.product.right": spans[:, -1],
        "spans.product.bias": zero,
    }
    # before all labels that of a span which has none
    whole = torch.cat([torch.zeros_like(of_labels[:1]), of_labels])
    whole[0, -1, -1] = NEVER
    state |= _biaffine("labels.product", whole)


def _take_arcs(
    checkpoint: Path,
    header: dict[str, Any],
    state: dict[str, Tensor],
    given: dict[str, Tensor],
    relations: dict[str, Any],
    scale: float,
) -> None:
    header["relations"] = list(vars(relations["vocab"])["itos"])
    for theirs, kind in (("arc", "arc"), ("rel", "relation")):
        for side, ours in (("h", "head"), ("d", "dependent")):
            for what in ("weight", "bias"):
                taken = given[f"{theirs}_mlp_{side}.linear.{what}"]
                state[f"dependencies.{kind}_{ours}.{what}"] = taken
        header["settings"][f"n_{theirs}_mlp"] = len(given[f"{theirs}_mlp_h.linear.bias"])
    arcs, of_relations = given["arc_attn.weight"], given["rel_attn.weight"]
    check_rows(
        checkpoint, "rel_attn.weight", len(of_relations), len(header["relations"]), "relations"
    )
    # supar's left side is the dependent, ours the head: [d;1]^T W h
    arcs = arcs / arcs.shape[-1] ** scale
    state |= {
        "dependencies.arc.bilinear": arcs[:, :-1].transpose(1, 2),
        "dependencies.arc.left": arcs[:, -1],
        "dependencies.arc.right": torch.zeros_like(arcs[:, :-1, 0]),
        "dependencies.arc.bias": arcs.new_zeros(1),
    }
    state |= _biaffine("dependencies.relation", of_relations.transpose(1, 2))


def _biaffine(ours: str, whole: Tensor) -> dict[str, Tensor]:
    """W of [x;1]^T W_o [y;1], its last row and column named."""
    return {
        f"{ours}.bilinear": whole[:, :-1, :-1],
        f"{ours}.left": whole[:, :-1, -1],
        f"{ours}.right": whole[:, -1, :-1],
        f"{ours}.bias": whole[:, -1, -1],
    }


def _table(field: dict[str, Any]) -> dict[str, Any]:
    """A field's vocabulary, as `Table` has it."""
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
    """Raise ValueError if the folder's tokenizer has another vocabulary than the checkpoint."""
    from ..encoders.word_pieces import Tokenizer

    found = Tokenizer.from_str(encoder.tokenizer).get_vocab(with_added_tokens=True)
    if found != vocabulary:
        differs = sorted(found.items() ^ vocabulary.items(), key=str)
        raise ValueError(
            f"{encoder.path / 'tokenizer.json'}: its {len(found)} pieces are not the "
            f"{len(vocabulary)} of {checkpoint.name}: {differs[0][0]!r} differs"
        )
