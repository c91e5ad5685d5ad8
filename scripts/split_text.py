"""Lines of text in random order, with some words of them set aside in files of their own.

    python scripts/split_text.py TEXT OUTPUT --seed 5 --aside 60000=edited.txt

OUTPUT has what is left. No line is in two files, and every file ends with a whole line.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.treebanks.files import OPENERS, read_text


def main(
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The file to write, plain or compressed.")],
    aside: Annotated[
        list[str] | None, typer.Option(help="WORDS=FILE: so many words are for this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order.")] = 1,
) -> None:
    """Shuffle TEXT, set words aside, and write the rest to OUTPUT."""
    files: list[tuple[Path, int]] = []
    for entry in aside or ():
        words, equals, path = entry.partition("=")
        if not (equals and path and words.isdecimal()):
            raise typer.BadParameter(f"expected WORDS=FILE, found {entry!r}")
        files.append((Path(path), int(words)))
    lines = read_text(text).split("\n")
    lines = [line for line in lines if line.strip()]
    random.Random(seed).shuffle(lines)
    parts = []
    for path, words in files:
        part = taken(lines, words)
        parts.append((path, part))
        # a line that comes twice in TEXT
        there = set(part)
        lines = [line for line in lines if line not in there]
    if not lines:
        raise typer.BadParameter(f"{text} has no more words than are to be set aside")
    for path, part in [*parts, (output, lines)]:
        write(part, path)


def taken(lines: list[str], words: int) -> list[str]:
    """Lines from the end, which are removed there, until they have so many words."""
    chosen: list[str] = []
    while lines and words > 0:
        chosen.append(lines.pop())
        words -= len(chosen[-1].split())
    return chosen


def write(lines: list[str], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with OPENERS.get(path.suffix, open)(path, "wt", encoding="utf8") as file:
        file.writelines(f"{line}\n" for line in lines)
    words = sum(len(line.split()) for line in lines)
    msg.good(f"{path}: {len(lines):,} lines, {words:,} words")


if __name__ == "__main__":
    typer.run(main)
