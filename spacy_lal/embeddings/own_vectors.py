"""Static word vectors stored in a component (`spacy-lal.WithOwnVectors.v1`)."""

from itertools import islice
from typing import Any, cast

import numpy
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.util import minibatch
from spacy.vectors import Vectors
from thinc.api import Model, to_numpy
from thinc.types import Floats2d
from torch import Tensor, nn

from ..batching.batches import read_plain
from ..bridge.shim import Output, TorchShim, rows_of_docs, side_by_side, torch_shim
from ..bridge.weights import Header, eight_bits
from .forms import distinct_words

FLORET = ("minn", "maxn", "hash_count", "hash_seed", "bow", "eow")
"""Attributes of a floret table that determine a word's rows."""

MOST_CHARACTERS = 1000
"""Most characters of a word; each n-gram takes a row, gigabytes for a word of a megabyte."""
AT_ONCE = 64
"""Words whose rows are in memory at one time: some forty rows each."""
MOST_KEPT = 10_000
"""Most words whose sums of rows are kept: the first ones, among which are the frequent ones."""


class EightBitRows:
    """A table [rows, d] of 8-bit numbers and a scale [rows, 1], in the place of a `Vectors.data` of
    float32, which takes four times the memory."""

    def __init__(self, table: Tensor, scale: Tensor) -> None:
        self.table, self.scale = table.cpu().numpy(), scale.float().cpu().numpy()
        self.shape = self.table.shape

    def __getitem__(self, rows: NDArray[numpy.int32]) -> NDArray[numpy.float32]:
        found = torch.from_numpy(self.table[rows]).float()
        return found.mul_(torch.from_numpy(self.scale[rows])).numpy()


class OwnVectors(nn.Module):
    """A table of 8-bit numbers, and a linear projection of the vectors of words.

    table [rows, d] times scale [rows, 1] are the untrained vectors. floret: settings that map words
    to rows. Without these, a word has one row or none: keys [K] (`short_keys`), ascending, and
    their rows. Forward: distinct word of each token [N], their vectors [U, d] -> [N, width].
    """

    table: Tensor
    scale: Tensor
    keys: Tensor
    rows: Tensor

    def __init__(self, header: Header) -> None:
        super().__init__()
        (rows, d), width, keys = header["shape"], header["width"], header.get("keys", 0)
        self.floret: dict[str, Any] | None = header.get("floret")
        self.register_buffer("table", torch.zeros(rows, d, dtype=torch.int8))
        self.register_buffer("scale", torch.zeros(rows, 1))
        if self.floret is None:
            self.register_buffer("keys", torch.zeros(keys, dtype=torch.int32))
            self.register_buffer("rows", torch.zeros(keys, dtype=torch.int32))
        self.projection = nn.Linear(d, width, bias=False)
        self._vectors: Vectors | None = None
        self._kept: dict[str, NDArray[numpy.float32]] = {}

    def take(self, vectors: Vectors) -> None:
        """Rounds these vectors to 255 values a row, and stores the row of each of their keys."""
        data = torch.from_numpy(numpy.ascontiguousarray(to_numpy(vectors.data), dtype="float32"))
        for mine, value in zip((self.table, self.scale), eight_bits(data), strict=True):
            mine.copy_(value)
        self._vectors = None
        self._kept = {}
        if self.floret is None:
            keys = short_keys(list(vectors.key2row))
            order = numpy.argsort(keys, kind="stable")
            rows = numpy.fromiter(vectors.key2row.values(), "int32", len(keys))
            self.keys.copy_(torch.from_numpy(keys[order]))
            self.rows.copy_(torch.from_numpy(rows[order]))

    def lookup(self, words: list[str]) -> Tensor:
        """Returns the vectors of words [U, d], zero for a word without a vector."""
        if not any(words):
            return torch.zeros(len(words), self.table.shape[1])
        if self.floret is None:
            return self._rows_of(short_keys([get_string_id(word) for word in words]))
        if self._vectors is None:
            data = EightBitRows(self.table, self.scale)
            self._vectors = Vectors(data=data, mode="floret", **self.floret)
        new = [word for word in words if word not in self._kept]
        found: dict[str, NDArray[numpy.float32]] = {}
        for some in minibatch(new, AT_ONCE):
            sums = self._vectors.get_batch([word[:MOST_CHARACTERS] for word in some])
            found |= zip(some, sums, strict=True)
        vectors = [found[word] if word in found else self._kept[word] for word in words]
        for word, vector in islice(found.items(), max(0, MOST_KEPT - len(self._kept))):
            self._kept[word] = vector.copy()
        return torch.from_numpy(numpy.stack(vectors))

    def _rows_of(self, wanted: NDArray[numpy.int32]) -> Tensor:
        keys, found = self.keys, torch.from_numpy(wanted).to(self.keys.device)
        at = torch.searchsorted(keys, found).clamp(max=len(keys) - 1)
        rows = self.rows[at]
        vectors = self.table[rows].float() * self.scale[rows].float()
        vectors[keys[at] != found] = 0.0
        return vectors

    def forward(self, which: Tensor, vectors: Tensor) -> Tensor:
        if torch.is_grad_enabled():
            rows: Tensor = self.projection(vectors)
        else:
            # or the last bits depend on the number of words, and what is rounded next on those bits
            rows = (vectors.double() @ self.projection.weight.double().T).float()
        return F.embedding(which, rows)


def short_keys(keys: list[int]) -> NDArray[numpy.int32]:
    """Returns 32 bits of each 64-bit hash, which halves the memory. One in ten thousand words
    without a vector shares its number with one of 400,000 words with a vector."""
    return numpy.asarray(keys, dtype="uint64").astype("uint32").view("int32")


def build_with_own_vectors_v1(
    embed: Model[list[Doc], list[Floats2d]], width: int
) -> Model[list[Doc], list[Floats2d]]:
    """Concatenate static word vectors with an embedding's, and store them in the component.

    The pipeline's vectors (`[initialize] vectors`) are copied when the component is initialised,
    rounded to 8 bits. They are then part of its weights, whatever vectors the pipeline has.

    embed: any Tok2Vec model. width: width of the learned linear projection of the static vectors.
    """
    embed_width = embed.maybe_get_dim("nO")
    return Model(
        "with_own_vectors",
        _forward,
        init=_init,
        layers=[embed],
        refs={"embed": embed},
        shims=[TorchShim(OwnVectors)],
        attrs={"width": width},
        dims={"nO": None if embed_width is None else embed_width + width},
    )


def take_vectors(model: Model, vectors: Vectors) -> None:
    """Builds the layer's module around these vectors. Raises ValueError if there are none, or if
    they aren't vectors of words as written."""
    if 0 in vectors.shape or (vectors.mode != "floret" and not vectors.key2row):
        raise ValueError(
            "spacy-lal.WithOwnVectors.v1 needs word vectors, but the pipeline has none: set "
            "`vectors` in the [initialize] block of the config to a pipeline that has them. "
            "`python -m spacy init vectors` makes one of a file of vectors."
        )
    header: Header = {"shape": [int(n) for n in vectors.shape], "width": model.attrs["width"]}
    if vectors.mode == "floret":
        header["floret"] = {name: getattr(vectors, name) for name in FLORET}
    elif vectors.attr == ORTH:
        header["keys"] = len(vectors.key2row)
    else:
        raise ValueError(
            "spacy-lal.WithOwnVectors.v1 needs vectors of words as they are written, by the "
            "attribute ORTH; these are by another"
        )
    shim = torch_shim(model)
    shim.initialize(header)
    cast(OwnVectors, shim.module).take(vectors)


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    embed = model.layers[0]
    embed.initialize(X=X)
    if not X:
        raise ValueError("the word vectors come from the example Docs: give nlp.initialize() some")
    take_vectors(model, X[0].vocab.vectors)
    if embed.has_dim("nO"):
        model.set_dim("nO", embed.get_dim("nO") + model.attrs["width"])


def _forward(model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool) -> Output:
    shim = torch_shim(model)
    words, which = distinct_words(docs)
    vectors = cast(OwnVectors, shim.module).lookup(words)
    rows = shim.run(which.to(shim.device), vectors.to(shim.device), is_train=is_train)
    embedded = read_plain(model.layers[0], docs, is_train)
    return side_by_side(model, embedded, rows_of_docs(model, rows, docs))
