"""Beginning a training with another pipeline's weights."""

from __future__ import annotations

from typing import cast

import torch
from thinc.api import Model, PyTorchShim
from torch import nn

from ..layers.role_paths import path_table
from .shim import TorchShim, torch_shims

NAMED = {
    "scorer.output.weight": ("labels", 0, 0),
    "scorer.output.bias": ("labels", 0, 0),
    "labels.product.bilinear": ("labels", 0, 1),
    "labels.product.left": ("labels", 0, 1),
    "labels.product.right": ("labels", 0, 1),
    "labels.product.bias": ("labels", 0, 1),
    "labels.product.mixture.weight": ("labels", 0, 1),
    "labels.product.mixture.bias": ("labels", 0, 1),
    **{
        f"input_encoder.{branch}{name}": ("tags", 0, 0)
        for branch in ("", "bilstm.")
        for name in ("tag_scores.weight", "tag_scores.bias", "tag_embedding")
    },
    "input_encoder.content.weight": ("tags", 1, 0),
    "dependencies.relation.bilinear": ("relations", 0, 0),
    "dependencies.relation.left": ("relations", 0, 0),
    "dependencies.relation.right": ("relations", 0, 0),
    "dependencies.relation.bias": ("relations", 0, 0),
    **{
        f"{product}.{name}": (kind, 0, 0)
        for product, kind in (("roles.product", "roles"), ("encoder.parser.relation", "relations"))
        for name in ("bilinear", "left", "right", "bias", "mixture.weight", "mixture.bias")
    },
    "joint.weight": ("joint", 0, 0),
    "joint.bias": ("joint", 0, 0),
    "output.weight": ("labels", 0, 0),
    "output.bias": ("labels", 0, 0),
}
"""Parameters with one row (or column) for each name of a list in the header: which list, which
dimension, and how many rows come before the first name (one in two stages: "no constituent")."""

READS_WORDS = {
    *(
        f"input_encoder.{branch}lower.{direction}.0.weight_ih_l0"
        for branch in ("", "bilstm.")
        for direction in ("ahead", "back")
    ),
    # LISA's, which reads what a BiLSTM makes of the words behind them
    "encoder.project.weight",
}
"""What reads the words' vectors, and may find more features behind those it was trained on: static
vectors (`spacy-lal.WithOwnVectors.v1`) or a pretrained encoder's."""


def adopt_vocabulary(model: Model, source: Model) -> None:
    """Give the word embeddings in `model` the vocabulary of those in `source`, before it is built.

    Only where both have one. What the training data have besides goes behind it, so rows keep
    their numbers. A language model has the words of `source` alone, as many as it predicts there.
    """
    for mine, theirs in _pairs(model, source):
        # without one on either side, as of a language model of weight 0, there is none to share
        header = theirs.header if theirs is not None else None
        known, own = (header or {}).get("vocabulary"), mine.cfg.get("vocabulary")
        if not (known and own):
            continue
        tables = _tables(known) and _tables(own) and len(known) == len(own)
        mine.cfg["vocabulary"] = (
            [list(dict.fromkeys(known[k] + own[k])) for k in range(len(known))] if tables else known
        )


def take_weights(model: Model, source: Model) -> tuple[int, int]:
    """Copy every parameter of `source` that fits one of the same name in `model`.

    Rows that belong to labels, tags or relations go by their names, those of words by the
    vocabulary that `adopt_vocabulary` has given. Where one model has static vectors or an encoder's
    behind the same embedding and the other has none, what reads words takes over what it learned of
    the embedding, and ignores what is behind it at first. Vectors that a model carries with it stay
    its own. A transformer inside goes by its own names. Returns how many values of `model` were
    taken over, and how many it has.
    """
    taken = total = 0
    embedded = max(_embedding_widths(model) & _embedding_widths(source), default=0)
    for mine, theirs in _pairs(model, source):
        have = {} if theirs is None else theirs.tensors()
        for name, parameter in mine.module.named_parameters():
            value = parameter.data
            total += value.numel()
            given = have.get(name)
            if theirs is None or given is None:
                continue
            if _by_name(mine, name) or _by_name(theirs, name):
                taken += _take_named(value, given, name, mine, theirs)
            elif name == "paths.table":
                taken += _take_paths(value, given, mine, theirs)
            elif given.shape == value.shape:
                value.copy_(given)
                taken += value.numel()
            elif _is_longer_table(value, given, mine, theirs):
                # a word that `source` didn't know begins as what it was there: unknown
                value[: len(given)] = given
                value[len(given) :] = given[0]
                taken += given.numel()
            elif name in READS_WORDS and embedded and len(given) == len(value):
                taken += _take_columns(value, given.to(value.device), embedded, mine, theirs)
    wrapped = _wrapped(model)
    source_modules = _wrapped(source)
    for k, module in enumerate(wrapped):
        given_parameters = (
            dict(source_modules[k].named_parameters()) if k < len(source_modules) else {}
        )
        for name, parameter in module.named_parameters():
            total += parameter.numel()
            other = given_parameters.get(name)
            if other is not None and other.shape == parameter.shape:
                parameter.data.copy_(other.data)
                taken += parameter.numel()
    return taken, total


def _wrapped(model: Model) -> list[nn.Module]:
    """The modules that Thinc or spacy-transformers wrap."""
    return [
        cast(nn.Module, shim._model)
        for node in model.walk()
        for shim in node.shims
        if isinstance(shim, PyTorchShim) and shim._model is not None
    ]


def _embedding_widths(model: Model) -> set[int]:
    """Of what words begin as: with all that is behind the embedding, with less, and of itself."""
    widths = set()
    tok2vec = model.maybe_get_ref("tok2vec")
    while tok2vec is not None:
        if tok2vec.has_dim("nO"):
            widths.add(tok2vec.get_dim("nO"))
        tok2vec = tok2vec.maybe_get_ref("embed")
    return widths


OVER_SENTENCES = {"label_attention_parser", "lisa"}
"""Networks over sentences whose parts of the same name are the same."""


def _pairs(model: Model, source: Model) -> list[tuple[TorchShim, TorchShim | None]]:
    """Every network of the model, with the source's of the same name if it has one."""

    def by_layer(of: Model) -> dict[tuple[str, int], TorchShim]:
        found: dict[tuple[str, int], TorchShim] = {}
        for node, shim in torch_shims(of):
            name = "sentences" if node.name in OVER_SENTENCES else node.name
            number = sum(name == other for other, _ in found)
            found[name, number] = shim
        return found

    theirs = by_layer(source)
    return [(shim, theirs.get(key)) for key, shim in by_layer(model).items()]


def _tables(vocabulary: list[str] | list[list[str]]) -> bool:
    """Whether it has the values of several tables, and not the words of a language model."""
    return all(isinstance(values, list) for values in vocabulary)


def _is_longer_table(
    value: torch.Tensor, given: torch.Tensor, mine: TorchShim, theirs: TorchShim
) -> bool:
    """Whether `value` is a table of values that begin with those of `given`, behind "unknown"."""
    ours, known = ((shim.header or {}).get("vocabulary", []) for shim in (mine, theirs))
    return (
        _tables(ours)
        and _tables(known)
        and given.shape[1:] == value.shape[1:]
        and any(
            (len(value), len(given)) == (len(values) + 1, len(first) + 1)
            and values[: len(first)] == first
            for values, first in zip(ours, known, strict=False)
        )
    )


def _by_name(shim: TorchShim, name: str) -> bool:
    """Whether the parameter belongs to names; the content of a branch may be words, not tags."""
    if name == "input_encoder.content.weight":
        return bool((shim.header or {})["settings"]["input_encoder"].get("content") == "tag")
    # other networks have parameters of the same names
    return name in NAMED and NAMED[name][0] in (shim.header or {})


def _take_named(
    value: torch.Tensor, given: torch.Tensor, name: str, mine: TorchShim, theirs: TorchShim
) -> int:
    if _by_name(mine, name) != _by_name(theirs, name):
        return 0
    kind, dimension, before = NAMED[name]
    value, given = value.movedim(dimension, 0), given.movedim(dimension, 0)
    unnamed = [""] * before
    index = {label: row for row, label in enumerate([*unnamed, *_names(theirs, kind)])}
    pairs = [
        (row, index[label])
        for row, label in enumerate([*unnamed, *_names(mine, kind)])
        if label in index
    ]
    if not pairs or value.shape[1:] != given.shape[1:]:
        return 0
    to, source = (torch.tensor(rows) for rows in zip(*pairs, strict=True))
    value[to] = given[source].to(value.device)
    return value[0].numel() * len(pairs)


def _take_paths(
    value: torch.Tensor, given: torch.Tensor, mine: TorchShim, theirs: TorchShim
) -> int:
    """Take what `RolePaths` knows of shapes, and of the relations that both have."""
    if value.shape[1:] != given.shape[1:]:
        return 0
    ours, known = _names(mine, "relations"), _names(theirs, "relations")
    own, other = path_table(value, len(ours)), path_table(given.to(value.device), len(known))
    index = {relation: k for k, relation in enumerate(known)}
    to = [k for k, relation in enumerate(ours) if relation in index]
    source = [index[ours[k]] for k in to]
    own.shapes.copy_(other.shapes)
    own.branches[:, [*to, len(ours)]] = other.branches[:, [*source, len(known)]]
    own.predicates[:, to] = other.predicates[:, source]
    rows = len(own.shapes) + len(own.branches) * (len(to) + 1) + len(own.predicates) * len(to)
    return rows * value.shape[1]


def _take_columns(
    value: torch.Tensor, given: torch.Tensor, embedded: int, mine: TorchShim, theirs: TorchShim
) -> int:
    """Take the columns of the first `embedded` features of words, and those behind all features."""
    width, given_width = ((shim.header or {})["d_in"] for shim in (mine, theirs))
    behind = value[:, width:]
    if behind.shape != given[:, given_width:].shape:
        return 0
    value[:, :embedded] = given[:, :embedded]
    value[:, embedded:width] = 0.0
    behind.copy_(given[:, given_width:])
    return len(value) * embedded + behind.numel()


def _names(shim: TorchShim, kind: str) -> list[str]:
    return list((shim.header or {}).get(kind, ()))
