"""From the numbers of words, tags, characters and pieces to the rows that a published parser's
layers read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ...encoders.hugging_face import build_transformer, width_and_depth
from ...encoders.network import LayerMix
from ...layers.bilstm import BiLSTM
from ...layers.char_lstm import CharLSTM
from ...layers.layer_norm import LayerNorm
from .reading import RowBatch

PIECES = 2048
"""That are read together: sentences times the pieces of the longest."""
STRIDE = 256
"""From one window to the next, of what is too long for a transformer."""

Pooling = Literal["first", "last", "mean"]


@dataclass(frozen=True)
class RowSizes:
    """Sizes of what reads rows; 0 or None leaves a part out.

    words, tags, characters: how many there are, and how wide. pretrained: vectors beside those of
    words, read by the numbers of words, of which there are more. pretrained_width: what they are
    projected to. character_hidden: of a direction. character_width, piece_width: what states and
    pieces are projected to. layers: the last ones, in a mix; None for the last one alone. limit:
    pieces in a window.
    """

    words: tuple[int, int] = (0, 0)
    tags: tuple[int, int] = (0, 0)
    characters: tuple[int, int] = (0, 0)
    pretrained: tuple[int, int] = (0, 0)
    pretrained_width: int | None = None
    character_hidden: int = 0
    character_width: int | None = None
    piece_width: int | None = None
    pooling: Pooling = "last"
    layers: int | None = None
    limit: int | None = None


class PieceRows(nn.Module):
    """Pieces [B, P] and where rows [B, N] are in them -> rows [B, N, width]."""

    def __init__(self, sizes: RowSizes, transformer: dict[str, Any]) -> None:
        super().__init__()
        self.transformer = build_transformer(transformer)
        width, _ = width_and_depth(transformer)
        self.layers = sizes.layers or 1
        self.mix = LayerMix(sizes.layers) if sizes.layers else None
        self.pooling, self.limit = sizes.pooling, sizes.limit
        self.projection: nn.Linear | None = None
        if sizes.piece_width is not None:
            self.projection = nn.Linear(width, sizes.piece_width, bias=False)
        self.output_dim = sizes.piece_width or width

    def forward(self, batch: RowBatch) -> Tensor:
        assert batch.pieces is not None
        assert batch.mask is not None
        assert batch.starts is not None
        assert batch.ends is not None
        order = batch.mask.sum(1).argsort()
        at_once = max(1, PIECES // batch.pieces.shape[1])
        found = [
            self._rows(batch.pieces[k], batch.mask[k], batch.starts[k], batch.ends[k])
            for k in order.split(at_once)
        ]
        rows = torch.cat(found)[order.argsort()]
        return rows if self.projection is None else self.projection(rows)

    def _rows(self, pieces: Tensor, mask: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        longest = int(mask.sum(1).max())
        pieces, mask = pieces[:, :longest], mask[:, :longest]
        if self.limit is not None and longest > self.limit:
            alone = [
                self._windows(p[m.bool()].unsqueeze(0)) for p, m in zip(pieces, mask, strict=True)
            ]
            states = nn.utils.rnn.pad_sequence([s[0] for s in alone], batch_first=True)
        else:
            states = self._states(pieces, mask)
        if self.pooling == "mean":
            at = torch.arange(states.shape[1], device=states.device)
            inside = (at >= starts.unsqueeze(-1)) & (at < ends.unsqueeze(-1))
            sums = inside.to(states.dtype) @ states
            return sums / (ends - starts).clamp(min=1).unsqueeze(-1)
        at = starts if self.pooling == "first" else (ends - 1).clamp(min=0)
        return states.gather(1, at.unsqueeze(-1).expand(-1, -1, states.shape[-1]))

    def _windows(self, pieces: Tensor) -> Tensor:
        """States of [1, P] from windows, each `STRIDE` behind the one before; its end is new."""
        assert self.limit is not None
        stride = min(STRIDE, self.limit)
        found = [self._states(pieces[:, : self.limit], torch.ones_like(pieces[:, : self.limit]))]
        for start in range(stride, pieces.shape[1] - self.limit + stride, stride):
            window = pieces[:, start : start + self.limit]
            states = self._states(window, torch.ones_like(window))
            found.append(states[:, self.limit - stride :])
        return torch.cat(found, 1)

    def _states(self, pieces: Tensor, mask: Tensor) -> Tensor:
        hidden = self.transformer(pieces, torch.zeros_like(pieces), mask)[-self.layers :]
        last: Tensor = hidden[-1]
        if self.mix is None:
            return last
        stacked = torch.stack([layer.flatten(0, 1) for layer in hidden])
        mixed: Tensor = self.mix(stacked)
        return mixed.view_as(last)


class Parts(nn.Module):
    """What is read of every row, apart: words, tags, characters, pieces."""

    def __init__(self, sizes: RowSizes, transformer: dict[str, Any] | None) -> None:
        super().__init__()
        self.words = nn.Embedding(*sizes.words) if sizes.words[0] else None
        self.tags = nn.Embedding(*sizes.tags) if sizes.tags[0] else None
        self.pretrained = nn.Embedding(*sizes.pretrained) if sizes.pretrained[0] else None
        self.pretrained_projection: nn.Linear | None = None
        if sizes.pretrained_width is not None:
            self.pretrained_projection = nn.Linear(sizes.pretrained[1], sizes.pretrained_width)
        self.characters: CharLSTM | None = None
        self.character_projection: nn.Linear | None = None
        if sizes.characters[0]:
            self.characters = CharLSTM(*sizes.characters, sizes.character_hidden)
            if sizes.character_width is not None:
                both = 2 * sizes.character_hidden
                self.character_projection = nn.Linear(both, sizes.character_width)
        self.pieces = None if transformer is None else PieceRows(sizes, transformer)

    def of_characters(self, batch: RowBatch) -> Tensor:
        """[B, N, width]"""
        assert self.characters is not None
        assert batch.characters is not None
        assert batch.lengths is not None
        states = self.characters(batch.characters.flatten(0, 1), batch.lengths.flatten())
        rows: Tensor = states.unflatten(0, batch.lengths.shape)
        return rows if self.character_projection is None else self.character_projection(rows)


class ContentRows(nn.Module):
    """Content and positions of the released LAL parser: numbers -> rows [B, N, d_model].

    Content is the sum of its parts, or they stand side by side (`side_by_side`); vectors of words
    that were trained elsewhere stand behind that. Positions begin again where the table ends. They
    have a half of their own if `partitioned`, else they are added.
    """

    def __init__(
        self,
        sizes: RowSizes,
        transformer: dict[str, Any] | None,
        *,
        d_model: int,
        positions: int,
        partitioned: bool,
        side_by_side: bool,
    ) -> None:
        super().__init__()
        self.parts = Parts(sizes, transformer)
        self.partitioned, self.side_by_side = partitioned, side_by_side
        width = d_model // 2 if partitioned else d_model
        self.positions = nn.Parameter(torch.randn(positions, width))
        self.layer_norm = LayerNorm(d_model)

    def forward(self, batch: RowBatch) -> Tensor:
        parts = self.parts
        own = []
        if parts.tags is not None:
            own.append(parts.tags(batch.tags))
        if parts.words is not None:
            own.append(parts.words(batch.words))
        content = (
            [torch.cat(own, -1) if self.side_by_side else torch.stack(own).sum(0)] if own else []
        )
        if parts.pretrained is not None:
            content = [torch.cat([*content, parts.pretrained(batch.words)], -1)]
        # with characters, the released parser reads its transformer, and leaves what it read
        if parts.characters is not None:
            content.append(parts.of_characters(batch))
        elif parts.pieces is not None:
            content.append(parts.pieces(batch))
        rows = torch.cat(content, -1) if self.side_by_side else torch.stack(content).sum(0)
        at = torch.arange(rows.shape[1], device=rows.device) % len(self.positions)
        where = self.positions[at].expand(len(rows), -1, -1)
        joined = torch.cat([rows, where], -1) if self.partitioned else rows + where
        normalised: Tensor = self.layer_norm(joined)
        return normalised


class RecurrentRows(nn.Module):
    """supar's encoder: numbers -> rows [B, N, output_dim].

    Vectors of words, tags, characters and pieces side by side, and a BiLSTM of `depth` layers over
    them; or, without one, pieces alone. Vectors trained elsewhere are added to those of words of
    the same width. Words behind the trained ones are unknown but for these (`unknown`).
    """

    def __init__(
        self,
        sizes: RowSizes,
        transformer: dict[str, Any] | None,
        *,
        d_in: int,
        d_hidden: int,
        depth: int,
        unknown: int,
    ) -> None:
        super().__init__()
        self.parts = Parts(sizes, transformer)
        self.unknown = unknown
        self.lstm = BiLSTM(d_in, d_hidden, depth) if depth else None
        self.output_dim = 2 * d_hidden if depth else d_in

    def forward(self, batch: RowBatch, n_rows: Tensor) -> Tensor:
        parts = self.parts
        if self.lstm is None:
            assert parts.pieces is not None
            pieces: Tensor = parts.pieces(batch)
            return pieces
        assert parts.words is not None
        assert batch.words is not None
        known = batch.words.masked_fill(batch.words >= parts.words.num_embeddings, self.unknown)
        found = [parts.words(known)]
        if parts.pretrained is not None:
            vectors = parts.pretrained(batch.words)
            if parts.pretrained_projection is not None:
                found.append(parts.pretrained_projection(vectors))
            else:
                found[0] = found[0] + vectors
        if parts.tags is not None:
            found.append(parts.tags(batch.tags))
        if parts.characters is not None:
            found.append(parts.of_characters(batch))
        if parts.pieces is not None:
            found.append(parts.pieces(batch))
        rows: Tensor = self.lstm(torch.cat(found, -1), n_rows)
        return rows
