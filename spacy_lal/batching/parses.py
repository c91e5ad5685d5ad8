"""What a parser found in one sentence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy


def _nothing() -> numpy.ndarray:
    return numpy.zeros(0, dtype=numpy.int64)


@dataclass
class SentenceParse:
    """What was found in one sentence of n words.

    tags: the tag of every word [n]. starts, ends, labels, probabilities: constituents in preorder
    by the sentence's words, [number of constituents]; labels count from 1; no constituents from a
    parser without charts. log_prob: of the tree. Both are None where scores are no
    log-probabilities. heads: of each word, 0 the root, k word k [n], and relations [n] their
    relations; None from a parser without arcs. tag_probabilities, head_probabilities [n]: of each
    word's tag, and of its head and relation together, by the word's own softmax; None where there
    is nothing of that kind.
    """

    tags: numpy.ndarray
    starts: numpy.ndarray = field(default_factory=_nothing)
    ends: numpy.ndarray = field(default_factory=_nothing)
    labels: numpy.ndarray = field(default_factory=_nothing)
    probabilities: numpy.ndarray | None = None
    log_prob: float | None = None
    heads: numpy.ndarray | None = None
    relations: numpy.ndarray | None = None
    tag_probabilities: numpy.ndarray | None = None
    head_probabilities: numpy.ndarray | None = None
