"""Parses of sentences, and writers of their tags, heads and borders to Docs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy
from spacy.attrs import ORTH, SENT_START, TAG
from spacy.tokens import Doc

from ..annotations import set_dependencies
from ..annotations.addresses import ADDRESS, is_address
from ..batching.sentences import Sentence

_NONE = partial(numpy.zeros, 0, dtype=numpy.int64)


@dataclass
class SentenceParse:
    """The parse of one sentence of n words.

    tags: [n]. heads, relations: [n], head 0 is the root, k is word k; None from a parser without
        arcs.
    starts, ends, labels, probabilities: constituents in preorder by the sentence's words, none from
        a parser without charts. Labels count from 1.
    log_prob: log-probability of the tree; None, as probabilities, for other scores.
    tag_probabilities, head_probabilities: [n], of the tag, and of head and relation together, from
        the word's own softmax; None without tags or heads."""

    tags: numpy.ndarray
    starts: numpy.ndarray = field(default_factory=_NONE)
    ends: numpy.ndarray = field(default_factory=_NONE)
    labels: numpy.ndarray = field(default_factory=_NONE)
    probabilities: numpy.ndarray | None = None
    log_prob: float | None = None
    heads: numpy.ndarray | None = None
    relations: numpy.ndarray | None = None
    tag_probabilities: numpy.ndarray | None = None
    head_probabilities: numpy.ndarray | None = None


Parses = tuple[list[Sentence], dict[int, SentenceParse]]
"""All sentences of the Docs, and parses by sentence index."""

ROOT = "ROOT"
"""The relation of a sentence's root in spaCy."""
WROTE = "wrote"
"""Attribute of the constituents' span group: the parser's other layers, "tags" and "heads", which
another component may overwrite."""
UNKNOWN_RELATION = "dep"
"""The relation of words with an unknown relation."""


def write_tags(
    docs: Sequence[Doc], found: Parses, tags: Sequence[str], *, overwrite: Sequence[bool]
) -> None:
    """Write tags to words without a tag, and to all words of Docs to overwrite."""
    sentences, parses = found
    of_docs: dict[int, list[int]] = {}
    for number in parses:
        of_docs.setdefault(sentences[number].doc, []).append(number)
    has_addresses = ADDRESS in tags
    addresses: dict[int, bool] = {}
    for d, numbers in of_docs.items():
        doc = docs[d]
        strings = doc.vocab.strings
        keys = numpy.asarray([strings.add(tag) for tag in tags], dtype="uint64")
        orths: Any = doc.to_array([ORTH])
        tagged: Any = doc.to_array([TAG])
        for number in numbers:
            words, own = sentences[number].words, keys[parses[number].tags]
            for k, orth in enumerate(orths[words].tolist() if has_addresses else ()):
                if orth not in addresses:
                    addresses[orth] = is_address(strings[orth])
                if addresses[orth]:
                    own[k] = strings[ADDRESS]
            tagged[words] = own if overwrite[d] else numpy.where(tagged[words], tagged[words], own)
        doc.from_array([TAG], tagged)


def tag_names(tags: Sequence[str]) -> Callable[[str, int], str]:
    """Return the function that names the tag of a word, given the word and its index among `tags`.
    An address is ADD, if that is a tag."""
    addresses = ADDRESS in tags
    return lambda word, tag: ADDRESS if addresses and is_address(word) else tags[tag]


def write_sentence_starts(docs: Sequence[Doc], found: Parses, *, whole_docs: bool) -> None:
    """Write sentence starts to Docs without any.
    whole_docs: each Doc was read as one sentence, so boundaries inside, which would cut the tree,
        are removed; boundaries by a parser stay."""
    starts: list[set[int]] = [{0} for _ in docs]
    for sentence in found[0]:
        if sentence.first:
            starts[sentence.doc].add(sentence.start)
    for doc, doc_starts in zip(docs, starts, strict=True):
        if len(doc) and not doc.has_annotation("DEP" if whole_docs else "SENT_START"):
            # the setter of token.is_sent_start scans the whole Doc
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
    """Write heads and relations to Docs without heads, and to Docs to overwrite.

    An unparsed sentence keeps its heads, or all its words depend on the first. In a sentence parsed
    in pieces, later roots depend on the first root. Whitespace depends on the token before it, with
    a relation, without which spaCy ignores the head.
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
        # whitespace alone in its sentence, or between pieces
        for i in (i for i, head in enumerate(doc_heads) if head < 0):
            root = i == 0 or (not whole_docs and doc[i].is_sent_start)
            doc_heads[i] = i if root else i - 1
            doc_relations[i] = ROOT if root else UNKNOWN_RELATION
        set_dependencies(doc, doc_heads, doc_relations)
