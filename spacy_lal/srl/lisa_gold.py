"""Gold frames, tags and heads as `lisa_srl`'s losses want them, and the names of its outputs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from spacy.training import Example
from torch import Tensor

from ..batching.batches import padded
from ..batching.sentences import Sentence
from ..parsing.gold_trees import WordGold
from ..pipeline.examples import Counts, Names
from .frames_of_docs import OUTSIDE, gold_frames, role_labels
from .losses import GoldFrames, allowed_joint_labels, joint_label, split_joint_label
from .model import NAMES


class LisaGold(WordGold):
    """Of a batch of examples, with their frames, too."""

    def __init__(self, cfg: dict[str, Any], spans_key: str, examples: list[Example]) -> None:
        super().__init__(cfg, examples)
        self.roles = {name: k for k, name in enumerate(cfg["roles"])}
        self.allowed = allowed_joint_labels(cfg["joint"], cfg["tags"])
        self.frames_of_docs = [gold_frames(example, spans_key) for example in examples]
        self.by_predicate = [
            None if frames is None else {frame.predicate: frame for frame in frames}
            for frames in self.frames_of_docs
        ]

    def role_counts(self) -> Counter[str]:
        """How often the BIO label of a first word stands in the frames."""
        return Counter(
            f"B-{label}"
            for frames in self.frames_of_docs
            for frame in frames or ()
            for _, _, label, _ in frame.spans
        )

    def frames(
        self, members: list[Sentence], like: Tensor, predicates: Tensor | None
    ) -> GoldFrames:
        """predicates [B]: the only one of each row that counts; None: all do."""
        only = None if predicates is None else predicates.tolist()
        found = [
            (row, i, role_labels(known[token], sentence, self.roles))
            for row, sentence in enumerate(members)
            for known in [self.by_predicate[sentence.doc] or {}]
            for i, token in enumerate(sentence.words.tolist())
            if token in known and (only is None or i == only[row])
        ]
        at = torch.tensor([place[:2] for place in found], dtype=torch.long, device=like.device)
        roles = padded(like.new_empty(len(found), like.shape[1]), (place[2] for place in found))
        rows, words = at.view(-1, 2).unbind(1)
        return GoldFrames(rows, words, roles)

    def words(self, members: list[Sentence], like: Tensor) -> tuple[Tensor, Tensor]:
        """Tags [B,n] and the joint labels that may be right [B,n,J]."""
        tags = self.numbers("tags", members, like)
        predicates = padded(like, (self._is_predicate(sentence) for sentence in members))
        return tags, self.allowed.to(like.device)[tags, predicates]

    def _is_predicate(self, sentence: Sentence) -> list[int]:
        known = self.by_predicate[sentence.doc]
        words = sentence.words.tolist()
        return [-1 if known is None else int(token in known) for token in words]


def lisa_names(pipe: str, counts: Counts, labels: Names | None, *, syntax: bool) -> Names:
    """The names of a model's outputs, of those given or counted: roles begin with "O", what a word
    is that has none; without syntax there are no relations. ValueError for names that won't do."""
    if labels is None:
        labels = {kind: sorted(counts.names[kind]) for kind in NAMES}
        roles = sorted(labels["roles"], key=lambda label: label.partition("-")[::-1])
        labels["roles"] = [OUTSIDE, *(label for label in roles if label != OUTSIDE)]
    elif labels["roles"][0] != OUTSIDE:
        raise ValueError(f"the first of the role labels given to {pipe!r} must be {OUTSIDE!r}")
    elif labels.get("joint") and not any(split_joint_label(j)[1] for j in labels["joint"]):
        raise ValueError(f"none of the joint labels given to {pipe!r} is of a predicate")
    if not labels.get("joint"):
        # no Doc has both tags and frames
        tags = labels.get("tags") or [""]
        joint = [joint_label(tag, which) for tag in tags for which in (False, True)]
        labels = {**labels, "joint": joint}
    return labels if syntax else {**labels, "relations": []}
