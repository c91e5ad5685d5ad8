"""Sentences as the characters of their words (Kitaev and Klein 2018, section 5.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy
from torch import Tensor, from_numpy

from ...layers.char_lstm import MOST_CHARACTERS
from .text import Text

UNKNOWN, SENTENCE, WORD, WORD_END, SENTENCE_END = map(chr, range(5))
"""Characters that stand for others, begin or end something; control characters of no text."""


class CharacterReader:
    """known: the number of each character."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self._known = known

    def read(self, texts: Sequence[Text]) -> list[list[str]]:
        """START, words and STOP of each sentence, as what is spelled out."""
        return [
            [SENTENCE * 3, *(word[:MOST_CHARACTERS] for word in text.words), SENTENCE_END * 3]
            for text in texts
        ]

    def batch(self, sentences: Sequence[list[str]]) -> tuple[tuple[Tensor, ...], Tensor]:
        """Inputs of the CharLSTM, and which of its vectors are START, words and STOP.

        Inputs: characters [N, C] and lengths [N] of the N different words. Rows [B, n+2] number
        these; 0 behind a sentence.
        """
        numbers = {w: k for k, w in enumerate(dict.fromkeys(w for s in sentences for w in s))}
        known = self._known
        lengths = numpy.asarray([len(word) + 2 for word in numbers])
        characters = numpy.zeros((len(numbers), lengths.max()), dtype=numpy.int64)
        for row, word in zip(characters, numbers, strict=True):
            spelled = [known.get(c, known[UNKNOWN]) for c in word]
            row[: len(word) + 2] = [known[WORD], *spelled, known[WORD_END]]
        rows = numpy.zeros((len(sentences), max(map(len, sentences))), dtype=numpy.int64)
        for row, sentence in zip(rows, sentences, strict=True):
            row[: len(sentence)] = [numbers[word] for word in sentence]
        return (from_numpy(characters), from_numpy(lengths)), from_numpy(rows)
