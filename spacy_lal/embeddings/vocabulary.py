"""Embeddings with vocabularies learned from the training data, as Thinc models."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy
import torch
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..bridge.shim import TorchShim, backward, to_rows, torch_shim, torch_shims
from ..bridge.weights import Header
from ..layers.settings import Settings


@dataclass(frozen=True)
class EmbeddingSettings(Settings):
    """The settings of a `WordEmbedding`.

    min_count: values seen less often in the training data share the row "unknown".
    """

    min_count: int = field(default=2, kw_only=True)

    @property
    def width(self) -> int:
        """Width of a word's vector."""
        raise NotImplementedError

    def values(self, word: str) -> Sequence[Iterable[str]]:
        """Returns a word's values for each table."""
        raise NotImplementedError

    def build(self, header: Header) -> "WordEmbedding":
        raise NotImplementedError

    def vocabulary(self, words: Counter[str]) -> list[list[str]]:
        """Returns the values of each table that were seen at least `min_count` times."""
        counts: list[Counter[str]] = [Counter() for _ in self.values("")]
        for word, count in words.items():
            for counter, values in zip(counts, self.values(word), strict=True):
                for value in values:
                    counter[value] += count
        return [
            sorted(value for value, count in counter.items() if count >= self.min_count)
            for counter in counts
        ]


class WordEmbedding(nn.Module):
    """Vectors of words, made of rows of tables. Row 0 of every table is "unknown".

    vocabulary: the known values of each table. `module(which, *module.encode(words))` [N, width]
    reads the distinct word of each token, `which` [N].
    """

    def __init__(self, vocabulary: list[list[str]]) -> None:
        super().__init__()
        self.index = [{value: k for k, value in enumerate(values, 1)} for values in vocabulary]

    def encode(self, words: list[str]) -> tuple[Tensor, ...]:
        """Returns the rows of distinct words, and all other inputs of the forward pass."""
        raise NotImplementedError


class VocabularyShim(TorchShim):
    """Owner of a module that is built from words of the training data. vocabulary: function from
    the counts of all words to the header's "vocabulary", kept in `cfg` until initialisation."""

    def __init__(
        self, build: Callable[[Header], nn.Module], vocabulary: Callable[[Counter[str]], list]
    ) -> None:
        super().__init__(build)
        self._vocabulary = vocabulary

    def learn(self, words: Counter[str]) -> None:
        self.cfg["vocabulary"] = self._vocabulary(words)


def word_embedding_model(
    name: str, settings: EmbeddingSettings
) -> Model[list[Doc], list[Floats2d]]:
    """Returns a Tok2Vec model around a `WordEmbedding`."""
    return Model(
        name,
        _forward,
        init=_init,
        attrs={"settings": settings, "dropout_rate": 0.0},
        dims={"nO": settings.width},
        shims=[VocabularyShim(settings.build, settings.vocabulary)],
    )


def word_form(text: str) -> str:
    """Returns a word as in word tables: lowered, digits read as 0."""
    return "".join("0" if c.isdigit() else c for c in text.lower())


def learn_vocabulary(model: Model, docs: Iterable[Doc]) -> bool:
    """Gives training words to the layers of `model` with a vocabulary; returns if there are any."""
    shims = [shim for _, shim in torch_shims(model) if isinstance(shim, VocabularyShim)]
    if shims:
        words = Counter(token.text for doc in docs for token in doc if not token.is_space)
        for shim in shims:
            shim.learn(words)
    return bool(shims)


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = torch_shim(model)
    if "vocabulary" not in shim.cfg:
        raise ValueError(
            f"{model.attrs['settings'].name} has not seen the training data: use it inside a "
            "spacy-lal component, or spacy.MultiHashEmbed.v2 in a shared tok2vec pipe"
        )
    shim.initialize({"vocabulary": shim.cfg["vocabulary"]})


def distinct_words(docs: list[Doc]) -> tuple[list[str], Tensor]:
    """Returns the distinct words of a batch, and the number of each token's word [N]."""
    if not any(map(len, docs)):
        return [], torch.zeros(0, dtype=torch.long)
    orths = numpy.concatenate([doc.to_array(ORTH) for doc in docs])
    words, which = numpy.unique(orths, return_inverse=True)
    # Docs may come from several vocabularies, each with its own words
    stores = list({id(doc.vocab): doc.vocab.strings for doc in docs}.values())
    first, *others = stores
    texts = [
        first[word] if not others else next(store[word] for store in stores if word in store)
        for word in words.tolist()
    ]
    return texts, torch.from_numpy(which)


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim = torch_shim(model)
    words, which = distinct_words(docs)
    encoded = cast(WordEmbedding, shim.module).encode(words)
    inputs = [x.to(shim.device) for x in (which, *encoded)]
    rows = shim.run(*inputs, is_train=is_train, dropout=model.attrs["dropout_rate"])

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backward(model, rows, d_rows)
        return []

    return to_rows(model, rows, [len(doc) for doc in docs]), backprop
