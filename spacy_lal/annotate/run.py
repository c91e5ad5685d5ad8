"""Text to shards, in this process, in several, or on Ray; a run that was stopped goes on."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import islice
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, cast

from spacy.language import Language

from ..formats.files import alone_in
from .annotating import load
from .manifest import SETTINGS, Counts, Manifest, check_same, describe
from .on_ray import on_ray
from .shards import AnnotateSettings, Shard, check_finds, cut_shards, make_shard, shard_name
from .texts import Texts, told

ENGINES = ("processes", "ray")
"""What may make shards: processes of this machine, or actors of Ray."""
Engine = Callable[[Iterable[Shard]], Iterator[tuple[Shard, Counts]]]


class Done(NamedTuple):
    """there: whether an earlier run made the shard. position: bytes of the input up to its end."""

    counts: Counts
    there: bool
    position: int


@dataclass(frozen=True)
class Workers:
    """Who annotates; it makes no difference to what is found.

    processes: 1 for this one. threads: of torch in each; 0 for its own choice, and for an even
    share of the cores where there are several processes. gpu: which, -1 for none. engine:
    "processes" of this machine, or "ray", where these are actors, of one thread unless told
    otherwise and with a GPU each, whichever Ray gives them, unless `gpu` is -1.
    """

    processes: int = 1
    threads: int = 0
    gpu: int = -1
    engine: str = "processes"

    def __post_init__(self) -> None:
        """Raises ValueError if there is no such engine."""
        if self.engine not in ENGINES:
            raise ValueError(
                f"unknown engine {self.engine!r}: expected one of {', '.join(ENGINES)}"
            )


def annotate_texts(
    model: str, texts: Texts, output: Path, settings: AnnotateSettings, workers: Workers
) -> Iterator[Done]:
    """Annotate the texts into files of `output`; yields what is in each, as they are done.

    Shards that are complete stay as they are. Raises ValueError if they were made with another
    pipeline, other settings or other texts, BlockingIOError if another run is writing there, and
    ChildProcessError if a process ends.
    """
    # actors' GPUs are elsewhere
    nlp = load(model, workers.threads, workers.gpu if workers.engine == "processes" else -1)
    check_finds(nlp, settings)
    described = _described(nlp, texts, settings)
    check_same(output, SETTINGS, described)
    engine = _engine(nlp, model, described["pipeline"], output, settings, workers)
    del nlp
    with alone_in(output):
        yield from _made(engine, texts, output, settings)


def _made(engine: Engine, texts: Texts, output: Path, settings: AnnotateSettings) -> Iterator[Done]:
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

    for shard, counts in engine(new()):
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


def _engine(
    nlp: Language,
    model: str,
    pipeline: str,
    output: Path,
    settings: AnnotateSettings,
    workers: Workers,
) -> Engine:
    if workers.engine == "ray":
        return lambda shards: on_ray(
            model,
            shards,
            output,
            settings,
            pipeline=pipeline,
            actors=workers.processes,
            threads=workers.threads or 1,
            gpu=workers.gpu >= 0,
        )
    if workers.processes == 1:
        return lambda shards: (
            (shard, make_shard(nlp, shard, output, settings)) for shard in shards
        )
    threads = workers.threads or max(1, (os.cpu_count() or 1) // workers.processes)
    return lambda shards: in_processes(
        model,
        shards,
        output,
        settings,
        processes=workers.processes,
        threads=threads,
        gpu=workers.gpu,
    )


def _described(nlp: Language, texts: Texts, settings: AnnotateSettings) -> dict[str, Any]:
    return {
        "spacy-lal": version("spacy-lal"),
        "pipeline": describe(nlp),
        # what is in them, each shard's digest says
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
            connection.send(make_shard(nlp, shard, output, settings))
    except Exception as error:
        connection.send(told(error))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
