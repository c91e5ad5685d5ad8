"""Shards on Ray: the same files as in this process, whatever happens to processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spacy_lal.annotate.annotating import load
from spacy_lal.annotate.manifest import describe
from spacy_lal.annotate.run import Engine, Workers, annotate_texts, made_by, maker
from spacy_lal.annotate.shards import AnnotateSettings, cut_shards
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


def go(folder: Path, text: Path, output: Path, processes: int) -> Iterator[Any]:
    workers = Workers(processes, threads=1, engine=Engine.ray)
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
def test_more_processes_than_there_is_room_for(
    folder: Path, text: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    """And the run goes on where another one, with one process, was stopped."""
    run = go(folder, text, tmp_path, 1)
    assert [next(run).there for _ in range(2)] == [False, False]
    run.close()
    assert sum(done.there for done in go(folder, text, tmp_path, 3)) == 2
    assert files(tmp_path) == here


@pytest.mark.usefixtures("cluster")
def test_a_process_that_ends_is_begun_again(
    folder: Path, text: Path, here: dict[str, bytes], tmp_path: Path
) -> None:
    nlp, workers = load(str(folder)), Workers(threads=1, engine=Engine.ray)
    make = maker(workers, nlp, str(folder), tmp_path, SMALL)

    def dies_once(shard: Any) -> Any:
        if shard.number == 1 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os._exit(1)
        return make(shard)

    list(made_by(workers, dies_once, cut_shards(Texts(str(text)), SMALL)))
    (tmp_path / "died").unlink()
    made = files(tmp_path)
    assert made.keys() == {name for name in here if "part-" in name or "failed" in name}
    assert made == {name: here[name] for name in made}


@pytest.mark.usefixtures("cluster")
def test_another_pipeline_on_another_machine(folder: Path, text: Path, tmp_path: Path) -> None:
    other = load(str(folder))
    other.meta["name"] = "other"
    workers = Workers(threads=1, engine=Engine.ray)
    make = maker(workers, other, str(folder), tmp_path, SMALL)
    with pytest.raises(ChildProcessError, match=f"but {describe(other)} where"):
        next(made_by(workers, make, cut_shards(Texts(str(text)), SMALL)))
