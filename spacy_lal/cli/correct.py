"""`correct`: lines of text with the errors corrected that a detector finds."""

import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc

from ..annotate.annotating import load
from ..annotate.texts import STDIN
from ..annotations.corrected import LIKELY, corrected_text
from ..annotations.grammar_errors import ERRORS_KEY, grammar_errors
from ..formats.files import decoded, read_bytes, write_whole
from ..formats.m2 import M2, words_of
from .checks import GpuOption, ModelArgument, ThreadsOption, check_outputs, clear_errors


class Written(StrEnum):
    """What is written of each line."""

    text = "text"
    diff = "diff"
    m2 = "m2"


def correct(
    model: ModelArgument,
    text: Annotated[
        Path, typer.Argument(help="Lines of text, plain or compressed; or - for stdin.")
    ],
    output: Annotated[
        Path | None, typer.Argument(help="The file to write; the terminal without it.")
    ] = None,
    format: Annotated[
        Written,
        typer.Option(
            help="Corrected text, the text with [-changes-]{+marked+}, or M2 without empty lines."
        ),
    ] = Written.text,
    likely: Annotated[
        float, typer.Option(min=0, max=1, help="Least probability of a correction; M2 has all.")
    ] = LIKELY,
    rounds: Annotated[
        int, typer.Option(min=1, help="Correct the corrected text again, so many times at most.")
    ] = 1,
    tokenised: Annotated[
        bool, typer.Option("--tokenised", help="The text has a space between all its tokens.")
    ] = False,
    threads: ThreadsOption = 0,
    gpu_id: GpuOption = -1,
) -> None:
    """Correct the errors in lines of text, by a detector that has learned corrections.

    Lines that end in CR LF do so when they are corrected, too.
    """
    with clear_errors("correct"):
        check_outputs([output], [text])
        if rounds > 1 and format != "text":
            raise ValueError(f"--rounds {rounds} is for --format text: edits are of one round")
        raw = sys.stdin.buffer.read() if str(text) == STDIN else read_bytes(text)
        read, end = decoded(raw, str(text)), "\r\n" if b"\r\n" in raw else "\n"
        lines = read.removesuffix("\n").split("\n") if read else []
        nlp = load(model, threads, gpu_id)

        def docs(lines: list[str]) -> Iterator[Doc]:
            made = (Doc(nlp.vocab, words=words_of(line)) for line in lines)
            for doc in nlp.pipe(made if tokenised else lines):
                if "corrections" not in getattr(doc.spans.get(ERRORS_KEY), "attrs", ()):
                    raise ValueError(f"{model} has no detector that has learned corrections")
                yield doc

        if format == "m2":
            written = "".join(map(M2().write, docs(lines)))
        elif format == "diff":
            written = "".join(f"{_marked(doc, likely)}{end}" for doc in docs(lines))
        else:
            for _ in range(rounds):
                before, found = lines, docs(lines)
                texts = (corrected_text(d, likely=likely, tokenised=tokenised) for d in found)
                lines = [text.rstrip(" " * tokenised) for text in texts]
                if lines == before:
                    break
            written = "".join(f"{line}{end}" for line in lines)
        if output is None:
            # Windows makes CR LF of LF by itself
            sys.stdout.write(written.replace("\r\n", "\n") if os.linesep != "\n" else written)
        else:
            write_whole(output, written)


def _marked(doc: Doc, likely: float) -> str:
    """Return a text with what is left out and what is put in, as wdiff marks them."""
    pieces: list[str] = []
    done = 0
    for span, _, _, suggestions in grammar_errors(doc):
        if suggestions and suggestions[0].probability >= likely and span.start >= done:
            new = f"{{+{suggestions[0].text}+}}" if suggestions[0].text else ""
            between = doc[done : span.start].text_with_ws
            pieces.append(f"{between}[-{span.text}-]{new}{doc[span.end - 1].whitespace_}")
            done = span.end
    return "".join([*pieces, doc[done:].text])
