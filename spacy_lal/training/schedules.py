"""`spacy-lal.inverse_sqrt.v1`: the learning rate of a Transformer."""

from collections.abc import Iterator
from itertools import count


def make_inverse_sqrt(factor: float, warmup_steps: int) -> Iterator[float]:
    """Yield the learning rates factor * min(t^-1/2, t * warmup_steps^-3/2) of steps t = 1, 2, ...

    They rise linearly to factor / sqrt(warmup_steps) at t = warmup_steps, then fall with the
    inverse square root of t: Vaswani et al. 2017, section 5.3, eq. 3, where the factor is
    d_model^-1/2. Strubell et al. 2018 (A.4, eq. 8) have a factor of 0.04; 8000 warm-up steps are
    their released program's.

    Raises ValueError if warmup_steps < 1.
    """
    if warmup_steps < 1:
        raise ValueError(
            f"warmup_steps of spacy-lal.inverse_sqrt.v1 must be at least 1, not {warmup_steps}"
        )
    return (factor * min(t**-0.5, t * warmup_steps**-1.5) for t in count(1))
