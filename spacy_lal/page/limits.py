"""How much a server takes at once."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """max_chars: of a text. max_trees: k of the k best. waiting: how many texts wait their turn;
    more are refused. seconds: how long one text may take, waiting included. Raises ValueError for
    what is not positive."""

    max_chars: int = 2000
    max_trees: int = 10
    waiting: int = 32
    seconds: float = 30.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise ValueError(f"{name} must be above 0, got {value}")

    @property
    def max_bytes(self) -> int:
        """Of a request: a character of JSON takes up to 12 bytes, as two escapes."""
        return 12 * self.max_chars + 4096
