"""Vocabularies of pretrained encoders, cut to the pieces that text of a language uses."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from spacy.tokens import Doc
from spacy.util import minibatch
from torch import Tensor

from .hugging_face import first_position, padding_of
from .word_pieces import METASPACE, Tokenizer, WordPieces, special_pieces

Json = dict[str, Any]
EMBEDDINGS = "embeddings.word_embeddings.weight"
"""The vectors of pieces in `Bert` [pieces, d]."""
COMMON = 0.001
"""Least share of a text's characters for a script whose single characters are all kept."""
BYTE = re.compile("<0x[0-9A-F]{2}>")
"""Pieces of bytes, of which unknown characters consist."""
BATCH = 256
"""Docs that are read together."""


def unigram_tokenizer(pieces: list[tuple[str, float]], special: dict[str, int]) -> Json:
    """Returns the contents of a tokenizer.json for a unigram model of sentencepiece as in XLM-R.

    pieces: with the logarithms of their probabilities. special: ids of the pieces that begin and
    end a text, of padding, and of unknown text, in this order.
    """
    begin, end, _, unknown = special
    return {
        "version": "1.0",
        "added_tokens": [
            {"id": number, "content": piece, "special": True}
            | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
            for piece, number in sorted(special.items(), key=lambda item: item[1])
        ],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}]},
        "pre_tokenizer": METASPACE,
        "post_processor": {
            "type": "RobertaProcessing",
            "sep": [end, special[end]],
            "cls": [begin, special[begin]],
            "trim_offsets": True,
            "add_prefix_space": False,
        },
        "model": {"type": "Unigram", "unk_id": special[unknown], "vocab": pieces},
    }


def as_text(parts: Json) -> None:
    """Changes a unigram tokenizer, the contents of a tokenizer.json, to read a word with the space
    before it, as it reads a text. Raises ValueError for a pre-tokenizer other than XLM-R's."""
    if kind_of(parts["model"]) != "Unigram":
        return
    before = parts.get("pre_tokenizer") or {}
    steps = [step["type"] for step in before.get("pretokenizers", [before])]
    if steps not in (["Metaspace"], ["WhitespaceSplit", "Metaspace"]):
        raise ValueError(f"a unigram tokenizer with the pre-tokenizer {steps} can't be read")
    parts["pre_tokenizer"] = METASPACE


def cut_vocabulary(
    config: Json,
    tokenizer: str,
    tensors: dict[str, Tensor],
    docs: Iterable[Doc],
    *,
    compounds: bool = False,
) -> tuple[Json, str, dict[str, Tensor]]:
    """Returns the transformer with only those pieces that Docs use, single characters of their
    scripts, and special pieces; the Docs' pieces stay the same.

    config, tokenizer: the contents of config.json and tokenizer.json. compounds: the setting of
    `spacy-lal.PretrainedEncoder.v1`. Raises ValueError for a tokenizer of another kind than Unigram
    and WordPiece, and for Docs without words.
    """
    parts: Json = json.loads(tokenizer)
    model = parts["model"]
    kind = kind_of(model)
    if kind not in ("Unigram", "WordPiece"):
        raise ValueError(f"a vocabulary of {kind} can't be cut, only of Unigram and WordPiece")
    pieces = Tokenizer.from_str(tokenizer)
    count = len(tensors[EMBEDDINGS])
    names = {number: name for name, number in pieces.get_vocab().items() if number < count}
    used, scripts = _used(WordPieces(tokenizer, compounds), docs)
    special = special_pieces(pieces)
    used |= {*special.before, *special.behind, padding_of(config)}
    used |= {added["id"] for added in parts.get("added_tokens", ())}
    unknown = model["unk_id"] if kind == "Unigram" else pieces.token_to_id(model["unk_token"])
    used |= set() if unknown is None else {unknown}
    inner = model.get("continuing_subword_prefix", "##")
    used |= {number for number, name in names.items() if _is_single(name, inner, scripts)}
    kept = sorted(used & names.keys())
    new = {number: position for position, number in enumerate(kept)}
    if kind == "Unigram":
        # added pieces may follow those of the model
        model["vocab"] = [model["vocab"][k] for k in kept if k < len(model["vocab"])]
        model["unk_id"] = None if unknown is None else new[unknown]
    else:
        model["vocab"] = {name: new[k] for name, k in model["vocab"].items() if k in new}
    parts["added_tokens"] = [
        added | {"id": new[added["id"]]}
        for added in parts.get("added_tokens", ())
        if added["id"] in new
    ]
    _renumber(parts.get("post_processor"), new)
    changed = config | {"vocab_size": len(kept), "pad_token_id": new[padding_of(config)]}
    if first_position(changed) != first_position(config):
        raise ValueError("its positions are counted from the padding piece, whose id would change")
    vectors = {EMBEDDINGS: tensors[EMBEDDINGS][torch.tensor(kept)].clone()}
    return changed, json.dumps(parts, ensure_ascii=False), tensors | vectors


def kind_of(model: Json) -> str:
    """Returns the kind of a tokenizer's model, which older files don't name."""
    known = "Unigram" if isinstance(model["vocab"], list) else "WordPiece"
    return str(model.get("type") or ("BPE" if "merges" in model else known))


def _used(pieces: WordPieces, docs: Iterable[Doc]) -> tuple[set[int], set[str]]:
    """Returns the pieces of Docs, and their common scripts. Raises ValueError without any."""
    used: set[int] = set()
    characters: Counter[str] = Counter()
    for batch in minibatch(docs, BATCH):
        used.update(pieces.of_docs(batch, most=10**9)[0].tolist())
        for doc in batch:
            characters.update(doc.text)
    if not used:
        raise ValueError("the text has no words")
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        scripts[_script(character)] += count
    least = COMMON * characters.total()
    return used, {script for script, count in scripts.items() if count >= least}


def _script(character: str) -> str:
    """Returns the first word of a character's name, such as LATIN; "" for one without a name."""
    return unicodedata.name(character, "").partition(" ")[0]


def _is_single(piece: str, inner: str, scripts: set[str]) -> bool:
    """Whether a piece is a character of these scripts, a byte, or the mark of a space. inner: the
    mark of pieces within words."""
    if piece == "▁" or BYTE.fullmatch(piece):
        return True
    character = piece.removeprefix("▁").removeprefix(inner)
    return len(character) == 1 and (character.isascii() or _script(character) in scripts)


def _renumber(value: Any, new: dict[int, int]) -> None:
    """Changes ids in a post-processor: pairs of a piece and its id, and lists `ids`."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key == "ids":
                value[key] = [new[number] for number in item]
            elif key in ("sep", "cls"):
                value[key] = [item[0], new[item[1]]]
            else:
                _renumber(item, new)
    elif isinstance(value, list):
        for item in value:
            _renumber(item, new)
