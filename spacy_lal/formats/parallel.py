"""Parallel files of sentences and their corrections, one tokenised sentence a line, as in JFLEG.

Edits come from an alignment of a sentence's words with its correction's.
https://github.com/keisks/jfleg
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Annotated

import spacy
from spacy.tokens import Doc

from .edit_kinds import kind_of
from .files import FormatError, read_text
from .m2 import Corrections, Edit, M2Sentence, words_of

Place = tuple[int, int]

WORD = 1000
"""Cost of a deletion or insertion of a word."""
SWAP = 1000
"""Cost of a swap of two neighbours."""


@dataclass(frozen=True, kw_only=True)
class ParallelSentences(Corrections):
    """Learners' sentences, one per line, and --corrected files with corrections of these lines."""

    corrected: Annotated[list[Path], "A file of corrected sentences; repeat it for several."]
    tagger: Annotated[str, "An English pipeline by whose tags --types full has kinds."] = ""

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        files = list(super().sources(inputs))
        if len(files) != 1:
            raise ValueError(f"--corrected needs one file of original sentences: got {len(files)}")
        return [*files, *self.corrected]

    def edited(self, text: str, source: str) -> Iterator[M2Sentence]:
        """Yield the sentences, with edits from each corrected file, its annotators from 0. Raises
        FormatError for files with different numbers of lines."""
        ours = _lines(text)
        theirs = [_lines(read_text(path)) for path in self.corrected]
        for path, lines in zip(self.corrected, theirs, strict=True):
            if not any(lines):
                raise ValueError(f"no sentences in {path}")
            if len(lines) != len(ours):
                message = f"{len(lines)} lines, but {len(ours)} in {source}"
                raise FormatError(message, str(path), min(len(lines), len(ours)) + 1)
        found = [
            [
                edit._replace(annotator=annotator)
                for annotator, other in enumerate(others)
                for edit in edits_between(words, other)
            ]
            for words, *others in zip(ours, *theirs, strict=True)
        ]
        if self.tagger:
            _name(found, ours, theirs, self.tagger)
        for number, (words, edits) in enumerate(zip(ours, found, strict=True), start=1):
            yield M2Sentence(words=words, edits=edits, line=number)


def _name(
    found: list[list[Edit]],
    ours: Sequence[list[str]],
    theirs: Sequence[list[list[str]]],
    model: str,
) -> None:
    """Put kinds behind the edits' operations, by the tags of a pipeline and by the words of all
    corrections, others being misspelled."""
    nlp = spacy.load(model)
    tags, *others = (
        [[token.tag_ for token in doc] for doc in nlp.pipe(Doc(nlp.vocab, line) for line in lines)]
        for lines in (ours, *theirs)
    )
    known = {word.lower() for lines in theirs for line in lines for word in line}
    for number, edits in enumerate(found):
        moved = [0] * len(theirs)
        for at, edit in enumerate(edits):
            right = (edit.correction or "").split()
            start = edit.start + moved[edit.annotator]
            moved[edit.annotator] += len(right) - (edit.end - edit.start)
            kind = kind_of(
                ours[number][edit.start : edit.end],
                right,
                tags[number][edit.start : edit.end],
                others[edit.annotator][number][start : start + len(right)],
                known,
            )
            edits[at] = edit._replace(type=f"{edit.operation}:{kind}")


def _lines(text: str) -> list[list[str]]:
    """Return the words of every line; a line end at the end of the file begins no other line."""
    return [words_of(line) for line in text.removesuffix("\n").split("\n")]


@lru_cache(maxsize=100_000)
def substitution(word: str, other: str) -> int:
    """Return the cost of a substitution: 0 for the same word, otherwise 500 to 1500. It falls with
    the share of common letters at both ends, regardless of case, and is always less than the cost
    of a deletion and an insertion."""
    if word == other:
        return 0
    word, other = word.lower(), other.lower()
    _, old, new = apart(word, other)
    return WORD // 2 + WORD * max(len(old), len(new)) // max(len(word), len(other))


def in_common(one: Sequence[str], two: Sequence[str]) -> int:
    """Return the length of the common beginning of two words or sentences."""
    pairs = enumerate(zip(one, two, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(two)))


def apart(one: str, other: str) -> tuple[int, str, str]:
    """Return the length of the common beginning of two words, and what is between it and their
    common end in each."""
    start = in_common(one, other)
    end = in_common(one[start:][::-1], other[start:][::-1])
    return start, one[start : len(one) - end], other[start : len(other) - end]


def edits_between(words: Sequence[str], corrected: Sequence[str]) -> list[Edit]:
    """Return the cheapest edits from one sentence to the other, in order. Types are M for an
    insertion (of all words at one place), U for a deletion, R for a substitution, and ERRANT's R:WO
    for a swap."""
    ways = _ways(words, corrected)
    edits: list[Edit] = []
    i, j = len(words), len(corrected)
    while i or j:
        rows, columns = ways[i, j]
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


def _ways(words: Sequence[str], corrected: Sequence[str]) -> dict[Place, Place]:
    """Return the sizes of the last step of the cheapest edits of the first i and j words. Ties
    prefer to keep or replace a word, then to swap two, then to leave one out."""
    lower, others = ([word.lower() for word in line] for line in (words, corrected))
    costs = {(0, 0): 0}
    ways: dict[Place, Place] = {}
    for i, j in product(range(len(words) + 1), range(len(corrected) + 1)):
        steps: dict[Place, int] = {}
        if i and j:
            steps[1, 1] = costs[i - 1, j - 1] + substitution(words[i - 1], corrected[j - 1])
        if min(i, j) > 1 and lower[i - 2 : i] == [others[j - 1], others[j - 2]]:
            steps[2, 2] = costs[i - 2, j - 2] + SWAP
        if i:
            steps[1, 0] = costs[i - 1, j] + WORD
        if j:
            steps[0, 1] = costs[i, j - 1] + WORD
        if steps:
            ways[i, j] = min(steps, key=steps.__getitem__)
            costs[i, j] = steps[ways[i, j]]
    return ways
