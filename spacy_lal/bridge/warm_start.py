"""Training from another pipeline's weights."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, NamedTuple, cast

import torch
from thinc.api import Model, PyTorchShim
from torch import Tensor, nn

from ..layers.role_paths import path_table
from .shim import TorchShim, torch_shims
from .weights import Header


class Rows(NamedTuple):
    """The names of a parameter's rows: their list in the header, the dimension of the rows, and the
    number of rows before the first name."""

    kind: str
    dimension: int = 0
    before: int = 0


PRODUCT = r"(bilinear|left|right|bias|mixture\.weight|mixture\.bias)"
"""Parameters of a biaffine product, full or factorised."""
NAMED = {
    r"(scorer\.)?output\.(weight|bias)": Rows("labels"),
    # in two stages, where row 0 is "no constituent"
    rf"labels\.product\.{PRODUCT}": Rows("labels", before=1),
    r"input_encoder\.(bilstm\.)?(tag_scores\.weight|tag_scores\.bias|tag_embedding)": Rows("tags"),
    r"input_encoder\.content\.weight": Rows("tags", dimension=1),
    rf"(dependencies|encoder\.parser)\.relation\.{PRODUCT}": Rows("relations"),
    rf"roles\.product\.{PRODUCT}": Rows("roles"),
    r"joint\.(weight|bias)": Rows("joint"),
}
"""Parameters with a row for each name of a list in the header."""
READS_WORDS = re.compile(
    r"input_encoder\.(bilstm\.)?lower\.(ahead|back)\.0\.weight_ih_l0"
    # LISA's, which reads a BiLSTM's output and the words' vectors behind it
    r"|encoder\.project\.weight"
)
"""Parameters that read the words' vectors, which may have more features behind those they were
trained on: static vectors (`spacy-lal.WithOwnVectors.v1`) or a pretrained encoder's."""
OVER_SENTENCES = {"label_attention_parser", "lisa"}
"""Networks over sentences whose parts of the same name are the same."""


def adopt_vocabulary(model: Model, source: Model) -> None:
    """Gives word embeddings in `model` the vocabulary of those in `source`, before it is built.

    Both embeddings need a vocabulary. New words of the training data follow, so rows keep their
    numbers. A language model keeps exactly the words that it predicts in `source`.
    """
    for mine, theirs in _pairs(model, source):
        # without one on either side, as for a language model of weight 0, there is none to share
        known, own = _vocabulary(theirs), mine.cfg.get("vocabulary")
        if not (known and own):
            continue
        if _are_tables(known) and _are_tables(own) and len(known) == len(own):
            known = [list(dict.fromkeys(a + b)) for a, b in zip(known, own, strict=True)]
        mine.cfg["vocabulary"] = known


def take_weights(model: Model, source: Model) -> tuple[int, int]:
    """Copies every parameter of `source` that fits one of the same name in `model`.

    Rows of labels, tags or relations are matched by name, rows of words by the vocabulary from
    `adopt_vocabulary`. Where only one model has vectors behind the same embedding, the embedding's
    columns are copied and the other columns begin as zero. Static vectors stay. Returns two numbers
    of
    values: copied ones, and all of `model`."""
    taken = total = 0
    embedded = max(_embedding_widths(model) & _embedding_widths(source), default=0)
    for mine, theirs in _pairs(model, source):
        have = {} if theirs is None else theirs.tensors()
        for name, parameter in mine.module.named_parameters():
            total += parameter.numel()
            if theirs is not None and name in have:
                given = have[name].to(parameter.device)
                ours, known = cast(Header, mine.header), cast(Header, theirs.header)
                taken += _take(name, parameter.data, given, ours, known, embedded)
    for wrapped, other in zip_longest(_wrapped(model), _wrapped(source)):
        given_parameters = {} if other is None else dict(other.named_parameters())
        for name, parameter in [] if wrapped is None else wrapped.named_parameters():
            total += parameter.numel()
            found = given_parameters.get(name)
            if found is not None and found.shape == parameter.shape:
                parameter.data.copy_(found.data)
                taken += parameter.numel()
    return taken, total


def mean_weights(model: Model, again: Model, begun: Model, share: float = 0.5) -> tuple[int, int]:
    """Sets the weights of `model` to the mean of its own and another model's.

    again: a copy of the model, which receives the other's weights as by `take_weights`. begun: the
    other model. share: weight of the other in the mean. Returns the numbers of `take_weights`.
    """
    counts = take_weights(again, begun)
    with torch.no_grad():
        for (_, mine), (_, theirs) in zip(torch_shims(model), torch_shims(again), strict=True):
            others = dict(theirs.module.named_parameters())
            for name, parameter in mine.module.named_parameters():
                parameter.data.lerp_(others[name].data, share)
    return counts


def _take(
    name: str, value: Tensor, given: Tensor, ours: Header, known: Header, embedded: int
) -> int:
    """Copies the part of a parameter that fits by the headers; returns its number of values."""
    rows, given_rows = _rows(name, ours), _rows(name, known)
    if rows and given_rows:
        unnamed = [""] * rows.before
        return _take_rows(
            value.movedim(rows.dimension, 0),
            given.movedim(rows.dimension, 0),
            [*unnamed, *ours[rows.kind]],
            [*unnamed, *known[rows.kind]],
        )
    if rows or given_rows:
        return 0
    if name == "paths.table":
        return _take_paths(value, given, ours["relations"], known["relations"])
    if given.shape == value.shape:
        value.copy_(given)
        return value.numel()
    if _is_longer_table(value, given, ours, known):
        # a word unknown to `source` begins with the row "unknown"
        value[: len(given)] = given
        value[len(given) :] = given[0]
        return given.numel()
    if READS_WORDS.fullmatch(name) and embedded and len(given) == len(value):
        return _take_columns(value, given, embedded, ours["d_in"], known["d_in"])
    return 0


def _rows(name: str, header: Header) -> Rows | None:
    """Returns the names of a parameter's rows. Other networks have parameters of the same names."""
    if name == "input_encoder.content.weight":
        # of the words' vectors, or of their tags
        settings: dict[str, Any] = header["settings"]["input_encoder"]
        return Rows("tags", dimension=1) if settings.get("content") == "tag" else None
    found = (rows for pattern, rows in NAMED.items() if re.fullmatch(pattern, name))
    return next((rows for rows in found if rows.kind in header), None)


def _take_rows(value: Tensor, given: Tensor, ours: Sequence[str], known: Sequence[str]) -> int:
    index = {name: row for row, name in enumerate(known)}
    pairs = [(row, index[name]) for row, name in enumerate(ours) if name in index]
    if not pairs or value.shape[1:] != given.shape[1:]:
        return 0
    to, source = (torch.tensor(rows) for rows in zip(*pairs, strict=True))
    value[to] = given[source]
    return value[0].numel() * len(pairs)


def _take_paths(value: Tensor, given: Tensor, ours: list[str], known: list[str]) -> int:
    """Copies the rows of `RolePaths` for path shapes, and for the relations that both have."""
    if value.shape[1:] != given.shape[1:]:
        return 0
    own, other = path_table(value, len(ours)), path_table(given, len(known))
    own.shapes.copy_(other.shapes)
    branches, given_branches = (table.branches.movedim(1, 0) for table in (own, other))
    predicates, given_predicates = (table.predicates.movedim(1, 0) for table in (own, other))
    return (
        own.shapes.numel()
        # the last row is for no branch
        + _take_rows(branches, given_branches, [*ours, ""], [*known, ""])
        + _take_rows(predicates, given_predicates, ours, known)
    )


def _take_columns(value: Tensor, given: Tensor, embedded: int, width: int, given_width: int) -> int:
    """Copies the columns of the first `embedded` features of words, and those behind words."""
    behind = value[:, width:]
    if behind.shape != given[:, given_width:].shape:
        return 0
    value[:, :embedded] = given[:, :embedded]
    value[:, embedded:width] = 0.0
    behind.copy_(given[:, given_width:])
    return len(value) * embedded + behind.numel()


def _is_longer_table(value: Tensor, given: Tensor, ours: Header, known: Header) -> bool:
    """Whether `value` is a table that begins with the values of `given`, behind "unknown"."""
    own, first = ours.get("vocabulary", []), known.get("vocabulary", [])
    return (
        _are_tables(own)
        and _are_tables(first)
        and given.shape[1:] == value.shape[1:]
        and any(
            (len(value), len(given)) == (len(a) + 1, len(b) + 1) and a[: len(b)] == b
            for a, b in zip(own, first, strict=False)
        )
    )


def _vocabulary(shim: TorchShim | None) -> list:
    return ((shim.header if shim else None) or {}).get("vocabulary", [])


def _are_tables(vocabulary: list) -> bool:
    """Whether the vocabulary holds values of several tables, not the words of a language model."""
    return all(isinstance(values, list) for values in vocabulary)


def _wrapped(model: Model) -> list[nn.Module]:
    return [
        cast(nn.Module, shim._model)
        for node in model.walk()
        for shim in node.shims
        if isinstance(shim, PyTorchShim) and shim._model is not None
    ]


def _embedding_widths(model: Model) -> set[int]:
    widths = set()
    tok2vec = model.maybe_get_ref("tok2vec")
    while tok2vec is not None:
        if tok2vec.has_dim("nO"):
            widths.add(tok2vec.get_dim("nO"))
        tok2vec = tok2vec.maybe_get_ref("embed")
    return widths


def _pairs(model: Model, source: Model) -> list[tuple[TorchShim, TorchShim | None]]:
    """Returns every network of the model, with the source's of the same name if it has one."""

    def by_layer(of: Model) -> dict[tuple[str, int], TorchShim]:
        found: dict[tuple[str, int], TorchShim] = {}
        for node, shim in torch_shims(of):
            name = "sentences" if node.name in OVER_SENTENCES else node.name
            number = sum(name == other for other, _ in found)
            found[name, number] = shim
        return found

    theirs = by_layer(source)
    return [(shim, theirs.get(key)) for key, shim in by_layer(model).items()]
