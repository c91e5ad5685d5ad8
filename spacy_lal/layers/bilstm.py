"""Bidirectional LSTMs whose results don't depend on padding: over the words of a sentence, and over
the characters of a word (Lample et al. 2016, Zhang et al. 2020)."""

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
import torch
from torch import Tensor, nn

from .dropout import FeatureDropout
from .integers import MOST, IntegerMatrix, RoundedRows, as_floats, rounded_rows
from .precision import Precision, bfloat16_products
from .prepared import Prepared

WORDS_AHEAD = 256
"""Least words that a layer's gates are made for at one time: their sums stay in the cache."""
VECTOR = 32
"""Numbers in one step of PyTorch's loops over vectors, which take two registers of 512 bits."""
WORDS_AT_ONCE = 256
"""Most words in one batch of characters."""
CHARACTERS_AT_ONCE = 8192
"""Most characters in one batch, padding included, unless one word has more."""


class Steps(NamedTuple):
    """The order in which both directions of an LSTM read the W words of several sequences: all
    first words, then all second ones, and so on, those of the longest sequence first."""

    ahead: Tensor
    """[W], words from the beginning of each sequence."""
    back: Tensor
    """[W], words from the end."""
    sizes: list[int]
    """The number of sequences at each step."""


def steps_of(first: Tensor, lengths: Tensor) -> Steps:
    """Returns the steps of sequences by their first words [B] and their lengths [B]."""
    # in NumPy: of few sequences, PyTorch takes longer to begin each operation
    begin, size = first.numpy(), lengths.numpy()
    order = np.argsort(-size, kind="stable")
    begin, size = begin[order], size[order]
    step = np.arange(size[0] if len(size) else 0)[:, None]
    within = step < size
    ahead, back = (begin + step)[within], (begin + size - 1 - step)[within]
    return Steps(torch.from_numpy(ahead), torch.from_numpy(back), within.sum(1).tolist())


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

    def unread(self) -> list[str]:
        return [name for name, _ in self.named_parameters()]

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return [x, *self.states(x, lengths)][-1]

    def read(self, words: Tensor, steps: Steps) -> Tensor:
        """Predicts with rounded weights: words [W, d_in] of all sequences -> [W, 2 * d_hidden]."""
        for states in self.read_layers(words, steps):
            words = states
        return words

    def read_layers(self, words: Tensor, steps: Steps) -> Iterator[Tensor]:
        """Yields what `read` makes of words in every layer, lowest first."""
        for layer in self.prepared():
            words = layer(words, steps)
            yield words

    def states(self, x: Tensor, lengths: Tensor) -> list[Tensor]:
        """Returns the states of every layer, lowest first."""
        batch, n, _ = x.shape
        states: list[Tensor] = []
        if rounded := self.prepared():
            steps = steps_of(torch.arange(batch) * n, lengths)
            for layer in rounded:
                x = layer(x.flatten(0, 1), steps).view(batch, n, -1)
                states.append(x)
            return states
        position = torch.arange(n, device=x.device)
        mirror = lengths.to(x.device).unsqueeze(1) - 1 - position
        mirror = torch.where(mirror >= 0, mirror, position).unsqueeze(-1)
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
    """Both directions of a layer, words [W, d_in] -> [W, 2 * d_hidden], with products of integers.

    Inputs are rounded by row, states to 1/127: they are between -1 and 1. Both directions take each
    step together, and a step has the sequences that are as long: no word is padding. A hyperbolic
    tangent is computed as tanh(x) = 2 sigmoid(2x) - 1, which is several times as fast. So what
    enters one is kept as twice its value: cells, and gates of new cells.
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
        # as a tensor: to make one of a number takes as long as the product
        self.most = torch.tensor(float(MOST))

    def __call__(self, words: Tensor, steps: Steps) -> Tensor:
        """Words that are in no sequence have states of 0."""
        states = self._states(rounded_rows(words, self.inputs[0].dtype), steps)
        new = torch.empty if len(steps.ahead) == len(words) else torch.zeros
        found = new(len(words), 2, self.d_hidden)
        for direction, (where, of) in enumerate(zip(steps[:2], states, strict=True)):
            found[:, direction].index_copy_(0, where, of)
        return found.flatten(1)

    def _states(self, rows: RoundedRows, steps: Steps) -> Tensor:
        """Returns the states of words in the order of the steps [2, W, d_hidden]."""
        d, most = self.d_hidden, steps.sizes[0] if steps.sizes else 0
        states = torch.empty(2, len(steps.ahead), d)
        # rows are padded to whole vectors: PyTorch computes the rest of one in another way, and in
        # joined rows that rest would depend on the size of the batch
        every = torch.empty(2, most, _whole(4 * d))[..., : 4 * d]
        of_states = self.states[0].empty_sums(2, most)
        cells, scaled = torch.zeros(2, 2, most, _whole(d))[..., :d]
        rounded = torch.empty(2, most, d, dtype=self.states[0].dtype)
        size = first = 0
        for sizes in _groups(steps.sizes):
            some = slice(first, first + sum(sizes))
            of_steps = (
                of.split(sizes, 1) for of in (self._gates(rows, steps, some), states[:, some])
            )
            for of_inputs, state in zip(*of_steps, strict=True):
                if state.shape[1] != size:
                    size = state.shape[1]
                    gates, recurrent, cell, space, before = (
                        part[:, :size] for part in (every, of_states, cells, scaled, rounded)
                    )
                    added = recurrent.view(torch.float32)
                    let_in, kept, new, opened = gates.split(d, -1)
                    of_both = before.unbind(), recurrent.unbind()
                    directions = list(zip(self.states, *of_both, strict=True))
                if first:
                    for matrix, of, out in directions:
                        matrix.sums(of, out)
                    torch.addcmul(of_inputs, added.copy_(recurrent), self.state_scale, out=gates)
                    gates.sigmoid_()
                else:
                    torch.sigmoid(of_inputs, out=gates)
                cell.mul_(kept).addcmul_(let_in, new, value=4).sub_(let_in, alpha=2)
                torch.sigmoid(cell, out=state)
                torch.addcmul(torch.neg(opened, out=space), opened, state, value=2, out=state)
                before.copy_(torch.mul(state, self.most, out=space).round_())
                first += size
        return states

    def _gates(self, rows: RoundedRows, steps: Steps, some: slice) -> Tensor:
        """Returns what the inputs of some words, in the order of the steps, add to the gates
        [2, n, 4 * d_hidden]."""
        sums = self.inputs[0].empty_sums(2, some.stop - some.start)
        scales = []
        for matrix, where, out in zip(self.inputs, steps[:2], sums, strict=True):
            matrix.sums(rows.values.index_select(0, where[some]), out)
            scales.append(rows.scale.index_select(0, where[some]))
        gates = as_floats(sums).mul_(torch.stack(scales))
        return torch.addcmul(self.bias, gates, self.input_scale, out=gates)


def _whole(size: int) -> int:
    """Returns the next multiple of `VECTOR`."""
    return -(-size // VECTOR) * VECTOR


def _groups(sizes: list[int]) -> Iterator[list[int]]:
    """Yields the sizes of successive steps that have some `WORDS_AHEAD` words together."""
    first = words = 0
    for step, size in enumerate(sizes, 1):
        words += size
        if words >= WORDS_AHEAD or step == len(sizes):
            yield sizes[first:step]
            first, words = step, 0


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
