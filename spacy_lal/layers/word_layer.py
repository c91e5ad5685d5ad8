"""A feed-forward layer above others, which also sees what words look like."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .dropout import Dropout


class WordLayer(nn.Module):
    """h [n,d], a layer's outputs for n words, and words [n,e], other features -> [n,d].

    LayerNorm(h + W_2 gelu(W_1 [h; words] + b_1) + b_2): a transformer's feed-forward layer with
    its residual (Vaswani et al. 2017, sections 3.1 and 3.3) which reads features beside h, so that
    what one means may depend on the other. Dropout of the features and of the hidden layer is the
    training's.
    """

    def __init__(self, d: int, d_words: int, d_hidden: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(d + d_words, d_hidden)
        self.output = nn.Linear(d_hidden, d)
        self.norm = nn.LayerNorm(d)
        self.dropout = Dropout()

    def forward(self, h: Tensor, words: Tensor) -> Tensor:
        hidden = F.gelu(self.hidden(torch.cat([h, self.dropout(words)], -1)))
        normed: Tensor = self.norm(h + self.output(self.dropout(hidden)))
        return normed
