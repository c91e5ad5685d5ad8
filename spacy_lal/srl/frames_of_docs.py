"""Frames of Docs: gold ones in the predicted Doc's tokens, their labels, and found ones written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy
from spacy.tokens import Doc
from spacy.training import Example

from ..annotations.constituents import get_frames, project_constituents
from ..annotations.frames import FrameSpans, set_frames
from ..batching.sentences import Sentence
from ..pipeline.examples import Counts, Reader, same_tokens
from ..pipeline.writers import Parses
from .decoding import LisaParse
from .losses import joint_label

OUTSIDE = "O"
"""The label of a word outside all spans."""


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
