"""Rows of a published parser's encoder, from numbers of words, tags, characters and pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ..encoders.hugging_face import build_transformer
from ..encoders.network import LayerMix
from ..layers.bilstm import BiLSTM, CharLSTM
from ..layers.dropout import FeatureDropout
from ..layers.input_encoders import with_positions
from ..layers.layer_norm import LayerNorm
from ..layers.settings import Settings
from .reading import RowBatch

NAME = "input_encoder."
"""Prefix of its parameters in the whole network."""
Shape = tuple[int, ...]


@dataclass(frozen=True)
class PublishedInput(Settings):
    """Settings of a `PublishedInputEncoder`.

    width: width of rows. parts: inputs of a row, in order. shapes: shapes of parameters, by name.
    side_by_side: concatenate parts instead of adding them. transformer: contents of config.json.
    pooling: which piece represents a row. unknown: number for words without vectors.
    stop: there is a row STOP. partitioned: concatenate positions to content instead of adding them.
    cyclic: positions repeat. unbiased: normalise by the unbiased deviation (LAL parser).
    """

    name: ClassVar[str] = "published"
    predicts_tags: ClassVar[bool] = False
    reads_doc_tags: ClassVar[bool] = False
    width: int
    parts: list[str]
    shapes: dict[str, Shape]
    side_by_side: bool = False
    transformer: dict[str, Any] | None = None
    pooling: Literal["first", "last", "mean"] = "last"
    unknown: int = 0
    stop: bool = True
    partitioned: bool = True
    cyclic: bool = True
    unbiased: bool = False

    def build(self, d_in: int, n_tags: int) -> PublishedInputEncoder:
        return PublishedInputEncoder(self)


class PublishedInputEncoder(nn.Module):
    """Input of the released LAL parser, benepar or supar: numbers -> rows [B, n+2, d].

    Vectors of words, tags, characters and pieces are added or concatenated. Then
    - LAL and benepar concatenate or add learned positions, and normalise (Mrini et al. 2020, Kitaev
      and Klein 2018, section 3); in benepar both are optional;
    - supar has a BiLSTM, or a transformer alone. Pretrained vectors are added to word vectors of
      the same width, or projected and concatenated.
    """

    d_around = 0
    words: nn.Embedding
    tags: nn.Embedding
    characters: CharLSTM

    def __init__(self, settings: PublishedInput) -> None:
        super().__init__()
        self.settings, shapes = settings, settings.shapes
        self.output_dim = settings.width

        def table(name: str) -> nn.Embedding | None:
            shape = shapes.get(f"{name}.weight")
            return nn.Embedding(shape[0], shape[1]) if shape else None

        def projection(name: str) -> nn.Linear | None:
            shape, bias = shapes.get(f"{name}.weight"), f"{name}.bias" in shapes
            return nn.Linear(shape[1], shape[0], bias=bias) if shape else None

        for name in ("words", "tags"):
            if name in settings.parts:
                self.add_module(name, table(name))
        self.pretrained = table("pretrained")
        self.pretrained_projection = projection("pretrained_projection")
        self.character_projection = projection("character_projection")
        self.piece_projection = projection("piece_projection")
        if "characters" in settings.parts:
            n_characters, width = shapes["characters.embedding.weight"]
            hidden = shapes["characters.lstm.ahead.0.weight_hh_l0"][1]
            self.characters = CharLSTM(n_characters, width, hidden)
        if settings.transformer is not None:
            self.transformer = build_transformer(settings.transformer)
            mixed = shapes.get("mix.weights")
            self.mix = LayerMix(mixed[0]) if mixed else None
        depth = sum(re.match(r"lstm\.ahead\.\d+\.weight_hh", name) is not None for name in shapes)
        self.lstm: BiLSTM | None = None
        if depth:
            d_in = shapes["lstm.ahead.0.weight_ih_l0"][1]
            self.lstm = BiLSTM(d_in, settings.width // 2, depth)
        self.positions: nn.Parameter | None = None
        if "positions" in shapes:
            self.positions = nn.Parameter(torch.randn(shapes["positions"]))
            norm = LayerNorm if settings.unbiased else nn.LayerNorm
            self.layer_norm = norm(settings.width)
        self.dropout = FeatureDropout()

    def forward(self, batch: RowBatch, lengths: Tensor, given: None = None) -> tuple[Tensor, None]:
        settings = self.settings
        parts = [getattr(self, f"_of_{part}")(batch) for part in settings.parts]
        rows = torch.cat(parts, -1) if settings.side_by_side else torch.stack(parts).sum(0)
        if self.lstm is not None:
            rows = self.lstm(rows, lengths + 1 + settings.stop)
        if not settings.stop:
            rows = F.pad(rows, (0, 0, 0, 1))
        if self.positions is None:
            return rows, None
        table: Tensor = self.positions
        if settings.cyclic:
            table = table[torch.arange(rows.shape[1], device=rows.device) % len(table)]
        rows = self.dropout(rows)
        if settings.partitioned:
            rows = with_positions(rows, table)
        else:
            rows = rows + table[: rows.shape[1]]
        return self.layer_norm(rows), None

    def _of_words(self, batch: RowBatch) -> Tensor:
        numbers, known = batch["words"], self.words.num_embeddings
        found: Tensor = self.words(numbers.masked_fill(numbers >= known, self.settings.unknown))
        if self.pretrained is None:
            return found
        vectors = self.pretrained(numbers)
        if self.pretrained_projection is None:
            return found + vectors
        return torch.cat([found, self.pretrained_projection(vectors)], -1)

    def _of_tags(self, batch: RowBatch) -> Tensor:
        return self.tags(batch["tags"])

    def _of_characters(self, batch: RowBatch) -> Tensor:
        words: Tensor = self.characters(batch["characters"], batch["lengths"])
        if self.character_projection is not None:
            words = self.character_projection(words)
        return words[batch["spelled"]]

    def _of_pieces(self, batch: RowBatch) -> Tensor:
        hidden = self.transformer(batch["pieces"], batch["types"], batch["mask"])
        states = hidden[-1].flatten(0, 1)
        if self.mix is not None:
            last = hidden[-len(self.mix.weights) :]
            states = self.mix(torch.stack([layer.flatten(0, 1) for layer in last]))
        places, starts, ends = batch["states"], batch["starts"], batch["ends"]
        if self.settings.pooling == "mean":
            at = torch.arange(places.shape[1], device=places.device)
            inside = (at >= starts.unsqueeze(-1)) & (at < ends.unsqueeze(-1))
            rows = inside.to(states.dtype) @ states[places] / (ends - starts).unsqueeze(-1)
        else:
            wanted = starts if self.settings.pooling == "first" else ends - 1
            rows = states[places.gather(1, wanted)]
        return rows if self.piece_projection is None else self.piece_projection(rows)
