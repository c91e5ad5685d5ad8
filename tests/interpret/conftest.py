"""A tiny trained parser, shared: nothing here changes it."""

import pytest

from ..pipeline.contract import copy_of


@pytest.fixture(scope="session")
def nlp():
    return copy_of("constituency")
