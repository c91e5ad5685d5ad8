"""Annotation of shards on a Ray cluster, by actors with a pipeline each."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.util import is_package

from .annotating import load
from .manifest import Counts, describe
from .shards import AnnotateSettings, Shard, Workers, make_shard
from .texts import told

TRIES = 3
"""Greatest number of attempts at a shard whose actors end."""


def on_ray(
    model: str,
    shards: Iterable[Shard],
    output: Path,
    settings: AnnotateSettings,
    workers: Workers,
    pipeline: str,
) -> Iterator[tuple[Shard, Counts]]:
    """Yield shards annotated by actors of the cluster of `RAY_ADDRESS`, or of a local one.

    pipeline: the model's `describe`, which actors must match.
    An actor takes a CPU for each of its threads, at least one, and optionally a GPU. All machines
    need access to `output` and the model's folder. The run starts with the actors available, and a
    failed actor restarts with its shard.
    Raises ImportError, with advice, and ChildProcessError if an actor can't go on.
    """
    ray = _ray()
    threads, gpu = workers.threads or 1, workers.gpu >= 0
    left = iter(shards)
    if (first := next(left, None)) is None:
        return
    left = chain([first], left)
    model = model if is_package(model) else str(Path(model).resolve())
    with _cluster(ray, workers.processes * threads, gpu):
        # a repeated shard has the same bytes
        again = {"max_restarts": -1, "max_task_retries": TRIES - 1}
        kind = ray.remote(num_cpus=threads, num_gpus=int(gpu), **again)(_Actor)
        arguments = (model, pipeline, output.resolve(), settings, threads, gpu)
        pool = [kind.remote(*arguments) for _ in range(workers.processes)]
        loading = {actor.ready.remote(): actor for actor in pool}
        working: dict[Any, tuple[Any, Shard]] = {}
        try:
            more = True
            while working or more:
                (ready,), _ = ray.wait([*working, *loading], num_returns=1)
                found = _got(ray, ready)
                if ready in loading:
                    actor = loading.pop(ready)
                else:
                    actor, done = working.pop(ready)
                    yield done, found  # before reading on, which may raise an error
                following = next(left, None) if more else None
                if following is not None:
                    working[actor.annotate.remote(following)] = actor, following
                more = following is not None
        finally:
            for actor in pool:
                ray.kill(actor)


class _Actor:
    """Actor with a pipeline; it returns errors as text, as processes do."""

    def __init__(
        self,
        model: str,
        pipeline: str,
        output: Path,
        settings: AnnotateSettings,
        threads: int,
        gpu: bool,
    ) -> None:
        self._model, self._pipeline = model, pipeline
        self._output, self._settings = output, settings
        self._threads, self._gpu = threads, 0 if gpu else -1  # it sees its own GPU alone
        self._nlp: Language | None = None

    def ready(self) -> str:
        try:
            self._loaded()
        except Exception as error:
            return told(error)
        return ""

    def annotate(self, shard: Shard) -> Counts | str:
        try:
            return make_shard(self._loaded(), shard, self._output, self._settings)
        except Exception as error:
            return told(error)

    def _loaded(self) -> Language:
        """Load the pipeline; a restarted actor gets its shard before `__init__` could."""
        if self._nlp is None:
            nlp = load(self._model, self._threads, self._gpu)
            if (found := describe(nlp)) != self._pipeline:
                raise ValueError(
                    f"the pipeline {self._model} is {found} on this machine, but {self._pipeline} "
                    "where the command was started"
                )
            self._nlp = nlp
        return self._nlp


@contextmanager
def _cluster(ray: Any, cpus: int, gpu: bool) -> Iterator[None]:
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # no statistics to Ray's makers
    here = "RAY_ADDRESS" not in os.environ
    local = {"num_cpus": max(cpus, os.cpu_count() or 1), "include_dashboard": False}
    try:
        ray.init(
            "local" if here else None,
            log_to_driver=False,
            logging_level="error",
            **(local if here else {}),
        )
    except Exception as error:  # Ray's errors have no common type
        ray.shutdown()  # what was started before the error
        raise ChildProcessError(f"Ray could not be started: {told(error)}") from error
    try:
        if gpu and here and not ray.cluster_resources().get("GPU"):
            raise ValueError("--gpu-id asks for a GPU, but Ray finds none on this machine")
        yield
    finally:
        ray.shutdown()


def _got(ray: Any, ready: Any) -> Any:
    try:
        found = ray.get(ready)
    except ray.exceptions.RayError as error:
        said = " ".join(str(error).split())
        raise ChildProcessError(
            f"a Ray actor ended {TRIES} times, the last time with this error: {said}"
        ) from error
    if found and isinstance(found, str):
        raise ChildProcessError(f"an error in a Ray actor: {found}")
    return found


def _ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError as error:
        raise ImportError("--engine ray needs Ray: pip install 'spacy-lal[ray]'") from error
    return ray
