"""Beginning a training with another pipeline's weights."""

from __future__ import annotations

from typing import Any

import torch
from thinc.api import Model

from .bridge import TorchShim, torch_shims

# Parameters with one row a label, and which of the header's lists names the rows.
ROWS = {
    "scorer.output.weight": "labels",
    "scorer.output.bias": "labels",
    "rows.tag_scores.weight": "tags",
    "rows.tag_scores.bias": "tags",
    "rows.tag_embedding": "tags",
    "dependencies.relation.bilinear": "relations",
    "dependencies.relation.left": "relations",
    "dependencies.relation.right": "relations",
    "dependencies.relation.bias": "relations",
}


def adopt_vocabulary(model: Model, source: Model) -> None:
    """Give the word embeddings in `model` the vocabulary of those in `source`, before it is built.

    Only where both have one; rows of words that `source` doesn't know would be untrained anyway.
    """
    for mine, theirs in _pairs(model, source):
        if theirs.header is not None and "vocabulary" in theirs.header:
            mine.cfg["vocabulary"] = theirs.header["vocabulary"]


def take_weights(model: Model, source: Model) -> tuple[int, int]:
    """Copy every parameter of `source` that fits one of the same name in `model`.

    Rows that belong to labels, tags or relations go by their names. Returns how many values of
    `model` were taken over, and how many it has.
    """
    taken = total = 0
    for mine, theirs in _pairs(model, source):
        have = theirs.tensors()
        for name, value in mine.module.state_dict().items():
            total += value.numel()
            given = have.get(name)
            if given is None:
                continue
            if name in ROWS:
                taken += _take_rows(value, given, *_names(mine, theirs, ROWS[name]))
            elif given.shape == value.shape:
                value.copy_(given)
                taken += value.numel()
    return taken, total


def _pairs(model: Model, source: Model) -> list[tuple[TorchShim, TorchShim]]:
    def by_layer(of: Model) -> dict[tuple[str, int], TorchShim]:
        found: dict[tuple[str, int], TorchShim] = {}
        for node, shim in torch_shims(of):
            number = sum(name == node.name for name, _ in found)
            found[node.name, number] = shim
        return found

    theirs = by_layer(source)
    return [(shim, theirs[key]) for key, shim in by_layer(model).items() if key in theirs]


def _names(mine: TorchShim, theirs: TorchShim, kind: str) -> tuple[list[str], list[str]]:
    def of(header: dict[str, Any] | None) -> list[str]:
        return list((header or {}).get(kind, ()))

    return of(mine.header), of(theirs.header)


def _take_rows(value: torch.Tensor, given: torch.Tensor, mine: list[str], theirs: list[str]) -> int:
    index = {name: row for row, name in enumerate(theirs)}
    pairs = [(row, index[name]) for row, name in enumerate(mine) if name in index]
    if not pairs or value.shape[1:] != given.shape[1:]:
        return 0
    to, source = (torch.tensor(rows) for rows in zip(*pairs, strict=True))
    value[to] = given[source].to(value.device)
    return value[0].numel() * len(pairs)
