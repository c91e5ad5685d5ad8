"""Limits of a server, and its queue: one thread annotates, since spaCy and memory allow no more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """Limits of requests: characters of a text, greatest k of the k best trees, number of waiting
    texts, and seconds for a text with its waiting."""

    max_chars: int = 2000
    max_trees: int = 10
    waiting: int = 32
    seconds: float = 30.0

    @property
    def max_bytes(self) -> int:
        """Greatest size of a request: a character takes up to 12 bytes of JSON, as two escapes."""
        return 12 * self.max_chars + 4096


class Worker:
    """Queue of jobs for one thread, in order of arrival: at most `waiting`, with `seconds` each
    from arrival. An abandoned job is dropped unless it has begun; threads can't be stopped, so that
    the next job waits for its end."""

    def __init__(self, waiting: int, seconds: float) -> None:
        self._places = waiting
        self._seconds = seconds
        self._jobs: set[Future[Any]] = set()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="parse")

    @property
    def waiting(self) -> int:
        """Number of running and waiting jobs."""
        return len(self._jobs)

    async def do(self, work: Callable[[], T]) -> T:
        """Return the job's result. Raises QueueFull or TimeoutError, and the job's errors."""
        if self.waiting > self._places:  # one of them is running
            raise asyncio.QueueFull
        future = self._thread.submit(work)
        self._jobs.add(future)
        future.add_done_callback(self._jobs.discard)
        return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
