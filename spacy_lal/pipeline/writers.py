"""Parses of sentences, and how their tags, heads and borders are written to Docs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ..annotations import set_dependencies
from ..batching.sentences import Sentence


def _nothing() -> numpy.ndarray:
    return numpy.zeros(0, dtype=numpy.int64)


@dataclass
class SentenceParse:
    """The parse of one sentence of n words.

    tags: the tag of every word [n]. starts, ends, labels, probabilities: constituents in preorder
    by the sentence's words, [number of constituents]; labels count from 1; no constituents from a
    parser without charts. log_prob: of the tree. Both are None where scores are no
    log-probabilities. heads: of each word, 0 the root, k word k [n], and relations [n] their
    relations; None from a parser without arcs. tag_probabilities, head_probabilities [n]: of each
    word's tag, and of its head and relation together, by the word's own softmax; None where there
    is nothing of that kind.
    """

    tags: numpy.ndarray
    starts: numpy.ndarray = field(default_factory=_nothing)
    ends: numpy.ndarray = field(default_factory=_nothing)
    labels: numpy.ndarray = field(default_factory=_nothing)
    probabilities: numpy.ndarray | None = None
    log_prob: float | None = None
    heads: numpy.ndarray | None = None
    relations: numpy.ndarray | None = None
    tag_probabilities: numpy.ndarray | None = None
    head_probabilities: numpy.ndarray | None = None


Parses = tuple[list[Sentence], dict[int, SentenceParse]]
"""The sentences of Docs, and what was found in those that were parsed, by their index."""

ROOT = "ROOT"
"""The relation of a sentence's root, as spaCy has it."""
WROTE = "wrote"
"""The attribute of the constituents' span group that names the layers beside it which their parser
wrote, "tags" and "heads": another component may overwrite these."""
UNKNOWN_RELATION = "dep"
"""The relation of a word whose relation is not known."""


def write_tags(
    docs: Sequence[Doc], found: Parses, tags: Sequence[str], *, overwrite: Sequence[bool]
) -> None:
    """Write the tags of words that have none; of Docs to overwrite, those of all words."""
    sentences, parses = found
    for number, parse in parses.items():
        sentence = sentences[number]
        doc = docs[sentence.doc]
        for i, tag in zip(sentence.words.tolist(), parse.tags.tolist(), strict=True):
            token = doc[i]
            if overwrite[sentence.doc] or not token.tag:
                token.tag_ = tags[tag]


def write_sentence_starts(docs: Sequence[Doc], found: Parses, *, whole_docs: bool) -> None:
    """Write where sentences start to Docs that do not know.

    whole_docs: each was read as one sentence. Boundaries inside would cut the tree, and go; those
    of a parser can't be undone.
    """
    starts: list[set[int]] = [{0} for _ in docs]
    for sentence in found[0]:
        if sentence.first:
            starts[sentence.doc].add(sentence.start)
    for doc, doc_starts in zip(docs, starts, strict=True):
        if len(doc) and not doc.has_annotation("DEP" if whole_docs else "SENT_START"):
            # not token.is_sent_start, whose setter looks at the whole Doc every time
            values: Any = numpy.full(len(doc), -1, dtype="int64")
            values[list(doc_starts)] = 1
            doc.from_array([SENT_START], values.view("uint64"))


def write_heads(
    docs: Sequence[Doc],
    found: Parses,
    relations: Sequence[str],
    *,
    whole_docs: bool,
    overwrite: Sequence[bool],
) -> None:
    """Write heads and relations to Docs that have none, and to those to overwrite.

    A sentence that was not parsed keeps its heads, or hangs on its first word. Pieces of a sentence
    must hang together to be one: the roots of later ones depend on that of the first. Whitespace
    belongs to the token before it; without a relation spaCy would deny that it has a head.
    """
    sentences, parses = found
    heads = [[-1] * len(doc) for doc in docs]
    deps = [[""] * len(doc) for doc in docs]
    first_root = -1
    for number, sentence in enumerate(sentences):
        doc_heads, doc_relations = heads[sentence.doc], deps[sentence.doc]
        words = sentence.words.tolist()
        parse = parses.get(number)
        doc = docs[sentence.doc]
        if parse is None and doc.has_annotation("DEP"):
            for token in doc[sentence.start : sentence.end]:
                doc_heads[token.i], doc_relations[token.i] = token.head.i, token.dep_
            continue
        if parse is None or parse.heads is None or parse.relations is None:
            in_words, names = [0, *[1] * (len(words) - 1)], [UNKNOWN_RELATION] * len(words)
        else:
            in_words = parse.heads.tolist()
            names = [relations[k] for k in parse.relations.tolist()]
        if sentence.first:
            first_root = words[in_words.index(0)]
        for i, head, relation in zip(words, in_words, names, strict=True):
            if head:
                doc_heads[i], doc_relations[i] = words[head - 1], relation
            else:
                doc_heads[i] = i if sentence.first else first_root
                doc_relations[i] = ROOT if sentence.first else UNKNOWN_RELATION
        for i in set(range(sentence.start, sentence.end)).difference(words):
            doc_heads[i] = words[0] if i < words[0] else i - 1
            doc_relations[i] = UNKNOWN_RELATION
    for doc, doc_heads, doc_relations, replaced in zip(docs, heads, deps, overwrite, strict=True):
        if doc.has_annotation("DEP") and not replaced:
            continue
        # whitespace alone in its sentence, or between the pieces of one
        for i in (i for i, head in enumerate(doc_heads) if head < 0):
            root = i == 0 or (not whole_docs and doc[i].is_sent_start)
            doc_heads[i] = i if root else i - 1
            doc_relations[i] = ROOT if root else UNKNOWN_RELATION
        set_dependencies(doc, doc_heads, doc_relations)
