"""A Doc's sentences as Docs of their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy
from spacy.tokens import Doc

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from ..annotations.frames import FRAMES_KEY, FrameSpans, get_frames, set_frames
from ..trees.tree import LabelledSpan


def sentence_docs(doc: Doc) -> Iterator[Doc]:
    """A Doc of each sentence, with the trees and frames inside it.

    `Span.as_doc` takes tags and heads along, but leaves span groups behind.
    """
    if doc.tensor is None:
        # spaCy's doc_cleaner leaves None, and as_doc asks for vectors
        doc.tensor = numpy.zeros(0, dtype="f")
    phrases = get_constituents(doc)
    frames = [(frame.predicate.i, frame.roleset, frame.spans) for frame in get_frames(doc)]
    for sentence in doc.sents:
        alone = sentence.as_doc()
        start, end = sentence.start, sentence.end
        if CONSTITUENTS_KEY in doc.spans:
            set_constituents(alone, _inside(start, end, phrases))
        if FRAMES_KEY in doc.spans:
            inside = [
                FrameSpans(
                    predicate - start,
                    roleset,
                    _inside(start, end, ((s.start, s.end, s.label_) for s in spans)),
                )
                for predicate, roleset, spans in frames
                if start <= predicate < end
            ]
            set_frames(alone, inside)
        yield alone


def _inside(start: int, end: int, spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """The spans of these tokens, counted from `start`."""
    return [(s - start, e - start, label) for s, e, label in spans if start <= s and e <= end]
