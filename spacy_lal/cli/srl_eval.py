"""`srl-eval`: compare two props files as the CoNLL-2005 shared task does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from ..annotations.frames import FrameSpans
from ..formats.files import FormatError, read_text
from ..formats.props import PropsSentence, read_props
from ..scoring.srl_eval import SrlReport, score_sentence
from .checks import clear_errors, from_each


def srl_eval(
    gold: Annotated[Path, typer.Argument(help="Gold props file.")],
    predicted: Annotated[Path, typer.Argument(help="Props file to evaluate.")],
    end_to_end: Annotated[
        bool,
        typer.Option("--end-to-end", help="Arguments of predicates that aren't gold are wrong."),
    ] = False,
    any_lemma: Annotated[
        bool,
        typer.Option(
            "--any-lemma", help="The same token is the same predicate, whatever its lemma."
        ),
    ] = False,
    confusion: Annotated[
        bool,
        typer.Option("--confusion", "-C", help="Add unlabelled scores and a confusion matrix."),
    ] = False,
) -> None:
    """Precision, recall and F1 of semantic roles, as srl-eval.pl of CoNLL-2005 prints them.

    Predicates are taken as given: predicted ones that aren't gold are skipped, unless --end-to-end.
    As in the program, a predicate with another lemma is another one, all of whose arguments are
    missed; how many there are is said on stderr.
    Both files have the same sentences, a blank line after each; a row a token: the lemma of a
    predicate or "-", then a column for each predicate of the sentence. Files may be compressed
    (.gz, .bz2, .xz).
    """
    with clear_errors("srl-eval"):
        report = evaluate_files(gold, predicted, end_to_end=end_to_end, any_lemma=any_lemma)
    typer.echo(report.format() + (report.format_confusion() if confusion else ""), nl=False)


def evaluate_files(
    gold: Path, predicted: Path, *, end_to_end: bool = False, any_lemma: bool = False
) -> SrlReport:
    """Compare two props files, and say on stderr how many predicates only have other lemmas.

    Raises FormatError, with the line, for a malformed file, or for the first sentence that only
    one file has or that has different numbers of tokens; OSError for a file that can't be read.
    """
    total, others = SrlReport(), 0
    for ours, theirs in _pairs(gold, predicted):
        pair = ours.frames, theirs.frames
        if any_lemma:
            pair = _without_lemmas(ours.frames), _without_lemmas(theirs.frames)
        total += score_sentence(*pair, end_to_end=end_to_end)
        found = {frame.predicate: frame.roleset for frame in pair[1]}
        others += sum(found.get(f.predicate, f.roleset) != f.roleset for f in pair[0])
    if others:
        typer.echo(
            f"{others} of {total.propositions} predicates of {gold} have another lemma in "
            f"{predicted}, so their arguments count as missed; --any-lemma compares them",
            err=True,
        )
    return total


def _without_lemmas(frames: Sequence[FrameSpans]) -> list[FrameSpans]:
    return [frame._replace(roleset="") for frame in frames]


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
