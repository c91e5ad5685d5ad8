"""Embeddings whose vocabularies are learned from the training data, as Thinc models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, cast

import numpy
import torch
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..bridge.shim import TorchShim, backward, to_rows, torch_shim, torch_shims
from ..bridge.weights import Header


class WordEmbedding(nn.Module):
    """Vectors of words, made of rows of tables. Row 0 of every table is "unknown".

    A subclass is built from `vocabulary`, the known values of each table, and its settings.
    Its forward pass is `module(which, *module.encode(words))`: `which` [N] says which of the
    distinct words each token is, the result is [N, width].
    """

    architecture: ClassVar[str]

    def __init__(self, vocabulary: list[list[str]]) -> None:
        super().__init__()
        self.index = [{value: k for k, value in enumerate(values, 1)} for values in vocabulary]

    @staticmethod
    def values(word: str) -> Sequence[Iterable[str]]:
        """What a word shows each table."""
        raise NotImplementedError

    def encode(self, words: list[str]) -> tuple[Tensor, ...]:
        """What the forward pass needs to know of distinct words."""
        raise NotImplementedError


class VocabularyShim(TorchShim):
    """Owns a module that is built from words of the training data.

    What it learned of them waits in `cfg["vocabulary"]` for the initialisation.
    """

    def learn(self, words: Counter[str], attrs: dict[str, Any]) -> None:
        """Take from the counts of all words what the module needs, by its model's attributes."""
        raise NotImplementedError


class EmbeddingShim(VocabularyShim):
    """Owns one `WordEmbedding`."""

    def __init__(self, kind: type[WordEmbedding]) -> None:
        super().__init__(partial(_build, kind))
        self.kind = kind

    def learn(self, words: Counter[str], attrs: dict[str, Any]) -> None:
        self.cfg["vocabulary"] = _vocabulary(self.kind, words, attrs["min_count"])


def _build(kind: type[WordEmbedding], header: Header) -> WordEmbedding:
    return kind(**header)


def word_embedding_model(
    name: str, kind: type[WordEmbedding], settings: Header, *, min_count: int, width: int
) -> Model[list[Doc], list[Floats2d]]:
    """A Tok2Vec model around a `WordEmbedding` that is `width` wide.

    settings: what `kind` is built from besides its vocabulary. min_count: how often a value must
    be seen to have a row of its own.
    """
    return Model(
        name,
        _forward,
        init=_init,
        attrs={"min_count": min_count, "settings": settings, "dropout_rate": 0.0},
        dims={"nO": width},
        shims=[EmbeddingShim(kind)],
    )


def word_form(text: str) -> str:
    """A word as word tables know it: lowered, digits read as 0."""
    return "".join("0" if c.isdigit() else c for c in text.lower())


def learn_vocabulary(model: Model, docs: Iterable[Doc]) -> bool:
    """Show every layer inside `model` that has a vocabulary the words it will be trained on.

    Returns whether there is such a layer.
    """
    layers = [(node, shim) for node, shim in torch_shims(model) if isinstance(shim, VocabularyShim)]
    if not layers:
        return False
    words = Counter(token.text for doc in docs for token in doc if not token.is_space)
    for node, shim in layers:
        shim.learn(words, node.attrs)
    return True


def _vocabulary(kind: type[WordEmbedding], words: Counter[str], least: int) -> list[list[str]]:
    """The values of each table that were seen at least `least` times."""
    counts: list[Counter[str]] = [Counter() for _ in kind.values("")]
    for word, count in words.items():
        for counter, values in zip(counts, kind.values(word), strict=True):
            for value in values:
                counter[value] += count
    return [
        sorted(value for value, count in counter.items() if count >= least) for counter in counts
    ]


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = cast(EmbeddingShim, torch_shim(model))
    if "vocabulary" not in shim.cfg:
        raise ValueError(
            f"{shim.kind.architecture} has not seen the training data: use it inside a "
            "spacy-lal component, or spacy.MultiHashEmbed.v2 in a shared tok2vec pipe"
        )
    shim.initialize({"vocabulary": shim.cfg["vocabulary"], **model.attrs["settings"]})


def distinct_words(docs: list[Doc]) -> tuple[list[str], Tensor]:
    """The distinct words of a batch, and which of them every token is [N]."""
    if not any(map(len, docs)):
        return [], torch.zeros(0, dtype=torch.long)
    orths = numpy.concatenate([doc.to_array(ORTH) for doc in docs])
    words, which = numpy.unique(orths, return_inverse=True)
    # Docs may come from several vocabularies, each of which knows its own words
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
    if is_train:
        rows = shim.begin_update(*inputs, dropout=model.attrs["dropout_rate"])
    else:
        rows = shim.predict(*inputs)

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backward(model, rows, d_rows)
        return []

    return to_rows(model, rows, [len(doc) for doc in docs]), backprop
