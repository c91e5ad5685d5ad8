"""`spacy-lal.WordAffixEmbed.v1`: words by form, affixes and shape, with no outside vectors."""

from typing import cast

import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..trees.brackets import STRAIGHT_QUOTES
from .vocabulary import WordEmbedding, word_embedding_model, word_form

PREFIXES = (1, 2, 3)
"""The lengths of prefixes, in characters."""
SUFFIXES = (1, 2, 3, 4)
"""The lengths of suffixes, in characters."""
_PLAIN = str.maketrans(
    STRAIGHT_QUOTES | {"‚": "'", "‛": "'", "‟": '"'} | dict.fromkeys("‐‑‒–—―−", "-") | {"…": "..."}
)
FEATURES = ("word", "shape", *(f"prefix{k}" for k in PREFIXES), *(f"suffix{k}" for k in SUFFIXES))
"""What the embedding reads of a word, in the order of its tables."""
PARTS = ("first part", "last part")
"""What it reads of compounds besides."""


def word_features(text: str) -> tuple[str, ...]:
    """The values of `FEATURES` for one word: digits read as 0, affixes of the lowered form."""
    word = word_form(text)
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


def compound_features(text: str) -> tuple[str, ...]:
    """The values of `FEATURES` and `PARTS` for one word: "thủ_tướng" has "thủ" and "tướng"; a word
    with one part has it twice."""
    parts = word_form(text).strip("_").split("_")
    return (*word_features(text), parts[0], parts[-1])


def plain_signs(text: str) -> str:
    """A word with the apostrophes, quotes, dashes and dots that keyboards have."""
    return text.translate(_PLAIN)


class WordAffixEmbedding(WordEmbedding):
    """Rows of one table per feature, side by side.

    which [N], ids [U, F] -> [N, word_width + (F-1) * affix_width]. While training, every feature
    is made unknown with probability `feature_dropout` and the word with `word_dropout`, so that
    the affixes learn to stand in for unseen words.
    """

    architecture = "spacy-lal.WordAffixEmbed.v1"

    def __init__(
        self,
        vocabulary: list[list[str]],
        word_width: int,
        affix_width: int,
        word_dropout: float,
        feature_dropout: float,
    ) -> None:
        super().__init__(vocabulary)
        others = len(vocabulary) - 1
        widths = [word_width, *[affix_width] * others]
        self.tables = nn.ModuleList(
            nn.Embedding(len(values) + 1, width)
            for values, width in zip(vocabulary, widths, strict=True)
        )
        for table in self.tables:
            nn.init.normal_(cast(nn.Embedding, table).weight, std=0.3)
        self.keep = [1 - word_dropout, *[1 - feature_dropout] * others]

    features = staticmethod(word_features)

    @classmethod
    def values(cls, word: str) -> list[tuple[str]]:
        return [(value,) for value in cls.features(word)]

    def encode(self, words: list[str]) -> tuple[Tensor]:
        """The rows of words in the tables [U, F]."""
        ids = [
            [index.get(value, 0) for index, value in zip(self.index, features, strict=True)]
            for features in map(self.features, words)
        ]
        return (torch.tensor(ids, dtype=torch.long).view(-1, len(self.index)),)

    def forward(self, which: Tensor, ids: Tensor) -> Tensor:
        ids = ids[which]
        if self.training:
            keep = torch.tensor(self.keep, device=ids.device).expand(ids.shape)
            ids = ids * torch.bernoulli(keep).long()
        return torch.cat([table(ids[:, k]) for k, table in enumerate(self.tables)], -1)


class PlainWordAffixEmbedding(WordAffixEmbedding):
    """Reads "l’" as "l'", and any double quote as the keyboard's."""

    @staticmethod
    def features(word: str) -> tuple[str, ...]:
        return word_features(plain_signs(word))


class CompoundWordAffixEmbedding(WordAffixEmbedding):
    """Reads the first and the last part of words whose parts are joined by "_", too."""

    features = staticmethod(compound_features)


def build_word_affix_embed_v1(
    word_width: int = 128,
    affix_width: int = 32,
    min_count: int = 2,
    word_dropout: float = 0.25,
    feature_dropout: float = 0.05,
    plain_signs: bool = False,
    compounds: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by their form, their shape and seven affixes.

    word_width: width of the word table. affix_width: width of each of the other tables.
    min_count: values seen less often in the training data share the row "unknown".
    word_dropout, feature_dropout: probability of an unknown word or other feature in training.
    plain_signs: read typographic quotes, apostrophes, dashes and dots as those of keyboards, for
    training data that has one kind alone.
    compounds: read the first and the last part of words, too, for treebanks that join the parts of
    a word by "_", as the Vietnamese ones. Not together with plain_signs.

    The vocabularies of the tables are learned by `learn_vocabulary`, which a component of this
    package calls with the training data when it is initialised. A shared `tok2vec` pipe does
    not, so use `spacy.MultiHashEmbed.v2` there.
    """
    if compounds and plain_signs:
        raise ValueError("spacy-lal.WordAffixEmbed.v1: either compounds or plain_signs, not both")
    kind = PlainWordAffixEmbedding if plain_signs else WordAffixEmbedding
    features = FEATURES
    if compounds:
        kind, features = CompoundWordAffixEmbedding, (*FEATURES, *PARTS)
    settings = {
        "word_width": word_width,
        "affix_width": affix_width,
        "word_dropout": word_dropout,
        "feature_dropout": feature_dropout,
    }
    return word_embedding_model(
        "word_affix_embed",
        kind,
        settings,
        min_count=min_count,
        width=word_width + (len(features) - 1) * affix_width,
    )
