"""What parsers found, written to Docs: tags, sentence starts, heads and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy
from spacy.attrs import DEP, HEAD, SENT_START, TAG
from spacy.tokens import Doc

from ..annotations import set_dependencies
from ..annotations.frames import FrameSpans, get_frames, set_frames
from ..batching.parses import SentenceParse
from ..batching.sentences import Sentence
from ..srl.decoding import LisaParse

Parses = tuple[list[Sentence], dict[int, SentenceParse]]
"""The sentences of Docs, and what was found in those that were parsed, by their index."""

ROOT = "ROOT"
"""The relation of a sentence's root, as spaCy has it."""
WROTE = "wrote"
"""The attribute of the constituents' span group that says what else their parser wrote: layers, and
`fingerprint` of each."""
LAYERS: dict[str, list[int | str]] = {"tags": [TAG], "heads": [HEAD, DEP]}
"""What a parser writes besides constituents, and what spaCy calls it."""
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


def fingerprint(doc: Doc, layer: str) -> int:
    """What tells whether anybody has changed a layer of the Doc since."""
    return crc32(doc.to_array(LAYERS[layer]).tobytes())


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


def write_frames(docs: Sequence[Doc], found: Parses, key: str, *, keep_rolesets: bool) -> None:
    """Write frames to `doc.spans[key]`; keep_rolesets: with those of the frames that are there."""
    sentences, parses = found
    frames: list[list[FrameSpans]] = [[] for _ in docs]
    scores: list[list[list[float]]] = [[] for _ in docs]
    known = [get_frames(doc, key) if keep_rolesets else [] for doc in docs]
    rolesets = [{frame.predicate.i: frame.roleset for frame in there} for there in known]
    for number, (d, _, _, token_of_word, *_) in enumerate(sentences):
        parse = parses.get(number)
        words = token_of_word.tolist()
        for frame in parse.frames if isinstance(parse, LisaParse) else ():
            predicate = words[frame.predicate]
            spans = [(words[i], words[j - 1] + 1, label) for i, j, label in frame.spans]
            frames[d].append(FrameSpans(predicate, rolesets[d].get(predicate, ""), spans))
            scores[d].append(frame.scores)
    for doc, doc_frames, doc_scores in zip(docs, frames, scores, strict=True):
        set_frames(doc, doc_frames, doc_scores, key=key)
