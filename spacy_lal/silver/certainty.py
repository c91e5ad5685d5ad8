"""Certainty of a pipeline about the layers of a sentence, and accuracy by certainty."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy
import torch
from spacy.language import Language
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import minibatch

from ..annotations import CONSTITUENTS_KEY, bare_doc, set_dependencies, span_doc
from ..annotations.frames import FRAMES_KEY
from ..parsing.component import ParserPipe
from ..parsing.constituency import ConstituencyPipe
from ..parsing.decoders import read_parses
from ..parsing.kept_scores import KEPT, KeptScores, keep_scores
from ..parsing.scorer import score_constituency
from ..parsing.teacher_marginals import Targets, find_targets, get_targets, set_targets
from ..pipeline.pipes import run_pipes
from ..pipeline.writers import Parses, SentenceParse
from ..scoring.attachment import score_attachment
from ..srl.component import LisaSRL
from ..srl.frame_decoding import LisaParse
from ..srl.network import LisaBatch
from ..srl.scorer import score_frames
from ..srl.teacher_frames import find_frame_targets

LAYERS = ("tags", "trees", "heads", "roles")
"""Layers of annotation with a certainty."""
SPANS = {"trees": CONSTITUENTS_KEY, "roles": FRAMES_KEY}
"""Layers that are groups of spans, and their keys."""

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99)
"""Default least certainties for `calibrate`."""

SCORES: dict[str, tuple[str, Callable[[list[Example]], dict[str, Any]]]] = {
    "tags": ("tag_acc", lambda pairs: Scorer.score_token_attr(pairs, "tag")),
    "trees": ("const_evalb_f", score_constituency),
    "heads": ("conll18_las", score_attachment),
    "roles": ("srl_f", score_frames),
}
"""Measure of each layer, from 0 to 1."""

Certainty = dict[str, float]
"""Certainty about the known layers of a sentence, from 0 to 1."""


def with_certainty(
    nlp: Language, docs: Iterable[Doc], *, marginals: bool = False
) -> Iterator[tuple[Doc, Certainty]]:
    """Yield each sentence as a Doc of its own, with the pipeline's annotation and certainty. One
    batch of `nlp.batch_size` docs is in memory. Skipped sentences, and those parsed in pieces, have
    no certainty. marginals: also write the joint parser's and LISA's marginal probabilities to the
    Docs (`parsing/teacher_marginals.py`, `srl/teacher_frames.py`)."""
    for batch in minibatch(docs, nlp.batch_size):
        yield from _batch(nlp, batch, marginals)


def findable(nlp: Language) -> set[str]:
    """Return the layers about which the pipeline's components have a certainty."""
    layers: set[str] = set()
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for _, pipe in pipes:
        if isinstance(pipe, ParserPipe):
            layers |= {"trees"} if isinstance(pipe, ConstituencyPipe) else set()
            layers |= {"roles"} if isinstance(pipe, LisaSRL) else set()
            layers |= {"tags"} if pipe.tags else set()
            layers |= {"heads"} if pipe.relations else set()
    return layers


def has_joint_parser(nlp: Language) -> bool:
    """Return whether a component finds trees and heads together."""
    pipes: list[tuple[str, Any]] = nlp.pipeline
    return any(isinstance(pipe, ConstituencyPipe) and pipe.joint for _, pipe in pipes)


def _batch(nlp: Language, docs: list[Doc], marginals: bool) -> Iterator[tuple[Doc, Certainty]]:
    sure: defaultdict[tuple[int, int, int], Certainty] = defaultdict(dict)
    pipes: list[tuple[str, Any]] = nlp.pipeline
    kept: list[KeptScores | None] = [None] * len(docs)
    with_frames: dict[tuple[int, int, int], Callable[[Doc, Targets], Targets]] = {}
    for _, pipe in pipes:
        if isinstance(pipe, ParserPipe):
            # existing layers stay, and are not this component's
            new = [_new(pipe, doc) for doc in docs]
            of_lisa: list[LisaBatch] = []
            if marginals and isinstance(pipe, ConstituencyPipe) and pipe.joint:
                found, kept = _with_scores(pipe, docs)
            elif marginals and isinstance(pipe, LisaSRL) and pipe.finds_predicates:
                lisa_scores = pipe.scores_of(docs)
                of_lisa = cast(list[LisaBatch], list(lisa_scores.batches))
                found = pipe.decode(docs, replace(lisa_scores, batches=of_lisa))
            else:
                found = pipe.predict(docs)
            pipe.set_annotations(docs, found)
            sentences, parses = found
            for batch in of_lisa:
                for row, number in enumerate(batch.members):
                    d, start, end, *_ = sentences[number]
                    with_frames[d, start, end] = partial(find_frame_targets, pipe, batch, row)
            for number, parse in parses.items():
                d, start, end, *_ = sentences[number]
                values = {k: v for k, v in _certainty(parse).items() if k in new[d]}
                sure[d, start, end] |= values
        else:
            docs = list(run_pipes([pipe], docs))
    for d, doc in enumerate(docs):
        places = [(d, sentence.start, sentence.end) for sentence in doc.sents]
        for place, sentence in zip(places, doc.sents, strict=True):
            alone = span_doc(sentence)
            by_words = {} if (of_doc := kept[d]) is None else of_doc.by_words
            scores = by_words.get((sentence.start, len(sentence)))
            if of_doc is not None and scores is not None and place in sure:
                targets = find_targets(of_doc.parser, scores, alone)
                if place in with_frames:
                    targets = with_frames[place](alone, targets)
                set_targets(alone, targets)
            yield alone, sure.get(place, {})


@torch.inference_mode()
def _with_scores(pipe: ConstituencyPipe, docs: list[Doc]) -> tuple[Parses, list[KeptScores | None]]:
    """Return the parser's parses and the scores they were decoded from."""
    scores = keep_scores(pipe, docs, pipe.model.predict(docs))
    found = scores.sentences, read_parses(scores, pipe.find, pipe.root)
    return found, [KEPT.get(doc) if pipe.keep_scores else KEPT.pop(doc, None) for doc in docs]


def _new(pipe: ParserPipe, doc: Doc) -> Collection[str]:
    """Return the layers that are the component's if it finds them."""
    layers = {"trees", "roles"}
    (tags,), (heads,) = pipe.overwritten([doc])
    if pipe.tags and (tags or not doc.has_annotation("TAG")):
        layers.add("tags")
    if heads or not doc.has_annotation("DEP"):
        layers.add("heads")
    return layers


def _certainty(parse: SentenceParse) -> Certainty:
    found: Certainty = {}
    if parse.tag_probabilities is not None:
        found["tags"] = float(parse.tag_probabilities.mean())
    if parse.log_prob is not None:
        found["trees"] = tree_certainty(parse)
    if parse.head_probabilities is not None:
        found["heads"] = float(parse.head_probabilities.mean())
    if isinstance(parse, LisaParse) and parse.predicate_probabilities is not None:
        found["roles"] = role_certainty(parse)
    return found


def tree_certainty(parse: SentenceParse) -> float:
    """Return the mean of two numbers: the constituents' mean probability, which is the expected
    precision, and the tree's probability per word (geometric mean), which covers missing spans."""
    assert parse.log_prob is not None
    tree = float(numpy.exp(parse.log_prob / max(1, len(parse.tags))))
    probabilities = parse.probabilities
    if probabilities is None or not len(probabilities):
        return tree
    return (tree + float(probabilities.mean())) / 2


def role_certainty(parse: LisaParse) -> float:
    """Return the mean score of all spans of frames. Without frames, it is the certainty that the
    most probable predicate is no predicate."""
    if scores := [score for frame in parse.frames for score in frame.scores]:
        return sum(scores) / len(scores)
    assert parse.predicate_probabilities is not None
    return 1.0 - float(parse.predicate_probabilities.max())


def only_layers(doc: Doc, layers: Collection[str]) -> Doc:
    """Return a copy of a Doc of one sentence, with only these layers."""
    copy = bare_doc(doc, one_sentence=True, tags="tags" in layers)
    if "heads" in layers:
        set_dependencies(copy, [token.head.i for token in doc], [token.dep_ for token in doc])
    for layer, key in SPANS.items():
        if layer in layers and key in doc.spans:
            group = cast(Any, doc.spans[key].copy(doc=copy))
            group.attrs = {}  # scores are no training data
            copy.spans[key] = group
    if (targets := get_targets(doc)) is not None:
        set_targets(copy, targets)
    return copy


def sure_layers(certainty: Certainty, least: dict[str, float]) -> set[str]:
    """Return the layers with at least the certainty in `least`."""
    return {layer for layer, value in least.items() if certainty.get(layer, -1.0) >= value}


def count_layers(docs: Iterable[Doc]) -> Counter[str]:
    """Count the words that have each layer."""
    words: Counter[str] = Counter()
    for doc in docs:
        words.update({layer: len(doc) for layer in LAYERS if has_layer(doc, layer)})
    return words


def has_layer(doc: Doc, layer: str) -> bool:
    if layer in SPANS:
        return SPANS[layer] in doc.spans
    return bool(doc.has_annotation("TAG" if layer == "tags" else "DEP"))


def calibrate(
    nlp: Language, examples: Sequence[Example], thresholds: Sequence[float] = THRESHOLDS
) -> list[dict[str, Any]]:
    """Return the number and accuracy of predictions by layer and threshold.

    examples: one sentence per Doc; words and sentences are input, the rest is gold.
    Each row has layer, certainty, sentences and words (shares of those with gold), score, and the
    score's name. Raises ValueError if there is nothing to compare, or a Doc has several sentences.
    """
    found = list(with_certainty(nlp, (example.predicted for example in examples)))
    if len(found) != len(examples):
        raise ValueError(
            f"each Doc must be one sentence: {len(examples)} Docs have {len(found)} sentences"
        )
    pairs = [
        (Example(doc, example.reference), certainty)
        for (doc, certainty), example in zip(found, examples, strict=True)
    ]
    rows = []
    for layer, (name, score) in SCORES.items():
        if not any(layer in certainty for _, certainty in pairs):
            continue
        scored = [pair for pair in pairs if has_layer(pair[0].reference, layer)]
        words = sum(len(example.reference) for example, _ in scored)
        for threshold in thresholds if scored else ():
            # what was parsed in pieces has no certainty and is never kept
            sure = [example for example, found in scored if found.get(layer, -1.0) >= threshold]
            rows.append(
                {
                    "layer": layer,
                    "certainty": threshold,
                    "sentences": len(sure) / len(scored),
                    "words": sum(len(example.reference) for example in sure) / words,
                    "score": score(sure)[name] if sure else None,
                    "of": name,
                }
            )
    if not rows:
        raise ValueError("nothing to compare: the Docs have no gold of what the pipeline finds")
    return rows
