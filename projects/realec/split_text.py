"""Split lines of text, in random order, into files of given numbers of words.

    python split_text.py TEXT OUTPUT --seed 5 --aside 60000=edited.txt [--plain 0.87]
        [--words 8000000]

OUTPUT gets the lines that aren't set aside: with --plain those in plain words, as learners write;
with --words only so many words. No line is in two files.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.formats.files import OPENERS, read_text

COMMON = 3_000
"""Number of TEXT's words that are common."""

_WORD = re.compile(r"[^\W\d_]+")


def main(
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The file to write, plain or compressed.")],
    aside: Annotated[
        list[str] | None, typer.Option(help="WORDS=FILE: so many words are for this file.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the order.")] = 1,
    plain: Annotated[
        float,
        typer.Option(
            help=f"Of a line's words the share that is among the {COMMON:,} most frequent.",
            min=0,
            max=1,
        ),
    ] = 0,
    words: Annotated[int, typer.Option(help="How many words OUTPUT has; 0: all.", min=0)] = 0,
) -> None:
    """Shuffle TEXT, set words aside, and write the rest to OUTPUT."""
    files: list[tuple[Path, int]] = []
    for entry in aside or ():
        count, equals, path = entry.partition("=")
        if not (equals and path and count.isdecimal()):
            raise typer.BadParameter(f"expected WORDS=FILE, found {entry!r}")
        files.append((Path(path), int(count)))
    lines = read_text(text).split("\n")
    lines = [line for line in lines if line.strip()]
    random.Random(seed).shuffle(lines)
    parts = []
    for file, count in files:
        part = taken(lines, count)
        parts.append((file, part))
        # drops the second copy of a line
        there = set(part)
        lines = [line for line in lines if line not in there]
    if not lines:
        raise typer.BadParameter(f"{text} has no more words than are to be set aside")
    if plain:
        lines = plain_lines(lines, plain)
        if not lines:
            raise typer.BadParameter(f"{text} has no line that is so plain: --plain {plain}")
    if words:
        lines = taken(lines, words)
    for file, part in [*parts, (output, lines)]:
        write(part, file)


def plain_lines(lines: Sequence[str], share: float) -> list[str]:
    """Return the lines in which at least such a share of the words is common."""
    found = [_WORD.findall(line.lower()) for line in lines]
    counts = Counter(word for words in found for word in words)
    common = {word for word, _ in counts.most_common(COMMON)}
    return [
        line
        for line, words in zip(lines, found, strict=True)
        if words and sum(word in common for word in words) >= share * len(words)
    ]


def taken(lines: list[str], words: int) -> list[str]:
    """Remove lines from the end until they have so many words, and return them."""
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
