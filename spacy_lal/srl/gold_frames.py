"""Gold frames of training examples, aligned to the predicted Doc, as tensors."""

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
from ..pipeline.examples import Counts, same_tokens
from .lisa_losses import GoldFrames, allowed_joint_labels, joint_label
from .network import places

OUTSIDE = "O"
"""The label of a word outside all spans."""


def read_frames(doc: Doc, counts: Counts, key: str) -> None:
    """Count role BIO labels, their transitions, and joint labels of words."""
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


class GoldFrame(NamedTuple):
    """predicate: a token. spans: (start, end, label, exact), V and arguments."""

    predicate: int
    spans: list[tuple[int, int, str, bool]]


def gold_frames(example: Example, key: str) -> list[GoldFrame] | None:
    """Return frames with a predicate in predicted tokens; None without a span group."""
    if key not in example.reference.spans:
        return None
    same = same_tokens(example)
    found = []
    for frame in get_frames(example.reference, key):
        spans = [(span.start, span.end, span.label_) for span in frame.spans]
        if same:
            found.append(GoldFrame(frame.predicate.i, [(*span, True) for span in spans]))
        elif len(there := example.alignment.y2x[frame.predicate.i]):
            x2y, y2x = example.alignment.x2y, example.alignment.y2x
            found.append(GoldFrame(int(there[0]), list(project_constituents(spans, y2x, x2y))))
    return found


def role_labels(frame: GoldFrame, sentence: Sentence, labels: dict[str, int]) -> list[int]:
    """Return the number of each word's BIO label for one predicate; 0 is "O". -1 marks words of
    arguments with borders inside tokens, in several sentences, or of unknown labels."""
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
    """Gold tags, heads and frames of examples; cfg: the component's names by kind."""

    def __init__(self, cfg: dict[str, Any], spans_key: str, examples: list[Example]) -> None:
        super().__init__(cfg, examples)
        self.roles = {name: k for k, name in enumerate(cfg["roles"])}
        self.allowed = allowed_joint_labels(cfg["joint"], cfg["tags"])
        found = [gold_frames(example, spans_key) for example in examples]
        # BIO labels of first words
        self.role_counts = Counter(
            f"B-{label}"
            for frames in found
            for frame in frames or ()
            for *_, label, _ in frame.spans
        )
        self.by_predicate = [
            None if frames is None else {frame.predicate: frame for frame in frames}
            for frames in found
        ]

    def frames(
        self, members: list[Sentence], like: Tensor, predicates: Tensor | None
    ) -> GoldFrames:
        """Return gold frames; predicates [B]: the only counted one of each row, None for all."""
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
        """Return tags [B,n] and the possible joint labels [B,n,J]."""
        tags = self.numbers("tags", members, like)
        known = (self.by_predicate[sentence.doc] for sentence in members)
        is_predicate = (
            [] if frames is None else [int(token in frames) for token in sentence.words.tolist()]
            for frames, sentence in zip(known, members, strict=True)
        )
        return tags, self.allowed.to(like.device)[tags, padded(like, is_predicate)]
