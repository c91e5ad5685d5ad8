"""Vocabularies of pretrained encoders, cut to the pieces that text of a language uses."""

import json
import unicodedata
from collections import Counter
from collections.abc import Iterable
from typing import Any

import torch
from spacy.tokens import Doc
from spacy.util import minibatch
from torch import Tensor

from .hugging_face import first_position, is_bert, padding_of
from .word_pieces import METASPACE, WordPieces

Json = dict[str, Any]
EMBEDDINGS = "embeddings.word_embeddings.weight"
"""The vectors of pieces in `Bert` [pieces, d]."""
COMMON = 0.001
"""Share of a text's characters from which a script's single characters stay."""
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
    `spacy-lal.PretrainedEncoder.v1`. A unigram model then reads a
    word with the space before it, as it reads a text. Raises ValueError for a tokenizer of another
    kind than Unigram and WordPiece, and for another transformer than `Bert`.
    """
    parts: Json = json.loads(tokenizer)
    model = parts["model"]
    kind = model.get("type", "WordPiece")
    if not is_bert(config) or kind not in ("Unigram", "WordPiece"):
        raise ValueError(
            f"a vocabulary of {kind} in a model of type {config.get('model_type')} can't be cut: "
            "only those of BERT and its kin, with Unigram or WordPiece"
        )
    if kind == "Unigram":
        parts["pre_tokenizer"] = METASPACE
        names = [piece for piece, _ in model["vocab"]]
    else:
        names = sorted(model["vocab"], key=model["vocab"].__getitem__)
    used, scripts = _used(WordPieces(json.dumps(parts), compounds), docs)
    used |= {added["id"] for added in parts["added_tokens"]}
    used |= {number for number, name in enumerate(names) if _is_single(name, scripts)}
    kept = sorted(number for number in used if number < len(tensors[EMBEDDINGS]))
    new = {number: position for position, number in enumerate(kept)}
    if kind == "Unigram":
        model["vocab"] = [model["vocab"][number] for number in kept]
        model["unk_id"] = new[model["unk_id"]]
    else:
        model["vocab"] = {names[number]: position for position, number in enumerate(kept)}
    for added in parts["added_tokens"]:
        added["id"] = new[added["id"]]
    _renumber(parts.get("post_processor"), new)
    changed = config | {"vocab_size": len(kept), "pad_token_id": new[padding_of(config)]}
    if first_position(changed) != first_position(config):
        raise ValueError("its positions are counted from the padding piece, whose id would change")
    vectors = {EMBEDDINGS: tensors[EMBEDDINGS][torch.tensor(kept)].clone()}
    return changed, json.dumps(parts, ensure_ascii=False), tensors | vectors


def _used(pieces: WordPieces, docs: Iterable[Doc]) -> tuple[set[int], set[str]]:
    """Returns the pieces of Docs, and their common scripts."""
    used: set[int] = set()
    characters: Counter[str] = Counter()
    for batch in minibatch(docs, BATCH):
        used.update(pieces.of_docs(batch, most=10**9)[0].tolist())
        for doc in batch:
            characters.update(doc.text)
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        scripts[_script(character)] += count
    least = COMMON * characters.total()
    return used, {script for script, count in scripts.items() if count >= least}


def _script(character: str) -> str:
    """Returns the first word of a character's name, such as LATIN; "" for one without a name."""
    return unicodedata.name(character, "").partition(" ")[0]


def _is_single(piece: str, scripts: set[str]) -> bool:
    character = piece.removeprefix("▁").removeprefix("##")
    # the mark of a space alone is a piece, too
    return len(character) < 2 and (character.isascii() or _script(character) in scripts)


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
