"""Several corpora in given shares."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.loop import create_train_batches

from spacy_lal.training.checkpoint import random_state, with_own_random
from spacy_lal.training.corpus import Mix

NLP = spacy.blank("en")


def reader(name: str, lengths: list[int], shuffled: bool = False) -> Callable:
    def read(nlp: Language) -> Iterator[Example]:
        order = list(enumerate(lengths))
        if shuffled:
            random.shuffle(order)
        for k, length in order:
            doc = Doc(nlp.vocab, words=[f"{name}{k}"] * length)
            yield Example(doc.copy(), doc)

    return read


def first_words(mix: Mix, number: int) -> list[str]:
    return [example.reference[0].text for example in islice(mix(NLP), number)]


def test_shares_of_words() -> None:
    """Long Docs come the more seldom; whatever was read, shares are off by less than a Doc."""
    mix = Mix(
        {"a": reader("a", [10, 12, 8]), "b": reader("b", [3])}, {"a": 1, "b": 3}, epoch_words=4000
    )
    words: Counter[str] = Counter()
    for example in mix(NLP):
        words[example.reference[0].text[0]] += len(example)
        assert abs(words["a"] - words["b"] / 3) <= 12
    assert 4000 <= words.total() < 4012


def test_epochs_go_on() -> None:
    """A second epoch begins where the first ended; a corpus that ends begins anew."""
    corpora = {"a": reader("a", [1] * 4), "b": reader("b", [1] * 3)}
    mix = Mix(corpora, {"a": 0.5, "b": 0.5}, epoch_words=6)
    epochs = [first_words(mix, 100) for _ in range(2)]
    assert epochs == [["a0", "b0", "a1", "b1", "a2", "b2"], ["a3", "b0", "a0", "b1", "a1", "b2"]]


def test_the_seed_decides() -> None:
    def drawn(seed: int) -> list[str]:
        corpora = {"a": reader("a", [1] * 9, shuffled=True), "b": reader("b", [2])}
        random.seed(seed)
        return first_words(Mix(corpora, {"a": 1, "b": 1}, epoch_words=100), 60)

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_training_goes_on() -> None:
    """What is skipped and what is read after it are what an unbroken training reads."""

    def batches(state: dict[str, Any]) -> Iterator[list[str]]:
        corpora = {"a": reader("a", [1] * 9, shuffled=True), "b": reader("b", [2, 1, 3])}
        mix = Mix(corpora, {"a": 2, "b": 1}, epoch_words=11)
        made = create_train_batches(NLP, mix, minibatch, -1)  # type: ignore[arg-type]
        for _, batch in with_own_random(made, state):
            yield [example.reference[0].text for example in batch]

    state = random_state()
    unbroken = list(islice(batches(state), 12))
    random.random()
    assert list(islice(batches(state), 5, 12)) == unbroken[5:]


def minibatch(examples: Iterable[Example]) -> Iterator[list[Example]]:
    left = iter(examples)
    while batch := list(islice(left, 4)):
        yield batch


def test_only_what_is_asked_for_is_read() -> None:
    read = []

    def endless(nlp: Language) -> Iterator[Example]:
        while True:
            read.append(1)
            doc = Doc(nlp.vocab, words=["x"])
            yield Example(doc.copy(), doc)

    assert len(first_words(Mix({"a": endless}, {"a": 1}, epoch_words=10**9), 5)) == 5
    assert len(read) == 5


@pytest.mark.parametrize(
    ("shares", "words", "message"),
    [
        ({"b": 1.0}, 1, r"corpora are \['a'\], shares are of \['b'\]"),
        ({"a": 0.0}, 1, "the share of a must be above 0, not 0.0"),
        ({"a": 1.0}, 0, "epoch_words must be above 0, not 0"),
    ],
)
def test_bad_settings(shares: dict[str, float], words: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Mix({"a": reader("a", [1])}, shares, words)


def test_an_empty_corpus() -> None:
    mix = Mix({"a": reader("a", [])}, {"a": 1}, epoch_words=1)
    with pytest.raises(ValueError, match="a has no words"):
        next(iter(mix(NLP)))
