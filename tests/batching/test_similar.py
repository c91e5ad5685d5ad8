"""Batches of sequences of similar size: the partition that costs least, tried against all."""

from itertools import combinations, pairwise

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.batching import batches as batches_module
from spacy_lal.batching.batches import (
    BATCH_COST,
    STEP_COST,
    batch_by_spans,
    batches_read_ahead,
    similar,
)
from spacy_lal.batching.sentences import Sentence
from spacy_lal.layers.bilstm import Steps
from spacy_lal.layers.input_encoders import ReadWords


@given(lengths=st.lists(st.integers(1, 40), max_size=60), max_spans=st.integers(1, 3000))
def test_batches_hold_every_sentence_once_and_keep_their_size(
    lengths: list[int], max_spans: int
) -> None:
    batches = batch_by_spans(lengths, max_spans)
    assert sorted(k for batch in batches for k in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[k] for k in batch)
        assert len(batch) == 1 or len(batch) * longest * (longest + 1) // 2 <= max_spans
        assert len(batch) == 1 or len(batch) * longest * 24 <= max_spans  # a word is 24 spans' room


def cost(batches: list[list[int]]) -> float:
    """batches: the sizes of each batch."""
    return sum(max(b) * (len(b) + STEP_COST) + BATCH_COST for b in batches)


@given(
    sizes=st.lists(st.integers(1, 60), max_size=9),
    most=st.integers(1, 400),
    squared=st.booleans(),
)
def test_no_other_batches_of_similar_sizes_cost_less(
    sizes: list[int], most: int, squared: bool
) -> None:
    def room(size: int) -> int:
        return size * size if squared else size

    found = [[sizes[k] for k in batch] for batch in similar(sizes, most, room)]
    ordered, n = sorted(sizes), len(sizes)
    assert [size for batch in found for size in batch] == ordered
    costs = []
    for cuts in (c for k in range(n) for c in combinations(range(1, n), k)):
        batches = [ordered[a:b] for a, b in pairwise([0, *cuts, n])]
        if all(len(b) == 1 or len(b) * room(max(b)) <= most for b in batches):
            costs.append(cost(batches))
    assert cost(found) == min(costs, default=0)


def test_words_are_read_ahead_once() -> None:
    """What was read of each sentence's words comes in their place."""
    sizes = [3, 9, 1, 4, 4, 7, 2]
    sentences = [Sentence(k, 0, n, numpy.arange(n)) for k, n in enumerate(sizes)]
    first = numpy.cumsum([0, *sizes])

    class Vectors:
        """Each word's number, of all."""

        def of(self, some: list[Sentence]) -> torch.Tensor:
            return torch.cat([first[of.doc] + torch.from_numpy(of.words) for of in some])[:, None]

    seen = []

    def read(words: torch.Tensor, steps: Steps) -> ReadWords:
        seen.append(len(words))
        assert sorted(steps.ahead.tolist()) == list(range(len(words)))
        return ReadWords(words + 0.5, None)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches_module, "READ_AHEAD", 8)
        found = list(batches_read_ahead(sentences, Vectors(), 1000, read))
    assert sum(seen) == sum(sizes)
    assert all(n <= 8 or n == 9 for n in seen)
    assert sorted(k for members, *_ in found for k in members) == list(range(len(sizes)))
    for members, lengths, words, ahead in found:
        assert ahead is not None
        for row, k in enumerate(members):
            n = int(lengths[row])
            assert n == sizes[k]
            numbers = range(int(first[k]), int(first[k]) + n)
            assert ahead.states[row, :n, 0].tolist() == [number + 0.5 for number in numbers]
        assert words.shape == (*ahead.states.shape[:2], 0)
