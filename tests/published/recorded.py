"""The small checkpoints of the released programs, imported, and what the programs found with them.

Test modules make pipelines of them; each is imported once in a run.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.published.lal_parser import read_lal_parser
from spacy_lal.published.supar import read_supar

FIXTURES = Path(__file__).parents[1] / "fixtures"


@dataclass(frozen=True)
class Program:
    """A program's fixtures. word: which of a recorded pair is the word; the other is the tag."""

    folder: Path
    read: Callable[[Path, Path | None], Language]
    word: int

    @property
    def names(self) -> list[str]:
        return sorted(path.stem for path in self.folder.glob("*.pt"))

    @cache  # noqa: B019
    def pipeline(self, name: str) -> Language:
        """A checkpoint imported, written and read again."""
        encoders = [e for e in self.folder.iterdir() if e.is_dir() and e.name in name]
        imported = self.read(self.folder / f"{name}.pt", next(iter(encoders), None))
        with TemporaryDirectory() as folder:
            imported.to_disk(folder)
            return spacy.load(folder)

    @cache  # noqa: B019
    def expected(self, name: str) -> tuple[dict[str, Any], dict[str, numpy.ndarray]]:
        """Sentences with trees, heads and relations, and the arrays of scores."""
        recorded = json.loads((self.folder / f"{name}.json").read_text("utf-8"))
        with numpy.load(self.folder / f"{name}.npz") as arrays:
            return recorded, dict(arrays)

    def docs(self, name: str, nlp: Language | None = None) -> list[Doc]:
        """The recorded sentences with their tags, new ones."""
        vocab = (nlp or self.pipeline(name)).vocab
        return [
            Doc(vocab, [p[self.word] for p in sentence], tags=[p[1 - self.word] for p in sentence])
            for sentence in self.expected(name)[0]["sentences"]
        ]


LAL_PARSER = Program(FIXTURES / "lal_parser", read_lal_parser, word=1)
SUPAR = Program(FIXTURES / "supar", read_supar, word=0)
