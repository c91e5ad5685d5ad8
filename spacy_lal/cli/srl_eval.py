"""`srl-eval`: compare two props files as the CoNLL-2005 shared task does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from ..scorers.srl_eval import SrlReport, score_sentence
from ..treebanks.files import FormatError, read_text
from ..treebanks.props import PropsSentence, read_props
from .checks import clear_errors, from_each


def srl_eval(
    gold: Annotated[Path, typer.Argument(help="Gold props file.")],
    predicted: Annotated[Path, typer.Argument(help="Props file to evaluate.")],
    end_to_end: Annotated[
        bool,
        typer.Option("--end-to-end", help="Arguments of predicates that aren't gold are wrong."),
    ] = False,
    confusion: Annotated[
        bool,
        typer.Option("--confusion", "-C", help="Add unlabelled scores and a confusion matrix."),
    ] = False,
) -> None:
    """Precision, recall and F1 of semantic roles, as srl-eval.pl of CoNLL-2005 prints them.

    Predicates are taken as given: predicted ones that aren't gold are skipped, unless --end-to-end.
    Both files have the same sentences, a blank line after each; a row a token: the lemma of a
    predicate or "-", then a column for each predicate of the sentence. Files may be compressed
    (.gz, .bz2, .xz).
    """
    with clear_errors("srl-eval"):
        report = evaluate_files(gold, predicted, end_to_end=end_to_end)
    typer.echo(report.format() + (report.format_confusion() if confusion else ""), nl=False)


def evaluate_files(gold: Path, predicted: Path, *, end_to_end: bool = False) -> SrlReport:
    """Compare two props files.

    Raises FormatError, with the line, for a malformed file, or for the first sentence that only
    one file has or that has different numbers of tokens; OSError for a file that can't be read.
    """
    scores = (
        score_sentence(ours.frames, theirs.frames, end_to_end=end_to_end)
        for ours, theirs in _pairs(gold, predicted)
    )
    return sum(scores, SrlReport())


def _pairs(gold: Path, predicted: Path) -> Iterator[tuple[PropsSentence, PropsSentence]]:
    def read(path: Path) -> Iterator[PropsSentence]:
        return read_props(read_text(path), source=str(path))

    files = (from_each([path], read) for path in (gold, predicted))
    for number, (ours, theirs) in enumerate(zip_longest(*files), start=1):
        if theirs is None:
            message = f"{predicted} ends before sentence {number}, which is here"
            raise FormatError(message, source=str(gold), line=ours.line)
        if ours is None:
            message = f"{gold} ends before sentence {number}, which is here"
            raise FormatError(message, source=str(predicted), line=theirs.line)
        if ours.length != theirs.length:
            message = (
                f"sentence {number} has {theirs.length} tokens, "
                f"but {ours.length} in {gold}:{ours.line}"
            )
            raise FormatError(message, source=str(predicted), line=theirs.line)
        yield ours, theirs
