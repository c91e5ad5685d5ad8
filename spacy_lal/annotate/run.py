"""Annotation of text in shards; stopped runs resume."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from ..formats.whole_files import alone_in
from .annotating import load
from .manifest import SETTINGS, Counts, Manifest, check_same, describe
from .shards import AnnotateSettings, Shard, check_finds, cut_shards, shard_name
from .texts import Texts
from .workers import Engine, Workers, made_by, maker


class Done(NamedTuple):
    """Shard, whether it was `there` before, and the end of its input, in bytes."""

    counts: Counts
    there: bool
    position: int


def annotate_texts(
    model: str, texts: Texts, output: Path, settings: AnnotateSettings, workers: Workers
) -> Iterator[Done]:
    """Annotate the texts into files of `output`; yield each shard's counts on completion. Complete
    shards are kept. Raises ValueError if they are of another pipeline, settings or texts,
    BlockingIOError if another run is writing there, ChildProcessError if a process ends."""
    # on Ray, GPUs are elsewhere
    nlp = load(model, workers.threads, -1 if workers.engine is Engine.ray else workers.gpu)
    check_finds(nlp, settings)
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
    del nlp  # other processes load their own
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

        for shard, counts in made_by(workers, make, new()):
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


def _check_there(counts: Counts, shard: Shard, output: Path, settings: AnnotateSettings) -> None:
    path = output / shard_name(shard.number, settings)
    if counts.get("digest") != shard.digest:
        raise ValueError(
            f"{path} was made of another text than the input has there now: the input has changed"
        )
    if not path.exists():
        raise ValueError(f"{path} is gone, but it was complete before: begin in another folder")
