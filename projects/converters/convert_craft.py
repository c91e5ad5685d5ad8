"""CRAFT's bracketed trees, in the English Web Treebank's conventions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from english import like_ewt

from spacy_lal.cli.convert import command
from spacy_lal.formats.penn_brackets import (
    Brackets,
    clean_sentences,
    clean_tree,
    fold,
    numbered,
    read_treebank,
)
from spacy_lal.formats.treebank_format import Lang, Losses, Part, Pattern
from spacy_lal.trees.tree import ConstituentTree

Trees = list[ConstituentTree]

SPLICED = frozenset({"TITLE", "HEADING", "CAPTION", "CIT"})
"""Labels of phrases that the English Web Treebank has none of: their parts stay."""


@dataclass(frozen=True, kw_only=True)
class Craft(Brackets):
    """CRAFT's trees, from files or folders; TITLE, HEADING, CAPTION and CIT lose their brackets."""

    lang: Lang = "en"
    pattern: Pattern = "*.tree"
    skip: Annotated[str, "Leave out the trees FIRST-LAST, counted from 1."] = ""
    every: Annotated[int, "Take every N-th tree."] = 1

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        """Trees are counted through all files."""
        losses, skipped = Losses(), limits(self.skip)
        places = (
            place
            for path in inputs
            for file in self.files(path)
            for place in numbered(read_treebank(file), file)
        )
        taken = [
            place
            for number, place in enumerate(places, start=1)
            if number % self.every == 0 and number not in skipped
        ]
        sentences = list(map(like_ewt, clean_sentences(taken, losses, clean=self.clean)))
        if not sentences:
            raise ValueError(f"no trees are left of {', '.join(map(str, inputs))}")
        return {"": Part(sentences, losses)}

    def clean(self, tree: ConstituentTree) -> ConstituentTree | None:
        cleaned = clean_tree(tree)
        return cleaned and spliced(cleaned, SPLICED)


def limits(text: str) -> range:
    """`first-last` as a range; "" is an empty one. Raises ValueError for anything else."""
    if not text:
        return range(0)
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"--skip must be FIRST-LAST, as 12-40, not {text!r}")
    return range(int(first), int(last) + 1)


def spliced(tree: ConstituentTree, labels: frozenset[str]) -> ConstituentTree:
    """The tree without phrases of these labels, whose parts stand in their places.

    The root stays, and so do words.
    """

    def parts(
        node: ConstituentTree, children: list[list[ConstituentTree]]
    ) -> list[ConstituentTree]:
        if node.word is not None:
            return [node]
        below = [part for child in children for part in child]
        removed = node.label in labels and node is not tree
        return below if removed else [ConstituentTree(node.label, below)]

    return fold(tree, parts)[0]


if __name__ == "__main__":
    typer.run(command(Craft))
