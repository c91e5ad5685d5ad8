"""The corrected sentence, for tests of edits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy_lal.formats.m2 import Edit


def corrected(words: Sequence[str], edits: Iterable[Edit]) -> list[str]:
    """The words after edits that don't overlap; one without a correction changes nothing."""
    result = list(words)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        if edit.correction is not None:
            result[edit.start : edit.end] = edit.correction.split()
    return result
