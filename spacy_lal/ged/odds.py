"""Probabilities of errors, changed by what else is known of a text."""

from collections.abc import Sequence
from itertools import pairwise

import numpy
from numpy.typing import NDArray

from ..trees.brackets import plain_word
from .ngrams import NgramCounts, evidence

DOUBT = 0.05
"""Probability up to which an error doesn't affect the sentence's other words."""
CERTAIN = 1.0 - 1e-9
"""Largest probability for odds, which would be infinite at 1."""
SUSPECT = 0.1
"""Probability above which n-grams count: below, they can make no word an error."""


def raised(
    probabilities: NDArray[numpy.float64], gain: NDArray[numpy.float64] | float
) -> NDArray[numpy.float64]:
    """Return the probabilities whose odds are those of the given ones times the gain."""
    return probabilities * gain / (1.0 - probabilities + probabilities * gain)


def with_cooccurrence(
    probabilities: NDArray[numpy.float64], starts: Sequence[int], weight: float
) -> NDArray[numpy.float64]:
    """Raise each token's odds by those of the most probable other token of its sentence.

    probabilities: error probabilities of a Doc's tokens [tokens]. starts: where sentences begin.
        With odds o = p / (1 - p): o_i' = o_i * max(1, o_j / o(DOUBT))^weight, where j is the most
        probable other token in the sentence. Zero stays zero, and no probability falls.
    """
    found = probabilities.copy()
    for start, end in pairwise([*starts, len(probabilities)]):
        if end - start < 2:
            continue
        of_sentence = probabilities[start:end]
        surest = int(of_sentence.argmax())
        others = numpy.full(end - start, of_sentence[surest])
        others[surest] = numpy.delete(of_sentence, surest).max()
        others = numpy.minimum(others, CERTAIN)
        odds = others / (1.0 - others) * ((1.0 - DOUBT) / DOUBT)
        gain = numpy.maximum(1.0, odds) ** weight
        found[start:end] = numpy.maximum(of_sentence, raised(of_sentence, gain))
    return found


def weigh_ngrams(
    texts: Sequence[tuple[Sequence[str], Sequence[int]]],
    probabilities: Sequence[NDArray[numpy.float64]],
    weight: float,
    counts: NgramCounts,
) -> None:
    """Change the odds of texts' words that may be wrong by counts of n-grams, in place.

    texts: the words of each, and where its sentences start.
    """
    # all at once: few words of a sentence may be wrong
    flat = numpy.concatenate([*probabilities, numpy.zeros(0)])
    if not len(at := numpy.flatnonzero(flat > SUSPECT)):
        return
    starts: list[int] = []
    words: list[str] = []
    for of_text, begins in texts:
        starts += [len(words) + start for start in begins]
        words += map(plain_word, of_text)
    gain = numpy.exp(weight * evidence(words, starts, at.tolist(), counts))
    flat[at] = raised(flat[at], gain)
    ends = numpy.cumsum([len(of_text) for of_text, _ in texts])[:-1]
    for own, changed in zip(probabilities, numpy.split(flat, ends), strict=True):
        own[:] = changed
