"""Tiny pipelines behind the page, shared: nothing here changes them."""

from __future__ import annotations

import pytest
from spacy.util import fix_random_seed

from ..pipeline.toy import tiny_pipeline, train


@pytest.fixture(scope="session")
def nlp():
    fix_random_seed(0)
    return train(tiny_pipeline())
