"""Errors come together: what the surest error of a sentence says of the other words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy
from numpy.typing import NDArray

DOUBT = 0.05
"""An error this probable says nothing of the others."""
_LEAST = 1e-9
"""Odds of what is certain would be infinite."""


def in_company(
    probabilities: NDArray[numpy.float64], starts: Sequence[int], weight: float
) -> NDArray[numpy.float64]:
    """Raise the odds of every token by those of the surest other token of its sentence.

    probabilities: of the tokens of a Doc to be errors [tokens]. starts: where sentences begin.
    With o for odds, p / (1 - p): o_i' = o_i * max(1, o_j / o(DOUBT))^weight, where j is the token
    with the highest probability in the sentence besides i. What is 0 stays 0, and nothing falls.
    """
    found = probabilities.copy()
    bounds = [*starts, len(probabilities)]
    for start, end in pairwise(bounds):
        if end - start < 2:
            continue
        of_sentence = probabilities[start:end]
        surest = int(of_sentence.argmax())
        others = numpy.full(end - start, of_sentence[surest])
        others[surest] = numpy.delete(of_sentence, surest).max()
        gain = numpy.maximum(1.0, _odds(others) / _odds(numpy.float64(DOUBT))) ** weight
        raised = of_sentence * gain / (1.0 - of_sentence + of_sentence * gain)
        found[start:end] = numpy.maximum(of_sentence, raised)
    return found


def _odds(probability: NDArray[numpy.float64] | numpy.float64) -> NDArray[numpy.float64]:
    kept = numpy.minimum(probability, 1.0 - _LEAST)
    return numpy.asarray(kept / (1.0 - kept))
