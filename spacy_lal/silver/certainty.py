"""How sure a pipeline is of what it finds in a sentence, layer by layer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy
from spacy.language import Language
from spacy.tokens import Doc

from ..annotations import CONSTITUENTS_KEY, set_dependencies
from ..annotations.frames import FRAMES_KEY
from ..annotations.words import bare_doc
from ..parsing.component import ParserPipe
from ..parsing.constituency import ConstituencyPipe
from ..pipeline.pipes import run_pipes
from ..pipeline.writers import SentenceParse
from ..srl.component import LisaSRL
from ..srl.frame_decoding import LisaParse
from .sentences import sentence_docs

LAYERS = ("tags", "trees", "heads", "roles")
"""The layers of annotation whose certainty is known."""

Certainty = dict[str, float]
"""Of a sentence, by layer, from 0 to 1; a layer that nothing finds is not there."""


def annotated(nlp: Language, docs: Iterable[Doc]) -> Iterator[tuple[Doc, Certainty]]:
    """Each sentence as a Doc of its own, with all that the pipeline finds, and how sure it is.

    docs: tokens, with sentence starts or without. A batch of `nlp.batch_size` is in memory at
    once. Sentences that were left alone, or parsed in pieces, have no certainty.
    """
    batch: list[Doc] = []
    for doc in docs:
        batch.append(doc)
        if len(batch) == nlp.batch_size:
            yield from _annotate(nlp, batch)
            batch = []
    yield from _annotate(nlp, batch)


def findable(nlp: Language) -> set[str]:
    """The layers whose certainty is known if the pipeline's components find them."""
    layers: set[str] = set()
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for _, pipe in pipes:
        if isinstance(pipe, ParserPipe):
            layers |= {"trees"} if isinstance(pipe, ConstituencyPipe) else set()
            layers |= {"roles"} if isinstance(pipe, LisaSRL) else set()
            layers |= {"tags"} if pipe.tags else set()
            layers |= {"heads"} if pipe.relations else set()
    return layers


def _annotate(nlp: Language, docs: list[Doc]) -> Iterator[tuple[Doc, Certainty]]:
    sure: defaultdict[tuple[int, int, int], Certainty] = defaultdict(dict)
    pipes: list[tuple[str, Any]] = nlp.pipeline
    for _, pipe in pipes:
        if isinstance(pipe, ParserPipe):
            # what Docs have already stays as it is, and is not this component's
            new = [_new(pipe, doc) for doc in docs]
            found = pipe.predict(docs)
            pipe.set_annotations(docs, found)
            sentences, parses = found
            for number, parse in parses.items():
                d, start, end, *_ = sentences[number]
                values = {k: v for k, v in _certainty(parse).items() if k in new[d]}
                sure[d, start, end] |= values
        else:
            docs = list(run_pipes([pipe], docs))
    for d, doc in enumerate(docs):
        places = [(d, sentence.start, sentence.end) for sentence in doc.sents]
        for place, sentence in zip(places, sentence_docs(doc), strict=True):
            yield sentence, sure.get(place, {})


def _new(pipe: ParserPipe, doc: Doc) -> Collection[str]:
    """The layers that are the component's if it finds them."""
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
    """The mean of the constituents' probabilities and of the tree's, a word's geometric mean.

    The first is the expected precision, which doesn't see what is missing; the second does.
    """
    assert parse.log_prob is not None
    tree = float(numpy.exp(parse.log_prob / max(1, len(parse.tags))))
    probabilities = parse.probabilities
    if probabilities is None or not len(probabilities):
        return tree
    return (tree + float(probabilities.mean())) / 2


def role_certainty(parse: LisaParse) -> float:
    """The mean score of all spans of frames; without frames, how sure it is of the word that is
    most like a predicate that it is none."""
    if scores := [score for frame in parse.frames for score in frame.scores]:
        return sum(scores) / len(scores)
    assert parse.predicate_probabilities is not None
    return 1.0 - float(parse.predicate_probabilities.max())


def only_layers(doc: Doc, layers: Collection[str]) -> Doc:
    """A copy of a Doc of one sentence with these layers, the others left open."""
    copy = bare_doc(doc, one_sentence=True)
    if "tags" in layers:
        for token, tagged in zip(copy, doc, strict=True):
            token.tag_ = tagged.tag_
    if "heads" in layers:
        heads: Sequence[int] = [token.head.i for token in doc]
        set_dependencies(copy, heads, [token.dep_ for token in doc])
    for layer, key in (("trees", CONSTITUENTS_KEY), ("roles", FRAMES_KEY)):
        if layer in layers and key in doc.spans:
            group = cast(Any, doc.spans[key].copy(doc=copy))
            group.attrs = {}  # scores, which nobody learns from
            copy.spans[key] = group
    return copy


def sure_layers(certainty: Certainty, least: dict[str, float]) -> set[str]:
    """The layers that are as sure as `least` asks for."""
    return {layer for layer, value in least.items() if certainty.get(layer, -1.0) >= value}


def count_layers(docs: Iterable[Doc]) -> Counter[str]:
    """How many words of Docs have which layer."""
    words: Counter[str] = Counter()
    for doc in docs:
        there = {
            "tags": doc.has_annotation("TAG"),
            "trees": CONSTITUENTS_KEY in doc.spans,
            "heads": doc.has_annotation("DEP"),
            "roles": FRAMES_KEY in doc.spans,
        }
        words.update({layer: len(doc) for layer, has in there.items() if has})
    return words
