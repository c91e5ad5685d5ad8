"""The released parser of Mrini et al. (2020), from the .pt file that its training saves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from torch import Tensor

from ..bridge.tokenizers import Tokenizer
from ..layers.released import dependency_scorer_state, encoder_state, lstm_name, span_scorer_state
from ..structure.binarise import JOIN
from .imported import Imported
from .released import check_rows, converting, released_pipeline
from .restricted import read_checkpoint
from .transformer import EncoderFolder, read_encoder, transformer_state

CLASSES = ["vocabulary.Vocabulary", "makehp.HParams"]
"""Classes in the pickle whose objects are read as data."""
START, STOP, UNKNOWN, UNKNOWN_TAG = "<START>", "<STOP>", "<UNK>", "UNK"
"""Words and tags of the parser's vocabularies that stand for no word of the text."""
UNKNOWN_CHARACTER, START_SENTENCE, START_WORD, STOP_WORD, STOP_SENTENCE = "\0\1\2\3\4"
"""Characters of the parser's vocabulary that stand for no character of the text."""
DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("use_elmo", "use_bert", "use_bert_only", "use_xlnet", "use_roberta"), False),
    **dict.fromkeys(("use_lal", "lal_resdrop", "lal_pwff", "lal_partitioned"), False),
    **dict.fromkeys(("lal_q_as_matrix", "lal_combine_as_self", "use_cat", "pad_left"), False),
    **dict.fromkeys(("lal_d_kv", "lal_d_proj"), 64),
    **dict.fromkeys(("bert_do_lower_case", "xlnet_do_lower_case"), False),
    "bert_transliterate": "",
    "const_lada": 0.5,
}
"""Hyperparameters that older files lack."""
SETTINGS = (
    *("d_model", "partitioned", "use_cat", "num_layers", "num_heads", "d_kv", "d_ff"),
    *("lal_d_kv", "lal_d_proj", "lal_partitioned", "lal_q_as_matrix", "lal_combine_as_self"),
    *("lal_pwff", "lal_resdrop", "d_label_hidden", "d_biaffine"),
)
"""Hyperparameters that decide what the network is."""
BOUNDARY = 3
"""How many times the character of a sentence's start or end stands in its row."""
SPECIAL = {
    "bert": {"cls": "[CLS]", "sep": "[SEP]", "unk": "[UNK]", "pad": "[PAD]"},
    "xlnet": {"cls": "<cls>", "sep": "<sep>", "unk": "<unk>", "pad": "<pad>"},
}
"""Pieces that are no part of a word, by transformer."""


def read_lal_parser(checkpoint: Path, encoder: Path | None = None, lang: str = "en") -> Imported:
    """A pipeline with `lal_constituency` that finds constituents and heads together.

    encoder: the folder of config.json and tokenizer.json of the XLNet or BERT in the file.
    Raises ValueError, naming the file, if it is none of that parser's, or of a variant that its
    released code can't run or this package has no layers for.
    """
    state = read_checkpoint(checkpoint, CLASSES)
    try:
        if not isinstance(state, dict):
            raise TypeError(f"it holds {type(state).__name__}")
        spec, given = state["spec"], dict(state["state_dict"])
        hparams = DEFAULTS | spec["hparams"]
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"{checkpoint}: no file of the LAL parser: {error!r}") from error
    for name in ("use_elmo", "use_bert_only", "use_roberta", "bert_transliterate"):
        if hparams[name]:
            raise ValueError(f"{checkpoint}: it was trained with {name}, which can't be read here")
    if hparams["use_bert"] and hparams["use_xlnet"]:
        raise ValueError(f"{checkpoint}: it has both BERT and XLNet, and one can be read")
    with converting("the LAL parser", checkpoint, encoder):
        header, tensors = _convert(checkpoint, spec, hparams, given, encoder)
    config = {
        "objective": {"@misc": "spacy-lal.margin_objective.v2"},
        "decoder": {"@misc": "spacy-lal.map_decoder.v1", "share": hparams["const_lada"]},
    }
    nlp = released_pipeline(lang, "lal_constituency", config, header, tensors, checkpoint)
    return Imported(nlp, "lal-parser", checkpoint, _scores(checkpoint.stem))


def _convert(
    checkpoint: Path,
    spec: dict[str, Any],
    hparams: dict[str, Any],
    given: dict[str, Tensor],
    folder: Path | None,
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header, and the parameters by the names of its network."""
    values = {
        kind: list(vars(spec[f"{kind}_vocab"])["values"])
        for kind in ("tag", "word", "label", "char", "type")
    }
    n_layers = hparams["num_layers"]
    parts = "rows.parts"
    state = {f"encoder.{n}": t for n, t in encoder_state(given, n_layers).items()}
    state |= {f"scorer.{n}": t for n, t in span_scorer_state(given).items()}
    state |= {f"dependencies.{n}": t for n, t in dependency_scorer_state(given).items()}
    state["rows.positions"] = given["embedding.position_table"]
    for name in ("a_2", "b_2"):
        state[f"rows.layer_norm.{name}"] = given[f"embedding.layer_norm.{name}"]
    reading: dict[str, Any] = {}
    rows: dict[str, Any] = {}
    tables = [kind for kind in ("tags", "words") if hparams[f"use_{kind}"]]
    for number, kind in enumerate(tables):
        table = given[f"embedding.embs.{number}.weight"]
        check_rows(checkpoint, f"embedding.embs.{number}", len(table), len(values[kind[:-1]]), kind)
        state[f"{parts}.{kind}.weight"] = table
        rows[kind] = tuple(table.shape)
    if "tags" in tables:
        unknown = UNKNOWN_TAG if UNKNOWN_TAG in values["tag"] else values["tag"][0]
        reading["tags"] = _table(values["tag"], unknown)
    if "words" in tables:
        counts = vars(spec["word_vocab"])["counts"]
        known = [word if counts.get(word) else None for word in values["word"]]
        reading["words"] = _table(values["word"], UNKNOWN) | {"values": known, "escape": True}
    if "embedding.pretrain_emb.weight" in given:
        state[f"{parts}.pretrained.weight"] = given["embedding.pretrain_emb.weight"]
        rows["pretrained"] = tuple(given["embedding.pretrain_emb.weight"].shape)
    transformer = "xlnet" if hparams["use_xlnet"] else "bert" if hparams["use_bert"] else None
    encoder = None
    if hparams["use_chars_lstm"]:
        # what the transformer says is not read then, nor is it here
        table = given["char_encoder.emb.weight"]
        check_rows(checkpoint, "char_encoder.emb", len(table), len(values["char"]), "characters")
        state[f"{parts}.characters.embedding.weight"] = table
        for name in [n for n in given if n.startswith("char_encoder.lstm.")]:
            ours = lstm_name(name.removeprefix("char_encoder.lstm."))
            state[f"{parts}.characters.lstm.{ours}"] = given[name]
        rows["characters"] = tuple(table.shape)
        rows["character_hidden"] = given["char_encoder.lstm.weight_hh_l0"].shape[1]
        number_of = values["char"].index
        reading["characters"] = {
            "values": values["char"],
            "unknown": number_of(UNKNOWN_CHARACTER),
            "start": number_of(START_SENTENCE),
            "stop": number_of(STOP_SENTENCE),
            "escape": True,
            "around": ([number_of(START_WORD)], [number_of(STOP_WORD)]),
            "boundary": BOUNDARY,
        }
    elif transformer is not None:
        encoder = read_encoder(checkpoint, folder)
        _same_case(checkpoint, encoder, hparams[f"{transformer}_do_lower_case"])
        inside = transformer_state(given, f"{transformer}.", encoder, checkpoint)
        state |= {f"{parts}.pieces.transformer.{n}": t for n, t in inside.items()}
        state[f"{parts}.pieces.projection.weight"] = given[f"project_{transformer}.weight"]
        rows["piece_width"] = len(given[f"project_{transformer}.weight"])
        rows["limit"] = (
            encoder.config.get("max_position_embeddings") if transformer == "bert" else None
        )
        special = {name: encoder.number(piece) for name, piece in SPECIAL[transformer].items()}
        before, behind = [special["cls"]], [special["sep"]]
        if transformer == "xlnet" and hparams["pad_left"]:
            # the rows are off by one then: START is the first word's, and STOP the last piece's
            before, behind = [], [special["sep"], special["cls"]]
        reading["pieces"] = {
            "before": before,
            "behind": behind,
            "unknown": special["unk"],
            "padding": special["pad"],
            "plain": True,
            "commas": transformer == "xlnet",
            "literal": transformer == "bert",
        }
    queries = f"encoder.attn_{n_layers}.w_qs"
    heads = given.get(queries, given.get(f"{queries}1")) if hparams["use_lal"] else None
    labels = [JOIN.join(label) for label in values["label"][1:]]
    header = {
        "format": "lal-parser",
        "labels": labels,
        "tags": [],
        "relations": values["type"],
        "tokenizer": encoder.tokenizer if encoder else None,
        "transformer": encoder.config if encoder else None,
        "reading": reading,
        "settings": {name: hparams[name] for name in SETTINGS},
        "sizes": {
            "rows": rows,
            "positions": len(given["embedding.position_table"]),
            "label_heads": 0 if heads is None else len(heads),
        },
    }
    n_labels = len(given["f_label.3.weight"])
    check_rows(checkpoint, "f_label.3.weight", n_labels, len(labels), "labels")
    n_relations = len(given["dep_score.bilinear.bias"])
    check_rows(checkpoint, "dep_score.bilinear", n_relations, len(values["type"]), "relations")
    return header, state


def _table(values: list[str], unknown: str) -> dict[str, Any]:
    return {
        "values": values,
        "unknown": values.index(unknown),
        "start": values.index(START),
        "stop": values.index(STOP),
    }


def _same_case(checkpoint: Path, encoder: EncoderFolder, lower: bool) -> None:
    """Raise ValueError if the folder's tokenizer lowers case and the checkpoint's did not, or the
    other way round."""
    normalizer = Tokenizer.from_str(encoder.tokenizer).normalizer
    lowers = normalizer is not None and normalizer.normalize_str("A") == "a"
    if lowers != bool(lower):
        does = {True: "lowers", False: "keeps"}
        raise ValueError(
            f"{encoder.path / 'tokenizer.json'}: it {does[lowers]} case, and that of "
            f"{checkpoint.name} {does[bool(lower)]} it"
        )


def _scores(name: str) -> dict[str, float]:
    """The scores that the training wrote into the file's name."""
    kinds = {"dev": "const_evalb_f", "devuas": "dep_uas", "devlas": "dep_las"}
    found = re.findall(r"_(?:best_)?(dev\w*)=(\d+\.\d+)", name)
    return {kinds[kind]: float(value) / 100 for kind, value in found if kind in kinds}
