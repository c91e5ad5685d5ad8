"""Gold frames, tags and heads as `lisa_srl`'s losses want them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy
import torch
from spacy.training import Example
from torch import Tensor

from ..models.batching.sentences import Sentence
from ..models.lisa.losses import GoldFrames, allowed_joint_labels
from ..models.lisa.model import NAMES
from .gold import GoldFrame, gold_frames, gold_heads, gold_tags, heads_in_words, role_labels
from .parser import padded


class LisaGold:
    """Gold of a batch of examples, a padded batch of sentences at a time.

    cfg: the component's names by kind.
    """

    def __init__(self, cfg: dict[str, Any], spans_key: str, examples: list[Example]) -> None:
        self.index = {kind: {name: k for k, name in enumerate(cfg[kind])} for kind in NAMES}
        self.allowed = allowed_joint_labels(cfg["joint"], cfg["tags"])
        self.tags = [gold_tags(example) for example in examples]
        self.of_docs = [gold_frames(example, spans_key) for example in examples]
        self.by_predicate = [
            None if frames is None else {frame.predicate: frame for frame in frames}
            for frames in self.of_docs
        ]
        self.parses = [gold_heads(example) for example in examples] if cfg["relations"] else []

    def role_counts(self) -> Counter[str]:
        """How often the BIO label of a first word stands in the frames."""
        return Counter(
            f"B-{label}"
            for frames in self.of_docs
            for frame in frames or ()
            for _, _, label, _ in frame.spans
        )

    def frames(
        self, members: list[Sentence], like: Tensor, predicates: Tensor | None
    ) -> GoldFrames:
        """predicates [B]: the only one of each row that counts; None: all do."""
        rows, at, labels = [], [], []
        only = None if predicates is None else predicates.tolist()
        for row, sentence in enumerate(members):
            for i, frame in self._in(sentence):
                if only is not None and i != only[row]:
                    continue
                rows.append(row)
                at.append(i)
                labels.append(role_labels(frame, sentence, self.index["roles"]))
        roles = numpy.full((len(rows), like.shape[1]), -1, dtype=numpy.int64)
        for k, numbers in enumerate(labels):
            roles[k, : len(numbers)] = numbers
        arrays = (numpy.asarray(rows, dtype=numpy.int64), numpy.asarray(at, dtype=numpy.int64))
        return GoldFrames(*(torch.from_numpy(a).to(like.device) for a in (*arrays, roles)))

    def _in(self, sentence: Sentence) -> Iterable[tuple[int, GoldFrame]]:
        known = self.by_predicate[sentence.doc] or {}
        for i, token in enumerate(sentence.words.tolist()):
            if token in known:
                yield i, known[token]

    def words(self, members: list[Sentence], like: Tensor) -> tuple[Tensor, Tensor]:
        """Tags [B,n] and the joint labels that may be right [B,n,J]."""
        index = self.index["tags"]
        tags = padded(
            like, ([index.get(self.tags[s.doc][i], -1) for i in s.words] for s in members)
        )
        predicates = padded(like, (self._is_predicate(sentence) for sentence in members))
        return tags, self.allowed.to(like.device)[tags, predicates]

    def _is_predicate(self, sentence: Sentence) -> list[int]:
        known = self.by_predicate[sentence.doc]
        if known is None:
            return [-1] * len(sentence.words)
        return [int(token in known) for token in sentence.words.tolist()]

    def heads(self, members: list[Sentence], like: Tensor) -> tuple[Tensor, Tensor]:
        """Heads [B,n] by words counted from 0, a root its own head, and relations [B,n]."""
        index = self.index["relations"]
        heads = padded(like, (heads_in_words(self.parses[s.doc], s) for s in members))
        own = torch.arange(heads.shape[1], device=heads.device).expand_as(heads)
        heads = torch.where(heads > 0, heads - 1, torch.where(heads == 0, own, -1))
        relations = padded(
            like,
            ([index.get(self.parses[s.doc].relations[i], -1) for i in s.words] for s in members),
        )
        return heads, relations
