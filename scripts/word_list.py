"""Right words and how often each is in text, by which `gec_detector` knows misspellings."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.formats.files import read_text, write_whole
from spacy_lal.ged.component import WORD_COUNT as LEAST
from spacy_lal.ged.near_words import NearWords
from spacy_lal.ged.spelling import LETTERS

RARE = 25
"""A word that is so often in the text is right."""
TIMES = 100
"""How many times as frequent the word is that a misspelling stands for."""

_SMALL = re.compile(r"(?<![\w'’-])[a-z]+(?![\w'’-])")


app = typer.Typer(add_completion=False)


@app.command()
def english(
    dictionary: Annotated[Path, typer.Argument(help="Lines that begin with a word.")],
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.")],
    output: Annotated[Path, typer.Argument(help="Lines of a word and its count.")],
) -> None:
    """Write the words of a dictionary and those of a text in small letters, except rare ones that
    are like a word of the dictionary that is much more frequent."""
    entries = (line.split() for line in read_text(dictionary).split("\n"))
    right = {entry[0] for entry in entries if entry and entry[0].isalpha()}
    counts = Counter(_SMALL.findall(read_text(text)))
    words = {word: max(LEAST, counts[word]) for word in right}
    dropped, listed = 0, NearWords(right)
    for word, count in counts.items():
        if word in right or count < LEAST:
            continue
        others = listed.of([word], LETTERS)
        near = max((counts[other] for other in others), default=0)
        if count < RARE and near > TIMES * count:
            dropped += 1
        else:
            words[word] = count
    write(words, output)
    msg.good(f"{len(words):,} words in {output}; {dropped:,} look like misspellings")


@app.command()
def frequent(
    lang: Annotated[str, typer.Argument(help="Language code of wordfreq.")],
    output: Annotated[Path, typer.Argument(help="Lines of a word and a number, by rank.")],
    most: Annotated[int, typer.Option(help="How many words.")] = 100_000,
) -> None:
    """Write the most frequent words of a language that the package wordfreq knows."""
    try:
        from wordfreq import top_n_list
    except ImportError:
        msg.fail("this needs wordfreq: pip install wordfreq", exits=1)
    known = (word for word in top_n_list(lang, 2 * most) if word.isalpha())
    words = {word: LEAST + most - k for k, word in enumerate(islice(known, most))}
    write(words, output)
    msg.good(f"{len(words):,} words in {output}")


def write(words: dict[str, int], output: Path) -> None:
    """Write words and counts, the most frequent first."""
    output.parent.mkdir(parents=True, exist_ok=True)
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    write_whole(output, "".join(f"{word} {count}\n" for word, count in ranked))


if __name__ == "__main__":
    app()
