"""GUM's CoNLL-U: the documents of a list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

import typer
from english import DocumentList, read_documents

from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import Conllu, ConlluSentence
from spacy_lal.formats.treebank_format import Lang, Part


@dataclass(frozen=True, kw_only=True)
class Gum(Conllu):
    """CoNLL-U, of which only the `newdoc id`s are taken that a file lists."""

    lang: Lang = "en"
    documents: Annotated[Path, "A file with a document a line: `name`, or `name first last`."]

    @cached_property
    def listed(self) -> DocumentList:
        return read_documents(self.documents)

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), self.documents]

    def takes(self, found: ConlluSentence) -> bool:
        return self.listed(found.document, found.number)

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        parts = super().read_parts(inputs)
        self.listed.check_seen()
        return parts


if __name__ == "__main__":
    typer.run(command(Gum))
