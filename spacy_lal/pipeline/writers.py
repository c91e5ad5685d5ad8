"""What parsers found, written to Docs: tags, sentence starts and heads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
from spacy.attrs import SENT_START
from spacy.tokens import Doc

from ..annotations import set_dependencies
from ..models.batching.parses import SentenceParse
from ..models.batching.sentences import Sentence

Parses = tuple[list[Sentence], dict[int, SentenceParse]]
"""The sentences of Docs, and what was found in those that were parsed, by their index."""

ROOT = "ROOT"
UNKNOWN_RELATION = "dep"


def write_tags(docs: Sequence[Doc], found: Parses, tags: Sequence[str]) -> None:
    """Write the tags of words that have none."""
    sentences, parses = found
    for number, parse in parses.items():
        sentence = sentences[number]
        doc = docs[sentence.doc]
        for i, tag in zip(sentence.words.tolist(), parse.tags.tolist(), strict=True):
            token = doc[i]
            if not token.tag:
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
    for doc, of_doc in zip(docs, starts, strict=True):
        if len(doc) and not doc.has_annotation("DEP" if whole_docs else "SENT_START"):
            # not token.is_sent_start, whose setter looks at the whole Doc every time
            values: Any = numpy.full(len(doc), -1, dtype="int64")
            values[list(of_doc)] = 1
            doc.from_array([SENT_START], values.view("uint64"))


def write_heads(
    docs: Sequence[Doc],
    found: Parses,
    relations: Sequence[str],
    *,
    whole_docs: bool,
    overwrite: bool,
) -> None:
    """Write heads and relations to Docs that have none, or to all.

    A sentence that was not parsed hangs on its first word. Pieces of a sentence must hang together
    to be one: the roots of later ones depend on that of the first. Whitespace belongs to the token
    before it; without a relation spaCy would deny that it has a head.
    """
    sentences, parses = found
    heads = [[-1] * len(doc) for doc in docs]
    deps = [[""] * len(doc) for doc in docs]
    first_root = -1
    for number, sentence in enumerate(sentences):
        of_doc, of_relations = heads[sentence.doc], deps[sentence.doc]
        words = sentence.words.tolist()
        parse = parses.get(number)
        if parse is None or parse.heads is None or parse.relations is None:
            in_words, names = [0, *[1] * (len(words) - 1)], [UNKNOWN_RELATION] * len(words)
        else:
            in_words = parse.heads.tolist()
            names = [relations[k] for k in parse.relations.tolist()]
        if sentence.first:
            first_root = words[in_words.index(0)]
        for i, head, relation in zip(words, in_words, names, strict=True):
            if head:
                of_doc[i], of_relations[i] = words[head - 1], relation
            else:
                of_doc[i] = i if sentence.first else first_root
                of_relations[i] = ROOT if sentence.first else UNKNOWN_RELATION
        for i in set(range(sentence.start, sentence.end)).difference(words):
            of_doc[i] = words[0] if i < words[0] else i - 1
            of_relations[i] = UNKNOWN_RELATION
    for doc, of_doc, of_relations in zip(docs, heads, deps, strict=True):
        if doc.has_annotation("DEP") and not overwrite:
            continue
        # whitespace alone in its sentence, or between the pieces of one
        for i in (i for i, head in enumerate(of_doc) if head < 0):
            root = i == 0 or (not whole_docs and doc[i].is_sent_start)
            of_doc[i] = i if root else i - 1
            of_relations[i] = ROOT if root else UNKNOWN_RELATION
        set_dependencies(doc, of_doc, of_relations)
