"""What the converters of licensed treebanks share: train, dev and test are written together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..formats.cleaning import Losses
from ..formats.docs import TreebankSentence, write_docs
from ..formats.head_rules import HeadRules
from ..formats.props import Drop
from ..formats.splits import PARTS, Annotation, Take, check_apart, merge
from .checks import check_outputs
from .converting import Counts, counts_of, finish

PartsArgument = Annotated[Path, typer.Argument(help="Folder for {train,dev,test}.spacy.")]
ConllxOption = Annotated[
    str, typer.Option("--conllx", help="Folder of CoNLL-X files; empty for none.")
]
TakeOption = Annotated[Take, typer.Option("--take", help="What to take from the CoNLL-X files.")]
RulesOption = Annotated[
    HeadRules, typer.Option("--heads", help="Head rules, if no CoNLL-X file gives heads.")
]

NOTHING = Annotation()
"""No annotation beside trees and heads."""

Read = Callable[[Path, Losses], Iterable[TreebankSentence]]
"""Reads a file's sentences, and notes what it leaves out."""


def convert_parts(
    files: Mapping[str, Sequence[Path]],
    read: Read,
    output: Path,
    lang: str,
    report: Path | None,
    annotation: Annotation = NOTHING,
) -> None:
    """Write OUTPUT/PART.spacy of the files of each part, print the counts and write the report.

    annotation: what CoNLL-X files and head rules add. Raises ValueError or OSError.
    """
    check_apart(files)
    check_parts(output, report, [path for paths in files.values() for path in paths], annotation)
    parts: dict[str, list[TreebankSentence]] = {}
    results: dict[str, Counts] = {}
    for part, paths in files.items():
        losses, headless = Losses(), list[Drop]()
        sentences = [sentence for path in paths for sentence in read(path, losses)]
        if not sentences:
            raise ValueError(f"{part}: no sentences in {', '.join(map(str, paths))}")
        added = {}
        path = annotation.file(part)
        if path is not None and path.exists():
            sentences, headless = merge(sentences, path, annotation.take, annotation.unescape)
            kinds = ("tags", "heads") if annotation.take is Take.both else (annotation.take,)
            added = {f"{kind} from CoNLL-X": len(sentences) - len(headless) for kind in kinds}
        elif path is not None:
            msg.warn(f"{part}: {path} isn't there, the treebank's annotation stays as it is")
        if annotation.rules_in_use is not HeadRules.none:
            added[f"heads by rules: {annotation.rules_in_use}"] = len(sentences)
        parts[part] = sentences
        results[part] = {
            "files": len(paths),
            **counts_of(sentences, losses.dropped, headless),
            **added,
            **shown(losses),
        }
    write_parts(parts, output, lang)
    finish(results, report)


def check_parts(
    output: Path, report: Path | None, inputs: Sequence[Path], annotation: Annotation = NOTHING
) -> None:
    """Raise OSError or ValueError for a file that can't be written, or that is an input."""
    given = [path for part in PARTS if (path := annotation.file(part)) is not None]
    check_outputs([*(output / f"{part}.spacy" for part in PARTS), report], [*inputs, *given])


def shown(losses: Losses) -> Counts:
    """Print the notes, and the sentences that are left out with their places.

    Returns what was counted within sentences.
    """
    for note in losses.notes:
        msg.warn(note)
    for place, reason in losses.dropped:
        msg.warn(f"left out: {place}: {reason}")
    return dict(losses.counts)


def write_parts(parts: Mapping[str, Iterable[TreebankSentence]], output: Path, lang: str) -> None:
    """Write each part, such as train, as a `.spacy` file of its name."""
    for part, sentences in parts.items():
        write_docs(sentences, output / f"{part}.spacy", lang)
