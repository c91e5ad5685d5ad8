"""LISA's gold frames, aligned to the predicted Doc, as tensors; and its losses, one cross-entropy
for each task (Strubell et al. 2018, eq. 7)."""

from collections import Counter
from collections.abc import Sequence
from itertools import repeat
from typing import Any, NamedTuple, cast

import numpy
import torch
import torch.nn.functional as F
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor

from ..annotations.constituents import project_constituents
from ..annotations.frames import get_frames
from ..batching.batches import padded
from ..batching.sentences import Sentence
from ..layers.biaffine import label_scores
from ..parsing.gold_trees import WordGold
from ..pipeline.examples import Counts, same_tokens
from ..structure.arborescence import mask_padding
from .network import LisaScores, places

OUTSIDE = "O"
"""The label of a word outside all spans."""


def joint_label(tag: str, is_predicate: bool) -> str:
    """Return the joint label of a tag and whether it is a predicate's, such as "VBD/True"."""
    return f"{tag}/{is_predicate}"


def split_joint_label(label: str) -> tuple[str, bool]:
    """Undo `joint_label`."""
    tag, _, is_predicate = label.rpartition("/")
    return tag, is_predicate == "True"


def allowed_joint_labels(joint: Sequence[str], tags: Sequence[str]) -> Tensor:
    """Return the joint labels that agree with known annotation [T + 1, 3, J]. Indices: a word's
    tag, and whether it is a predicate (0 or 1); the last row of each, -1, stands for unknown."""
    pairs = [split_joint_label(label) for label in joint]
    agrees = [[tag == known for tag, _ in pairs] for known in tags]
    tag_agrees = torch.tensor(agrees, dtype=torch.bool).view(len(tags), len(joint))
    predicate = torch.tensor([is_predicate for _, is_predicate in pairs], dtype=torch.bool)
    tag_agrees = torch.cat([tag_agrees, torch.ones(1, len(joint), dtype=torch.bool)])
    predicate_agrees = torch.stack([~predicate, predicate, torch.ones_like(predicate)])
    return tag_agrees.unsqueeze(1) & predicate_agrees


def read_frames(doc: Doc, counts: Counts, key: str) -> None:
    """Count a Doc's BIO role labels, their transitions, and joint labels."""
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
    """A gold frame. predicate: a token. spans: (start, end, label, exact) of V and arguments."""

    predicate: int
    spans: list[tuple[int, int, str, bool]]


def gold_frames(example: Example, key: str) -> list[GoldFrame] | None:
    """Return the gold frames whose predicate is a predicted token; None without a span group."""
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


class GoldFrames(NamedTuple):
    """Predicates of a padded batch: word predicates[k] of sentence sentences[k] [P], with role
    labels [P,n] of all words, -1 if unknown."""

    sentences: Tensor
    predicates: Tensor
    roles: Tensor


class LisaGold(WordGold):
    """Gold tags, heads and frames of examples; cfg: the component's names by kind. taught: as in
    `WordGold`."""

    def __init__(
        self,
        cfg: dict[str, Any],
        spans_key: str,
        examples: list[Example],
        taught: Sequence[bool] = (),
    ) -> None:
        super().__init__(cfg, examples, taught)
        self.roles = {name: k for k, name in enumerate(cfg["roles"])}
        self.allowed = allowed_joint_labels(cfg["joint"], cfg["tags"])
        found = [
            None if by_teacher else gold_frames(example, spans_key)
            for example, by_teacher in zip(examples, taught or repeat(False), strict=False)
        ]
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
        """Return gold frames. predicates [B]: each row's only predicate that counts, or None."""
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


def joint_loss(joint: Tensor, allowed: Tensor) -> Tensor:
    """Return -log P(one of the labels that agree with gold), summed over words.
    joint, allowed: [B,n,J]. With tag and predicate known, this is the paper's cross-entropy
        (section 2.3). Words without gold or without an agreeing label don't count."""
    known = allowed.any(-1) & ~allowed.all(-1)
    joint, allowed = joint[known], allowed[known]
    agreeing = joint.masked_fill(~allowed, -torch.inf).logsumexp(-1)
    return (joint.logsumexp(-1) - agreeing).sum()


def parse_loss(
    scores: LisaScores, heads: Tensor, labels: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the cross-entropies of heads and of relations to gold heads, summed over words.
    heads: [B,n], words from 0, a root its own head. labels: [B,n]. -1 marks missing gold."""
    known = heads >= 0
    arcs = mask_padding(cast(Tensor, scores.arcs), lengths)[known]
    arc_loss = F.cross_entropy(arcs, heads[known], reduction="sum")
    rows, at = (known & (labels >= 0)).nonzero(as_tuple=True)
    relations = label_scores(scores.relations, rows, at, heads[rows, at])
    return arc_loss, F.cross_entropy(relations, labels[rows, at], reduction="sum")


def role_loss(
    scores: LisaScores, gold: GoldFrames, smoothing: float, heads: Tensor | None = None
) -> Tensor:
    """Return the smoothed cross-entropy of role labels, summed over predicates and words."""
    role_scores = scores.roles_of(gold.sentences, gold.predicates, heads)
    known = gold.roles >= 0
    return F.cross_entropy(
        role_scores[known], gold.roles[known], reduction="sum", label_smoothing=smoothing
    )
