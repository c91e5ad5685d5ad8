"""Corrections against those of annotators, edit by edit, as ERRANT counts them.

Bryant et al. 2017, "Automatic Annotation and Evaluation of Error Types for Grammatical Error
Correction" (ACL), section 5: an edit is right if an annotator has the same words there. Of several
annotators, each sentence is compared with the one that makes the F0.5 of all sentences so far the
highest. Edits of both sides come from `formats.parallel.edits_between`, not from ERRANT's
alignment, so its own figures differ a little.
"""

from collections.abc import Iterable, Sequence

from ..formats.parallel import edits_between
from .scorer import Detection

Sentence = Sequence[str]


def score_corrections(
    sentences: Iterable[tuple[Sentence, Sentence, Sequence[Sentence]]],
) -> Detection:
    """Return the counts of edits in sentences: each one's words, its corrected words, and those of
    each annotator."""
    total = Detection()
    for words, corrected, annotators in sentences:
        found = _edits(words, corrected)
        sums = []
        for theirs in annotators:
            gold = _edits(words, theirs)
            right = total.right + len(found & gold)
            sums.append(
                Detection(right, total.wrong + len(found - gold), total.missed + len(gold - found))
            )
        total = max(sums, key=lambda sum: (sum.f(), sum.right, -sum.wrong, -sum.missed))
    return total


def _edits(words: Sentence, corrected: Sentence) -> set[tuple[int, int, str | None]]:
    return {(edit.start, edit.end, edit.correction) for edit in edits_between(words, corrected)}
