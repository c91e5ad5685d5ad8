"""`evaluate-raw`: sentence boundaries, heads, trees and tags that a pipeline finds in raw text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .measuring import MetricsOption, ThreadsOption, measuring

_COLUMNS = {
    "words_f": "words",
    "boundaries_p": "boundaries P",
    "boundaries_r": "R",
    "boundaries_f": "F",
    "tags_f": "tags",
    "uas_f": "UAS",
    "las_f": "LAS",
    "brackets_f": "brackets",
}


def evaluate_raw(
    model: Annotated[str, typer.Argument(help="A pipeline's name or folder.")],
    corpus: Annotated[
        Path,
        typer.Argument(help="A .spacy file, one sentence per Doc, with paragraphs.", exists=True),
    ],
    trees: Annotated[
        Path | None,
        typer.Option(
            "--trees", help="A .spacy file with trees and tags of the same sentences.", exists=True
        ),
    ] = None,
    output: MetricsOption = None,
    threads: ThreadsOption = 0,
) -> None:
    """F1 of what MODEL finds in the paragraphs of CORPUS, read as raw text.

    The sentences of a paragraph are joined with a space between them. Words are compared by their
    characters. Boundaries are compared by their places; the first of a paragraph is not counted.
    Heads are compared as in CoNLL 2018, brackets without punctuation. Further rows have the scores
    with gold sentences, gold tokens or both.
    """
    with measuring(
        "evaluate-raw", output, [corpus, *([trees] if trees else [])], threads
    ) as result:
        from ..evaluation import raw_text

        result |= raw_text.evaluate(model, corpus, trees)
        rows = [
            (given, *(_percent(scores[name]) for name in _COLUMNS))
            for given, scores in result["given"].items()
        ]
        msg.table(rows, header=("given", *_COLUMNS.values()), divider=True)


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"
