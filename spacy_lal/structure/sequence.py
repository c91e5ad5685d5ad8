"""Sequences of labels and of labelled spans: the best ones (Viterbi), in which some labels may
occur at most once; transitions, and spans as BIO labels.

In a BIO sequence `B-X` begins a span labelled X, `I-X` continues it and `O` is outside. X may have
a prefix of its own, as in `B-C-ARG1`.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy
import torch
from torch import Tensor

from ..trees.tree import LabelledSpan


class BestPaths(NamedTuple):
    """The best sequence of labels of each sentence."""

    labels: Tensor
    """[B, n] int64, 0 past a sequence's end."""
    score: Tensor
    """[B], the sum of the path's scores and transitions; -inf if every path is forbidden."""


@torch.no_grad()
def viterbi(
    scores: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor | None = None,
    once: Tensor | None = None,
) -> BestPaths:
    """Returns the label sequences of highest score (Viterbi 1967; Forney 1973).

    scores: [B, n, L], of each label of each word; padding is never read. lengths: [B], in 1..n.
    transitions: [L, L]; `transitions[i, j]` is added where label j follows label i. start: [L],
    added at the first word. once: [B, k], labels that may occur at most once in their sequence; one
    may be named twice.

    Scores may be -inf; if every path is forbidden, the labels mean nothing. Ties go to the lowest
    last label, then to the lowest label before it, and so on. The work at each word grows with the
    number of transitions that differ from their row's lowest, or, into labels that may not follow
    every label, are not -inf. Each label of `once` doubles the work: a path's state is its last
    label and the set of these labels it has used.
    """
    batch, n, _ = scores.shape
    lengths = lengths.to(scores.device, torch.long)
    dtype = torch.promote_types(scores.dtype, torch.promote_types(transitions.dtype, torch.float32))
    if not batch:
        return BestPaths(lengths.new_zeros(0, n), scores.new_zeros(0, dtype=dtype))
    transitions = transitions.to(scores.device, dtype)
    once = lengths.new_zeros(batch, 0) if once is None else once.to(lengths)
    subsets = 1 << once.shape[1]
    every = torch.arange(batch, device=scores.device)

    # best[t, j, u, b]: paths up to word t with last label j that have used the labels of subset u.
    # The batch comes last, so that each label is a contiguous row. Padding is unused.
    best = scores.permute(1, 2, 0).to(dtype).unsqueeze(2).repeat(1, 1, subsets, 1)
    bits = 1 << torch.arange(once.shape[1], device=once.device)
    subset = torch.arange(subsets, device=once.device).view(1, -1, 1)
    names = torch.arange(scores.shape[2], device=once.device).view(-1, 1, 1)
    # the bits of each label [L, 1, B]: its subsets have them, and come from those without
    own = ((once == names) * bits).sum(-1).unsqueeze(1)
    best.masked_fill_((subset & own) != own, -torch.inf)
    source = (subset & ~own).expand_as(best[0])
    first = torch.full_like(best[0], -torch.inf)
    first[:, 0] = 0.0 if start is None else start.to(best).unsqueeze(1)
    best[0] += first.gather(1, source)
    lowest, everywhere, previous, following = _exceptions(transitions)
    added = transitions[previous, following].unsqueeze(1)
    following = following.unsqueeze(1).expand(-1, subsets * batch)
    # one buffer for all words: new memory at every word would cost more than the sums
    candidates = best.new_empty(len(previous), subsets * batch)
    for before, now in pairwise(best.flatten(2)):
        common = (before + lowest).amax(0)
        paths = torch.where(everywhere, common, -torch.inf)
        torch.index_select(before, 0, previous, out=candidates)
        candidates += added
        paths.scatter_reduce_(0, following, candidates, "amax")
        now += paths.view_as(source).gather(1, source).flatten(1) if subsets > 1 else paths

    # Finding the choices of one path again costs L, not L^2, at each word, so none were stored.
    last = lengths - 1
    score, state = best[last, :, :, every].flatten(1).max(1)
    label, used = state // subsets, state % subsets
    labels = lengths.new_zeros(n, batch)
    labels[-1] = label
    for t in range(n - 2, -1, -1):
        ends = best[t, :, 0]
        if subsets > 1:
            earlier = used & ~own[label, 0, every]
            used = torch.where(t < last, earlier, used)
            ends = best[t].flatten(1).index_select(1, used * batch + every)
        choice = (ends + transitions.index_select(1, label)).max(0).indices
        label = torch.where(t < last, choice, label)
        labels[t] = label
    words = torch.arange(n, device=best.device) <= last.unsqueeze(1)
    return BestPaths(labels.T.where(words, 0), score)


def _exceptions(transitions: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Splits transitions into a lowest one for each label, and pairs that differ from it.

    Returns the lowest finite transition from each label [L, 1], whether each label may follow every
    label [L, 1], and the pairs (previous, following). The maximum over both is exact for labels
    that may follow every label; all ways into other labels are among the pairs.
    """
    allowed = transitions > -torch.inf
    # a label that nothing may follow has no lowest transition, but then none may follow every label
    lowest = transitions.where(allowed, torch.inf).amin(1, keepdim=True)
    everywhere = allowed.all(0)
    pairs = allowed & ~(everywhere & (transitions == lowest))
    previous, following = pairs.nonzero(as_tuple=True)
    return lowest, everywhere.unsqueeze(1), previous, following


MOST_STATES = 1 << 24
"""Words times states of the sequences in one search (64 MB of floats), or times words."""


@torch.no_grad()
def unique_viterbi(
    scores: Tensor,
    lengths: Tensor,
    transitions: Tensor,
    start: Tensor | None,
    unique: Tensor,
) -> BestPaths:
    """Returns the best sequences, as `viterbi`, with each label of `unique` [C] at most once.

    The first search is unconstrained, and each next search constrains the labels that the last
    result repeats. A sequence that breaks no constraint is the best of a superset of the allowed
    ones. Each further search of a sequence costs 2^k times as much, with k its constrained labels.
    """
    labels, score = viterbi(scores, lengths, transitions, start)
    lengths, unique = lengths.to(labels), unique.to(labels)
    constrained = torch.zeros(len(labels), len(unique), dtype=torch.bool, device=labels.device)
    rows = torch.arange(len(labels), device=labels.device)
    while True:
        # a repeated label that is constrained already: every allowed sequence has -inf
        new = repeated(labels[rows], lengths[rows], unique) & ~constrained[rows]
        broken = new.any(1)
        rows = rows[broken]
        if not len(rows):
            return BestPaths(labels, score)
        constrained[rows] |= new[broken]
        # all sequences take as many labels as the one with the most, some repeated
        k = int(constrained[rows].sum(1).max())
        n = int(lengths[rows].max())
        for part in rows.split(max(1, (MOST_STATES >> k) // (n * scores.shape[2]))):
            known, which = constrained[part].byte().topk(k)
            once = unique[which.where(known > 0, which[:, :1])]
            found = viterbi(scores[part, :n], lengths[part], transitions, start, once)
            labels[part, :n], score[part] = found


def repeated(labels: Tensor, lengths: Tensor, unique: Tensor) -> Tensor:
    """Returns [B, C]: whether a sequence has each label of `unique` more than once."""
    words = torch.arange(labels.shape[1], device=labels.device) < lengths.unsqueeze(1)
    return (labels.where(words, -1).unsqueeze(2) == unique).sum(1) > 1


def transition_probs(counts: Tensor) -> Tensor:
    """Returns the relative frequency of each label given the one before; unseen pairs have 0.

    counts: [L, L], how often label j follows label i in the training data; or [L], how often each
    label comes first.

    Strubell et al. 2018 ("Predicting semantic roles") decode label scores with these probabilities.
    Their released code adds them to the logits, without logarithms and without a term for the first
    word: an unseen pair then costs at most 1, and sequences may be invalid.
    """
    return (counts / counts.sum(-1, keepdim=True)).nan_to_num(0.0)


def bio_constraints(labels: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Returns transitions [L, L] and start [L] for `viterbi`: 0 where BIO allows it, else -inf.

    `I-X` may only follow `B-X` or `I-X`. Raises ValueError for other labels than `O`, `B-X`, `I-X`.
    """
    parts = [_split(label) for label in labels]
    allowed = [[tag != "I" or before == name for tag, name in parts] for _, before in parts]
    first = [tag != "I" for tag, _ in parts]
    transitions, start = torch.tensor(allowed), torch.tensor(first)
    return transitions.float().log(), start.float().log()


def bio_to_spans(labels: Iterable[str]) -> list[LabelledSpan]:
    """Returns spans (start, end, label), `end` exclusive, in order of the text.

    Invalid sequences are read as by the released code of Strubell et al.: an `I-X` outside of a
    span begins one, and inside a span `I-Y` continues it with any label.

    Raises ValueError for a label that is not `O`, `B-X` or `I-X`.
    """
    spans: list[LabelledSpan] = []
    inside = False
    for position, label in enumerate(labels):
        if label == "O":
            inside = False
            continue
        tag, name = _split(label)
        if tag == "I" and inside:
            start, _, name = spans.pop()
            spans.append((start, position + 1, name))
        else:
            spans.append((position, position + 1, name))
        inside = True
    return spans


@lru_cache(maxsize=4096)
def _split(label: str) -> tuple[str, str]:
    tag, _, name = label.partition("-")
    if label != "O" and (tag not in ("B", "I") or not name):
        raise ValueError(f"{label!r} is none of the BIO labels O, B-… and I-…")
    return tag, name


Array = numpy.ndarray
Spans = list[tuple[int, int, int]]
"""(start, end, label) in order of the words."""


def best_spans(
    begin: Tensor,
    inside: Tensor,
    outside: Tensor,
    whole: Tensor,
    losses: Tensor,
    lengths: Tensor,
    unique: Sequence[int] = (),
) -> list[Spans]:
    """Returns the disjoint spans of highest score (a semi-Markov model's Viterbi).

    begin, inside: [B, n, C], scores of a word that begins or continues a span of each label; -inf
    forbids. outside: [B, n], scores of a word in no span. whole: [B, n, n], whether the words i to
    j are a constituent. losses: [C], the cost (at least 0) of a span of each label that is no
    constituent. lengths: [B], in 1..n. unique: labels that occur at most once in a sequence.

    Sarawagi and Cohen (2004). Of a label's spans that end at a word and are no constituents, the
    best is the word alone or extends the best that ends at the word before, so the work grows with
    C n and the number of constituents, not with C n². A span may always be left out, so the search
    needs only the words and labels of spans that score more than their words outside. As in
    `unique_viterbi`, each next search constrains the labels of `unique` that the last result
    repeats; each such label doubles the work.
    Ties: a word outside before a span, longer spans before shorter, lower labels before higher.
    """
    problems = span_problems(begin, inside, outside, whole, losses, lengths, unique)
    return solved(problems, unique)


class SpanProblem(NamedTuple):
    """What `best_spans` needs of one sequence: w words and c labels, by their numbers, and their
    scores, as there."""

    words: Array
    labels: Array
    begin: Array
    """[w, c]"""
    inside: Array
    """[w, c]"""
    outside: Array
    """[w]"""
    whole: Array
    """[w, w]"""
    losses: Array
    """[c]"""


def span_problems(
    begin: Tensor,
    inside: Tensor,
    outside: Tensor,
    whole: Tensor,
    losses: Tensor,
    lengths: Tensor,
    unique: Sequence[int] = (),
) -> list[SpanProblem]:
    """Returns the problems that `solved` solves, in fewer searches the more there are, with the
    arguments of `best_spans`."""
    starts, later, alone = (t.double().cpu().numpy() for t in (begin, inside, outside))
    constituents, lost = whole.cpu().numpy(), losses.double().cpu().numpy()
    problems = []
    useful = _useful(starts, later, alone, lost, lengths.cpu().numpy(), unique)
    for row, of in enumerate(useful):
        words, labels = (numpy.flatnonzero(of.any(axis)) for axis in (1, 0))
        both = numpy.ix_(words, labels)
        of_words = alone[row, words], constituents[row][numpy.ix_(words, words)]
        of_labels = starts[row][both], later[row][both]
        problems.append(SpanProblem(words, labels, *of_labels, *of_words, lost[labels]))
    return problems


def solved(problems: Sequence[SpanProblem], unique: Sequence[int] = ()) -> list[Spans]:
    """Returns the best spans of each problem, of which `unique` labels occur at most once."""
    found: list[Spans] = [[] for _ in problems]
    once: list[list[int]] = [[] for _ in problems]
    rows = [row for row, problem in enumerate(problems) if len(problem.words)]
    while rows:
        rows.sort(key=lambda row: (len(once[row]), len(problems[row].words)))
        for some in _alike(rows, problems, once):
            group = [problems[row] for row in some]
            words, _, begin, inside, outside, whole, losses = (
                padded([problem[k] for problem in group], padding)
                for k, padding in enumerate((-1, -1, -numpy.inf, -numpy.inf, 0, False, 0))
            )
            follows = numpy.diff(words, axis=1, prepend=-2)[..., None] == 1
            limited = [
                numpy.searchsorted(problem.labels, once[row])
                for row, problem in zip(some, group, strict=True)
            ]
            results = _search(
                begin,
                numpy.where(follows, inside, -numpy.inf),
                outside,
                whole,
                losses,
                [len(problem.words) for problem in group],
                numpy.array(limited, dtype=numpy.int64),
            )
            for row, (of, names, *_), spans in zip(some, group, results, strict=True):
                found[row] = [
                    (int(of[first]), int(of[end - 1]) + 1, int(names[label]))
                    for first, end, label in spans
                ]
        rows = [row for row in rows if _limit(once[row], found[row], unique)]
    return found


ENOUGH = 100
"""Number of problems after which longer ones are searched apart: the steps of a search take time by
themselves."""


def _alike(
    rows: list[int], problems: Sequence[SpanProblem], once: Sequence[list[int]]
) -> Iterator[list[int]]:
    """Yields rows to search together, with as many labels that occur at most once, and of similar
    size or few."""
    some: list[int] = []
    before = most = 0
    for row in rows:
        words, labels, *_ = problems[row]
        k, n = len(once[row]), len(words)
        most = max(most, n, len(labels))
        if some:
            larger = n.bit_length() > before.bit_length() and len(some) >= ENOUGH
            full = (len(some) + 1) * n * most > MOST_STATES >> k
            if larger or full or k > len(once[some[-1]]):
                yield some
                some, most = [], max(n, len(labels))
        some.append(row)
        before = n
    if some:
        yield some


def padded(rows: Sequence[Sequence[int] | Array], padding: float = 0) -> Array:
    """Returns rows of numbers, or tables, as one array, with `padding` after their ends."""
    parts = list(map(numpy.asarray, rows))
    sizes = [max(of) for of in zip(*(part.shape for part in parts), strict=True)]
    found = numpy.full((len(parts), *sizes), padding, parts[0].dtype)
    for row, part in zip(found, parts, strict=True):
        row[tuple(map(slice, part.shape))] = part
    return found


HIGHEST = 1e100
"""Above all scores: of a word that must be in a span of some label that occurs at most once."""


def _useful(
    begin: Array,
    inside: Array,
    outside: Array,
    losses: Array,
    lengths: Array,
    unique: Sequence[int],
) -> Array:
    """Returns [B, n, C]: whether a word is in a span of a label that scores more than its words
    outside, or a word that can't be outside: than a span of its own of a label not in `unique`."""
    n = begin.shape[1]
    past = numpy.arange(n) >= lengths[:, None]
    must = numpy.isneginf(outside) & ~past
    others = outside.copy()
    own = numpy.delete(begin[must] - losses, unique, 1)
    others[past], others[must] = 0, own.max(1, initial=-HIGHEST)
    # gains of a label's best span that ends, and of the words that it continues with
    gain, more = begin - others[..., None], inside - others[..., None]
    gain[past] = more[past] = -numpy.inf
    useful = must[..., None] & ((begin > -numpy.inf) | (inside > -numpy.inf))
    for j in range(1, n):
        numpy.maximum(gain[:, j], gain[:, j - 1] + more[:, j], out=gain[:, j])
    after = numpy.zeros_like(losses)
    for j in range(n - 1, -1, -1):
        useful[:, j] |= gain[:, j] + after > 0
        after = numpy.maximum(after + more[:, j], 0)
    return useful


def _search(
    begin: Array,
    inside: Array,
    outside: Array,
    whole: Array,
    losses: Array,
    lengths: list[int],
    once: Array,
) -> list[Spans]:
    """losses: [B, C]. once: [B, k], labels that may occur at most once, as for `viterbi`."""
    batch, n, _ = begin.shape
    subsets = 1 << once.shape[1]
    # the bits of each label [B, 1, C]: a span of it takes them from the subset of labels allowed
    bits = (once[..., None] == numpy.arange(begin.shape[2])) << numpy.arange(once.shape[1])[:, None]
    own = bits.sum(1)[:, None]
    subset = numpy.arange(subsets)[:, None]
    barred = numpy.where((subset & own) == own, 0.0, -numpy.inf)
    rows, source = numpy.arange(batch)[:, None, None], subset & ~own
    # words that can't be inside: sums of -inf have no differences
    never = numpy.isneginf(inside)[:, :, None]
    sums = numpy.where(never, 0, inside[:, :, None]).cumsum(1)
    broken = never.cumsum(1)
    # value of a span of words i to j: start[i] + sums[j], unless one after i can't be inside
    start = begin[:, :, None] - sums + barred[:, None]
    starts_of = [
        numpy.flatnonzero(column[: j + 1])
        for j, column in enumerate(numpy.asarray(whole.any(axis=0)).T)
    ]
    best = numpy.zeros((batch, n + 1, subsets))
    back = numpy.full((batch, n, subsets, 2), -1)
    longest = numpy.full_like(start[:, 0], -numpy.inf)
    first = numpy.zeros(longest.shape, dtype=numpy.int64)
    for j in range(n):
        start[:, j] += best[rows, j, source]
        longest = numpy.where(never[:, j], -numpy.inf, longest)
        here = start[:, j] > longest
        longest, first = numpy.where(here, start[:, j], longest), numpy.where(here, j, first)
        value, at = longest - losses[:, None], first
        if len(starts := starts_of[j]):
            there = whole[:, starts, j, None, None] & (broken[:, starts] == broken[:, j, None])
            values = numpy.where(there, start[:, starts], -numpy.inf)
            which = values.argmax(1)
            top, begins = numpy.take_along_axis(values, which[:, None], 1)[:, 0], starts[which]
            better = (top > value) | ((top == value) & (begins < at))
            value, at = numpy.where(better, top, value), numpy.where(better, begins, at)
        value = value + sums[:, j]
        highest = value.max(2)
        begins = numpy.where(value < highest[..., None], n, at)
        chosen = numpy.stack([begins.min(2), begins.argmin(2)], 2)
        alone = best[:, j] + outside[:, j, None]
        best[:, j + 1] = numpy.maximum(highest, alone)
        back[:, j] = numpy.where((highest > alone)[..., None], chosen, -1)
    return [
        _spans(back[row].tolist(), end, own[row, 0].tolist()) for row, end in enumerate(lengths)
    ]


def _spans(back: list[list[list[int]]], end: int, own: list[int]) -> Spans:
    spans, allowed = [], -1
    while end:
        first, label = back[end - 1][allowed]
        if label >= 0:
            spans.append((first, end, label))
            allowed = (allowed % len(back[0])) & ~own[label]
        end = first if label >= 0 else end - 1
    return spans[::-1]


def _limit(once: list[int], spans: Spans, unique: Sequence[int]) -> bool:
    """Adds the repeated labels of `unique` to `once`; returns whether there are new ones."""
    named = [label for *_, label in spans]
    new = [label for label in unique if named.count(label) > 1 and label not in once]
    once += new
    return bool(new)
