"""Docs of a part of a Doc, with their span groups."""

from __future__ import annotations

import numpy
from spacy.tokens import Doc, Span

from .constituents import CONSTITUENTS_KEY, set_constituents
from .frames import FRAMES_KEY, PREDICATE, FrameSpans, get_frames, set_frames
from .grammar_errors import ERRORS_KEY, error_scores, get_errors, set_errors, span_corrections
from .span_groups import current_spans, span_scores


def span_doc(span: Span, *, copy_user_data: bool = False) -> Doc:
    """Return a Doc of the span's tokens with the constituents, frames and errors inside.

    `Span.as_doc` copies the annotation of tokens but no span groups. Constituents and arguments
    that reach over the span's borders are left out, and so are frames whose predicate does; of a
    run of errors the tokens inside stay. Scores are copied. copy_user_data: see `Span.as_doc`.
    Raises ValueError if tokens were merged or split after the annotation.
    """
    old, first, last = span.doc, span.start, span.end
    if old.tensor is None:
        # spaCy's doc_cleaner leaves None, and as_doc reads vectors
        old.tensor = numpy.zeros(0, dtype="f")
    doc = span.as_doc(copy_user_data=copy_user_data)
    if CONSTITUENTS_KEY in old.spans:
        group = old.spans[CONSTITUENTS_KEY]
        inside = [
            ((s.start - first, s.end - first, s.label_), score)
            for s, score in zip(current_spans(group), span_scores(group), strict=True)
            if first <= s.start and s.end <= last
        ]
        set_constituents(
            doc,
            [phrase for phrase, _ in inside],
            [score for _, score in inside],
            [
                (i - first, j - first, value)
                for i, j, value in group.attrs.get("log_probs", ())
                if first <= i and j <= last
            ],
            unparsed=[
                (max(i, first) - first, min(j, last) - first)
                for i, j in group.attrs.get("unparsed", ())
                if i < last and first < j
            ],
        )
    if FRAMES_KEY in old.spans:
        frames, scores = [], []
        for frame in get_frames(old):
            kept = [(s, score) for s, score in frame.scored if first <= s.start and s.end <= last]
            if kept and kept[0][0].label_ == PREDICATE:
                roles = [(s.start - first, s.end - first, s.label_) for s, _ in kept]
                frames.append(FrameSpans(frame.predicate.i - first, frame.roleset, roles))
                scores.append([score for _, score in kept])
        set_frames(doc, frames, scores)
    if ERRORS_KEY in old.spans:
        of_tokens, labels = error_scores(old), get_errors(old)[first:last]
        scores_inside = None if of_tokens is None else of_tokens[first:last]
        group = old.spans[ERRORS_KEY]
        begins = {error.start - first for error in group}
        corrections = {
            s.start - first: known
            for s, known in zip(current_spans(group), span_corrections(group), strict=True)
            if known and first <= s.start and s.end <= last
        }
        set_errors(doc, labels, scores_inside, begins=begins, corrections=corrections or None)
    return doc
