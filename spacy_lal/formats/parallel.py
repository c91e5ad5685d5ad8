"""Sentences and what they should have been, line by line in files beside each other, as JFLEG has
them: one tokenised sentence a line, in the same order in all files.

What was done to each sentence is read off an alignment of its words with the correction's.
https://github.com/keisks/jfleg
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from .files import FormatError, read_text
from .m2 import Corrections, Edit, M2Sentence, words_of

WORD = 1000
"""What it costs to leave out a word, or to put one in."""
SWAP = 1000
"""What it costs to swap two neighbours."""


@dataclass(frozen=True, kw_only=True)
class ParallelSentences(Corrections):
    """Learners' sentences, one a line, and --corrected files with the same lines."""

    corrected: Annotated[list[Path], "A file of corrected sentences; repeat it for several."]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        files = list(super().sources(inputs))
        if len(files) != 1:
            raise ValueError(f"--corrected needs one file of original sentences: got {len(files)}")
        return [*files, *self.corrected]

    def edited(self, path: Path) -> Iterator[M2Sentence]:
        for corrected in self.corrected:
            if not read_text(corrected).strip():
                raise ValueError(f"no sentences in {corrected}")
        return read_parallel(path, self.corrected)


def read_parallel(original: str | Path, corrected: Sequence[str | Path]) -> Iterator[M2Sentence]:
    """The sentences of one file, with edits from each corrected one, its annotators from 0.

    A line without words is a sentence, without words. The files may be compressed.
    Raises FormatError for files with different numbers of lines.
    """
    ours = _lines(original)
    theirs = [_lines(path) for path in corrected]
    for path, lines in zip(corrected, theirs, strict=True):
        if len(lines) != len(ours):
            message = f"{len(lines)} lines, but {len(ours)} in {original}"
            raise FormatError(message, str(path), min(len(lines), len(ours)) + 1)
    for number, (words, *others) in enumerate(zip(ours, *theirs, strict=True), start=1):
        yield M2Sentence(
            words=words,
            edits=[
                edit._replace(annotator=annotator)
                for annotator, other in enumerate(others)
                for edit in edits_between(words, other)
            ],
            source=str(original),
            line=number,
            annotators=frozenset(range(len(others))),
        )


def _lines(path: str | Path) -> list[list[str]]:
    """The words of every line; a line end at the end of the file begins no other line."""
    return [words_of(line) for line in read_text(path).removesuffix("\n").split("\n")]


@lru_cache(maxsize=100_000)
def substitution(word: str, other: str) -> int:
    """What it costs to put `other` for `word`: 0 for the same word, otherwise 500 to 1500.

    The less they have in common at both ends, capitals or not, the more; always less than to leave
    out one and put in the other.
    """
    if word == other:
        return 0
    word, other = word.lower(), other.lower()
    shorter, longer = sorted((len(word), len(other)))
    start = 0
    while start < shorter and word[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and word[-end - 1] == other[-end - 1]:
        end += 1
    return WORD // 2 + WORD * (longer - start - end) // longer


def edits_between(words: Sequence[str], corrected: Sequence[str]) -> list[Edit]:
    """The cheapest edits that make one sentence the other, in order, none for the same.

    Their types are M for words put in (all that stand at one place are one edit), U for a word left
    out, R for a word put for another, and R:WO, as ERRANT calls it, for neighbours swapped.
    """
    ways = _ways(words, corrected)
    edits: list[Edit] = []
    i, j = len(words), len(corrected)
    while i or j:
        rows, columns = ways[i][j]
        text = " ".join(corrected[j - columns : j])
        if rows == columns == 1:
            if words[i - 1] != corrected[j - 1]:
                edits.append(Edit(i - 1, i, "R", text))
        elif rows == 2:
            edits.append(Edit(i - 2, i, "R:WO", text))
        elif rows == 1:
            edits.append(Edit(i - 1, i, "U", ""))
        elif edits and edits[-1].start == edits[-1].end == i:
            edits[-1] = Edit(i, i, "M", f"{text} {edits[-1].correction}")
        else:
            edits.append(Edit(i, i, "M", text))
        i, j = i - rows, j - columns
    return edits[::-1]


def _ways(words: Sequence[str], corrected: Sequence[str]) -> list[list[tuple[int, int]]]:
    """How the cheapest edits of the first i and j words end: how many of each the last step takes.

    Of steps that cost the same: first keep or replace a word, then swap two, then leave one out.
    """
    costs = [[WORD * j for j in range(len(corrected) + 1)]]
    ways = [[(0, 1)] * (len(corrected) + 1)]
    lower, others = ([word.lower() for word in line] for line in (words, corrected))
    for i, word in enumerate(words, start=1):
        row, steps = [WORD * i], [(1, 0)]
        above = costs[-1]
        for j, other in enumerate(corrected, start=1):
            cost, step = above[j - 1] + substitution(word, other), (1, 1)
            if (
                min(i, j) > 1
                and lower[i - 1] == others[j - 2]
                and lower[i - 2] == others[j - 1]
                and costs[i - 2][j - 2] + SWAP < cost
            ):
                cost, step = costs[i - 2][j - 2] + SWAP, (2, 2)
            if above[j] + WORD < cost:
                cost, step = above[j] + WORD, (1, 0)
            if row[j - 1] + WORD < cost:
                cost, step = row[j - 1] + WORD, (0, 1)
            row.append(cost)
            steps.append(step)
        costs.append(row)
        ways.append(steps)
    return ways
