"""From LISA's scores to tags, predicates, roles and heads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy
import torch
from torch import Tensor

from ..annotations.constituents import PREDICATE
from ..batching.batches import ParserScores, SentenceBatch
from ..layers.label_factors import label_scores
from ..parsing.decoders import HeadDecoder
from ..pipeline.writers import SentenceParse
from ..structure.arborescence import mask_padding
from ..structure.labelled_spans import best_spans
from ..structure.sequence import (
    bio_constraints,
    bio_to_spans,
    transition_log_probs,
    transition_probs,
)
from ..structure.unique_roles import unique_viterbi
from ..trees.tree import LabelledSpan
from .heads import from_self_loops, to_self_loops
from .losses import allowed_joint_labels
from .model import LisaBatch
from .network import LisaScores
from .roles import likely_heads, scores_of_roles

RoleDecoding = Literal["probabilities", "viterbi", "valid", "greedy"]

CONTINUED = f"C-{PREDICATE}"
"""The label of a predicate's later piece."""
CORE = re.compile(r"B-A(RG)?[0-5A]")
"""Where a core role begins: ARG0 to ARG5 and ARGA, in CoNLL-2005 A0 to A5 and AA."""
SMOOTHING = 0.1
"""Added to the counts of transitions: one that was not seen is unlikely, not impossible."""


@dataclass
class FoundFrame:
    """A predicate by the sentence's words, its spans (one is labelled V), and their scores."""

    predicate: int
    spans: list[LabelledSpan]
    scores: list[float]


@dataclass
class LisaParse(SentenceParse):
    """A `SentenceParse` without constituents and with frames, in order of their predicates.

    predicate_probabilities: that each word is a predicate [n].
    """

    frames: list[FoundFrame] = field(default_factory=list)
    predicate_probabilities: numpy.ndarray | None = None


class EarlierHeads(NamedTuple):
    """What another parser found, and how much that counts beside what LISA finds.

    of: the heads [n] of the sentence of that index, 0 the root and k word k, and the numbers of
    their relations [n], -1 where they aren't known; None without heads. weight: added to the scores
    of these heads and, where such a head is chosen, of these relations; all are logarithms of
    probabilities.
    """

    of: Callable[[int], tuple[Sequence[int], Sequence[int]] | None]
    weight: float

    def padded(self, members: Sequence[int], arcs: Tensor) -> tuple[Tensor, Tensor]:
        """Heads and relations [B,n] of a batch; arcs [B,n,n+1]."""
        both = torch.full((2, *arcs.shape[:2]), -1)
        for row, member in enumerate(members):
            for table, known in zip(both, self.of(member) or (), strict=False):
                table[row, : len(known)] = torch.as_tensor(known)
        heads, relations = both.to(arcs.device)
        return heads, relations

    def add(self, scores: Tensor, known: Tensor, where: Tensor) -> Tensor:
        """Scores [B,n,C] with those of `known` [B,n] raised, where there are such."""
        value = (self.weight * where).to(scores.dtype).unsqueeze(-1)
        return scores.scatter_add(-1, known.clamp(min=0).unsqueeze(-1), value)


class RoleDecoder:
    """The best sequence of role labels for each predicate.

    labels: BIO labels. transitions [L,L] and start [L] are added to scores, as probabilities or
    their logarithms (Strubell et al. 2018, section 2.4). Sequences that are no BIO, and such in
    which the predicate is no part of V, are impossible whatever these say. With unique, so are
    those with a core role twice; its continuations and references (C-ARG1, R-ARG1) are other roles.
    With greedy, each word's best label is taken whatever the others'.

    nonconstituent_penalty: what an argument loses that is no constituent, where these are known.
    """

    def __init__(
        self,
        labels: Sequence[str],
        transitions: Tensor | None = None,
        start: Tensor | None = None,
        *,
        unique: bool = False,
        greedy: bool = False,
        nonconstituent_penalty: float = 0.0,
    ) -> None:
        self.labels = list(labels)
        self.greedy = greedy
        self.nonconstituent_penalty = nonconstituent_penalty
        self.transitions, self.start = bio_constraints(self.labels)
        if transitions is not None:
            self.transitions = self.transitions + transitions
        if start is not None:
            self.start = self.start + start
        core = [k for k, label in enumerate(self.labels) if unique and CORE.fullmatch(label)]
        self.unique = torch.tensor(core, dtype=torch.long)
        names = [label.partition("-")[2] for label in self.labels]
        self.elsewhere = torch.tensor([name not in (PREDICATE, CONTINUED) for name in names])

    def __call__(
        self,
        scores: Tensor,
        predicates: Tensor,
        lengths: Tensor,
        constituents: Tensor | None = None,
    ) -> Tensor:
        """scores [P,n,L], predicates [P], lengths [P] of their sentences -> labels [P,n].

        constituents: [P,n,n], whether the words i to j are one.
        """
        if self.greedy:
            return scores.argmax(-1)
        if not self.elsewhere.all():
            scores = scores.clone()
            rows = torch.arange(len(scores), device=scores.device)
            there = scores[rows, predicates]
            scores[rows, predicates] = there.masked_fill(
                self.elsewhere.to(scores.device), -torch.inf
            )
        labels = unique_viterbi(scores, lengths, self.transitions, self.start, self.unique).labels
        if constituents is not None:
            # the best sequence is the best still if it loses nothing
            rows = torch.tensor(self._losing(labels, lengths, constituents), dtype=torch.long)
            rows = rows.to(labels.device)
            if len(rows):
                labels[rows] = self._of_spans(scores[rows], lengths[rows], constituents[rows])
        return labels

    def _losing(self, labels: Tensor, lengths: Tensor, constituents: Tensor) -> list[int]:
        """Which sequences have an argument that is no constituent."""
        rows = []
        for row, (of_row, n) in enumerate(zip(labels.tolist(), lengths.tolist(), strict=True)):
            spans = bio_to_spans([self.labels[k] for k in of_row[:n]])
            if any(
                label not in (PREDICATE, CONTINUED) and not constituents[row, start, end - 1]
                for start, end, label in spans
                if end > start + 1
            ):
                rows.append(row)
        return rows

    def _of_spans(self, scores: Tensor, lengths: Tensor, constituents: Tensor) -> Tensor:
        """The same without transitions, as spans that may be constituents."""
        number = {label: k for k, label in enumerate(self.labels)}
        begin = [k for k, label in enumerate(self.labels) if label.startswith("B-")]
        inside = [number.get(f"I-{self.labels[k][2:]}", -1) for k in begin]
        lone = torch.tensor([k < 0 for k in inside], device=scores.device)
        unique = set(self.unique.tolist())
        losses = self.nonconstituent_penalty * self.elsewhere[begin].double()
        found = best_spans(
            scores[..., begin],
            scores[..., inside].masked_fill(lone, -torch.inf),
            scores[..., number["O"]],
            constituents,
            losses.to(scores.device),
            lengths,
            [k for k, label in enumerate(begin) if label in unique],
        )
        labels = torch.full(scores.shape[:2], number["O"])
        for row, spans in enumerate(found):
            for first, end, k in spans:
                labels[row, first:end] = inside[k]
                labels[row, first] = begin[k]
        return labels.to(scores.device)


def make_role_decoder(
    how: RoleDecoding,
    labels: Sequence[str],
    transitions: Iterable[tuple[int, int, int]],
    *,
    unique: bool,
    nonconstituent_penalty: float = 0.0,
) -> RoleDecoder:
    """The decoder of that name; see `make_lisa_srl`.

    transitions: [previous, following, count] of labels in the training data, -1 before the first.
    """
    counts = torch.zeros(len(labels) + 1, len(labels))
    for before, after, count in transitions:
        counts[before, after] = count
    between = start = None
    if how == "probabilities":
        between = transition_probs(counts[:-1])
    elif how == "viterbi":
        between = transition_log_probs(counts[:-1], SMOOTHING)
        start = transition_log_probs(counts[-1], SMOOTHING)
    return RoleDecoder(
        labels,
        between,
        start,
        unique=unique,
        greedy=how == "greedy",
        nonconstituent_penalty=nonconstituent_penalty if how == "valid" else 0.0,
    )


@torch.no_grad()
def decode_frames(
    scores: ParserScores[LisaScores],
    joint: Sequence[str],
    tags: Sequence[str],
    roles: RoleDecoder,
    *,
    predicates: Callable[[int], Sequence[int] | None] | None = None,
    heads: HeadDecoder | None = None,
    earlier: EarlierHeads | None = None,
    root: int | None = None,
    constituents: Callable[[int], Sequence[tuple[int, int]] | None] | None = None,
) -> dict[int, LisaParse]:
    """Tags, frames and, with a decoder for them, heads of every parsed sentence, by its index.

    predicates: of the sentence of that index, by its words; None, of one or of all: those which the
        model finds.
    earlier: heads that count when heads are decoded. root: the relation to the root, which words
    don't have to words.
    constituents: of the sentence of that index, (start, end) by its words; None, of one or of all:
        not known. Read by a decoder with a weight for them.
    """
    allowed = allowed_joint_labels(joint, tags)
    # [J, T] and [J]: which tag a joint label has, and whether it is of a predicate
    has_tag, is_predicate = allowed[:-1, -1].T.float(), allowed[-1, 1].float()
    parses: dict[int, LisaParse] = {}
    for batch in scores.batches:
        device = batch.scores.joint.device
        lengths = batch.lengths.to(device)
        words = torch.arange(batch.scores.joint.shape[1], device=device) < lengths.unsqueeze(1)
        # marginal probabilities of tags and of being a predicate
        probabilities = torch.softmax(batch.scores.joint, -1)
        tag_probabilities = (
            probabilities @ has_tag.to(device) if tags else torch.zeros_like(probabilities)
        )
        of_tags, best_tags = (t.cpu().numpy() for t in tag_probabilities.max(-1))
        certainty = probabilities @ is_predicate.to(device)
        of_predicates = certainty.cpu().numpy()
        found = (certainty > 0.5) & words
        # of a model with an indicator: other predicates have rows of their own
        only = None
        if isinstance(batch, LisaBatch) and batch.predicates is not None:
            only = batch.predicates.tolist()
        for row, member in enumerate(batch.members):
            given = None if predicates is None else predicates(member)
            if only is not None:
                given = [only[row]] if only[row] >= 0 else []
            if given is not None:
                found[row] = False
                found[row, list(given)] = True
                certainty[row, list(given)] = 1.0
        rows, at = found.nonzero(as_tuple=True)
        arcs = relations = of_arcs = None
        if heads is not None and batch.scores.arcs is not None:
            arcs, relations, of_arcs = _parse(batch, lengths, heads, earlier, root)
        for row, (member, n) in enumerate(zip(batch.members, lengths.tolist(), strict=True)):
            parse = LisaParse(
                best_tags[row, :n],
                heads=None if arcs is None else arcs[row, :n],
                relations=None if relations is None else relations[row, :n],
                tag_probabilities=of_tags[row, :n] if tags else None,
                head_probabilities=None if of_arcs is None else of_arcs[row, :n],
                predicate_probabilities=of_predicates[row, :n],
            )
            parses.setdefault(member, parse)
        if not len(rows):
            continue
        role_scores = scores_of_roles(batch.scores, rows, at, _heads_of_paths(batch))
        whole = None
        if roles.nonconstituent_penalty and constituents is not None:
            whole = _constituents(batch, constituents, words.shape[1])
        there = None if whole is None else whole.to(device)[rows]
        labels = roles(role_scores, at, lengths[rows], there)
        chosen = torch.log_softmax(role_scores, -1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
        _add_frames(parses, batch.members, lengths, rows, at, labels, chosen, certainty, roles)
    return parses


def _constituents(
    batch: SentenceBatch[LisaScores],
    of: Callable[[int], Sequence[tuple[int, int]] | None],
    n: int,
) -> Tensor | None:
    """Whether the words i to j may be an argument for nothing [B,n,n]: a word, a constituent, or
    anything where these are not known. None if they are known of no sentence."""
    found = [of(member) for member in batch.members]
    if all(spans is None for spans in found):
        return None
    whole = torch.eye(n, dtype=torch.bool).repeat(len(found), 1, 1)
    for row, spans in enumerate(found):
        if spans is None:
            whole[row] = True
        for start, end in spans or ():
            whole[row, start, end - 1] = True
    return whole


def _heads_of_paths(batch: SentenceBatch[LisaScores]) -> Tensor | None:
    if batch.scores.paths is None:
        return None
    given = batch.heads if isinstance(batch, LisaBatch) else None
    return likely_heads(batch.scores, batch.lengths, given)


def _add_frames(
    parses: dict[int, LisaParse],
    members: list[int],
    lengths: Tensor,
    rows: Tensor,
    at: Tensor,
    labels: Tensor,
    log_probs: Tensor,
    certainty: Tensor,
    roles: RoleDecoder,
) -> None:
    sizes = lengths.tolist()
    numbers = labels.tolist()
    values = log_probs.cpu().numpy()
    sure = certainty[rows, at].tolist()
    for k, (row, predicate) in enumerate(zip(rows.tolist(), at.tolist(), strict=True)):
        n = sizes[row]
        spans = with_one_predicate(
            bio_to_spans([roles.labels[label] for label in numbers[k][:n]]), predicate
        )
        parses[members[row]].frames.append(
            FoundFrame(
                predicate,
                spans,
                [
                    # a span is as probable as its words on average (geometric mean)
                    sure[k] if label == PREDICATE else float(numpy.exp(values[k, start:end].mean()))
                    for start, end, label in spans
                ],
            )
        )


def with_one_predicate(spans: list[LabelledSpan], predicate: int) -> list[LabelledSpan]:
    """Spans of which exactly one is labelled V: the one at the predicate, or the last before it.

    Others labelled V continue it (C-V). Where there is none, C-V at the predicate becomes V; where
    there is not that either, which no valid sequence has, the predicate itself does.
    """
    here = [span for span in spans if span[0] <= predicate < span[1]]
    if not here or here[0][2] not in (PREDICATE, CONTINUED):
        rest = [span for span in spans if span not in here and span[2] != PREDICATE]
        return sorted([*rest, (predicate, predicate + 1, PREDICATE)])
    verbs = [span for span in spans if span[2] == PREDICATE and span[0] <= predicate]
    verb = here[0] if here[0][2] == PREDICATE or not verbs else verbs[-1]
    return [
        (start, end, PREDICATE)
        if (start, end, label) == verb
        else (start, end, CONTINUED if label == PREDICATE else label)
        for start, end, label in spans
    ]


def _parse(
    batch: SentenceBatch[LisaScores],
    lengths: Tensor,
    decoder: HeadDecoder,
    earlier: EarlierHeads | None,
    root: int | None,
) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """Heads [B,n], 0 the root and k word k, their relations [B,n] and both's probability [B,n]."""
    scores = batch.scores
    assert scores.arcs is not None
    arcs = from_self_loops(scores.arcs)
    known = None if earlier is None else earlier.padded(batch.members, arcs)
    if earlier is not None and known is not None:
        # one head a word: what is the same for all of a word's arcs changes no tree
        arcs = earlier.add(arcs, known[0], known[0] >= 0)
    heads = decoder(arcs, lengths)
    rows, at = torch.ones_like(heads, dtype=torch.bool).nonzero(as_tuple=True)
    relation_scores = label_scores(scores.relations, rows, at, to_self_loops(heads)[rows, at])
    if earlier is not None and known is not None:
        agreed = (heads == known[0]) & (known[1] >= 0)
        relation_scores = earlier.add(
            relation_scores.view(*heads.shape, -1), known[1], agreed
        ).flatten(0, 1)
    if root is not None and relation_scores.shape[-1] > 1:
        relation_scores[:, root].masked_fill_(heads[rows, at] > 0, -torch.inf)
    of_relations, names = torch.softmax(relation_scores, -1).max(-1)
    of_heads = torch.softmax(mask_padding(arcs, lengths), -1).gather(-1, heads.unsqueeze(-1))
    sure = of_heads.squeeze(-1) * of_relations.view(heads.shape)
    return heads.cpu().numpy(), names.view(heads.shape).cpu().numpy(), sure.cpu().numpy()
