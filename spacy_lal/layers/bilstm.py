"""A bidirectional LSTM whose result for a sentence does not depend on its padding."""

from typing import cast

import torch
from torch import Tensor, nn

from .dropout import FeatureDropout
from .precision import bfloat16_products


class BiLSTM(nn.Module):
    """[B, n, d_in] -> [B, n, 2 * d_hidden]: forward states, then backward states.

    The backward LSTM reads the words reversed *within their length*, so padding never affects a
    word's state. Dense kernels are faster than packed sequences. Rows of padding are meaningless;
    depth 0 returns x. Between layers, features are dropped for the whole sentence (Gal and
    Ghahramani 2016). `mixed_precision` trains with bfloat16 products, where the processor has them.
    """

    def __init__(
        self, d_in: int, d_hidden: int, depth: int, *, mixed_precision: bool = False
    ) -> None:
        super().__init__()
        widths = [d_in, *[2 * d_hidden] * (depth - 1)][:depth]
        self.ahead = nn.ModuleList(nn.LSTM(w, d_hidden, batch_first=True) for w in widths)
        self.back = nn.ModuleList(nn.LSTM(w, d_hidden, batch_first=True) for w in widths)
        self.dropout = FeatureDropout()
        self.mixed_precision = mixed_precision
        for lstm in (*self.ahead, *self.back):
            _initialize(cast(nn.LSTM, lstm))

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return [x, *self.states(x, lengths)][-1]

    def states(self, x: Tensor, lengths: Tensor) -> list[Tensor]:
        """Returns the states of every layer, lowest first."""
        position = torch.arange(x.shape[1], device=x.device)
        mirror = lengths.to(x.device).unsqueeze(1) - 1 - position
        mirror = torch.where(mirror >= 0, mirror, position).unsqueeze(-1)
        states: list[Tensor] = []
        for ahead, back in zip(self.ahead, self.back, strict=True):
            x = self.dropout(x)
            with bfloat16_products(x.device.type, self.mixed_precision and self.training):
                forward, _ = ahead(x)
                backward, _ = back(x.gather(1, mirror.expand_as(x)))
            both = torch.cat([forward, backward.gather(1, mirror.expand_as(backward))], -1)
            x = both.to(x.dtype)
            states.append(x)
        return states


def _initialize(lstm: nn.LSTM) -> None:
    """Sets orthogonal recurrent weights and open forget gates (Jozefowicz et al. 2015)."""
    input_weight, state_weight, *biases = (p.data for p in lstm.parameters())
    nn.init.xavier_uniform_(input_weight)
    for gate in state_weight.chunk(4):
        nn.init.orthogonal_(gate)
    for bias in biases:
        nn.init.zeros_(bias)
    biases[0].chunk(4)[1].fill_(1.0)
