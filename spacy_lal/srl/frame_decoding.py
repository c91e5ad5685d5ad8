"""Decoding of LISA's scores to tags, predicates, roles and heads."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import exp
from typing import Any, Literal, NamedTuple, cast

import numpy
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..annotations.frames import PREDICATE
from ..batching.batches import ParserScores, padded, similar
from ..parsing.decoders import HeadDecoder
from ..parsing.kept_scores import SentenceScores, decode_with_arcs
from ..pipeline.writers import SentenceParse
from ..structure.arborescence import mask_padding
from ..structure.sequence import (
    SpanProblem,
    bio_constraints,
    bio_to_spans,
    repeated,
    solved,
    span_problems,
    transition_probs,
    unique_viterbi,
)
from ..trees.tree import LabelledSpan
from .gold_frames import allowed_joint_labels
from .network import HeadRelations, LisaBatch, LisaScores, from_self_loops, to_self_loops

RoleDecoding = Literal["probabilities", "viterbi", "valid", "greedy"]

CONTINUED = f"C-{PREDICATE}"
"""The label of a predicate's later pieces."""
VERBS = (PREDICATE, CONTINUED)
"""The labels of a predicate's pieces."""
CORE = re.compile(r"B-A(RG)?[0-5A]")
"""Label at the start of a core role: ARG0 to ARG5 and ARGA, in CoNLL-2005 A0 to A5 and AA."""
SMOOTHING = 0.1
"""Added to counts of transitions: unseen ones are unlikely, not impossible."""


@dataclass
class FoundFrame:
    """A predicate by the sentence's words, its spans (one labelled V), and their scores."""

    predicate: int
    spans: list[LabelledSpan]
    scores: list[float]


@dataclass
class LisaParse(SentenceParse):
    """`SentenceParse` with frames. predicate_probabilities [n]: of each word to be a predicate.
    tree: the parser's parse, if it was decoded again with LISA's arcs."""

    frames: list[FoundFrame] = field(default_factory=list)
    predicate_probabilities: numpy.ndarray | None = None
    tree: SentenceParse | None = None


class ToDecode(NamedTuple):
    """A parser's scores of a sentence, which are decoded with LISA's arcs.
    relations: LISA's number of each of the parser's."""

    parser: Any
    scores: SentenceScores
    relations: numpy.ndarray


class Given(NamedTuple):
    """Annotations of a sentence before decoding, by its words; None: not known.
    predicates: the only words with frames. heads, relations [n]: those of an earlier parser; head 0
        is the root, k is word k; -1: not known. constituents [K,2]: starts and ends. kept: gives
        heads, which are final, relations and constituents."""

    predicates: Sequence[int] | None = None
    heads: Sequence[int] | numpy.ndarray | None = None
    relations: Sequence[int] | numpy.ndarray | None = None
    constituents: numpy.ndarray | None = None
    kept: ToDecode | None = None


class RoleDecoder:
    """Decoder of the best sequence of role labels for each predicate.

    labels: BIO labels. transitions, start: [L,L] and [L], added to scores, as probabilities or
        their logarithms (Strubell et al. 2018, section 2.4). Sequences that are not BIO or have the
        predicate outside V are impossible.
    unique: forbid a core role twice; C-ARG1 and R-ARG1 are roles of their own.
    greedy: take each word's best label independently.
    nonconstituent_penalty: score lost by an argument that is not among known constituents.
    """

    def __init__(
        self,
        labels: Sequence[str],
        transitions: Tensor | float = 0.0,
        start: Tensor | float = 0.0,
        *,
        unique: bool = False,
        greedy: bool = False,
        nonconstituent_penalty: float = 0.0,
    ) -> None:
        self.labels = list(labels)
        self.greedy = greedy
        self.nonconstituent_penalty = nonconstituent_penalty
        allowed, allowed_first = bio_constraints(self.labels)
        self.transitions, self.start = allowed + transitions, allowed_first + start
        core = [k for k, label in enumerate(self.labels) if unique and CORE.fullmatch(label)]
        self.unique = torch.tensor(core, dtype=torch.long)
        # without transition probabilities the score of a sequence is that of its spans
        self.by_spans = (
            not torch.cat([self.transitions, self.start[None]]).nan_to_num(0.0, neginf=0.0).any()
        )
        self.elsewhere = torch.tensor([label[2:] not in VERBS for label in self.labels])
        begins = torch.tensor([label.startswith("B-") for label in self.labels])
        self.inside = torch.tensor([label.startswith("I-") for label in self.labels])
        self.arguments = begins & self.elsewhere

    def __call__(
        self,
        scores: Tensor,
        predicates: Tensor,
        lengths: Tensor,
        constituents: Tensor | None = None,
    ) -> Tensor:
        """Return labels [P,n] from scores [P,n,L], predicates [P] and sentence lengths [P].
        constituents: [P,n,n], whether the words i to j are a constituent."""
        every = torch.arange(len(scores), device=scores.device)
        labels, rows, problems = self.search(scores, predicates, lengths, every, constituents)
        for row, found in zip(rows, self.solved(problems), strict=True):
            labels[row, : len(found)] = torch.tensor(found, device=labels.device)
        return labels

    def search(
        self,
        scores: Tensor,
        predicates: Tensor,
        lengths: Tensor,
        sentences: Tensor,
        constituents: Tensor | None = None,
    ) -> "Searched":
        """Return the words' best labels, with the arguments of a call, and what `solved` takes for
        rows that must have others. Fewer calls of that with more rows each take less time.
        constituents: [B,n,n], of sentences [P] of a batch."""
        if self.greedy:
            return Searched(scores.argmax(-1))
        if not self.elsewhere.all():
            scores = scores.clone()
            rows = torch.arange(len(scores), device=scores.device)
            there = scores[rows, predicates]
            scores[rows, predicates] = there.masked_fill(
                self.elsewhere.to(scores.device), -torch.inf
            )
        if not self.by_spans:
            found = unique_viterbi(scores, lengths, self.transitions, self.start, self.unique)
            return Searched(found.labels)
        # a best sequence without constraints and penalty stays the best
        labels = scores.argmax(-1)
        lengths = lengths.to(labels.device)
        constituents = None if constituents is None else constituents.to(labels.device)
        loses = self._loses(labels, lengths, sentences, constituents)
        others = (self._breaks(labels, lengths) | loses).nonzero().squeeze(1)
        columns = (of.tolist() for of in (others, lengths[others], sentences[others]))
        problems = [
            Problem(
                scores[row, :n].clone(), None if constituents is None else constituents[at, :n, :n]
            )
            for row, n, at in zip(*columns, strict=True)
        ]
        return Searched(labels, others.tolist(), problems)

    def _breaks(self, labels: Tensor, lengths: Tensor) -> Tensor:
        """Return whether sequences [P,n] are no valid ones."""
        allowed = (self.transitions > -torch.inf).to(labels.device)
        first = (self.start > -torch.inf).to(labels.device)
        within = torch.arange(1, labels.shape[1], device=labels.device) < lengths.unsqueeze(1)
        follows = allowed[labels[:, :-1], labels[:, 1:]] | ~within
        return ~(first[labels[:, 0]] & follows.all(1))

    def _loses(
        self, labels: Tensor, lengths: Tensor, sentences: Tensor, constituents: Tensor | None
    ) -> Tensor:
        """Return whether valid sequences [P,n] repeat a unique role or have a penalty."""
        loses = repeated(labels, lengths, self.unique.to(labels)).any(1)
        if constituents is None:
            return loses
        return loses | self._lose(labels, lengths, sentences, constituents)

    def _lose(
        self, labels: Tensor, lengths: Tensor, sentences: Tensor, constituents: Tensor
    ) -> Tensor:
        """Return whether valid sequences [P,n] have an argument of several words that is no
        constituent."""
        n = labels.shape[1]
        words = torch.arange(n, device=labels.device)
        within = words < lengths.unsqueeze(1)
        inside = self.inside.to(labels.device)[labels] & within
        # the last word of a span that begins here: that before the next which isn't inside
        stops = words.where(~inside, n).flip(1).cummin(1).values.flip(1)
        last = F.pad(stops[:, 1:], (0, 1), value=n) - 1
        last = torch.minimum(last, lengths.unsqueeze(1) - 1).clamp(min=0)
        begins = self.arguments.to(labels.device)[labels] & within & (last > words)
        # one index is read far faster than three
        whole = constituents.take((sentences.unsqueeze(1) * n + words) * n + last)
        return (begins & ~whole).any(1)

    def solved(self, problems: Sequence["Problem"]) -> list[list[int]]:
        """Return the labels of each sentence's words."""
        outside = self.labels.index("O")
        found = [[outside] * len(problem.scores) for problem in problems]
        of_spans: list[SpanProblem] = []
        at: list[int] = []
        for penalised in (False, True):
            some = [k for k, of in enumerate(problems) if (of.whole is not None) == penalised]
            for group in similar([len(problems[k].scores) for k in some], MOST_WORDS, int):
                members = [some[k] for k in group]
                scores = nn.utils.rnn.pad_sequence([problems[k].scores for k in members], True)
                lengths = torch.tensor([len(problems[k].scores) for k in members])
                whole = None
                if penalised:
                    n = scores.shape[1]
                    whole = scores.new_zeros(len(members), n, n, dtype=torch.bool)
                    for row, k in zip(whole, members, strict=True):
                        m = len(problems[k].scores)
                        row[:m, :m] = problems[k].whole
                at += members
                of_spans += self._of_spans(scores, lengths.to(scores.device), whole)
        begin, inside = self._spans()
        for k, spans in zip(at, solved(of_spans, self._unique_spans()), strict=True):
            for first, end, label in spans:
                found[k][first:end] = [begin[label], *[inside[label]] * (end - first - 1)]
        return found

    def _of_spans(
        self, scores: Tensor, lengths: Tensor, constituents: Tensor | None
    ) -> list[SpanProblem]:
        """Return searches over spans, where there are constituents with the penalty for others."""
        begin, inside = self._spans()
        lone = torch.tensor([k < 0 for k in inside], device=scores.device)
        losses = self.nonconstituent_penalty * self.elsewhere[begin].double()
        if constituents is None:
            n = scores.shape[1]
            constituents, losses = torch.zeros(len(scores), n, n, dtype=torch.bool), 0 * losses
        return span_problems(
            scores[..., begin],
            scores[..., inside].masked_fill(lone, -torch.inf),
            scores[..., self.labels.index("O")],
            constituents,
            losses.to(scores.device),
            lengths,
            self._unique_spans(),
        )

    def _spans(self) -> tuple[list[int], list[int]]:
        """Return the labels that begin a span, and those that continue it; -1 for none."""
        number = {label: k for k, label in enumerate(self.labels)}
        begin = [k for k, label in enumerate(self.labels) if label.startswith("B-")]
        return begin, [number.get(f"I-{self.labels[k][2:]}", -1) for k in begin]

    def _unique_spans(self) -> list[int]:
        unique = set(self.unique.tolist())
        return [k for k, label in enumerate(self._spans()[0]) if label in unique]


MOST_WORDS = 1 << 14
"""Words of the sequences in one search, padding included."""


class Problem(NamedTuple):
    """The scores [n,L] of a sequence, and whether the words i to j are a constituent [n,n]."""

    scores: Tensor
    whole: Tensor | None


class Searched(NamedTuple):
    """The words' best labels [P,n], and the problems of rows that must have others."""

    labels: Tensor
    rows: Sequence[int] = ()
    problems: Sequence[Problem] = ()


@lru_cache(maxsize=8)
def make_role_decoder(
    how: RoleDecoding,
    labels: tuple[str, ...],
    transitions: tuple[tuple[int, int, int], ...],
    unique: bool,
    nonconstituent_penalty: float,
) -> RoleDecoder:
    """Return the decoder `how`; transitions: [previous, following, count], -1 at the start."""
    counts = torch.zeros(len(labels) + 1, len(labels))
    for before, after, count in transitions:
        counts[before, after] = count
    between = start = torch.tensor(0.0)
    if how == "probabilities":
        between = transition_probs(counts[:-1])
    elif how == "viterbi":
        between = transition_probs(counts[:-1] + SMOOTHING).log()
        start = transition_probs(counts[-1] + SMOOTHING).log()
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
    given: Sequence[Given] | None = None,
    *,
    heads: HeadDecoder | None = None,
    heads_weight: float = 0.0,
    root: int | None = None,
) -> dict[int, LisaParse]:
    """Return tags, frames and, with a decoder, heads of every parsed sentence, by its index.
    given: annotations of each sentence. heads_weight: number added to the scores of given heads and
        of their relations. root: the root relation, which never holds between words."""
    has_tag, is_predicate = _joint_parts(tuple(joint), tuple(tags))
    parses: dict[int, LisaParse] = {}
    unsolved: list[Unsolved] = []
    for batch in cast(Iterable[LisaBatch], scores.batches):
        known = [given[member] if given else Given() for member in batch.members]
        device = batch.scores.joint.device
        lengths = batch.lengths.to(device)
        # marginal probabilities of tags and predicates
        probabilities = torch.softmax(batch.scores.joint, -1)
        tag_probabilities = (
            probabilities @ has_tag.to(device) if tags else torch.zeros_like(probabilities)
        )
        tag_probability, best_tags = (t.cpu().numpy() for t in tag_probabilities.max(-1))
        certainty = probabilities @ is_predicate.to(device)
        rows, at = _predicates(batch, certainty, known).nonzero(as_tuple=True)
        by_word = {"tags": best_tags, "predicate_probabilities": certainty.cpu().numpy()}
        if tags:
            by_word["tag_probabilities"] = tag_probability
        trees: list[SentenceParse | None] = [None] * len(known)
        likely = None
        if len(rows) and batch.scores.paths is not None:
            by_arcs = batch.scores.likely_heads(batch.lengths, batch.heads)
            likely = HeadRelations(by_arcs, batch.scores.relations_of(by_arcs))
        if heads is not None and batch.scores.arcs is not None:
            trees, known = _decode_again(batch, known)
            by_word |= _parse(batch, heads, known, heads_weight, root, likely)
        for row, (member, n) in enumerate(zip(batch.members, lengths.tolist(), strict=True)):
            of_sentence: dict[str, Any] = {name: of[row, :n] for name, of in by_word.items()}
            parses.setdefault(member, LisaParse(**of_sentence, tree=trees[row]))
        # of few predicates at one time: each has scores of all words and roles
        size = max(1, MOST_SCORES // (certainty.shape[1] * len(roles.labels)))
        parts = zip(rows.split(size), at.split(size), strict=True) if len(rows) else ()
        for some, of_some in parts:
            sure = certainty[some, of_some].tolist()
            of_words = batch, roles, some, of_some, lengths[some]
            found, more = _frames(*of_words, sure, known, likely)
            for row, frame in zip(some.tolist(), found, strict=True):
                parses[batch.members[row]].frames.append(frame)
            unsolved += more
            if sum(of.log_probs.numel() for of in unsolved) > MOST_UNSOLVED:
                _solve(unsolved, roles)
                unsolved = []
    _solve(unsolved, roles)
    return parses


class Unsolved(NamedTuple):
    """A frame whose labels are to be found, with the words' log-probabilities of labels [n,L], and
    the probability that its predicate is one."""

    frame: FoundFrame
    problem: Problem
    log_probs: Tensor
    sure: float


MOST_SCORES = 1 << 22
"""Scores of roles that are computed at one time, unless one predicate has more."""
MOST_UNSOLVED = 1 << 23
"""Numbers of unsolved frames that wait for those of other batches."""


def _solve(unsolved: Sequence[Unsolved], roles: RoleDecoder) -> None:
    """Finds the labels of frames."""
    solutions = roles.solved([of.problem for of in unsolved])
    for of_frame, labels in zip(unsolved, solutions, strict=True):
        sums = _sums(of_frame.log_probs[None], torch.tensor(labels)[None])
        again = _frame(roles, labels, sums[0].tolist(), of_frame.frame.predicate, of_frame.sure)
        of_frame.frame.spans, of_frame.frame.scores = again.spans, again.scores


@lru_cache(maxsize=8)
def _joint_parts(joint: tuple[str, ...], tags: tuple[str, ...]) -> tuple[Tensor, Tensor]:
    """Return the tag of each joint label [J, T], and whether it marks a predicate [J]."""
    allowed = allowed_joint_labels(joint, tags).float()
    return allowed[:-1, -1].T, allowed[-1, 1]


def _decode_again(
    batch: LisaBatch, known: Sequence[Given]
) -> tuple[list[SentenceParse | None], list[Given]]:
    """Return the trees that kept scores and LISA's arcs make, and what is given with them."""
    trees: list[SentenceParse | None] = [None] * len(known)
    kept = {row: of.kept for row, of in enumerate(known) if of.kept is not None}
    given = list(known)
    if kept:
        rows = list(kept)
        arcs = from_self_loops(cast(Tensor, batch.scores.arcs)[rows])
        parser = kept[rows[0]].parser
        scores = [of.scores for of in kept.values()]
        found = decode_with_arcs(parser, scores, arcs, batch.lengths[rows])
        for (row, of), tree in zip(kept.items(), found, strict=True):
            assert tree.heads is not None
            assert tree.relations is not None
            spans = None
            if given[row].constituents is not None:
                spans = numpy.stack([tree.starts, tree.ends], 1)
            relations = of.relations[tree.relations]
            given[row] = given[row]._replace(
                heads=tree.heads, relations=relations, constituents=spans
            )
            trees[row] = tree
    return trees, given


def _predicates(batch: LisaBatch, certainty: Tensor, known: Sequence[Given]) -> Tensor:
    """Return the predicates [B,n], found or given; the certainty of given ones becomes 1."""
    words = torch.arange(certainty.shape[1], device=certainty.device)
    found = (certainty > 0.5) & (words < batch.lengths.to(words.device).unsqueeze(1))
    given = [of.predicates for of in known]
    if batch.predicates is not None:
        # a model with an indicator has one row for each predicate
        given = [[word] if word >= 0 else [] for word in batch.predicates.tolist()]
    for row, predicates in enumerate(given):
        if predicates is not None:
            found[row] = False
            found[row, list(predicates)] = True
            certainty[row, list(predicates)] = 1.0
    return found


def _frames(
    batch: LisaBatch,
    roles: RoleDecoder,
    rows: Tensor,
    predicates: Tensor,
    lengths: Tensor,
    sure: Sequence[float],
    known: Sequence[Given],
    likely: HeadRelations | None,
) -> tuple[list[FoundFrame], list[Unsolved]]:
    """Return the frames of P predicates: words predicates [P] of rows [P] with lengths [P], of
    these probabilities; some are yet to be solved. likely: the heads that role paths go by."""
    role_scores = batch.scores.roles_of(rows, predicates, *(likely or ()))
    whole = None
    if roles.nonconstituent_penalty and any(of.constituents is not None for of in known):
        whole = _constituents(known, role_scores.shape[1])
    found = roles.search(role_scores, predicates, lengths, rows, whole)
    log_probs = torch.log_softmax(role_scores, -1)
    words = lengths.tolist()
    columns = found.labels.tolist(), _sums(log_probs, found.labels).tolist(), words
    others = set(found.rows)
    frames = [
        FoundFrame(predicate, [], [])
        if row in others
        else _frame(roles, labels[:n], sums, predicate, of_predicate)
        for row, (labels, sums, n, predicate, of_predicate) in enumerate(
            zip(*columns, predicates.tolist(), sure, strict=True)
        )
    ]
    unsolved = [
        Unsolved(frames[row], problem, log_probs[row, : words[row]].clone(), sure[row])
        for row, problem in zip(found.rows, found.problems, strict=True)
    ]
    return frames, unsolved


def _sums(log_probs: Tensor, labels: Tensor) -> Tensor:
    """Return the sums of the first words' log-probabilities [P,n+1] under labels [P,n]."""
    chosen = log_probs.gather(-1, labels.to(log_probs.device).unsqueeze(-1)).squeeze(-1)
    return F.pad(chosen.double().cumsum(1), (1, 0))


def _frame(
    roles: RoleDecoder, labels: list[int], before: list[float], predicate: int, sure: float
) -> FoundFrame:
    """Return the frame of labels, with the words' `_sums` and the predicate's probability."""
    spans = bio_to_spans([roles.labels[label] for label in labels])
    spans = with_one_predicate(spans, predicate)
    # a span's probability is the geometric mean of its words'
    probable = [exp((before[end] - before[start]) / (end - start)) for start, end, _ in spans]
    probable[[label for *_, label in spans].index(PREDICATE)] = sure
    return FoundFrame(predicate, spans, probable)


def _constituents(known: Sequence[Given], n: int) -> Tensor:
    """Return whether words i to j may be an argument without penalty [B,n,n]."""
    whole = torch.eye(n, dtype=torch.bool).repeat(len(known), 1, 1)
    spans = [(row, of.constituents) for row, of in enumerate(known) if of.constituents is not None]
    places = [(row * n + of[:, 0]) * n + of[:, 1] - 1 for row, of in spans]
    if places:
        whole.view(-1)[torch.from_numpy(numpy.concatenate(places))] = True
    if unknown := [row for row, of in enumerate(known) if of.constituents is None]:
        whole[unknown] = True
    return whole


def with_one_predicate(spans: list[LabelledSpan], predicate: int) -> list[LabelledSpan]:
    """Return spans with one V: the V at the predicate, or the last one before it; others become
    C-V. Without V, C-V at the predicate becomes V; without both, the predicate becomes V."""
    here = [span for span in spans if span[0] <= predicate < span[1]]
    if not here or here[0][2] not in VERBS:
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
    batch: LisaBatch,
    decoder: HeadDecoder,
    known: Sequence[Given],
    weight: float,
    root: int | None,
    likely: HeadRelations | None,
) -> dict[str, numpy.ndarray]:
    """Return heads [B,n] (0 the root, k word k), relations [B,n] and joint probabilities [B,n]."""
    arcs = from_self_loops(cast(Tensor, batch.scores.arcs))
    earlier = padded(arcs, (() if of.heads is None else of.heads for of in known))
    # one arc a word: a constant over all arcs of a word would not change the tree
    arcs = _raised(arcs, earlier, weight * (earlier >= 0))
    final = torch.tensor([[of.kept is not None] for of in known], device=arcs.device)
    heads = earlier.clamp(min=0)
    if not final.all():
        heads = torch.where(final, heads, decoder(arcs, batch.lengths.to(arcs.device)))
    names = padded(arcs, (() if of.relations is None else of.relations for of in known))
    agreed = (heads == earlier) & (names >= 0)
    relations = batch.scores.relations_of(to_self_loops(heads), likely)
    relations = _raised(relations, names, weight * agreed)
    if root is not None and relations.shape[-1] > 1:
        relations[..., root].masked_fill_(heads > 0, -torch.inf)
    of_relations, best = torch.softmax(relations, -1).max(-1)
    of_heads = torch.softmax(mask_padding(arcs, batch.lengths), -1)
    sure = of_heads.gather(-1, heads.unsqueeze(-1)).squeeze(-1) * of_relations
    found = {"heads": heads, "relations": best, "head_probabilities": sure}
    return {name: values.cpu().numpy() for name, values in found.items()}


def _raised(scores: Tensor, choices: Tensor, values: Tensor) -> Tensor:
    """Return scores [B,n,C] with values [B,n] added to the choices [B,n]."""
    added = values.to(scores.dtype).unsqueeze(-1)
    return scores.scatter_add(-1, choices.clamp(min=0).unsqueeze(-1), added)
