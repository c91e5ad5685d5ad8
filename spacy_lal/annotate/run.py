"""Annotation of text in shards by one or several processes or Ray; stopped runs resume."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from importlib.metadata import version
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, cast

from spacy.language import Language

from ..formats.whole_files import alone_in
from .annotating import load
from .manifest import SETTINGS, Counts, Manifest, check_same, describe
from .on_ray import on_ray
from .shards import (
    AnnotateSettings,
    Shard,
    Workers,
    check_finds,
    cut_shards,
    make_shard,
    shard_name,
)
from .texts import Texts, told


class Done(NamedTuple):
    """Counts of a shard, whether an earlier run wrote it, and the end of its input, in bytes."""

    counts: Counts
    there: bool
    position: int


def annotate_texts(
    model: str, texts: Texts, output: Path, settings: AnnotateSettings, workers: Workers
) -> Iterator[Done]:
    """Annotate the texts into files of `output`; yield each shard's counts on completion. Complete
    shards are kept. Raises ValueError if they have another pipeline, settings or texts,
    BlockingIOError if another run is writing there, ChildProcessError if a process ends."""
    # actors' GPUs are elsewhere
    nlp = load(model, workers.threads, workers.gpu if workers.engine == "processes" else -1)
    check_finds(nlp, settings)
    described = _described(nlp, texts, settings)
    check_same(output, SETTINGS, described)
    here = nlp if workers.engine == "processes" and workers.processes == 1 else None
    del nlp  # the others load their own

    def make(shards: Iterable[Shard]) -> Iterator[tuple[Shard, Counts]]:
        if here is not None:
            return ((shard, make_shard(here, shard, output, settings)) for shard in shards)
        if workers.engine == "ray":
            return on_ray(model, shards, output, settings, workers, described["pipeline"])
        return in_processes(model, shards, output, settings, workers)

    with alone_in(output):
        manifest = Manifest(output)
        there: list[Done] = []
        last = -1

        def new() -> Iterator[Shard]:
            nonlocal last
            for shard in cut_shards(texts, settings):
                last = shard.number
                if (counts := manifest.shards.get(shard.number)) is None:
                    yield shard
                else:
                    _check_there(counts, shard, output, settings)
                    there.append(Done(counts, True, shard.position))

        for shard, counts in make(new()):
            yield from there
            there.clear()
            manifest.add(counts)
            yield Done(counts, False, shard.position)
        yield from there
        if more := [number for number in manifest.shards if number > last]:
            raise ValueError(
                f"{output} has {shard_name(more[0], settings)}, made of text that the input no "
                "longer has: the input has changed"
            )
        manifest.finish()


def _described(nlp: Language, texts: Texts, settings: AnnotateSettings) -> dict[str, Any]:
    return {
        "spacy-lal": version("spacy-lal"),
        "pipeline": describe(nlp),
        # each shard's digest covers the contents
        "input": [name for name, *_ in texts.files] or "stdin",
        "text_field": texts.text_field,
        **asdict(settings),
    }


def _check_there(counts: Counts, shard: Shard, output: Path, settings: AnnotateSettings) -> None:
    name = shard_name(shard.number, settings)
    if counts.get("digest") != shard.digest:
        raise ValueError(
            f"{output / name} was made of another text than the input has there now: the "
            "input has changed"
        )
    if not (output / name).exists():
        raise ValueError(
            f"{output / name} is gone, but it was complete before: begin in another folder"
        )


def in_processes(
    model: str,
    shards: Iterable[Shard],
    output: Path,
    settings: AnnotateSettings,
    workers: Workers,
) -> Iterator[tuple[Shard, Counts]]:
    """Annotate each shard; yield shards with their counts, in order of completion. Every process
    loads the model, and one shard per process is in memory. Raises ChildProcessError, with the
    reason, if a process ends or fails. All end with this process."""
    context = multiprocessing.get_context("spawn")  # torch's threads don't survive a fork
    left = iter(shards)
    first = list(islice(left, workers.processes))
    threads = workers.threads or max(1, (os.cpu_count() or 1) // workers.processes)
    busy: dict[Connection, tuple[Any, Shard]] = {}
    started: list[Any] = []
    try:
        with _threads_of_children(threads):
            for shard in first:
                ours, theirs = context.Pipe()
                arguments = (theirs, model, output, settings, threads, workers.gpu)
                worker = context.Process(target=_work, args=arguments, daemon=True)
                worker.start()
                theirs.close()
                started.append(worker)
                busy[ours] = worker, shard
        for connection, (_, shard) in busy.items():
            _send(connection, shard)
        while busy:
            for ready in wait(list(busy)):
                connection = cast(Connection, ready)
                worker, shard = busy.pop(connection)
                counts = _received(connection, worker)
                yield shard, counts  # before reading on, which may raise an error
                if (following := next(left, None)) is not None:
                    _send(connection, following)
                    busy[connection] = worker, following
    finally:
        for worker in started:
            worker.terminate()
            worker.join()


def _send(connection: Connection, shard: Shard) -> None:
    with suppress(ConnectionError):  # the reader notices a process that ended
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
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the parent receives it, too, and ends this process
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        nlp = load(model, threads, gpu)
        while True:
            try:
                shard = connection.recv()
            except EOFError:
                return
            connection.send(make_shard(nlp, shard, output, settings))
    except Exception as error:
        connection.send(told(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
