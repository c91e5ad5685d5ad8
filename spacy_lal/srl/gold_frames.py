"""Gold frames of training examples, in the predicted Doc's tokens and as tensors."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor

from ..annotations import get_frames, project_constituents
from ..batching.batches import padded
from ..batching.sentences import Sentence
from ..parsing.gold_trees import WordGold
from ..pipeline.examples import Counts, Reader, same_tokens
from .lisa_losses import GoldFrames, allowed_joint_labels, joint_label
from .network import places

OUTSIDE = "O"
"""The label of a word outside all spans."""


def read_frames(key: str) -> Reader:
    """BIO labels of roles, which of them follow each other, and joint labels of words."""

    def read(doc: Doc, counts: Counts) -> None:
        if key not in doc.spans:
            counts.lacking["frames"] += 1
            return
        frames = get_frames(doc, key)
        words = [token for token in doc if not token.is_space]
        predicates = {frame.predicate.i for frame in frames}
        counts.names["joint"].update(
            joint_label(token.tag_, token.i in predicates) for token in words if token.tag_
        )
        has_sentences = doc.has_annotation("SENT_START")
        for frame in frames:
            among = frame.predicate.sent if has_sentences else words
            labels = {token.i: OUTSIDE for token in among if not token.is_space}
            for span in frame.spans:
                inside = [i for i in range(span.start, span.end) if i in labels]
                for k, i in enumerate(inside):
                    labels[i] = f"{'I' if k else 'B'}-{span.label_}"
            counts.names["roles"].update(labels.values())
            counts.follows.update(zip(["", *labels.values()], labels.values(), strict=False))

    return read


class GoldFrame(NamedTuple):
    """predicate: a token. spans: (start, end, label, exact) of V and the arguments; see
    `project_constituents` for "exact"."""

    predicate: int
    spans: list[tuple[int, int, str, bool]]


def gold_frames(example: Example, key: str) -> list[GoldFrame] | None:
    """Frames in predicted tokens; None if the reference has no such span group.

    Predicates without a counterpart are left out.
    """
    if key not in example.reference.spans:
        return None
    frames = get_frames(example.reference, key)
    own = [
        (frame.predicate.i, [(span.start, span.end, span.label_) for span in frame.spans])
        for frame in frames
    ]
    if same_tokens(example):
        return [GoldFrame(i, [(*span, True) for span in spans]) for i, spans in own]
    alignment = example.alignment
    found = []
    for predicate, spans in own:
        there = alignment.y2x[predicate]
        if len(there):
            projected = project_constituents(spans, alignment.y2x, alignment.x2y)
            found.append(GoldFrame(int(there[0]), list(projected)))
    return found


def role_labels(frame: GoldFrame, sentence: Sentence, labels: dict[str, int]) -> list[int]:
    """The number of each word's BIO label for one predicate.

    -1 for words of an argument whose borders are no token borders, which goes on in another
    sentence, or whose label is not among `labels`; 0 is "O".
    """
    numbers = [0] * len(sentence.words)
    for start, end, label, exact in frame.spans:
        whole = exact and sentence.start <= start and end <= sentence.end
        first = labels.get(f"B-{label}", -1) if whole else -1
        inner = labels.get(f"I-{label}", -1) if whole else -1
        start_word, end_word = numpy.searchsorted(sentence.words, [start, end]).tolist()
        if start_word < end_word:
            numbers[start_word:end_word] = [first] + [inner] * (end_word - start_word - 1)
    return numbers


class LisaGold(WordGold):
    """Gold tags, heads and frames of a batch of examples; cfg: the component's names by kind."""

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
            (row, i, role_labels(known[int(sentence.words[i])], sentence, self.roles))
            for row, sentence in enumerate(members)
            for known in [self.by_predicate[sentence.doc] or {}]
            for i in places(known, sentence)
            if only is None or i == only[row]
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
