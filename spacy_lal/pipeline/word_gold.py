"""Gold of words as losses want it: tags, heads and relations, a padded batch at a time."""

from __future__ import annotations

from typing import Any

from spacy.training import Example
from torch import Tensor

from ..models.batching.batches import padded
from ..models.batching.sentences import Sentence
from ..models.parser.dependencies import heads_in_words
from .gold import gold_heads, gold_tags


class WordGold:
    """Of a batch of examples. cfg: a component's names by kind; without relations, no heads."""

    def __init__(self, cfg: dict[str, Any], examples: list[Example]) -> None:
        self.index = {
            kind: {name: k for k, name in enumerate(cfg.get(kind, ()))}
            for kind in ("tags", "relations")
        }
        found = [gold_heads(example) for example in examples] if cfg.get("relations") else []
        self.heads_of_docs = [of_doc.heads for of_doc in found]
        self.names = {
            "tags": [gold_tags(example) for example in examples],
            "relations": [of_doc.relations for of_doc in found],
        }

    def numbers(self, kind: str, members: list[Sentence], like: Tensor) -> Tensor:
        """The number of each word's tag or relation [B,n], -1 for none or an unknown one."""
        index, names = self.index[kind], self.names[kind]
        return padded(
            like, ([index.get(names[s.doc][i], -1) for i in s.words.tolist()] for s in members)
        )

    def heads(self, members: list[Sentence], like: Tensor) -> Tensor:
        """Heads [B,n], 0 the root, k word k, -1 where there is no gold."""
        return padded(like, (heads_in_words(self.heads_of_docs[s.doc], s) for s in members))
