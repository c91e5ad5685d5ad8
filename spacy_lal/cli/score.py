"""`score`: comparisons of two files of trees, roles or errors, as by the tasks' own programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import accumulate, zip_longest
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from ..formats.files import read_text
from ..formats.learner_tsv import parse_tsv
from ..formats.m2 import words_of
from ..formats.props import PropsSentence, read_props
from ..formats.treebank_sentence import TreebankSentence
from ..ged.correction_scorer import score_corrections
from ..ged.scorer import Detection, DetectionReport
from ..scoring import evalb
from ..scoring.gleu import gleu
from ..scoring.significance import Counts, compare
from ..scoring.srl_eval import SrlReport, score_sentence
from .checks import Group, clear_errors, from_each

S = TypeVar("S")

score_app = Group(name="score", help="Compare a file of trees, roles or errors with a gold one.")
GoldArgument = Annotated[Path, typer.Argument(help="The gold file.")]
PredictedArgument = Annotated[Path, typer.Argument(help="The file to evaluate.")]
AgainstOption = Annotated[
    Path | None, typer.Option(help="Another system's file: do the two differ by chance?")
]


@score_app.command("trees")
def score_trees(
    gold: GoldArgument,
    predicted: PredictedArgument,
    against: AgainstOption = None,
    prm: Annotated[
        str, typer.Option("--prm", "-p", help=f"{', '.join(evalb.NAMED)}, or a .prm file.")
    ] = "nk",
) -> None:
    """Print labelled recall, precision and F1 of bracketed trees, one per line, as EVALB does.

    Messages about sentences that can't be compared go to standard error; after too many of them
    there is no summary and the exit status is 1.
    """
    with clear_errors("score"):
        params = evalb.EvalbParameters.load(prm)
        report = evalb.evaluate(_trees(gold), _trees(predicted), params)
    typer.echo(report.format(), nl=False)
    for message in report.errors:
        typer.echo(message.encode("utf8", "backslashreplace").decode("utf8"), err=True)
    if report.aborted:
        raise typer.Exit(1)

    def counts(path: Path) -> list[Counts]:
        rows = evalb.evaluate(_trees(gold), _trees(path), params).sentences
        return [(row.matched, row.test - row.matched, row.gold - row.matched) for row in rows]

    _print_difference(counts, predicted, against)


@score_app.command("roles")
def score_roles(
    gold: GoldArgument,
    predicted: PredictedArgument,
    against: AgainstOption = None,
    end_to_end: Annotated[
        bool, typer.Option("--end-to-end", help="Arguments of other predicates are wrong.")
    ] = False,
) -> None:
    """Print precision, recall and F1 of semantic roles, as srl-eval.pl of CoNLL-2005 does.

    Predicates are taken as given: predicted ones that aren't gold are skipped, unless --end-to-end.
    As in the program, all arguments of a gold predicate are missed if its predicted lemma differs.
    Both files have the same sentences, a blank line after each. Each token has a row: the lemma of
    a predicate or "-", then a column for each predicate of the sentence. Files may be compressed
    (.gz, .bz2, .xz).
    """
    with clear_errors("score"):
        report = sum(_role_reports(gold, predicted, end_to_end), SrlReport())
    typer.echo(report.format(), nl=False)

    def counts(path: Path) -> list[Counts]:
        rows = [report.overall for report in _role_reports(gold, path, end_to_end)]
        return [(row.tp, row.fp, row.fn) for row in rows]

    _print_difference(counts, predicted, against)


@score_app.command("errors")
def score_errors(
    gold: GoldArgument,
    predicted: PredictedArgument,
    against: AgainstOption = None,
    types: Annotated[bool, typer.Option("--types", help="Add a row for each label.")] = False,
) -> None:
    """Print precision, recall and F0.5 of error detection by token, as in MultiGED-2023.

    A row has a token, a tab and a label: c (correct), i (incorrect) or a type of errors. The
    overall scores don't distinguish types. Files may be compressed (.gz, .bz2, .xz).
    """
    with clear_errors("score"):
        report = DetectionReport()
        for labels in _labels(gold, predicted):
            report.add(*labels)
    rows = {"overall": report.overall, **(dict(sorted(report.types.items())) if types else {})}
    _print_counts(rows)

    def each(path: Path) -> list[Counts]:
        sentences = [DetectionReport() for _ in _labels(gold, path)]
        for sentence, labels in zip(sentences, _labels(gold, path), strict=True):
            sentence.add(*labels)
        return [astuple(sentence.overall) for sentence in sentences]

    _print_difference(each, predicted, against, beta=0.5)


@score_app.command("corrections")
def print_corrections(
    text: Annotated[Path, typer.Argument(help="The text: a tokenised sentence a line.")],
    predicted: PredictedArgument,
    gold: Annotated[
        list[Path], typer.Option(help="The text as an annotator corrected it; repeat it.")
    ],
) -> None:
    """Print precision, recall and F0.5 of corrections of tokenised sentences, as ERRANT counts,
    and GLEU.

    Each sentence is compared with the annotator whose corrections are nearest. Edits are those of
    the cheapest alignment of a sentence's words with the corrected ones.
    """
    with clear_errors("score"):
        texts = (read_text(path).removesuffix("\n") for path in (text, predicted, *gold))
        files = [list(map(words_of, lines.split("\n"))) for lines in texts]
        for path, lines in zip((predicted, *gold), files[1:], strict=True):
            if len(lines) != len(files[0]):
                raise ValueError(f"{path} has {len(lines)} lines, but {text} {len(files[0])}")
        sentences = [(words, own, rest) for words, own, *rest in zip(*files, strict=True)]
        counts, fluency = score_corrections(sentences), gleu(sentences)
    _print_counts({"overall": counts})
    typer.echo(f"{'GLEU':36}{'':18}{fluency:9.4f}")


def _print_counts(rows: Mapping[str, Detection]) -> None:
    typer.echo(f"{'':12}{'TP':>8}{'FP':>8}{'FN':>8}{'P':>9}{'R':>9}{'F0.5':>9}")
    for name, counts in rows.items():
        numbers = f"{counts.right:8}{counts.wrong:8}{counts.missed:8}"
        typer.echo(f"{name:12}{numbers}{counts.p:9.4f}{counts.r:9.4f}{counts.f():9.4f}")


def _print_difference(
    counts: Callable[[Path], list[Counts]], ours: Path, theirs: Path | None, beta: float = 1.0
) -> None:
    if theirs is not None:
        with clear_errors("score"):
            f, other, p = compare(counts(ours), counts(theirs), beta=beta)
        typer.echo(f"F{beta:g} {100 * f:.2f}, of {theirs} {100 * other:.2f}: p = {p:.4f}")


def _role_reports(gold: Path, predicted: Path, end_to_end: bool) -> Iterator[SrlReport]:
    def read(path: Path) -> Iterator[PropsSentence]:
        return read_props(read_text(path), source=str(path))

    for number, ours, theirs in _sentences(gold, predicted, read):
        if ours.length != theirs.length:
            raise ValueError(
                f"{predicted}:{theirs.line}: sentence {number} has {theirs.length} tokens, but "
                f"{ours.length} in {gold}:{ours.line}"
            )
        yield score_sentence(ours.frames, theirs.frames, end_to_end=end_to_end)


def _labels(gold: Path, predicted: Path) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    for number, ours, theirs in _sentences(gold, predicted, _read_labels):
        for word, other in zip_longest(ours.words, theirs.words):
            if word != other:
                raise ValueError(
                    f"sentence {number} has {other!r} in {predicted}, but {word!r} in {gold}"
                )
        yield ours.errors or (), theirs.errors or ()


def _trees(path: Path) -> list[str]:
    lines = evalb.read_lines(path)
    if not any(map(str.strip, lines)):
        raise ValueError(f"no trees in {path}")
    depths = list(accumulate(line.count("(") - line.count(")") for line in lines))
    if depths[-1] == 0 == min(depths) < max(depths):
        line = 1 + next(at for at, depth in enumerate(depths) if depth)
        raise ValueError(f"{path}:{line}: this tree ends on a later line: write one tree a line")
    return lines


def _read_labels(path: Path) -> Iterator[TreebankSentence]:
    for sentence in parse_tsv(read_text(path), source=str(path)):
        if sentence.errors is None:
            raise ValueError(f"{path} has no labels: expected word, tab and label on a line")
        yield sentence


def _sentences(
    gold: Path, predicted: Path, read: Callable[[Path], Iterable[S]]
) -> Iterator[tuple[int, S, S]]:
    """Yield the number of every sentence, and the sentence in both files. Raises ValueError for the
    first sentence that only one of them has."""
    files = (from_each([path], read) for path in (gold, predicted))
    for number, (ours, theirs) in enumerate(zip_longest(*files), start=1):
        if ours is None or theirs is None:
            shorter, longer = (gold, predicted) if ours is None else (predicted, gold)
            raise ValueError(f"{shorter} ends before sentence {number}, which {longer} has")
        yield number, ours, theirs
