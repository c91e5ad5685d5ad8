"""How long dropout of 2,600 x 384 values takes on one thread: PyTorch's, and `layers/dropout.py`'s.

`python benchmarks/dropout.py`; the best of five times, in milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from timeit import repeat

import torch
import torch.nn.functional as F
from torch import Tensor

from spacy_lal.layers.dropout import drop

RATE = 0.3


def main() -> None:
    torch.set_num_threads(1)
    x = torch.randn(2600, 384, requires_grad=True)
    gradient = torch.randn_like(x)

    def both(dropout: Callable[[Tensor, float], Tensor]) -> None:
        dropout(x, RATE).backward(gradient)

    for name, dropout in (("F.dropout", F.dropout), ("drop", drop)):
        forward = min(repeat(lambda d=dropout: d(x, RATE), number=20, repeat=5)) / 20
        with_backward = min(repeat(lambda d=dropout: both(d), number=20, repeat=5)) / 20
        print(f"{name}: forward {1e3 * forward:.1f}, and backward {1e3 * with_backward:.1f} ms")


if __name__ == "__main__":
    main()
