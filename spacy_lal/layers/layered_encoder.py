"""A BiLSTM that shows all its layers, and models language on the way."""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .bilstm import BiLSTM
from .dropout import FeatureDropout


class Layers(NamedTuple):
    """outputs: of every layer [L,B,n,d]; language_loss: see `LayeredBiLSTM`, None without one."""

    outputs: Tensor
    language_loss: Tensor | None


class LayeredBiLSTM(nn.Module):
    """Word vectors [B,n,d_in], lengths [B] -> `Layers`, d = 2 * d_hidden.

    embeddings: whether the lowest of L layers is the words' own vectors, projected to d features;
    else it is the first of `depth` BiLSTM layers.

    n_words: of a language model's vocabulary (Rei 2017, "Semi-supervised Multitask Learning for
    Sequence Labeling", section 3): the lowest layer's forward state at each word predicts the next
    word, its backward state the one before, each through `d_language` units (eqs. 7 to 10). The
    loss, for which the numbers of the words are given [B,n], is the sum of the cross-entropy of
    both directions over all words. Number 0 is any word that the vocabulary doesn't have, and
    n_words is the end of the sentence on either side.
    """

    def __init__(
        self,
        d_in: int,
        *,
        d_hidden: int,
        depth: int,
        embeddings: bool = False,
        n_words: int = 0,
        d_language: int = 50,
        mixed_precision: bool = False,
    ) -> None:
        super().__init__()
        self.bilstm = BiLSTM(d_in, d_hidden, depth, mixed_precision=mixed_precision)
        self.embeddings = nn.Linear(d_in, 2 * d_hidden) if embeddings else None
        self.n_layers = depth + embeddings
        self.n_words = n_words
        self.language: nn.ModuleList | None = None
        if n_words:
            self.language = nn.ModuleList(
                nn.Sequential(
                    nn.Linear(d_hidden, d_language), nn.Tanh(), nn.Linear(d_language, n_words + 1)
                )
                for _ in range(2)
            )
        self.dropout = FeatureDropout()

    def forward(self, x: Tensor, lengths: Tensor, words: Tensor | None = None) -> Layers:
        states = self.bilstm.states(x, lengths)
        language_loss = None
        if words is not None and self.language is not None:
            language_loss = self._language_loss(states[0], lengths, words)
        if self.embeddings is not None:
            states = [self.embeddings(self.dropout(x)), *states]
        return Layers(torch.stack(states), language_loss)

    def _language_loss(self, states: Tensor, lengths: Tensor, words: Tensor) -> Tensor:
        assert self.language is not None
        here = torch.arange(words.shape[1], device=words.device) < lengths.unsqueeze(1)
        edge = words.new_full((len(words), 1), self.n_words)
        before = torch.cat([edge, words[:, :-1]], 1)
        after = torch.cat([words[:, 1:], edge], 1)
        # behind the last word of a sentence that is shorter than others
        after = after.scatter(1, lengths.unsqueeze(1) - 1, self.n_words)
        ahead, back = states.chunk(2, -1)
        loss = states.new_zeros(())
        for head, direction_states, target in zip(
            self.language, (ahead, back), (after, before), strict=True
        ):
            loss = loss + F.cross_entropy(
                head(direction_states[here]), target[here], reduction="sum"
            )
        return loss
