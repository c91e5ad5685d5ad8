"""Shards on Ray: the same files as in this process, whatever happens to actors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_lal.annotate.annotating import load
from spacy_lal.annotate.manifest import describe
from spacy_lal.annotate.on_ray import on_ray
from spacy_lal.annotate.run import annotate_texts
from spacy_lal.annotate.shards import AnnotateSettings, Workers, cut_shards
from spacy_lal.annotate.texts import Texts

from .test_run import LINES, files

ray = pytest.importorskip("ray", reason="pip install 'spacy-lal[ray]'")

SMALL = AnnotateSettings(shard_chars=30, batch_tokens=20)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_bytes("\n".join(LINES).encode() + b"\n\xff\n")  # the last one fails
    return path


@pytest.fixture(scope="module")
def here(folder: Path, text: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that this process makes."""
    output = tmp_path_factory.mktemp("here")
    list(annotate_texts(str(folder), Texts(str(text)), output, SMALL, Workers(threads=1)))
    made = files(output)
    assert sum(name.startswith("part-") for name in made) > 4
    assert any(name.startswith("failed/") for name in made)
    return made


def go(folder: Path, text: Path, output: Path, actors: int) -> Iterator[Any]:
    workers = Workers(actors, threads=1, engine="ray")
    return annotate_texts(str(folder), Texts(str(text)), output, SMALL, workers)


def test_a_cluster_of_its_own(
    folder: Path, text: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    assert len(list(go(folder, text, tmp_path, 2))) == sum(n.startswith("part-") for n in here)
    assert files(tmp_path) == here
    assert not ray.is_initialized()


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Of two processors."""
    ray.init("local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_more_actors_than_there_is_room_for(
    folder: Path, text: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    """And the run goes on where another one, with one actor, was stopped."""
    run = go(folder, text, tmp_path, 1)
    assert [next(run).there for _ in range(2)] == [False, False]
    run.close()
    assert sum(done.there for done in go(folder, text, tmp_path, 3)) == 2
    assert files(tmp_path) == here


@pytest.mark.usefixtures("cluster")
def test_an_actor_that_ends_is_begun_again(
    folder: Path, text: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    pipeline = describe(load(str(folder)))
    work = cut_shards(Texts(str(text)), SMALL)
    run: Any = on_ray(str(folder), work, tmp_path, SMALL, Workers(threads=1), pipeline)
    next(run)
    (actor,) = run.gi_frame.f_locals["pool"]
    ray.kill(actor, no_restart=False)
    list(run)
    made = files(tmp_path)
    assert made == {name: here[name] for name in made}
    assert made.keys() == {name for name in here if "part-" in name}


@pytest.mark.usefixtures("cluster")
def test_another_pipeline_on_another_machine(folder: Path, text: Path, tmp_path: Path) -> None:
    work = cut_shards(Texts(str(text)), SMALL)
    run = on_ray(str(folder), work, tmp_path, SMALL, Workers(threads=1), "en_toy 7")
    with pytest.raises(ChildProcessError, match="but en_toy 7 where"):
        next(run)


def test_no_such_engine() -> None:
    with pytest.raises(ValueError, match="expected one of processes, ray"):
        Workers(engine="spark")
