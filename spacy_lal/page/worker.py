"""Limits of a server, and its queue: one text after the other, in one thread, since neither spaCy
nor memory takes many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


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
        """Size of a request: a character of JSON takes up to 12 bytes, as two escapes."""
        return 12 * self.max_chars + 4096


class Busy(Exception):
    """So many texts are waiting that this one is refused."""


class TooSlow(Exception):
    """The text was not done in its time."""


class Worker:
    """Work is done in the order in which it came.

    waiting: how much may wait. seconds: how long to wait for one piece of work, from when it came.
    What nobody waits for any more is left out if it had not begun; what had begun, no thread can
    stop, so the next waits for its end.
    """

    def __init__(self, waiting: int, seconds: float) -> None:
        self._places = waiting
        self._seconds = seconds
        self._inside = 0
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parse")

    @property
    def waiting(self) -> int:
        """Number of texts that are being done or wait."""
        return self._inside

    async def do(self, work: Callable[[], T]) -> T:
        """Result of the work. Raises `Busy` or `TooSlow`, and what the work raises."""
        if self._inside > self._places:  # one of them is being done
            raise Busy
        with self._lock:
            self._inside += 1
        future = self._thread.submit(work)
        future.add_done_callback(self._leave)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise TooSlow from None

    def _leave(self, _: object) -> None:
        """Called by whichever thread finds that the work is over."""
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
