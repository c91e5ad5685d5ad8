"""`spacy-lal.split_paragraphs.v1`: running text and single sentences from the same Docs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..annotations import CONSTITUENTS_KEY, get_constituents, set_constituents
from ..frames import FRAMES_KEY, FrameSpans, get_frames, set_frames
from ..grammar_errors import ERRORS_KEY, get_errors, set_errors
from ..trees import LabelledSpan


class ParagraphSplitter:
    """Of some Docs of several sentences an example each, of the others one for each sentence.

    whole: the share of Docs that stay whole, drawn anew every time. Trees, heads, frames, errors
    and tags come along; a Doc to be predicted has words and boundaries.
    """

    def __init__(self, whole: float) -> None:
        if not 0 <= whole <= 1:
            raise ValueError(
                f"spacy-lal.split_paragraphs.v1: whole must be from 0 to 1, not {whole}"
            )
        self.whole = whole

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:
        reference = example.reference
        several = reference.has_annotation("SENT_START") and len(list(reference.sents)) > 1
        # the common generator, which the corpus shuffles with, too
        if not several or random.random() < self.whole:
            yield example
            return
        for sentence in sentence_docs(reference):
            yield Example(_bare(nlp, sentence), sentence)


def sentence_docs(doc: Doc) -> Iterator[Doc]:
    """A Doc of each sentence, with the trees, frames and errors inside it.

    `Span.as_doc` takes the rest along, but leaves span groups behind.
    """
    groups = doc.spans
    phrases = get_constituents(doc)
    frames = [(frame.predicate.i, frame.roleset, frame.spans) for frame in get_frames(doc)]
    errors = get_errors(doc) if ERRORS_KEY in groups else []
    for sentence in doc.sents:
        alone = sentence.as_doc()
        start, end = sentence.start, sentence.end
        if CONSTITUENTS_KEY in groups:
            set_constituents(alone, _inside(start, end, phrases))
        if FRAMES_KEY in groups:
            set_frames(
                alone,
                [
                    FrameSpans(
                        predicate - start,
                        roleset,
                        _inside(start, end, ((s.start, s.end, s.label_) for s in spans)),
                    )
                    for predicate, roleset, spans in frames
                    if start <= predicate < end
                ],
            )
        if ERRORS_KEY in groups:
            set_errors(alone, errors[start:end])
        yield alone


def _inside(start: int, end: int, spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
    """The spans of these tokens, counted from `start`."""
    return [(s - start, e - start, label) for s, e, label in spans if start <= s and e <= end]


def _bare(nlp: Language, doc: Doc) -> Doc:
    return Doc(
        nlp.vocab,
        words=[token.text for token in doc],
        spaces=[bool(token.whitespace_) for token in doc],
        sent_starts=[token.i == 0 for token in doc],
    )


def make_paragraph_splitter(
    whole: float = 0.5,
) -> Callable[[Language, Example], Iterator[Example]]:
    """See `ParagraphSplitter`."""
    return ParagraphSplitter(whole)
