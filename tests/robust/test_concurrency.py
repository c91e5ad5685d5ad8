"""The shipped pipelines in threads and in a process.

A short form of `python benchmarks/robustness.py together MODEL`, which begins processes in all the
ways there are.
"""

from __future__ import annotations

import pickle

import pytest
from spacy.tokens import Doc

from . import concurrency
from .test_pipelines import PIPELINES, loaded


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_and_a_process(name: str) -> None:
    nlp = loaded(name)
    expected = concurrency.serial(nlp)
    with concurrency.switching():
        concurrency.in_threads(nlp, expected, 8, 24)
    concurrency.in_process(nlp, expected, "fork")


def test_extensions_come_with_a_pickled_pipeline() -> None:
    """As a process that was spawned gets it."""
    data = pickle.dumps(loaded("en_lal_ged_md"))
    Doc.remove_extension("trees")
    assert pickle.loads(data)("Hello.")._.trees
