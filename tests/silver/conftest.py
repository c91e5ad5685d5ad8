from __future__ import annotations

import pytest
from spacy.language import Language

from .teacher import toy_teacher


@pytest.fixture(scope="package")
def teacher() -> Language:
    return toy_teacher(30)
