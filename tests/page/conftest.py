"""Tiny pipelines behind the page, shared: nothing here changes them."""

from __future__ import annotations

import pytest

from ..pipeline.contract import copy_of


@pytest.fixture(scope="session")
def nlp():
    return copy_of("constituency")
