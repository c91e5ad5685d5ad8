"""Settings for all tests."""

import functools
import gc
import os

import catalogue
import pytest
import torch
import typer.main

# A command line is made anew at every call, from the signatures of all its commands, which takes
# longer than most of them run. Whoever imports the function later has this one.
typer.main.get_command = functools.cache(typer.main.get_command)

import spacy_lal.cli  # noqa: E402, F401  spaCy's command line has these commands from the first call

# by group: for every pipeline spaCy goes dozens of times through those of all packages
entry_points = catalogue.AVAILABLE_ENTRY_POINTS
catalogue.AVAILABLE_ENTRY_POINTS = {
    group: tuple(entry_points.select(group=group)) for group in entry_points.groups
}

# small tensors, and often several test runs on few cores: threads would only wait for each other
torch.set_num_threads(1)

# no test takes the machine's power away, and a disk may take a tenth of a second for this
os.fsync = lambda _: None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tests of this mark want the extra [transformers]."""
    if item.get_closest_marker("spacy_transformers"):
        pytest.importorskip("spacy_transformers")


def pytest_collection_finish() -> None:
    """What is imported by now stays, so no search for garbage needs to go through it again."""
    gc.collect()
    gc.freeze()
