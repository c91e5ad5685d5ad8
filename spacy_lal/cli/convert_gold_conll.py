"""`convert gold-conll`: PropBank's trees and roles where their words are open, as MASC's are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..formats.docs import TreebankSentence, write_docs
from ..formats.documents import read_documents
from ..formats.gold_conll import read_gold_conll
from ..formats.props import Drop
from .checks import check_outputs, clear_errors, from_each, input_files
from .converting import (
    InputsArgument,
    LangOption,
    LikeEwtOption,
    NoTagsOption,
    OutputArgument,
    ReportOption,
    adapted,
    counts_of,
    finish,
)


def convert_gold_conll(
    inputs: InputsArgument,
    output: OutputArgument,
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            help="Take only what this file lists: `name`, or `name first last` of sentences.",
        ),
    ] = None,
    without: Annotated[
        Path | None, typer.Option("--without", help="Leave out what this file lists.")
    ] = None,
    ewt: LikeEwtOption = False,
    no_tags: NoTagsOption = "",
    lang: LangOption = "en",
    pattern: Annotated[
        str, typer.Option("--pattern", help="Which files to take from a folder.")
    ] = "*gold_conll",
    report: ReportOption = None,
) -> None:
    """Convert PropBank's .gold_conll: words, tags, trees and roles, no heads."""
    with clear_errors("convert"):
        lists = [path for path in (documents, without) if path is not None]
        check_outputs([output, report], [*input_files(inputs, pattern), *lists])
        taken = None if documents is None else read_documents(documents)
        left = None if without is None else read_documents(without)
        sentences: list[TreebankSentence] = []
        unread: list[Drop] = []
        read = from_each(
            inputs,
            lambda path: (
                found for file in input_files([path], pattern) for found in read_gold_conll(file)
            ),
        )
        for found in read:
            place = found.document, found.number
            if (taken is None or taken(*place)) and not (left is not None and left(*place)):
                sentences.append(found.sentence)
                unread += found.left_out
        for listed in (taken, left):
            if listed is not None:
                listed.check_seen()
        sentences = adapted(sentences, ewt=ewt, no_tags=no_tags)
        write_docs(sentences, output, lang)
        finish({output.name: counts_of(sentences) | {"left out": unread}}, report)
