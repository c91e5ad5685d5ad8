"""CharLSTM: the vector of a word from its characters (Lample et al. 2016, Zhang et al. 2020)."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from .bilstm import BiLSTM

WORDS_AT_ONCE = 256
"""Most words in one batch of characters."""
CHARACTERS_AT_ONCE = 8192
"""Most characters in one batch, padding included, unless one word has more."""


class CharLSTM(nn.Module):
    """Last states of a bidirectional LSTM over a word's characters.

    characters [N, C], lengths [N], each 1 to C -> [N, 2 * d_hidden]: the forward state after the
    last character, then the backward state after the first. Padding does not matter. Words are
    batched by length, so that a single long one does not lengthen all.
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
        chunks = order.split(list(_sizes(lengths[order].tolist())))
        states = [self._last(characters[k], lengths[k]) for k in chunks]
        return torch.cat(states)[order.argsort()]

    def _last(self, characters: Tensor, lengths: Tensor) -> Tensor:
        states = self.lstm(self.embedding(characters[:, : int(lengths[-1])]), lengths)
        last = torch.arange(len(lengths), device=lengths.device), lengths - 1
        return torch.cat([states[*last, : self.d_hidden], states[:, 0, self.d_hidden :]], -1)


def _sizes(lengths: list[int]) -> Iterator[int]:
    size = 0
    for length in lengths:
        if size and (size == WORDS_AT_ONCE or (size + 1) * length > CHARACTERS_AT_ONCE):
            yield size
            size = 0
        size += 1
    yield size
