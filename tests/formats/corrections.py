"""Corrected sentences and single annotators, for tests of edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from spacy_lal.formats.m2 import Edit, ErrorTypes, M2Sentence, labelled


def corrected(words: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The words after edits that don't overlap; one without a correction changes nothing."""
    result = list(words)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        if edit.correction is not None:
            result[edit.start : edit.end] = edit.correction.split()
    return result


def by(sentence: M2Sentence, annotator: int) -> M2Sentence:
    """The sentence with the edits of one annotator."""
    return replace(sentence, edits=[e for e in sentence.edits if e.annotator == annotator])


def labels_of(sentence: M2Sentence, types: ErrorTypes = ErrorTypes.none) -> Sequence[str] | None:
    """The label of each word."""
    return labelled(sentence, types).errors
