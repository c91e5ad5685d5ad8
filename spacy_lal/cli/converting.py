"""What the converters share: arguments, clear errors, and the counts they print and report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from wasabi import msg

from ..annotations.grammar_errors import CORRECT
from ..formats.conventions import like_ewt, without_tags
from ..formats.docs import TreebankSentence
from ..formats.files import whole_file

Counts = dict[str, Any]
"""What one file came to: numbers by name, and lists of what was left out: place and reason."""

InputsArgument = Annotated[
    list[Path], typer.Argument(help="Files, plain or compressed, or folders.", exists=True)
]
OutputArgument = Annotated[Path, typer.Argument(help="The .spacy file to write.")]
LangOption = Annotated[str, typer.Option("--lang", help="Language code of the vocabulary.")]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write counts and all left-out items to this JSON.")
]
LikeEwtOption = Annotated[
    bool,
    typer.Option(
        "--like-ewt", help='As in the English Web Treebank: preposition "to" is IN, "(…)" no PRN.'
    ),
]
NoTagsOption = Annotated[
    str,
    typer.Option("--no-tags", help="Tags not to train on, separated by spaces: \": ''\"."),
]


def adapted(
    sentences: Iterable[TreebankSentence], *, ewt: bool = False, no_tags: str = ""
) -> list[TreebankSentence]:
    """The sentences, with what the two options above ask for."""
    tags = frozenset(no_tags.split())
    return [without_tags(like_ewt(sentence) if ewt else sentence, tags) for sentence in sentences]


def counts_of(
    sentences: list[TreebankSentence],
    dropped: list[tuple[str, str]] | None = None,
    headless: list[tuple[str, str]] | None = None,
) -> Counts:
    """Numbers of the sentences; that of errors only if they are annotated in any."""
    numbers = {
        "sentences": len(sentences),
        "words": sum(len(sentence.words) for sentence in sentences),
        "constituents": sum(len(sentence.constituents or ()) for sentence in sentences),
        "predicates": sum(len(sentence.frames or ()) for sentence in sentences),
    }
    if any(sentence.errors is not None for sentence in sentences):
        numbers["errors"] = sum(
            label != CORRECT for sentence in sentences for label in sentence.errors or ()
        )
    return numbers | {"dropped": dropped or [], "without heads": headless or []}


def finish(results: dict[str, Counts], report: Path | None) -> None:
    """Print the counts, a column a file and a row a number or reason, and write the report."""
    rows: dict[str, dict[str, int]] = {}
    for name, counts in results.items():
        for item, count in counts.items():
            if not isinstance(count, list):
                rows.setdefault(item, {})[name] = count
        for item, drops in counts.items():
            if isinstance(drops, list):
                for reason, count in Counter(reason for _, reason in drops).items():
                    rows.setdefault(f"{item}: {reason}", {})[name] = count
    table = [
        [item, *(f"{found.get(name, 0):,}" for name in results)] for item, found in rows.items()
    ]
    msg.table(
        table,
        header=["", *results],
        divider=True,
        max_col=80,
        aligns=["l", *("r" for _ in results)],
    )
    if report is not None:
        report.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(report) as unfinished:
            srsly.write_json(unfinished, results)
