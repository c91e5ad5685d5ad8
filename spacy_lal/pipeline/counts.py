"""One pass over the training examples: what they have, how often, and what they lack."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from ..annotations import get_constituents, get_frames
from ..annotations.grammar_errors import CORRECT, get_errors
from ..batching.sentences import Sentence, split_sentences
from ..parsing.dependencies import heads_in_words
from ..srl.losses import joint_label
from ..structure.binarise import collapse_unaries
from ..structure.hpsg import HpsgReport, lexicalise
from ..trees.nest import crossing
from ..trees.tree import LabelledSpan
from .gold import in_words, token_heads

SAMPLE = 10
"""How many Docs of the training data are kept, to initialise layers with."""
OUTSIDE = "O"
"""The label of a word outside all spans."""

Names = dict[str, list[str]]
"""Names of what a model has outputs for, by kind."""


@dataclass
class Counts:
    """docs: how many there are, and `lacking` how many have none of something. names: by kind, how
    often each stands there. sample: Docs to predict, to set up a model with. follows: how often a
    role label follows another, or "" as the first word's. groups: what trees with heads are like.
    """

    docs: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    names: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    sample: list[Doc] = field(default_factory=list)
    follows: Counter[tuple[str, str]] = field(default_factory=Counter)
    groups: HpsgReport = field(default_factory=HpsgReport)

    def require(
        self, pipe: str, labels: dict[str, Any] | None, kind: str, found: str, given: str
    ) -> None:
        """Raises ValueError, and says what there is not, if there are no names of a kind.

        labels: those given instead of what was found.
        """
        if labels is None and not self.names[kind]:
            raise ValueError(f"none of the {self.docs} training Docs has {found}")
        if labels is not None and not labels.get(kind):
            raise ValueError(f"the labels given to {pipe!r} have no {given}")

    def tell_lacking(self, pipe: str, what: str, message: str) -> None:
        """Log how many Docs lack something, if any do."""
        if count := self.lacking[what]:
            logger.info("%s: %d of %d training Docs %s", pipe, count, self.docs, message)


Reader = Callable[[Doc, Counts], None]
"""Adds what a Doc has to the counts."""


def count(examples: Iterable[Example], *readers: Reader) -> Counts:
    """What the readers find in the examples' references."""
    counts = Counts()
    for example in examples:
        counts.docs += 1
        if len(counts.sample) < SAMPLE and len(example.predicted):
            counts.sample.append(example.predicted)
        for read in readers:
            read(example.reference, counts)
    return counts


def read_words(doc: Doc, counts: Counts) -> None:
    """Tags and relations of words; "heads" are lacking where no word has a relation."""
    words = [token for token in doc if not token.is_space]
    relations = [token.dep_ for token in words if token.dep_]
    counts.names["tags"].update(token.tag_ for token in words if token.tag_)
    counts.names["relations"].update(relations)
    counts.lacking["heads"] += not relations


def read_trees(key: str, *, with_heads: bool) -> Reader:
    """Labels of constituents, a unary chain's joined; with heads, the groups of joint trees, too.

    The reader raises ValueError for constituents that cross or have no label.
    """

    def read(doc: Doc, counts: Counts) -> None:
        if key not in doc.spans:
            counts.lacking["trees"] += 1
            return
        spans = get_constituents(doc, key)
        refuse_crossing(spans, doc)
        if any(not label for *_, label in spans):
            raise ValueError(f"a constituent has no label in the training Doc {doc.text[:60]!r}")
        # as in training: spans that differ in whitespace only are a unary chain
        words = numpy.flatnonzero([not token.is_space for token in doc])
        whole = in_words(spans, Sentence(0, 0, len(doc), words))
        counts.names["labels"].update(label for *_, label in collapse_unaries(whole))
        if not with_heads or not doc.has_annotation("DEP"):
            return
        doc_heads = token_heads(doc)
        for sentence in split_sentences([doc], "split", len(doc), "split"):
            heads = heads_in_words(doc_heads, sentence).tolist()
            if -1 not in heads:
                tree = lexicalise(in_words(spans, sentence), heads, len(heads))
                counts.groups.add(tree, heads)

    return read


def refuse_crossing(spans: list[LabelledSpan], doc: Doc) -> None:
    """Raises ValueError for constituents that cross."""
    if pair := crossing(spans):
        raise ValueError(
            f"constituents {pair[0]} and {pair[1]} cross in the training Doc "
            f"{doc.text[:60]!r}: they are no tree"
        )


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


def read_errors(key: str) -> Reader:
    """Types of errors."""

    def read(doc: Doc, counts: Counts) -> None:
        if key not in doc.spans:
            counts.lacking["errors"] += 1
            return
        types = (label for label in get_errors(doc, key) if label != CORRECT)
        counts.names["labels"].update(types)

    return read
