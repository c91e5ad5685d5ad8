"""Right English words and how often each is in a text, by which `gec_detector` knows misspellings.

A word of a dictionary counts at least `LEAST`. Another word of the text, in small letters, is right
unless it is rare and like a word of the dictionary that is much more frequent.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.formats.files import read_text, write_whole
from spacy_lal.ged.component import WORD_COUNT as LEAST
from spacy_lal.ged.spelling import similar

RARE = 25
"""A word that is so often in the text is right."""
TIMES = 100
"""How many times as frequent the word is that a misspelling stands for."""

_SMALL = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")


def main(
    dictionary: Annotated[Path, typer.Argument(help="Lines that begin with a word.")],
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.")],
    output: Annotated[Path, typer.Argument(help="Lines of a word and its count.")],
) -> None:
    """Write the right words, the most frequent first."""
    entries = (line.split() for line in read_text(dictionary).split("\n"))
    right = {entry[0] for entry in entries if entry and entry[0].isalpha()}
    counts = Counter(_SMALL.findall(read_text(text)))
    words = {word: max(LEAST, counts[word]) for word in right}
    dropped = 0
    for word, count in counts.items():
        if word in right or count < LEAST:
            continue
        near = max((counts[other] for other in right.intersection(next(similar(word)))), default=0)
        if count < RARE and near > TIMES * count:
            dropped += 1
        else:
            words[word] = count
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    write_whole(output, "".join(f"{word} {count}\n" for word, count in ranked))
    msg.good(f"{len(words):,} words in {output}; {dropped:,} look like misspellings")


if __name__ == "__main__":
    typer.run(main)
