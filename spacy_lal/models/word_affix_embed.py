"""`spacy-lal.WordAffixEmbed.v1`: words by form, affixes and shape, with no outside vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

import numpy
import torch
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from .bridge import Header, TorchModule, TorchShim, to_rows, to_tensor, torch_shim

PREFIXES = (1, 2, 3)
SUFFIXES = (1, 2, 3, 4)
FEATURES = ("word", "shape", *(f"prefix{k}" for k in PREFIXES), *(f"suffix{k}" for k in SUFFIXES))


def word_features(text: str) -> tuple[str, ...]:
    """The values of `FEATURES` for one word: digits read as 0, affixes of the lowered form."""
    word = "".join("0" if c.isdigit() else c for c in text.lower())
    shape = ""
    for c in text:
        kind = "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c
        # runs are cut at two, so that "xx" says "two or more"
        if shape[-2:] != kind + kind:
            shape += kind
    return (
        word,
        shape,
        *(word[:k] for k in PREFIXES),
        *(word[-k:] for k in SUFFIXES),
    )


class WordAffixEmbedding(TorchModule):
    """Rows of one table per feature, side by side. Index 0 of every table is "unknown".

    ids [N, F] -> [N, word_width + (F-1) * affix_width]. While training, every feature is made
    unknown with probability `feature_dropout` and the word with `word_dropout`, so that the
    affixes learn to stand in for unseen words.
    """

    def __init__(
        self,
        vocabulary: list[list[str]],
        word_width: int,
        affix_width: int,
        word_dropout: float,
        feature_dropout: float,
    ) -> None:
        super().__init__()
        self.index = [{value: k for k, value in enumerate(values, 1)} for values in vocabulary]
        widths = [word_width, *[affix_width] * (len(FEATURES) - 1)]
        self.tables = nn.ModuleList(
            nn.Embedding(len(values) + 1, width)
            for values, width in zip(vocabulary, widths, strict=True)
        )
        for table in self.tables:
            nn.init.normal_(cast(nn.Embedding, table).weight, std=0.3)
        self.keep = [1 - word_dropout, *[1 - feature_dropout] * (len(FEATURES) - 1)]

    def set_dropout(self, rate: float) -> None:
        """Features have dropout rates of their own; their values are dropped by what reads them."""

    def ids(self, text: str) -> list[int]:
        """The rows of a word in the tables [F]."""
        return [
            index.get(value, 0)
            for index, value in zip(self.index, word_features(text), strict=True)
        ]

    def forward(self, ids: Tensor) -> Tensor:
        if self.training:
            keep = torch.tensor(self.keep, device=ids.device).expand(ids.shape)
            ids = ids * torch.bernoulli(keep).long()
        return torch.cat([table(ids[:, k]) for k, table in enumerate(self.tables)], -1)


def build_word_affix_embed_v1(
    word_width: int = 128,
    affix_width: int = 32,
    min_count: int = 2,
    word_dropout: float = 0.25,
    feature_dropout: float = 0.05,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by their form, their shape and seven affixes.

    word_width: width of the word table. affix_width: width of each of the other tables.
    min_count: values seen less often in the training data share the row "unknown".
    word_dropout, feature_dropout: probability of an unknown word or other feature in training.

    The vocabularies of the tables are learned by `learn_vocabulary`, which a component of this
    package calls with the training data when it is initialised. A shared `tok2vec` pipe does
    not, so use `spacy.MultiHashEmbed.v2` there.
    """
    settings = {
        "word_width": word_width,
        "affix_width": affix_width,
        "word_dropout": word_dropout,
        "feature_dropout": feature_dropout,
    }
    return Model(
        "word_affix_embed",
        _forward,
        init=_init,
        attrs={"min_count": min_count, "settings": settings, "dropout_rate": 0.0},
        dims={"nO": word_width + (len(FEATURES) - 1) * affix_width},
        shims=[TorchShim(_build)],
    )


def learn_vocabulary(model: Model, docs: Iterable[Doc]) -> None:
    """Show every word-and-affix layer inside `model` the words it will be trained on."""
    layers = [node for node in model.walk() if node.name == "word_affix_embed"]
    if not layers:
        return
    words = Counter(token.text for doc in docs for token in doc if not token.is_space)
    counts: list[Counter[str]] = [Counter() for _ in FEATURES]
    for word, count in words.items():
        for counter, value in zip(counts, word_features(word), strict=True):
            counter[value] += count
    for layer in layers:
        least = layer.attrs["min_count"]
        torch_shim(layer).cfg["vocabulary"] = [
            sorted(value for value, count in counter.items() if count >= least)
            for counter in counts
        ]


def _build(header: Header) -> WordAffixEmbedding:
    return WordAffixEmbedding(**header)


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = torch_shim(model)
    if "vocabulary" not in shim.cfg:
        raise ValueError(
            "spacy-lal.WordAffixEmbed.v1 has not seen the training data: use it inside a "
            "spacy-lal component, or spacy.MultiHashEmbed.v2 in a shared tok2vec pipe"
        )
    shim.initialize({"vocabulary": shim.cfg["vocabulary"], **model.attrs["settings"]})


def _feature_ids(module: WordAffixEmbedding, docs: list[Doc]) -> Tensor:
    """The rows of every token in the tables [N, F]; a word's are looked up once a batch."""
    if not any(map(len, docs)):
        return torch.zeros(0, len(FEATURES), dtype=torch.long)
    orths = numpy.concatenate([doc.to_array(ORTH) for doc in docs])
    words, inverse = numpy.unique(orths, return_inverse=True)
    strings = docs[0].vocab.strings
    rows = numpy.asarray([module.ids(strings[word]) for word in words.tolist()])
    return torch.from_numpy(rows[inverse])


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim = torch_shim(model)
    ids = _feature_ids(cast(WordAffixEmbedding, shim.module), docs).to(shim.device)
    if is_train:
        rows = shim.begin_update(ids, dropout=model.attrs["dropout_rate"])
    else:
        rows = shim.predict(ids)

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        rows.backward(to_tensor(model, d_rows, rows.device))
        return []

    return to_rows(model, rows, [len(doc) for doc in docs]), backprop
