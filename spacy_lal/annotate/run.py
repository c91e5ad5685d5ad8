"""Text to shards, in this process, in several, or on Ray; a run that was stopped goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from spacy.language import Language

from ..formats.whole_files import alone_in
from .loading import load
from .manifest import SETTINGS, Counts, Manifest, check_same, describe
from .on_ray import on_ray
from .processes import in_processes
from .readers import Texts
from .shards import AnnotateSettings, Shard, annotate_shard, check_finds, shard_name
from .shards import shards as shards_of

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


def annotate(
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
        for shard in shards_of(texts, settings):
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
            (shard, annotate_shard(nlp, shard, output, settings)) for shard in shards
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
