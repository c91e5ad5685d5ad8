"""Sizes of a benepar model, and what its Docs are read as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...layers.settings import Settings
from ...parsing.settings import Abilities


@dataclass(frozen=True)
class BeneparSizes(Settings):
    """What a checkpoint says of its network; part of the weights' header.

    width: of annotations. layers: of the partitioned transformer, each with `heads` heads of
    `key_width` and a feed-forward layer of `feed_forward_width`; positions: how many rows it knows,
    START and STOP included. None of them (layers = 0, positions = 0) where spans are made of the
    encoder's vectors as they are. hidden_width: of the span scorer; tag_width: of the tags', None
    for a model without. character_width: of characters' embeddings, None with a pretrained encoder.
    """

    name: ClassVar[str] = "benepar"
    width: int
    layers: int
    heads: int
    key_width: int
    feed_forward_width: int
    positions: int
    hidden_width: int
    tag_width: int | None
    character_width: int | None


@dataclass(frozen=True)
class BeneparReading(Abilities):
    """What a config decides: how Docs become text.

    escaped: tokens are written as treebanks write them ("-LRB-", "``"), and where spaces stand
    between them is guessed.
    """

    escaped: bool
    finds_trees = True
