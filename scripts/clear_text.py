"""Open text without the sentences of treebanks, and a sample of it.

A line is dropped if it contains a treebank's sentence, or too long a stretch of one to be chance.
Letters and digits alone are compared, in lower case.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from spacy_lal.formats.conllu import read_conllu
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.formats.files import OPENERS, read_text
from spacy_lal.formats.penn_brackets import TRACE, parse_treebank
from spacy_lal.formats.props import column_rows
from spacy_lal.formats.treebank_sentence import language_vocab
from spacy_lal.trees.brackets import ptb_unescape

LEAST_WORDS = 6
"""Least words of a sentence that is looked for; shorter ones are in many texts."""
STRETCH = 45
"""Letters and digits, some nine words, of a stretch that no other text has by chance."""
BEGINNING = 16
"""Letters of a sentence's beginning that it is looked up by."""
BLOCK = 60
"""Lines that are sampled together, as text comes in documents."""

_WORD = re.compile(r"[^\W_]+")


def main(
    text: Annotated[Path, typer.Argument(help="Lines of text, plain or compressed.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The file to write, plain or compressed.")],
    against: Annotated[
        list[str],
        typer.Option(
            help="NAME=PATH of a treebank: a file, or a folder and a pattern, as gum=GUM/*.conllu"
        ),
    ],
    sample: Annotated[int, typer.Option(help="Words to keep, in blocks; 0 for all.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the sample.")] = 1,
) -> None:
    """Write TEXT without lines that hold a sentence of a treebank; print how many, and of which."""
    known = Known()
    for entry in against:
        name, equals, path = entry.partition("=")
        if not equals:
            raise typer.BadParameter(f"expected NAME=PATH, found {entry!r}")
        files = found(Path(path))
        if not files:
            raise typer.BadParameter(f"no file {path}")
        for file in files:
            known.add(name, sentences(file))
    lines, words, dropped = 0, 0, Counter[tuple[str, str]]()
    blocks: dict[int, list[str]] = defaultdict(list)
    with OPENERS.get(text.suffix, open)(text, "rt", encoding="utf8") as source:
        for number, line in enumerate(source):
            lines += 1
            if match := known.find(line):
                dropped[match] += 1
            else:
                words += len(line.split())
                blocks[number // BLOCK].append(line)
    gone = dropped.total()
    msg.table(
        [
            (
                name,
                f"{known.counts[name]:,}",
                *(f"{dropped[name, how]:,}" for how in ("sentence", "stretch")),
            )
            for name in known.counts
        ],
        header=("", "sentences", "lines that hold one", "a stretch of one"),
        divider=True,
        aligns=("l", "r", "r", "r"),
    )
    msg.good(f"{lines - gone:,} of {lines:,} lines stay, {words:,} words; {gone:,} dropped")
    chosen = sorted(sampled(blocks, sample, random.Random(seed)) if sample else blocks)
    output.parent.mkdir(parents=True, exist_ok=True)
    total = 0
    with OPENERS.get(output.suffix, open)(output, "wt", encoding="utf8") as out:
        for block in chosen:
            out.writelines(blocks[block])
            total += sum(len(line.split()) for line in blocks[block])
    msg.good(f"{total:,} words of {len(chosen):,} blocks in {output}")


@dataclass
class Known:
    """Sentences to look for. A line with sentences of several treebanks counts for the first."""

    counts: Counter[str] = field(default_factory=Counter)
    _sentences: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    _stretches: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, texts: Iterable[str]) -> None:
        for text in texts:
            letters, starts = normalised(text)
            if len(text.split()) < LEAST_WORDS or len(letters) < BEGINNING:
                continue
            self.counts[name] += 1
            self._sentences[letters[:BEGINNING]].append((letters, name))
            for start in starts:
                if start + STRETCH <= len(letters):
                    self._stretches.setdefault(letters[start : start + STRETCH], name)

    def find(self, line: str) -> tuple[str, str] | None:
        """Return the treebank whose sentence, or stretch of one, the line holds."""
        letters, starts = normalised(line)
        stretch = None
        for start in starts:
            for sentence, name in self._sentences.get(letters[start : start + BEGINNING], ()):
                if letters.startswith(sentence, start):
                    return name, "sentence"
            if stretch is None:
                stretch = self._stretches.get(letters[start : start + STRETCH])
        return None if stretch is None else (stretch, "stretch")


def normalised(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text, and the starts of words in them."""
    starts, position = [], 0
    words = _WORD.findall(text.lower())
    for word in words:
        starts.append(position)
        position += len(word)
    return "".join(words), starts


def sentences(path: Path) -> Iterator[str]:
    """Yield the sentences of a file: CoNLL-U, .gold_conll, .spacy, brackets, or lines."""
    kinds = path.suffixes
    if ".spacy" in kinds:
        for doc in read_spacy(path, language_vocab("en")):
            yield from (sentence.text for sentence in doc.sents)
    elif ".conllu" in kinds:
        for read in read_conllu(path):
            spaces = (" " if space else "" for space in read.spaces)
            yield "".join(map("".join, zip(read.words, spaces, strict=True)))
    elif ".gold_conll" in kinds:
        # MASC's: document, sentence, token, word, tag
        for *_, rows in column_rows(read_text(path)):
            yield " ".join(ptb_unescape(row[3]) for row in rows if row[4] not in ("CODE", "SU"))
    elif {".brackets", ".mrg", ".tree", ".ptb"}.intersection(kinds):
        for tree in parse_treebank(read_text(path), source=str(path)):
            yield " ".join(word for word, tag in tree.tagged if tag != TRACE)
    else:
        yield from read_text(path).split("\n")


def found(path: Path) -> list[Path]:
    """Return the file, all files of a folder, or those that match a pattern."""
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.is_file())
    return [path] if path.exists() else sorted(path.parent.glob(path.name))


def sampled(blocks: dict[int, list[str]], words: int, rng: random.Random) -> list[int]:
    """Return numbers of blocks of about so many words."""
    order = list(blocks)
    rng.shuffle(order)
    chosen = []
    for block in order:
        if words <= 0:
            break
        chosen.append(block)
        words -= sum(len(line.split()) for line in blocks[block])
    return chosen


if __name__ == "__main__":
    typer.run(main)
