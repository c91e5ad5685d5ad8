"""`ged-eval`: compare two files of labelled tokens as MultiGED-2023 does."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from ..formats.learner_tsv import read_tsv
from ..ged.scorer import Detection, DetectionReport
from .checks import clear_errors, from_each


def ged_eval(
    gold: Annotated[Path, typer.Argument(help="Gold labels: token, tab and label per line.")],
    predicted: Annotated[Path, typer.Argument(help="The same tokens with other labels.")],
    types: Annotated[bool, typer.Option("--types", help="Add a row for each label.")] = False,
) -> None:
    """Precision, recall and F0.5 of error detection, token by token.

    Labels are c (correct), i (incorrect) or types of errors. The overall scores don't distinguish
    types. Files may be compressed (.gz, .bz2, .xz).
    """
    with clear_errors("ged-eval"):
        report = evaluate_files(gold, predicted)
    typer.echo(f"{'':12}{'TP':>8}{'FP':>8}{'FN':>8}{'P':>9}{'R':>9}{'F0.5':>9}")
    typer.echo(_row("overall", report.overall))
    if types:
        for label, counts in sorted(report.types.items()):
            typer.echo(_row(label, counts))


def _row(name: str, counts: Detection) -> str:
    numbers = f"{counts.right:8}{counts.wrong:8}{counts.missed:8}"
    return f"{name:12}{numbers}{counts.p:9.4f}{counts.r:9.4f}{counts.f():9.4f}"


def evaluate_files(gold: Path, predicted: Path) -> DetectionReport:
    """Compare two files.

    Raises FormatError for a malformed one, ValueError for one without labels or for the first
    sentence that has other tokens, OSError for one that can't be read.
    """
    report = DetectionReport()
    pairs = zip_longest(*(from_each([path], read_tsv) for path in (gold, predicted)))
    for number, (ours, theirs) in enumerate(pairs, start=1):
        if ours is None or theirs is None:
            shorter = gold if ours is None else predicted
            raise ValueError(f"{shorter} ends before sentence {number} of the other file")
        for path, sentence in ((gold, ours), (predicted, theirs)):
            if sentence.errors is None:
                raise ValueError(
                    f"{path} has no labels: expected a word and its label, with a tab "
                    "between them, on each line"
                )
        for ours_word, theirs_word in zip_longest(ours.words, theirs.words):
            if ours_word != theirs_word:
                raise ValueError(
                    f"sentence {number} has {theirs_word!r} in {predicted}, "
                    f"but {ours_word!r} in {gold}"
                )
        report.add(ours.errors or (), theirs.errors or ())
    return report
