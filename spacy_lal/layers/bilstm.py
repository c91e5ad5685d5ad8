"""Bidirectional LSTMs whose results don't depend on padding: over the words of a sentence, and over
the characters of a word (Lample et al. 2016, Zhang et al. 2020)."""

from collections.abc import Iterator
from typing import cast

import torch
from torch import Tensor, nn

from .dropout import FeatureDropout
from .integers import MOST, IntegerMatrix, rounded_rows
from .precision import Precision, bfloat16_products
from .prepared import Prepared

WORDS_AT_ONCE = 256
"""Most words in one batch of characters."""
CHARACTERS_AT_ONCE = 8192
"""Most characters in one batch, padding included, unless one word has more."""


class BiLSTM(Prepared):
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

    def made(self, precision: Precision) -> "list[RoundedLayer]":
        """Returns the layers with rounded weights, for such products."""
        layers = zip(self.ahead, self.back, strict=True) if precision == "int8" else ()
        return [RoundedLayer(*cast(tuple[nn.LSTM, nn.LSTM], pair)) for pair in layers]

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return [x, *self.states(x, lengths)][-1]

    def states(self, x: Tensor, lengths: Tensor) -> list[Tensor]:
        """Returns the states of every layer, lowest first."""
        position = torch.arange(x.shape[1], device=x.device)
        mirror = lengths.to(x.device).unsqueeze(1) - 1 - position
        mirror = torch.where(mirror >= 0, mirror, position).unsqueeze(-1)
        states: list[Tensor] = []
        if rounded := self.prepared():
            for layer in rounded:
                x = layer(x, mirror.squeeze(-1))
                states.append(x)
            return states
        for ahead, back in zip(self.ahead, self.back, strict=True):
            x = self.dropout(x)
            with bfloat16_products(x.device.type, self.mixed_precision and self.training):
                forward, _ = ahead(x)
                backward, _ = back(x.gather(1, mirror.expand_as(x)))
            both = torch.cat([forward, backward.gather(1, mirror.expand_as(backward))], -1)
            x = both.to(x.dtype)
            states.append(x)
        return states


class RoundedLayer:
    """Both directions of a layer [B, n, d_in] -> [B, n, 2 * d_hidden], with products of integers.

    Inputs are rounded by row, states to 1/127: they are between -1 and 1. Both directions take each
    step together. A hyperbolic tangent is computed as tanh(x) = 2 sigmoid(2x) - 1, which is several
    times as fast. So what enters one is kept as twice its value: cells, and gates of new cells.
    """

    def __init__(self, ahead: nn.LSTM, back: nn.LSTM) -> None:
        directions = [list(lstm.parameters()) for lstm in (ahead, back)]
        self.inputs = [IntegerMatrix(weights[0]) for weights in directions]
        self.states = [IntegerMatrix(weights[1]) for weights in directions]
        self.d_hidden = ahead.hidden_size
        # gates are those that let in, keep and open, and, third, the new cells
        twice = torch.tensor([1.0, 1.0, 2.0, 1.0]).repeat_interleave(self.d_hidden)
        biases = torch.stack([(w[2] + w[3]).detach().unsqueeze(0) for w in directions])
        self.bias = biases * twice
        self.input_scale = torch.stack([matrix.scale for matrix in self.inputs]) * twice
        self.state_scale = torch.stack([matrix.scale / MOST for matrix in self.states]) * twice

    def __call__(self, x: Tensor, mirror: Tensor) -> Tensor:
        """mirror [B, n]: the place of each word in the reversed sentence, and of each in that."""
        batch, n, _ = x.shape
        rows, scale, _ = rounded_rows(x.flatten(0, 1))
        rows = rows.to(self.inputs[0].dtype)
        # steps first, so that each step is contiguous
        own = torch.arange(batch * n).view(batch, n)
        mirrored = own[:, :1] + mirror
        places = [own.T.flatten(), mirrored.T.flatten()]
        sums = self.inputs[0].empty_sums(2, n, batch)
        scales = torch.stack([scale[where] for where in places]).view(2, n, batch, 1)
        for matrix, where, of in zip(self.inputs, places, sums, strict=True):
            matrix.sums(rows[where], of.flatten(0, 1))
        states = self._steps(sums, scales)
        found = torch.empty(2, batch * n, self.d_hidden)
        for where, of, out in zip(places, states.transpose(0, 1), found, strict=True):
            out.index_copy_(0, where, of.flatten(0, 1))
        return torch.cat([*found], 1).view(batch, n, -1)

    def _steps(self, sums: Tensor, scales: Tensor) -> Tensor:
        """Returns the states [n, 2, B, d_hidden] from sums [2, n, B, 4 * d_hidden] of inputs."""
        _, n, batch, width = sums.shape
        d = self.d_hidden
        gates, added = torch.empty(2, 2, batch, width)
        recurrent = self.states[0].empty_sums(2, batch)
        states = torch.empty(n, 2, batch, d)
        cells, scaled = torch.zeros(2, 2, batch, d)
        rounded = torch.empty(2, batch, d, dtype=self.states[0].dtype)
        let_in, kept, new, opened = gates.split(d, -1)
        directions = list(zip(self.states, rounded.unbind(), recurrent.unbind(), strict=True))
        steps = zip(sums.unbind(1), scales.unbind(1), states.unbind(), strict=True)
        for step, (of_inputs, scale, state) in enumerate(steps):
            gates.copy_(of_inputs).mul_(scale)
            torch.addcmul(self.bias, gates, self.input_scale, out=gates)
            if step:
                for matrix, of, out in directions:
                    matrix.sums(of, out)
                gates.addcmul_(added.copy_(recurrent), self.state_scale)
            gates.sigmoid_()
            cells.mul_(kept).addcmul_(let_in, new, value=4).sub_(let_in, alpha=2)
            torch.sigmoid(cells, out=state)
            torch.addcmul(torch.neg(opened, out=scaled), opened, state, value=2, out=state)
            rounded.copy_(torch.mul(state, MOST, out=scaled).round_())
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
