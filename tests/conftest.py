"""Settings for all tests."""

import functools
import gc

import torch
import typer.testing

# small tensors, and often several test runs on few cores: threads would only wait for each other
torch.set_num_threads(1)

# made anew for every call, from the signatures of all commands, which takes longer than most run
typer.testing._get_command = functools.cache(typer.testing._get_command)


def pytest_collection_finish() -> None:
    """What is imported by now stays, so no search for garbage needs to go through it again."""
    gc.collect()
    gc.freeze()
