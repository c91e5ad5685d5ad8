"""CharLSTM: the vector of a word from its characters (Lample et al. 2016, Zhang et al. 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM

WORDS_AT_ONCE = 256
"""Words whose characters are read together."""


class CharLSTM(nn.Module):
    """Last states of a bidirectional LSTM over a word's characters.

    characters [N, C], lengths [N], each 1 to C -> [N, 2 * d_hidden]: the state of the forward
    direction after the last character, then of the backward direction after the first. What
    stands behind a word's length does not matter. Words of similar length are computed together,
    so that a single long one does not make all of them long.
    """

    def __init__(self, n_characters: int, d_character: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.embedding = nn.Embedding(n_characters, d_character)
        self.lstm = BiLSTM(d_character, d_hidden, depth=1)

    def forward(self, characters: Tensor, lengths: Tensor) -> Tensor:
        if not len(characters):
            return self.embedding.weight.new_zeros(0, 2 * self.d_hidden)
        order = lengths.argsort()
        states = [self._last(characters[k], lengths[k]) for k in order.split(WORDS_AT_ONCE)]
        return torch.cat(states)[order.argsort()]

    def _last(self, characters: Tensor, lengths: Tensor) -> Tensor:
        """The same for words sorted by length."""
        states = self.lstm(self.embedding(characters[:, : int(lengths[-1])]), lengths)
        last = torch.arange(len(lengths), device=lengths.device), lengths - 1
        return torch.cat([states[*last, : self.d_hidden], states[:, 0, self.d_hidden :]], -1)
