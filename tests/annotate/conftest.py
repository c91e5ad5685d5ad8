from __future__ import annotations

from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from tests.silver.teacher import toy_teacher


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny pipeline that finds tags, trees, heads and roles."""
    path = tmp_path_factory.mktemp("annotate") / "toy"
    toy_teacher(30).to_disk(path)
    return path


@pytest.fixture(scope="package")
def nlp(folder: Path) -> Language:
    return spacy.load(folder)
