"""Gold constituents, heads and tags of training examples, in the predicted Doc's tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, ORTH
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor

from ..annotations import get_constituents, get_frames, project_constituents
from ..annotations.grammar_errors import CORRECT, get_errors
from ..batching.batches import padded
from ..batching.sentences import Sentence
from ..parsing.dependencies import heads_in_words
from ..trees.tree import LabelledSpan


def same_tokens(example: Example) -> bool:
    """Whether both Docs of the example have the same tokens."""
    x, y = example.predicted, example.reference
    return len(x) == len(y) and bool(numpy.array_equal(x.to_array([ORTH]), y.to_array([ORTH])))


def gold_constituents(example: Example, key: str) -> list[LabelledSpan] | None:
    """Preorder (start, end, label) in predicted tokens; None if the reference has no trees.

    A span group without spans is a tree of words alone, not a missing one. If a sentence was left
    "unparsed" (`set_constituents`), so that it has no tree, the Doc counts as one without trees.

    Constituents whose borders are no token borders of the predicted Doc are left out.
    """
    groups = example.reference.spans
    if key not in groups or groups[key].attrs.get("unparsed"):
        return None
    spans = get_constituents(example.reference, key)
    if same_tokens(example):
        return spans
    alignment = example.alignment
    projected = project_constituents(spans, alignment.y2x, alignment.x2y)
    return [(start, end, label) for start, end, label, exact in projected if exact]


def gold_tags(example: Example) -> list[str]:
    """The tag of every predicted token; "" where there is none."""
    if same_tokens(example):
        return [token.tag_ for token in example.reference]
    return [tag or "" for tag in example.get_aligned("TAG", as_string=True)]


class GoldHeads(NamedTuple):
    """heads: of every predicted token as `token_heads` has them. relations: to them, "" where there
    is none."""

    heads: NDArray[numpy.int64]
    relations: list[str]


def token_heads(doc: Doc) -> NDArray[numpy.int64]:
    """The index of every token's head, itself for a root, -1 where it has no relation."""
    offsets, relations = doc.to_array([HEAD, DEP]).view("int64").reshape(-1, 2).T
    return numpy.where(relations != 0, numpy.arange(len(doc)) + offsets, -1)


def gold_heads(example: Example) -> GoldHeads:
    """The heads of the predicted Doc's tokens; none of tokens that have no counterpart."""
    reference = example.reference
    if same_tokens(example):
        return GoldHeads(token_heads(reference), [token.dep_ for token in reference])
    if not reference.has_annotation("DEP"):
        n = len(example.predicted)
        return GoldHeads(numpy.full(n, -1), [""] * n)
    aligned, relations = example.get_aligned_parse(projectivize=False)
    heads = [head if dep else None for head, dep in zip(aligned, relations, strict=True)]
    known = [-1 if head is None else head for head in heads]
    return GoldHeads(numpy.asarray(known, dtype="int64"), [dep or "" for dep in relations])


def in_words(spans: Iterable[LabelledSpan], sentence: Sentence) -> list[LabelledSpan]:
    """The spans inside the sentence, counted in its words; those of whitespace are left out."""
    words = sentence.words
    inside = [s for s in spans if sentence.start <= s[0] and s[1] <= sentence.end]
    if not inside:
        return []
    starts = numpy.searchsorted(words, [s[0] for s in inside])
    ends = numpy.searchsorted(words, [s[1] for s in inside])
    return [
        (int(i), int(j), label)
        for i, j, (_, _, label) in zip(starts, ends, inside, strict=True)
        if i < j
    ]


class GoldFrame(NamedTuple):
    """predicate: a token. spans: (start, end, label, exact) of V and the arguments; see
    `project_constituents` for "exact"."""

    predicate: int
    spans: list[tuple[int, int, str, bool]]


def gold_frames(example: Example, key: str) -> list[GoldFrame] | None:
    """Frames in predicted tokens; None if the reference has no such span group.

    Predicates without a counterpart are left out.
    """
    if key not in example.reference.spans:
        return None
    frames = get_frames(example.reference, key)
    own = [
        (frame.predicate.i, [(span.start, span.end, span.label_) for span in frame.spans])
        for frame in frames
    ]
    if same_tokens(example):
        return [GoldFrame(i, [(*span, True) for span in spans]) for i, spans in own]
    alignment = example.alignment
    found = []
    for predicate, spans in own:
        there = alignment.y2x[predicate]
        if len(there):
            projected = project_constituents(spans, alignment.y2x, alignment.x2y)
            found.append(GoldFrame(int(there[0]), list(projected)))
    return found


def role_labels(frame: GoldFrame, sentence: Sentence, labels: dict[str, int]) -> list[int]:
    """The number of each word's BIO label for one predicate.

    -1 for words of an argument whose borders are no token borders, which goes on in another
    sentence, or whose label is not among `labels`; 0 is "O".
    """
    numbers = [0] * len(sentence.words)
    for start, end, label, exact in frame.spans:
        whole = exact and sentence.start <= start and end <= sentence.end
        first = labels.get(f"B-{label}", -1) if whole else -1
        inner = labels.get(f"I-{label}", -1) if whole else -1
        start_word, end_word = numpy.searchsorted(sentence.words, [start, end]).tolist()
        if start_word < end_word:
            numbers[start_word:end_word] = [first] + [inner] * (end_word - start_word - 1)
    return numbers


def gold_errors(example: Example, key: str) -> list[str | None]:
    """The label of every predicted token; None where there is no gold.

    A token that is made of several gold ones is an error if one of them is.
    """
    if key not in example.reference.spans:
        return [None] * len(example.predicted)
    labels = get_errors(example.reference, key)
    if same_tokens(example):
        return list(labels)
    found: list[str | None] = []
    for i in range(len(example.predicted)):
        parts = [labels[int(k)] for k in example.alignment.x2y[i]]
        found.append(
            next((label for label in parts if label != CORRECT), CORRECT if parts else None)
        )
    return found


class WordGold:
    """Tags, heads and relations of a batch of examples, a padded batch of sentences at a time.

    cfg: a component's names by kind; without relations, no heads."""

    def __init__(self, cfg: dict[str, Any], examples: list[Example]) -> None:
        self.index = {
            kind: {name: k for k, name in enumerate(cfg.get(kind, ()))}
            for kind in ("tags", "relations")
        }
        found = [gold_heads(example) for example in examples] if cfg.get("relations") else []
        self.heads_of_docs = [doc_heads.heads for doc_heads in found]
        self.names = {
            "tags": [gold_tags(example) for example in examples],
            "relations": [doc_heads.relations for doc_heads in found],
        }

    def numbers(self, kind: str, members: list[Sentence], like: Tensor) -> Tensor:
        """The number of each word's tag or relation [B,n], -1 for none or an unknown one."""
        index, names = self.index[kind], self.names[kind]
        return padded(
            like, ([index.get(names[s.doc][i], -1) for i in s.words.tolist()] for s in members)
        )

    def heads(self, members: list[Sentence], like: Tensor) -> Tensor:
        """Heads [B,n], 0 the root, k word k, -1 where there is no gold."""
        return padded(like, (heads_in_words(self.heads_of_docs[s.doc], s) for s in members))
