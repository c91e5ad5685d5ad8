"""Shards in processes of their own, each with its own pipeline and threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any, cast

from .batches import told
from .loading import load
from .manifest import Counts
from .shards import AnnotateSettings, Shard, annotate_shard


def in_processes(
    model: str,
    shards: Iterable[Shard],
    output: Path,
    settings: AnnotateSettings,
    *,
    processes: int,
    threads: int,
    gpu: int = -1,
) -> Iterator[tuple[Shard, Counts]]:
    """Annotate each shard; yields them with what is in each, in the order in which they are done.

    Every process loads the model, and works with `threads` threads of torch. As many shards as
    processes are in memory here. Raises ChildProcessError, which says why, if a process ends or
    can't go on; what ends this process ends them.
    """
    context = multiprocessing.get_context("spawn")  # torch's threads don't survive a fork
    left = iter(shards)
    first = list(islice(left, processes))
    busy: dict[Connection, tuple[Any, Shard]] = {}
    workers: list[Any] = []
    try:
        with _threads_of_children(threads):
            for shard in first:
                ours, theirs = context.Pipe()
                arguments = (theirs, model, output, settings, threads, gpu)
                worker = context.Process(target=_work, args=arguments, daemon=True)
                worker.start()
                theirs.close()
                workers.append(worker)
                busy[ours] = worker, shard
        for connection, (_, shard) in busy.items():
            _send(connection, shard)
        while busy:
            for ready in wait(list(busy)):
                connection = cast(Connection, ready)
                worker, shard = busy.pop(connection)
                counts = _received(connection, worker)
                yield shard, counts  # before more is read: that may raise an error
                if (following := next(left, None)) is not None:
                    _send(connection, following)
                    busy[connection] = worker, following
    finally:
        for worker in workers:
            worker.terminate()
            worker.join()


def _send(connection: Connection, shard: Shard) -> None:
    with suppress(ConnectionError):  # one that ended says so when it is listened to
        connection.send(shard)


def _received(connection: Connection, worker: Any) -> Counts:
    try:
        answer = connection.recv()
    except (EOFError, ConnectionError):
        worker.join()
        raise ChildProcessError(
            f"a process ended with status {worker.exitcode}; -9 mostly means that memory ran out"
        ) from None
    if isinstance(answer, str):
        raise ChildProcessError(f"an error in a worker process: {answer}")
    return answer


@contextmanager
def _threads_of_children(threads: int) -> Iterator[None]:
    """What processes that are started now have as the number of threads of all libraries."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _work(
    connection: Connection,
    model: str,
    output: Path,
    settings: AnnotateSettings,
    threads: int,
    gpu: int,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it, too, and ends this process
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        nlp = load(model, threads, gpu)
        while True:
            try:
                shard = connection.recv()
            except EOFError:
                return
            connection.send(annotate_shard(nlp, shard, output, settings))
    except Exception as error:
        connection.send(told(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
