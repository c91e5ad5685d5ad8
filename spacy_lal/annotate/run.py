"""Annotation of text in shards by this process, several ones, or a Ray cluster; stopped runs
resume."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import islice
from multiprocessing import connection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from spacy.language import Language
from spacy.util import is_package, logger

from ..annotations.universal_tags import universal_tags
from ..formats.files import alone_in
from .annotating import load
from .manifest import SETTINGS, Counts, Manifest, check_same, describe
from .other_language import other_language
from .records import PROBE, layers_of
from .shards import FORMATS, AnnotateSettings, Shard, cut_shards, make_shard, shard_names
from .texts import Texts, told

Make = Callable[[Shard], Counts]
Submit = Callable[[Shard], Future[Counts]]


class Engine(StrEnum):
    """Makers of shards: processes of this machine, or of a Ray cluster."""

    processes = "processes"
    ray = "ray"


@dataclass(frozen=True)
class Workers:
    """Settings of the annotating processes, without effect on the results.

    processes: number of processes; 1 for this one.
    threads: of torch in each; 0 for torch's default, for an even share of the cores with several
        processes, and for one on Ray.
    gpu: its number, -1 for none. On Ray, each process gets one, chosen by Ray, unless it is -1.
    """

    processes: int = 1
    threads: int = 0
    gpu: int = -1
    engine: Engine = Engine.processes

    @property
    def alone(self) -> bool:
        return self.engine is Engine.processes and self.processes == 1

    @property
    def threads_each(self) -> int:
        if self.threads or self.alone:
            return self.threads
        if self.engine is Engine.ray:
            return 1
        return max(1, (os.cpu_count() or 1) // self.processes)


class Done(NamedTuple):
    """Counts of a shard, whether an earlier run wrote it, and the end of its input, in bytes."""

    counts: Counts
    there: bool
    position: int


def annotate_texts(
    model: str, texts: Texts, output: Path, settings: AnnotateSettings, workers: Workers
) -> Iterator[Done]:
    """Annotate the texts into files of `output`; yield each shard's counts on completion. Complete
    shards are kept. Warns of the first text in another language, and of more processes than shards.
    Raises ValueError if they have another pipeline, settings or texts, BlockingIOError if another
    run is writing there, ChildProcessError if a process ends."""
    # on Ray, GPUs are elsewhere
    nlp = load(model, workers.threads, -1 if workers.engine is Engine.ray else workers.gpu)
    _check_layers(nlp, settings)
    described = {
        "spacy-lal": version("spacy-lal"),
        "pipeline": describe(nlp),
        # each shard's digest covers the contents
        "input": [name for name, *_ in texts.files] or "stdin",
        "text_field": texts.text_field,
        **asdict(settings),
    }
    check_same(output, SETTINGS, described)
    make = maker(workers, nlp, model, output, settings)
    lang = str(nlp.lang)
    del nlp  # other processes load their own
    with alone_in(output):
        manifest = Manifest(output)
        there: list[Done] = []
        last = -1
        other = ""

        def new() -> Iterator[Shard]:
            nonlocal last, other
            for shard in cut_shards(texts, settings):
                last = shard.number
                for record in () if other else shard.records:
                    if other := other_language(record["text"], lang):
                        logger.warning("%s: the text %s. Others aren't named", record["id"], other)
                        break
                if (counts := manifest.shards.get(shard.number)) is None:
                    yield shard
                    continue
                paths = [output / name for name in shard_names(shard.number, settings)]
                if counts.get("digest") != shard.digest:
                    raise ValueError(f"{paths[0]} was made of another text: the input has changed")
                for path in paths:
                    if not path.exists():
                        raise ValueError(f"{path}, complete before, is gone: take another folder")
                there.append(Done(counts, True, shard.position))
            if 0 <= last < workers.processes - 1:
                said = "%d processes, but files to write: %d. A smaller --shard-chars makes more"
                logger.warning(said, workers.processes, last + 1)

        for shard, counts in made_by(workers, make, new()):
            yield from there
            there.clear()
            manifest.add(counts)
            yield Done(counts, False, shard.position)
        yield from there
        if more := [number for number in manifest.shards if number > last]:
            name = shard_names(more[0], settings)[0]
            raise ValueError(f"{output / name} is of text that the input no longer has")
        manifest.finish()


def _check_layers(nlp: Language, settings: AnnotateSettings) -> None:
    """Raise ValueError if no component writes what the settings need."""
    layers = layers_of(nlp)
    for name in settings.formats:
        for layer in FORMATS[name].needs:
            if layers is not None and layer not in layers:
                raise ValueError(f"{name} needs {layer}, which no component writes")
    if settings.upos:
        doc = nlp(PROBE)
        tags = [token.tag_ for token in doc]
        if not all(universal_tags([token.text for token in doc], tags)):
            found = " ".join(tags).strip() or "none"
            raise ValueError(f"--upos needs tags of the Penn Treebank, found {found}")


def maker(
    workers: Workers, nlp: Language, model: str, output: Path, settings: AnnotateSettings
) -> Make:
    """Return the function that makes a shard: with the pipeline `nlp` in this process, or with the
    same one, loaded by its name or folder `model`, in each other one."""
    if workers.alone:
        return lambda shard: make_shard(nlp, shard, output, settings)
    model = model if is_package(model) else str(Path(model).resolve())
    gpu = min(workers.gpu, 0) if workers.engine is Engine.ray else workers.gpu
    rest = (model, describe(nlp), output.resolve(), settings, workers.threads_each, gpu)
    return partial(_make, *rest)


def made_by(
    workers: Workers, make: Make, shards: Iterable[Shard]
) -> Iterator[tuple[Shard, Counts]]:
    """Make each shard; yield shards with their counts, in order of completion. A process has one
    shard in memory. Raises ChildProcessError, with the reason, if a process ends or fails."""
    if workers.alone:
        yield from ((shard, make(shard)) for shard in shards)
        return
    left = iter(shards)
    engine = _on_ray if workers.engine is Engine.ray else _in_processes
    with engine(make, workers) as submit:
        running = {submit(shard): shard for shard in islice(left, workers.processes)}
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                # before reading on, which may raise an error
                yield running.pop(future), _counts(future)
                running |= {submit(shard): shard for shard in islice(left, 1)}


def _counts(future: Future[Counts]) -> Counts:
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:
        cause = getattr(error, "cause", error)  # Ray adds its own traceback
        raise ChildProcessError(f"an error in a worker: {told(cause)}") from error


def _make(
    model: str,
    pipeline: str,
    output: Path,
    settings: AnnotateSettings,
    threads: int,
    gpu: int,
    shard: Shard,
) -> Counts:
    return make_shard(_loaded(model, pipeline, threads, gpu), shard, output, settings)


@lru_cache(maxsize=1)
def _loaded(model: str, pipeline: str, threads: int, gpu: int) -> Language:
    """Load the pipeline in another process. Raises ValueError if it is not the one described."""
    nlp = load(model, threads, gpu)
    if (found := describe(nlp)) != pipeline:
        raise ValueError(f"{model} is {found} on this machine, but {pipeline} where the run began")
    return nlp


@contextmanager
def _in_processes(make: Make, workers: Workers) -> Iterator[Submit]:
    """Start processes, which end with this one, as shards are submitted."""
    # libraries read these when a process loads them
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    os.environ.update(dict.fromkeys(names, str(workers.threads_each)))
    others = multiprocessing.active_children()
    spawn = multiprocessing.get_context("spawn")  # torch's threads don't survive a fork
    pool = ProcessPoolExecutor(workers.processes, spawn, initializer=_begin)
    try:
        yield lambda shard: pool.submit(make, shard)
    except BrokenProcessPool:
        said = "a process ended early; mostly that means that memory ran out"
        raise ChildProcessError(said) from None
    finally:
        for process in multiprocessing.active_children():
            if process not in others:
                process.terminate()
        pool.shutdown()


def _begin() -> None:
    # Ctrl-C is for the parent, which ends this process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def end_with_parent() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()


@contextmanager
def _on_ray(make: Make, workers: Workers) -> Iterator[Submit]:
    """Use the cluster of `RAY_ADDRESS`, or a local one. A task takes a CPU for each of its threads,
    and optionally a GPU. All machines need access to the output and the model's folder. Raises
    ImportError with advice, ValueError without a GPU."""
    try:
        import ray
    except ImportError as error:
        raise ImportError("--engine ray needs Ray: pip install 'spacy-lal[ray]'") from error
    threads, gpu = workers.threads_each, workers.gpu >= 0
    mine = not ray.is_initialized()
    here = mine and "RAY_ADDRESS" not in os.environ
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics to Ray's makers
    cpus = max(workers.processes * threads, os.cpu_count() or 1)
    local: dict[str, Any] = {"num_cpus": cpus, "include_dashboard": False, "address": "local"}
    try:
        if mine:
            ray.init(log_to_driver=False, logging_level="error", **(local if here else {}))
        if here and gpu and not ray.cluster_resources().get("GPU"):
            raise ValueError("--gpu-id asks for a GPU, but Ray finds none on this machine")
        # a shard that is made again has the same bytes; max_calls=0 keeps a process and its GPU
        again = {"max_retries": 2, "max_calls": 0}
        task = ray.remote(num_cpus=threads, num_gpus=int(gpu), **again)(lambda shard: make(shard))
        yield lambda shard: task.remote(shard).future()
    finally:
        if mine:
            ray.shutdown()
