"""Marginal probabilities of a teacher as training targets (Hinton et al. 2015), kept on a Doc of
one sentence in a span group without spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, SpanGroup
from spacy.training import Example
from torch import Tensor

from ..batching.sentences import Sentence
from ..pipeline.examples import same_tokens
from ..structure.chart import packed_spans, span_position
from ..structure.distributions import LabelledTrees
from .kept_scores import SentenceScores
from .network import OneStageScores

TEACHER_KEY = "teacher"
"""Key of the span group."""
LEAST = 0.02
"""Least probability that is kept."""
FINAL_SHARE = 0.5
"""Share of the pipeline's final tags, heads and roles in the targets; the other share is a
network's own softmax, which a decoder or a component behind it may have overruled."""
COLUMNS = {"tags": 2, "labels": 3, "heads": 2, "relations": 2, "joint": 2, "roles": 3}
"""Columns of places: word and name; start, end and name; word and head (0 the root); word and name;
of LISA, word and joint label; predicate, word and role."""


class Targets(NamedTuple):
    """Probabilities [m] of places [m, columns] by kind; names are numbers in `names`, "" no
    constituent. A kind that the teacher doesn't find is missing."""

    places: dict[str, NDArray[numpy.int64]]
    probabilities: dict[str, NDArray[numpy.float32]]
    names: list[str]


def set_targets(doc: Doc, targets: Targets) -> None:
    """Write targets to the Doc."""
    attrs: dict[str, Any] = {"names": targets.names}
    for kind, places in targets.places.items():
        attrs[kind] = places.astype("<i2").tobytes()
        attrs[f"{kind}_p"] = targets.probabilities[kind].astype("<f2").tobytes()
    doc.spans[TEACHER_KEY] = SpanGroup(doc, name=TEACHER_KEY, attrs=attrs)


def get_targets(doc: Doc) -> Targets | None:
    """Read the targets of a Doc, None without any."""
    if TEACHER_KEY not in doc.spans:
        return None
    attrs = cast(Mapping[str, Any], doc.spans[TEACHER_KEY].attrs)
    places = {
        kind: numpy.frombuffer(attrs[kind], "<i2").reshape(-1, columns).astype(numpy.int64)
        for kind, columns in COLUMNS.items()
        if kind in attrs
    }
    probabilities = {
        kind: numpy.frombuffer(attrs[f"{kind}_p"], "<f2").astype(numpy.float32) for kind in places
    }
    return Targets(places, probabilities, list(attrs["names"]))


def targets_of(examples: Sequence[Example], sentences: Sequence[Sentence]) -> list[Targets | None]:
    """Return the targets of each example. They are of one sentence: where the student reads
    several, or other tokens, there are none."""
    words = Counter((s.doc, len(s.words)) for s in sentences)
    return [
        get_targets(example.reference)
        if words[d, len(example.reference)] and same_tokens(example)
        else None
        for d, example in enumerate(examples)
    ]


@torch.no_grad()
def find_targets(parser: Any, scores: SentenceScores, doc: Doc) -> Targets:
    """Return a parser's marginals for a sentence.

    scores: `OneStageScores` of the sentence, without the batch's axis. doc: the sentence with the
    final tags and heads, as all components have left them.
    """
    tags, labels, arcs, governor, governed, weight = scores
    n = len(tags)
    first = (part.unsqueeze(0) for part in (tags, labels, arcs, governor, governed))
    one = OneStageScores._make([*first, weight])
    trees = cast(LabelledTrees, parser.trees(one, torch.tensor([n])))
    of_nodes = trees.nodes.scores.unsqueeze(-1)
    of_labels = ((trees.scores - of_nodes).exp() * trees.nodes.marginals.unsqueeze(-1))[0]
    found = Targets({}, {}, [])

    def with_final(values: Tensor, final: list[int]) -> Tensor:
        mixed = (1 - FINAL_SHARE) * values
        mixed[torch.arange(n), torch.tensor(final)] += FINAL_SHARE
        return mixed

    heads = [0 if token.head.i == token.i else token.head.i + 1 for token in doc]
    relations = torch.softmax(one.relations_of(torch.tensor([heads]))[0], -1)
    number = {name: k for k, name in enumerate(parser.tags)}
    final_tags = [number.get(token.tag_, int(tags[token.i].argmax())) for token in doc]
    # a parser of given tags predicts none
    of_tags = with_final(torch.softmax(tags, -1), final_tags) if parser.tags else tags[:, :0]
    found = keep_likely(found, "tags", of_tags, parser.tags)
    found = keep_likely(found, "labels", of_labels, ("", *parser.labels))
    places = found.places["labels"]
    starts, ends = (t.numpy()[places[:, 0]] for t in packed_spans(n))
    found.places["labels"] = numpy.stack([starts, ends, places[:, 1]], 1)
    found = keep_likely(found, "heads", with_final(torch.softmax(arcs, -1), heads), None)
    number = {name: k for k, name in enumerate(parser.relations)}
    final_relations = [number.get(token.dep_, int(relations[token.i].argmax())) for token in doc]
    return keep_likely(found, "relations", with_final(relations, final_relations), parser.relations)


def keep_likely(
    targets: Targets, kind: str, values: Tensor, names: Sequence[str] | None
) -> Targets:
    """Return targets with the places of a dense tensor that are likely enough. names: of its last
    axis, or None."""
    at = (values >= LEAST).nonzero()
    probabilities = values[tuple(at.T)].cpu().numpy()
    places = at.cpu().numpy()
    known = {name: k for k, name in enumerate(targets.names)}
    if names is not None:
        of_names = [known.setdefault(names[k], len(known)) for k in places[:, -1].tolist()]
        places[:, -1] = of_names
    return Targets(
        targets.places | {kind: places},
        targets.probabilities | {kind: probabilities},
        list(known),
    )


class Taught(NamedTuple):
    """Targets of a padded batch.

    rows, others: indices of the sentences with and without targets. tags [R, n, T], heads [R, n,
    n+1], relations [R, n, L]: dense. labels: rows, positions in the chart, labels, probabilities
    [m].
    """

    rows: Tensor
    others: Tensor
    tags: Tensor
    heads: Tensor
    relations: Tensor
    labels: tuple[Tensor, Tensor, Tensor, Tensor]


def batch_targets(
    members: Sequence[Sentence],
    of_docs: Sequence[Targets | None],
    scores: OneStageScores,
    names: Mapping[str, Iterable[str]],
) -> Taught | None:
    """Return the targets of the sentences of a batch, None without any.
    names: names of the outputs by kind, "tags", "labels" and "relations"."""
    rows = [k for k, s in enumerate(members) if of_docs[s.doc] is not None]
    if not rows:
        return None
    like = scores.tags
    n = like.shape[1]
    taught = [cast(Targets, of_docs[members[k].doc]) for k in rows]
    index = {kind: {name: k for k, name in enumerate(of_kind)} for kind, of_kind in names.items()}
    index["labels"] = {"": 0} | {name: k + 1 for name, k in index["labels"].items()}
    spans = [known_places(targets, "labels", index["labels"]) for targets in taught]
    of_row = numpy.repeat(numpy.arange(len(rows)), [len(p) for _, p in spans])
    starts, ends, labels = numpy.concatenate([places for places, _ in spans]).T
    probabilities = numpy.concatenate([p for _, p in spans])
    at, first, last, label, p = (
        torch.from_numpy(column).to(like.device)
        for column in (of_row, starts, ends, labels, probabilities)
    )
    others = [k for k in range(len(members)) if k not in set(rows)]
    return Taught(
        torch.tensor(rows, device=like.device),
        torch.tensor(others, dtype=torch.long, device=like.device),
        dense_targets(taught, "tags", like, index["tags"]),
        dense_targets(taught, "heads", like, None),
        dense_targets(taught, "relations", like, index["relations"]),
        (at, span_position(n, first, last), label, p),
    )


def known_places(
    targets: Targets, kind: str, index: Mapping[str, int] | None
) -> tuple[NDArray[numpy.int64], NDArray[numpy.float32]]:
    """Return the places of a kind with the student's numbers of names, `index`, and their
    probabilities; without places of names that it lacks."""
    places, p = targets.places[kind], targets.probabilities[kind]
    if index is None:
        return places, p
    own = numpy.array([index.get(name, -1) for name in targets.names])
    of_names = own[places[:, -1]]
    known = of_names >= 0
    return numpy.column_stack([places[:, :-1], of_names])[known], p[known]


def dense_targets(
    taught: Sequence[Targets], kind: str, like: Tensor, index: Mapping[str, int] | None
) -> Tensor:
    """Return the probabilities of words [R, n, C]; C is n + 1 for heads, which have no names.
    like: a tensor [B, n, ...]."""
    n = like.shape[1]
    dense = like.new_zeros(len(taught), n, n + 1 if index is None else max(1, len(index)))
    for row, targets in enumerate(taught):
        places, p = known_places(targets, kind, index)
        dense[row, places[:, 0], places[:, 1]] = torch.from_numpy(p).to(like)
    return dense


def soft_word_loss(scores: Tensor, targets: Tensor) -> Tensor:
    """Cross-entropy of scores [R, n, C] with target probabilities [R, n, C], summed."""
    log_p = torch.log_softmax(scores, -1)
    return -torch.where(targets > 0, targets * log_p, 0.0).sum()


def soft_tree_loss(trees: LabelledTrees, taught: Taught) -> Tensor:
    """Cross-entropy of the tree CRF with a teacher's, summed over sentences.

    -E_teacher[log p(T)] = log Z - sum of the teacher's marginals times the scores of labelled
    spans; its gradient is the difference of both networks' marginals. trees: of the taught
    sentences.
    """
    rows, at, labels, p = taught.labels
    return trees.nodes.log_partition.sum() - (trees.scores[rows, at, labels] * p).sum()
