"""Settings for all tests."""

import functools
import gc
import os
from pathlib import Path

import catalogue
import pytest
import typer.main

from tests import stored
from tests.spellings import fewer_spellings  # noqa: F401

# A command line is made anew at every call, from the signatures of all its commands, which takes
# longer than most of them run. Whoever imports the function later has this one.
typer.main.get_command = functools.cache(typer.main.get_command)

# By group: for every pipeline spaCy goes dozens of times through those of all packages.
# spaCy imports spacy-transformers, where it is installed, for every pipeline, which takes seconds:
# only tests of the mark `spacy_transformers` see it, and the processes that these start.
ALL = {
    group: tuple(catalogue.AVAILABLE_ENTRY_POINTS.select(group=group))
    for group in catalogue.AVAILABLE_ENTRY_POINTS.groups
}
WITHOUT_SPACY_TRANSFORMERS = {
    group: tuple(point for point in points if not point.value.startswith("spacy_transformers"))
    for group, points in ALL.items()
}
catalogue.AVAILABLE_ENTRY_POINTS = WITHOUT_SPACY_TRANSFORMERS
CHILD_PROCESSES = str(Path(__file__).parent / "child_processes")

# no test takes the machine's power away, and a disk may take a tenth of a second for this
os.fsync = lambda _: None


def pytest_configure(config: pytest.Config) -> None:
    """Import what all tests use, but not in the process that only hands tests to others."""
    if config.getoption("dist", "no") != "no" and not hasattr(config, "workerinput"):
        return
    import torch

    import spacy_lal.cli  # noqa: F401  spaCy's command line has these commands from the first call

    # small tensors, and often several test runs on few cores: threads would only wait
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _folder_of_the_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    own = tmp_path_factory.getbasetemp()
    # xdist gives each process a folder in that of the run
    stored.folders[:] = [own.parent if "PYTEST_XDIST_WORKER" in os.environ else own]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Show spacy-transformers to the tests that use it; skip them where it isn't installed."""
    marked = item.get_closest_marker("spacy_transformers")
    if marked:
        pytest.importorskip("spacy_transformers", reason="pip install 'spacy-lal[transformers]'")
    catalogue.AVAILABLE_ENTRY_POINTS = ALL if marked else WITHOUT_SPACY_TRANSFORMERS
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if CHILD_PROCESSES not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [CHILD_PROCESSES, *paths]))
    os.environ["WITHOUT_SPACY_TRANSFORMERS"] = "" if marked else "1"


def pytest_collection_finish() -> None:
    """What is imported by now stays, so no search for garbage needs to go through it again."""
    gc.collect()
    gc.freeze()
