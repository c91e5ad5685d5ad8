"""Parallel files of sentences and their corrections, one tokenised sentence a line, as in JFLEG.

Edits come from an alignment of a sentence's words with its correction's.
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
"""Cost of a deletion or insertion of a word."""
SWAP = 1000
"""Cost of a swap of two neighbours."""


@dataclass(frozen=True, kw_only=True)
class ParallelSentences(Corrections):
    """Learners' sentences, one per line, and --corrected files with corrections of these lines."""

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
    """Yield the sentences of one file, with edits from each corrected file; annotators count from
    0. The files may be compressed. Raises FormatError for files with different numbers of lines."""
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
    """Return the words of every line; a line end at the end of the file begins no other line."""
    return [words_of(line) for line in read_text(path).removesuffix("\n").split("\n")]


@lru_cache(maxsize=100_000)
def substitution(word: str, other: str) -> int:
    """Return the cost of a substitution: 0 for the same word, otherwise 500 to 1500. It falls with
    the share of common letters at both ends, regardless of case, and is always less than the cost
    of a deletion and an insertion."""
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
    """Return the cheapest edits from one sentence to the other, in order. Types are M for an
    insertion (of all words at one place), U for a deletion, R for a substitution, and ERRANT's R:WO
    for a swap."""
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
    """Return the sizes of the last step of the cheapest edits of the first i and j words. Ties
    prefer to keep or replace a word, then to swap two, then to leave one out."""
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
