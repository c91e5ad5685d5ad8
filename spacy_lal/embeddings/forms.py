"""Word embeddings by affixes and shape (`spacy-lal.WordAffixEmbed.v1`) or by characters
(`spacy-lal.WordCharEmbed.v1`), with vocabularies learned from the training data."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, cast

import numpy
import torch
import torch.nn.functional as F
from spacy.attrs import ORTH
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from ..bridge.shim import Output, TorchShim, rows_of_docs, torch_shim, torch_shims
from ..bridge.weights import Header
from ..layers.bilstm import CharLSTM
from ..layers.precision import Precision
from ..layers.prepared import Prepared
from ..layers.settings import Settings, with_settings_of
from ..trees.brackets import STRAIGHT_QUOTES, plain_word

PREFIXES = (1, 2, 3)
"""Lengths of prefixes, in characters."""
SUFFIXES = (1, 2, 3, 4)
"""Lengths of suffixes, in characters."""
MOST_CHARACTERS = 30
"""Most characters of a word that a CharLSTM reads; longer words lose their middle."""
KNOWN = 20_000
"""Most words whose rows are remembered from one batch to the next."""
KEYBOARD = str.maketrans(
    STRAIGHT_QUOTES | {"‚": "'", "‛": "'", "‟": '"'} | dict.fromkeys("‐‑‒–—―−", "-") | {"…": "..."}
)
"""Table from typographic apostrophes, quotes, dashes and dots to those of keyboards."""


def word_form(text: str) -> str:
    """Returns a word as in word tables: lowered, digits read as 0."""
    if text.isalpha():
        return text.lower()
    return "".join("0" if c.isdigit() else c for c in text.lower())


@dataclass(frozen=True)
class EmbeddingSettings(Settings):
    """The settings of a `WordEmbedding`.

    min_count: values seen less often in the training data share the row "unknown".
    """

    min_count: int = field(default=2, kw_only=True)

    def values(self, word: str) -> Sequence[Iterable[str]]:
        """Returns a word's values for each table."""
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
    reads the distinct word of each token, `which` [N]; `encode` returns the rows of words, and all
    other inputs of the forward pass.
    """

    def __init__(self, vocabulary: list[list[str]]) -> None:
        super().__init__()
        self.index = [{value: k for k, value in enumerate(values, 1)} for values in vocabulary]


@dataclass(frozen=True)
class WordAffixSettings(EmbeddingSettings):
    """Settings of the embedding by affixes and shape.

    word_width: width of the word table. affix_width: width of each of the other tables. min_count:
    values seen less often in the training data share the row "unknown". word_dropout,
    feature_dropout: probability of an unknown word or other feature in training. plain_signs: read
    typographic quotes, apostrophes, dashes and dots as those of keyboards, for training data that
    has only one kind. compounds: read the first and the last part of words, too, for treebanks that
    join the parts of a word by "_", as Vietnamese ones do.
    """

    name: ClassVar[str] = "spacy-lal.WordAffixEmbed.v1"
    word_width: int = 128
    affix_width: int = 32
    word_dropout: float = 0.25
    feature_dropout: float = 0.05
    plain_signs: bool = False
    compounds: bool = False

    @property
    def width(self) -> int:
        return self.word_width + (len(self.features("")) - 1) * self.affix_width

    def features(self, text: str) -> tuple[str, ...]:
        """Returns a word's form, shape, affixes of the lowered form and, with compounds, parts.
        "thủ_tướng" has the parts "thủ" and "tướng"; a word with one part has it twice."""
        if self.plain_signs:
            text = text.translate(KEYBOARD)
        word, shape = word_form(text), ""
        # of the most frequent kind of words it is known without a look at each letter
        for c in text[:2] if text.isalpha() and text.islower() else text:
            kind = "X" if c.isupper() else "x" if c.isalpha() else "0" if c.isdigit() else c
            # runs are cut at two, so "xx" means "two or more"
            if shape[-2:] != kind + kind:
                shape += kind
        parts = word.strip("_").split("_") if self.compounds else ()
        return (
            word,
            shape,
            *(word[:k] for k in PREFIXES),
            *(word[-k:] for k in SUFFIXES),
            *(parts[k] for k in (0, -1) if parts),
        )

    def values(self, word: str) -> list[tuple[str]]:
        return [(value,) for value in self.features(word)]

    def build(self, header: Header) -> WordEmbedding:
        return WordAffixEmbedding(header["vocabulary"], self)


class Table(nn.Embedding, Prepared):
    """Rows by number. Those that are stored in 8 bits stay so, and are unpacked one by one."""

    def made(self, precision: Precision) -> None:
        return None

    def unread(self) -> list[str]:
        return ["weight"]

    def forward(self, ids: Tensor) -> Tensor:
        packed = self.asleep.get("weight")
        if packed is None:
            return super().forward(ids)
        return F.embedding(ids, packed.values) * F.embedding(ids, packed.scale)


class WordAffixEmbedding(WordEmbedding):
    """Rows of one table per feature, side by side.

    which [N]: row of `ids` for each token; ids [U, F]: F features of U distinct words; returns [N,
    word_width + (F-1) * affix_width]. Training replaces features by "unknown", so that affixes
    learn to stand in for unseen words."""

    def __init__(self, vocabulary: list[list[str]], settings: WordAffixSettings) -> None:
        super().__init__(vocabulary)
        self.features = settings.features
        self.known: dict[str, tuple[int, ...]] = {}
        others = len(vocabulary) - 1
        widths = [settings.word_width, *[settings.affix_width] * others]
        self.tables = nn.ModuleList(
            Table(len(values) + 1, width) for values, width in zip(vocabulary, widths, strict=True)
        )
        for table in self.tables:
            nn.init.normal_(cast(nn.Embedding, table).weight, std=0.3)
        self.keep = [1 - settings.word_dropout, *[1 - settings.feature_dropout] * others]

    def encode(self, words: list[str]) -> tuple[Tensor]:
        """Returns the rows of words in the tables [U, F]."""
        # other threads may still read the table that is replaced
        known = self.known = self.known if len(self.known) <= KNOWN else {}
        for word in words:
            if word not in known:
                pairs = zip(self.index, self.features(word), strict=True)
                # the garbage collector leaves tuples of numbers alone
                known[word] = tuple(index.get(value, 0) for index, value in pairs)
        ids = [known[word] for word in words]
        return (torch.tensor(ids, dtype=torch.long).view(-1, len(self.index)),)

    def forward(self, which: Tensor, ids: Tensor) -> Tensor:
        if self.training:
            ids = ids[which]
            keep = torch.tensor(self.keep, device=ids.device).expand(ids.shape)
            ids = ids * torch.bernoulli(keep).long()
        rows = torch.cat([table(ids[:, k]) for k, table in enumerate(self.tables)], -1)
        return rows if self.training else F.embedding(which, rows)


@with_settings_of(WordAffixSettings)
def build_word_affix_embed_v1(**settings: Any) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by their form, their shape and seven affixes.

    The tables' vocabularies are learned from the training data when a component of this package is
    initialised. A shared `tok2vec` pipe learns none, so use `spacy.MultiHashEmbed.v2` there.
    settings: see `WordAffixSettings`.
    """
    return word_embedding_model("word_affix_embed", WordAffixSettings(**settings))


@dataclass(frozen=True)
class WordCharSettings(EmbeddingSettings):
    """Settings of the embedding by characters.

    word_width: width of the word table, which ignores case and reads digits as 0. char_width: width
    of the table of characters. char_hidden_width: width of each direction of the CharLSTM.
    min_count: words and characters seen less often in the training data are "unknown".
    word_dropout: probability of an unknown word in training.
    """

    name: ClassVar[str] = "spacy-lal.WordCharEmbed.v1"
    word_width: int = 100
    char_width: int = 50
    char_hidden_width: int = 50
    word_dropout: float = 0.0

    @property
    def width(self) -> int:
        return self.word_width + 2 * self.char_hidden_width

    def values(self, word: str) -> tuple[tuple[str], str]:
        return (word_form(word),), word

    def build(self, header: Header) -> WordEmbedding:
        return WordCharEmbedding(header["vocabulary"], self)


class WordCharEmbedding(WordEmbedding):
    """Rows of a word table, beside a CharLSTM's output for the characters.

    which [N], ids [U], characters [U, C], lengths [U] -> [N, word_width + 2 * char_hidden_width].
    Training replaces words, but not their characters, by "unknown" with rate `word_dropout`.
    """

    def __init__(self, vocabulary: list[list[str]], settings: WordCharSettings) -> None:
        super().__init__(vocabulary)
        words, characters = vocabulary
        self.words = nn.Embedding(len(words) + 1, settings.word_width)
        nn.init.normal_(self.words.weight, std=0.3)
        self.characters = CharLSTM(
            len(characters) + 1, settings.char_width, settings.char_hidden_width
        )
        self.word_dropout = settings.word_dropout

    def encode(self, words: list[str]) -> tuple[Tensor, Tensor, Tensor]:
        """Returns rows of words [U], rows of their characters [U, C], numbers of these [U]."""
        word_index, character_index = self.index
        ids = torch.tensor([word_index.get(word_form(word), 0) for word in words], dtype=torch.long)
        spelled = [torch.tensor([character_index.get(c, 0) for c in _ends(word)]) for word in words]
        lengths = torch.tensor([len(characters) for characters in spelled], dtype=torch.long)
        if not spelled:
            return ids, ids.view(0, 1), lengths
        return ids, pad_sequence(spelled, batch_first=True), lengths

    def forward(self, which: Tensor, ids: Tensor, characters: Tensor, lengths: Tensor) -> Tensor:
        ids = ids[which]
        if self.training and self.word_dropout:
            keep = torch.full(ids.shape, 1 - self.word_dropout, device=ids.device)
            ids = ids * torch.bernoulli(keep).long()
        return torch.cat([self.words(ids), self.characters(characters, lengths)[which]], -1)


def _ends(word: str) -> str:
    half = MOST_CHARACTERS // 2
    return word if len(word) <= MOST_CHARACTERS else word[:half] + word[-half:]


@with_settings_of(WordCharSettings)
def build_word_char_embed_v1(**settings: Any) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by a table and a CharLSTM, as Zhang et al. 2020 and Floquet et al. (section 3).

    The vocabularies are learned like those of `spacy-lal.WordAffixEmbed.v1`, so this embedding also
    needs a component of this package. settings: see `WordCharSettings`.
    """
    return word_embedding_model("word_char_embed", WordCharSettings(**settings))


def word_embedding_model(
    name: str, settings: WordAffixSettings | WordCharSettings
) -> Model[list[Doc], list[Floats2d]]:
    """Returns a Tok2Vec model around a `WordEmbedding`."""
    return Model(
        name,
        _forward,
        init=_init,
        attrs={"settings": settings, "dropout_rate": 0.0},
        dims={"nO": settings.width},
        shims=[TorchShim(settings.build)],
    )


def learn_vocabulary(model: Model, docs: Iterable[Doc]) -> bool:
    """Gives training words to all layers of `model` whose settings have a `vocabulary`, a function
    from the counts of words to that in the header, where `cfg` keeps it until initialisation.
    Returns whether any has."""
    learn = [
        (node.attrs["settings"].vocabulary, shim)
        for node, shim in torch_shims(model)
        if hasattr(node.attrs.get("settings"), "vocabulary")
    ]
    if learn:
        texts = (token.text for doc in docs for token in doc if not token.is_space)
        words = Counter(map(plain_word, texts))
        for vocabulary, shim in learn:
            shim.cfg["vocabulary"] = vocabulary(words)
    return bool(learn)


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = torch_shim(model)
    if "vocabulary" not in shim.cfg:
        raise ValueError(
            f"{model.attrs['settings'].name} has not seen the training data: use it inside a "
            "spacy-lal component, such as lal_tok2vec in place of tok2vec"
        )
    shim.initialize({"vocabulary": shim.cfg["vocabulary"]})


def distinct_words(docs: list[Doc]) -> tuple[list[str], Tensor]:
    """Returns the distinct words of a batch, as `plain_word` reads them, and the number of each
    token's word [N]."""
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
    return list(map(plain_word, texts)), torch.from_numpy(which)


def _forward(model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool) -> Output:
    shim = torch_shim(model)
    words, which = distinct_words(docs)
    encoded = cast(WordAffixEmbedding | WordCharEmbedding, shim.module).encode(words)
    inputs = [x.to(shim.device) for x in (which, *encoded)]
    # tables have no products, so those in 8 bits change nothing
    prediction: Precision = "int8" if isinstance(shim.module, WordAffixEmbedding) else "float32"
    dropout = model.attrs["dropout_rate"]
    rows = shim.run(*inputs, is_train=is_train, dropout=dropout, prediction=prediction)
    return rows_of_docs(model, rows, docs)
