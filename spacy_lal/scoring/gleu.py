"""GLEU of corrected text (Napoles et al. 2015, "Ground Truth for Grammatical Error Correction
Metrics", ACL; Napoles et al. 2016, "GLEU Without Tuning", for several annotators)."""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy
from numpy.typing import NDArray

ORDER = 4
"""Longest n-grams, in words."""
DRAWS = 500
"""Number of draws of one annotator for each sentence; the score is their mean."""

Words = Sequence[str]


def gleu(sentences: Iterable[tuple[Words, Words, Sequence[Words]]]) -> float:
    """Return GLEU, from 0 to 1, of sentences: each one's words, its corrected words, and those of
    each annotator. Draws are those of the published program, whose result is the same.
    Raises ValueError if sentences have different numbers of annotators, or none."""
    rows = [[_counts(text, ours, ref) for ref in refs] for text, ours, refs in sentences]
    if len({len(row) for row in rows} - {0}) != 1 or not all(rows):
        raise ValueError("GLEU needs as many annotators for each sentence, at least one")
    table = numpy.array(rows)  # [sentences, annotators, counts]
    scores = []
    for draw in range(DRAWS):
        rng = random.Random(101 * draw)
        drawn = [rng.randint(0, table.shape[1] - 1) for _ in rows]
        scores.append(_score(table[numpy.arange(len(rows)), drawn].sum(0)))
        if table.shape[1] == 1:
            break
    return float(numpy.mean(scores))


def _counts(text: Words, ours: Words, ref: Words) -> list[int]:
    """Return both lengths and, for each order, the matches and the number of n-grams: n-grams that
    the annotator has, less those of the text that the annotator has removed."""
    orders = ([_ngrams(words, n) for words in (text, ours, ref)] for n in range(1, ORDER + 1))
    matches = []
    for of_text, of_ours, of_ref in orders:
        removed = Counter({gram: count for gram, count in of_text.items() if gram not in of_ref})
        right, left = (of_ours & of_ref).total(), (of_ours & removed).total()
        matches.append((max(right - left, 0), of_ours.total()))
    return [len(ours), len(ref), *chain.from_iterable(matches)]


def _ngrams(words: Words, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) + 1 - n))


def _score(counts: NDArray[numpy.int64]) -> float:
    ours, ref, *by_order = counts.tolist()
    if not all(counts):
        return 0.0
    precisions = numpy.log(by_order[::2]) - numpy.log(by_order[1::2])
    return float(numpy.exp(min(0.0, 1 - ref / ours) + precisions.mean()))
