"""`convert ged`: learner corpora, with the grammatical errors in them, to .spacy files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ..annotations.grammar_errors import CORRECT, ERROR
from ..formats.character_edits import read_character_edits, rule_based
from ..formats.docs import TreebankSentence, write_docs
from ..formats.files import FormatError, read_text
from ..formats.learner_tsv import multiged_unescape, read_tsv
from ..formats.m2 import ErrorTypes, M2Sentence, read_m2, to_sentence
from ..formats.parallel import read_parallel
from ..formats.props import Drop
from .checks import check_outputs, clear_errors, from_each, input_files
from .converting import InputsArgument, LangOption, OutputArgument, ReportOption, counts_of, finish

UNION = "union"
"""The choice of all annotators."""


class Format(StrEnum):
    """How a file says what is wrong in it."""

    tsv = "tsv"
    m2 = "m2"
    json = "json"
    parallel = "parallel"


_SUFFIXES = {".tsv": Format.tsv, ".m2": Format.m2, ".json": Format.json, ".jsonl": Format.json}
_BLOCK = re.compile(r"(\d+)/(\d+)")


def convert_ged(
    inputs: InputsArgument,
    output: OutputArgument,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Default: by file name (.tsv, .m2, .json); parallel with --corrected.",
        ),
    ] = None,
    lang: LangOption = "xx",
    pattern: Annotated[
        str, typer.Option("--pattern", help="Which files to take from a folder.")
    ] = "*.tsv",
    annotator: Annotated[
        str,
        typer.Option("--annotator", help="Whose errors to take: a number, or union for all."),
    ] = UNION,
    types: Annotated[
        ErrorTypes,
        typer.Option("--types", help="Labels: only ERROR; M, U and R; or the file's own types."),
    ] = ErrorTypes.none,
    corrected: Annotated[
        list[Path] | None,
        typer.Option(
            "--corrected",
            help="Corrected sentences, line by line as in the input; repeat it for several files.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    multiged_escapes: Annotated[
        bool, typer.Option("--multiged-escapes", help=r"In tsv, read \" as a double quote.")
    ] = False,
    block: Annotated[
        str, typer.Option("--block", help="K/N: take only the K-th of N equal blocks.")
    ] = "",
    without_block: Annotated[
        list[str] | None,
        typer.Option("--without-block", help="K/N: leave out the K-th of N blocks; repeatable."),
    ] = None,
    report: ReportOption = None,
) -> None:
    """Convert learner corpora with grammatical errors.

    tsv: a token and its label c or i a row. m2: sentences and edits. json: texts with edits by
    character, as BEA-2019 has them; --lang finds their words. parallel: tokenised sentences, one a
    line, and --corrected files.
    """
    if block and without_block:
        raise typer.BadParameter("give --block or --without-block, not both")
    with clear_errors("convert"):
        paths = list(input_files(inputs, pattern))
        check_outputs([output, report], [*paths, *(corrected or ())])
        form = format or _format_of(paths, bool(corrected))
        _check_options(form, annotator, types, corrected, multiged_escapes)
        sentences: Sequence[TreebankSentence]
        dropped: list[Drop] = []
        if form is Format.tsv:
            sentences = list(
                from_each(
                    inputs,
                    lambda path: _labelled(input_files([path], pattern), types, multiged_escapes),
                )
            )
        else:
            if form is Format.parallel and len(paths) != 1:
                raise typer.BadParameter(
                    "--corrected needs one file of original sentences to compare with: got "
                    f"{len(paths)} files"
                )
            for path in corrected or ():
                if not read_text(path).strip():
                    raise ValueError(f"no sentences in {path}")
            read = list(
                from_each(
                    inputs,
                    lambda path: _edited(input_files([path], pattern), form, lang, corrected or []),
                )
            )
            sentences, dropped = _with_labels(read, annotator, types)
        kept = set(_block(block, len(sentences))) if block else set(range(len(sentences)))
        for left_out in without_block or ():
            kept -= set(_block(left_out, len(sentences)))
        sentences = [sentence for at, sentence in enumerate(sentences) if at in kept]
        if not sentences:
            names = ", ".join(map(str, paths))
            raise FormatError(
                "found no sentences, or none in the blocks that --block and --without-block leave",
                source=names,
                line=1,
            )
        write_docs(sentences, output, lang)
        finish({output.name: counts_of(sentences, dropped)}, report)


def _format_of(paths: Sequence[Path], corrected: bool) -> Format:
    """The one format that the names of all files say."""
    if corrected:
        return Format.parallel
    # of "dev.tsv.xz" any suffix that says something
    found = {
        next((_SUFFIXES[suffix] for suffix in reversed(path.suffixes) if suffix in _SUFFIXES), None)
        for path in paths
    }
    form = found.pop()
    if found or form is None:
        raise typer.BadParameter(
            "the names of the files don't say one format for all of them: give --format"
        )
    return form


def _check_options(
    form: Format,
    annotator: str,
    types: ErrorTypes,
    corrected: list[Path] | None,
    multiged_escapes: bool,
) -> None:
    """Refuse options that mean nothing in this format."""
    if annotator != UNION and not annotator.isdecimal():
        raise typer.BadParameter(f"--annotator {annotator} is neither a number nor {UNION}")
    if bool(corrected) != (form is Format.parallel):
        raise typer.BadParameter(
            "--corrected needs parallel files (--format parallel), and parallel files need "
            "--corrected"
        )
    if form is Format.tsv:
        if annotator != UNION:
            raise typer.BadParameter(
                "--annotator can't be used here: tsv files don't name annotators"
            )
        if types is ErrorTypes.operations:
            raise typer.BadParameter(
                "--types operations can't be used here: tsv files don't say which operation "
                "corrects an error"
            )
    elif multiged_escapes:
        raise typer.BadParameter("--multiged-escapes can be used only for tsv files")


def _labelled(paths: Iterable[Path], types: ErrorTypes, escapes: bool) -> list[TreebankSentence]:
    unescape = multiged_unescape if escapes else str
    sentences: list[TreebankSentence] = []
    for path in paths:
        of_file = list(read_tsv(path, unescape=unescape))
        found = {label for sentence in of_file for label in sentence.errors or ()}
        if found - {ERROR} and CORRECT not in found:
            message = 'no token in this file has the label "c", which correct ones have'
            raise FormatError(message, source=str(path), line=1)
        sentences += of_file
    return sentences if types is ErrorTypes.full else [_untyped(sentence) for sentence in sentences]


def _untyped(sentence: TreebankSentence) -> TreebankSentence:
    if sentence.errors is None:
        return sentence
    errors = [CORRECT if label == CORRECT else ERROR for label in sentence.errors]
    return replace(sentence, errors=errors)


def _edited(
    paths: Iterable[Path], form: Format, lang: str, corrected: Sequence[Path]
) -> Iterator[M2Sentence]:
    if form is Format.parallel:
        for path in paths:
            yield from read_parallel(path, corrected)
    elif form is Format.json:
        nlp = rule_based(lang)
        for path in paths:
            yield from read_character_edits(path, nlp)
    else:
        for path in paths:
            yield from read_m2(path)


def _with_labels(
    read: Sequence[M2Sentence], annotator: str, types: ErrorTypes
) -> tuple[list[TreebankSentence], list[Drop]]:
    """Those that have words; those that don't, and those of which the annotator says nothing."""
    chosen = None if annotator == UNION else int(annotator)
    if chosen is not None and not any(chosen in sentence.annotators for sentence in read):
        raise typer.BadParameter(
            f"--annotator {chosen}: no sentence has edits by an annotator of this number"
        )
    sentences = [
        to_sentence(sentence, annotator=chosen, types=types) for sentence in read if sentence.words
    ]
    dropped = [
        (f"{sentence.source}:{sentence.line}", "no words")
        for sentence in read
        if not sentence.words
    ]
    # many files have a line only where there is something to correct
    dropped += [
        (f"{sentence.source}:{sentence.line}", f"kept as correct: nothing of annotator {chosen}")
        for sentence in read
        if sentence.words and chosen is not None and chosen not in sentence.annotators
    ]
    return sentences, dropped


def _block(block: str, length: int) -> range:
    """The block "K/N" of `length` sentences; sizes differ by one at most."""
    match = _BLOCK.fullmatch(block)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise typer.BadParameter(f"{block!r} is not a block: write K/N, with K from 1 to N")
    number, of = int(match[1]), int(match[2])
    return range((number - 1) * length // of, number * length // of)
