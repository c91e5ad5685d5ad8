"""`convert vtb`: the Vietnamese Treebank, as VLSP distributes it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..formats.cleaning import Losses
from ..formats.docs import TreebankSentence
from ..formats.props import Drop
from ..formats.splits import PARTS
from ..formats.ud_heads import UdHeads
from ..formats.vtb import cut, named_files, read_sentences, shares, tree_files
from .checks import check_outputs, clear_errors
from .convert_parts import PartsArgument, Read, check_parts, convert_parts, shown, write_parts
from .converting import Counts, ReportOption, counts_of, finish

OTHERS = "ud"
"""The name of the file with UD's other sentences."""


class Malformed(StrEnum):
    """What to do at a sentence between <s> and </s> that isn't one well-formed bracketing."""

    stop = "stop"
    drop = "drop"


def convert_vtb(
    vtb: Annotated[Path, typer.Argument(help="Folder or file of trees.", exists=True)],
    output: PartsArgument,
    train: Annotated[
        str,
        typer.Option("--train", help="Files, folders or patterns in VTB to train on: a.prd,b*.prd"),
    ] = "",
    dev: Annotated[str, typer.Option("--dev", help="Development files, likewise.")] = "",
    test: Annotated[str, typer.Option("--test", help="Test files, likewise.")] = "",
    ratio: Annotated[
        str,
        typer.Option(
            "--ratio", help="Instead: split the sentences of all files in a ratio: 18:1:1."
        ),
    ] = "",
    malformed: Annotated[
        Malformed,
        typer.Option("--malformed", help="If <s> … </s> isn't well-formed: stop, or drop it."),
    ] = Malformed.stop,
    ud: Annotated[
        Path | None,
        typer.Option("--ud", help="UD treebank with heads of the same sentences.", exists=True),
    ] = None,
    report: ReportOption = None,
) -> None:
    """Convert the Vietnamese Treebank.

    Without options, VTB has train, dev and test: folders, or files with any suffix. With --ud,
    sentences have heads if their text is in that treebank, and OUTPUT/ud.spacy has its others.
    """
    given = dict(zip(PARTS, (train, dev, test), strict=True))
    read: Read = partial(read_sentences, drop_malformed=malformed is Malformed.drop)
    with clear_errors("convert"):
        heads = UdHeads(ud) if ud else None
        if heads:
            check_outputs([output / f"{OTHERS}.spacy"], heads.files)
            read = partial(_joined, read, heads)
        if ratio:
            if any(given.values()):
                raise ValueError("give --ratio or the files of each part, not both")
            _convert_by_ratio(vtb, shares(ratio), read, output, report)
            _write_others(heads, output)
            return
        if not vtb.is_dir():
            raise ValueError(
                f"{vtb} is one file: give the --ratio in which to cut it, such as 18:1:1"
            )
        files = {part: named_files(vtb, text or part) for part, text in given.items()}
        convert_parts(files, read, output, "vi", report)
        _write_others(heads, output)
        if rest := set(tree_files(vtb)).difference(*files.values()):
            msg.warn(f"{len(rest)} files of {vtb} are in no split, as {min(rest)}")


def _joined(read: Read, heads: UdHeads, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
    for sentence in read(path, losses):
        joined, fault = heads.join(sentence)
        losses.counts["without heads of UD" if fault else "with heads of UD"] += 1
        yield joined


def _write_others(heads: UdHeads | None, output: Path) -> None:
    if heads is None:
        return
    if not heads.found:
        raise ValueError(f"{heads.files[0].parent} has none of the sentences that have trees")
    others, headless = list[TreebankSentence](), list[Drop]()
    for sentence, faults in heads.others():
        others.append(sentence)
        headless += faults
    write_parts({OTHERS: others}, output, "vi")
    finish({OTHERS: counts_of(others, headless=headless)}, None)


def _convert_by_ratio(
    vtb: Path, ratio: list[int], read: Read, output: Path, report: Path | None
) -> None:
    paths, losses = tree_files(vtb), Losses()
    check_parts(output, report, paths)
    sentences = [sentence for path in paths for sentence in read(path, losses)]
    parts = dict(zip(PARTS, map(list, cut(sentences, ratio)), strict=True))
    for (part, of_part), share in zip(parts.items(), ratio, strict=True):
        if not of_part:
            raise ValueError(f"{part}: no sentences in {share}/{sum(ratio)} of {vtb}")
    results: dict[str, Counts] = {part: counts_of(of_part) for part, of_part in parts.items()}
    results["all"] = counts_of(sentences, losses.dropped) | {"files": len(paths), **shown(losses)}
    write_parts(parts, output, "vi")
    finish(results, report)
