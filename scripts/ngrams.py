"""Counts of n-grams in text, by which `gec_detector` finds errors (`ngram_evidence`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.formats.files import read_text
from spacy_lal.ged.ngrams import LEAST, counted, plain

_APART = re.compile(r"(?<=[^\W\d_])(n't|'(?:s|m|re|ve|ll|d))\b|(?<=\bcan)(?=not\b)")
_TOKEN = re.compile(
    r"\d[\d.,:/]*\d|\d|n't\b|'(?:s|m|re|ve|ll|d)\b|[^\W\d_]+(?:'[^\W\d_]+)*|\.\.\.|[^\w\s]|_"
)
ENDS = frozenset(".?!")


def sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield the tokens of each sentence of lines of text: as spaCy cuts English, nearly."""
    for line in lines:
        words: list[str] = []
        for token in _TOKEN.findall(_APART.sub(r" \g<0>", plain(line))):
            words.append(token)
            if token in ENDS:
                yield words
                words = []
        if words:
            yield words


def main(
    text: Annotated[Path, typer.Argument(help="Lines of correct text, plain or compressed.")],
    output: Annotated[Path, typer.Argument(help="The counts, for `lal edit --ngrams`.")],
    least: Annotated[
        tuple[int, int, int], typer.Option(help="How often a word, a pair, three are there.")
    ] = LEAST,
) -> None:
    """Count the words, pairs and threes of a text."""
    counts = counted(sentences(read_text(text).split("\n")), least)
    output.write_bytes(counts.to_bytes())
    msg.good(f"{counts.total:,} tokens; {output.stat().st_size / 1e6:.1f} MB in {output}")


if __name__ == "__main__":
    typer.run(main)
