"""Limits of a server, and its queue: one thread annotates, since spaCy and memory allow no more."""

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
    """Limits of requests: characters of a text, greatest k of the k best trees, number of waiting
    texts, and seconds for a text, waiting included. Raises ValueError unless all are positive."""

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
        """Greatest size of a request: a character takes up to 12 bytes of JSON, as two escapes."""
        return 12 * self.max_chars + 4096


class Busy(Exception):
    """Error for a text that is refused because too many texts wait."""


class TooSlow(Exception):
    """Error for a text that takes more than its time."""


class Worker:
    """Queue of jobs for one thread, in order of arrival: at most `waiting`, with `seconds` each
    from arrival. An abandoned job is dropped unless it has begun; threads can't be stopped, so the
    next job waits until the running one ends."""

    def __init__(self, waiting: int, seconds: float) -> None:
        self._places = waiting
        self._seconds = seconds
        self._inside = 0
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parse")

    @property
    def waiting(self) -> int:
        """Number of running and waiting jobs."""
        return self._inside

    async def do(self, work: Callable[[], T]) -> T:
        """Return the job's result. Raises `Busy` or `TooSlow`, and the job's errors."""
        if self._inside > self._places:  # one of them is running
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
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
