"""One pipeline in several threads, and in processes."""

from __future__ import annotations

import faulthandler
import multiprocessing
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest
from spacy.language import Language

from .invariants import CLOSE, layers, scores

TEXTS = [
    "The cat sat on the mat. She ate the fish.\n\nCats and dogs fight. Hello",
    "",
    "He walk to school every days , and never gave it back to her .",
    " \n",
    "I can't believe it's not butter! Who told you that?",
    "NEW YORK (AP) -- Shares fell 3.5% on Monday, the exchange said.",
    "😀 猫が座った。 \x00 naïve",
    "word " * 60,
]

SECONDS = 120
"""A process that has not answered by then says where it is, and the test fails."""

Found = tuple[dict[str, Any], list[float]]


def serial(nlp: Language) -> dict[str, Found]:
    """What the pipeline finds in each text, one after the other."""
    return {text: _found(nlp, text) for text in TEXTS}


def _found(nlp: Language, text: str) -> Found:
    doc = nlp(text)
    return layers(doc), scores(doc)


@contextmanager
def switching() -> Iterator[None]:
    """Threads take turns much more often than they would."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def in_threads(nlp: Language, expected: dict[str, Found], threads: int, outputs: int) -> int:
    """Compare so many outputs of these threads with the serial ones; returns how many they are."""
    texts = list(islice(cycle(TEXTS), outputs))
    with threads_gone(), ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda text: _found(nlp, text), texts))
    for text, (names, numbers) in zip(texts, found, strict=True):
        assert names == expected[text][0]
        assert numbers == pytest.approx(expected[text][1], abs=CLOSE)
    return len(found)


@contextmanager
def threads_gone() -> Iterator[None]:
    """Wait until the threads that were begun meanwhile are gone for the system, too.

    Python's `join` returns earlier. MKL's end of a thread holds a lock then, and a process that is
    forked at that moment waits for the lock for ever.
    """
    before = _system_threads()
    yield
    end = time.monotonic() + SECONDS
    while _system_threads() > before:
        assert time.monotonic() < end, "threads that were joined don't end"
        time.sleep(0.001)


def _system_threads() -> int:
    tasks = Path("/proc/self/task")  # Linux; elsewhere processes are spawned
    return sum(1 for _ in tasks.iterdir()) if tasks.is_dir() else 0


_nlp: Language | None = None


def _keep(nlp: Language) -> None:
    global _nlp
    _nlp = nlp
    faulthandler.dump_traceback_later(SECONDS)


def _there(text: str) -> Found:
    assert _nlp is not None
    return _found(_nlp, text)


def in_process(nlp: Language, expected: dict[str, Found], method: str) -> int:
    """As `in_threads`, of one process that was begun by `method`."""
    context = multiprocessing.get_context(method)
    with context.Pool(1, _keep, (nlp,)) as pool:
        found = pool.map_async(_there, TEXTS).get(timeout=SECONDS + 10)
    for text, (names, numbers) in zip(TEXTS, found, strict=True):
        assert names == expected[text][0]
        assert numbers == pytest.approx(expected[text][1], abs=CLOSE)
    return len(found)
