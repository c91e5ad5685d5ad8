"""PropBank's columns: skeletons (`.gold_skel`), whose words are masked, and `.gold_conll`.

A row is a token, a blank line ends a sentence. Columns between any whitespace: file or document,
sentence, token, word or [WORD], tag, parse bit, predicate lemma, roleset, and one column for each
predicate. The command converts skeletons with words from a parallel file.
https://github.com/propbank/propbank-release
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from spacy_lal.annotations import FrameSpans
from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import read_conllu, to_sentence
from spacy_lal.formats.files import FormatError, read_text
from spacy_lal.formats.props import (
    NO_PREDICATE,
    check_columns,
    column_rows,
    sentence_frames,
    tree_phrases,
)
from spacy_lal.formats.treebank_format import Drop, Files, Lang, Losses, Part, Pattern
from spacy_lal.formats.treebank_sentence import TreebankSentence
from spacy_lal.trees.tree import LabelledSpan

CONLLU_SUFFIXES = frozenset({".conllu", ".conllx", ".conll"})
"""Suffixes of CoNLL-U and CoNLL-X files."""

_FIXED = 8


@dataclass(frozen=True)
class PropbankSentence:
    """A sentence in PropBank's columns.

    document, number: first two columns. line: line of the first token. spans: phrases in preorder,
    without the root, None if the parse bits don't match. frames: None if a Doc can't hold one of
    them. left_out: such trees and frames.
    """

    document: str
    number: str
    line: int
    words: list[str]
    tags: list[str]
    spans: list[LabelledSpan] | None
    frames: list[FrameSpans] | None
    left_out: list[Drop] = field(default_factory=list)


def parse_propbank(
    text: str, *, source: str = "<string>", broken_trees: bool = False
) -> Iterator[PropbankSentence]:
    """Yield the sentences of a file. Raises FormatError. broken_trees: whether to leave out trees
    whose parse bits don't match, instead of an error."""
    for columns in column_rows(text, source):
        _, line, rows = columns
        rolesets = ["" if row[7:8] in ([], [NO_PREDICATE]) else row[7] for row in rows]
        check_columns(columns, _FIXED, sum(map(bool, rolesets)))
        spans, left_out = None, list[Drop]()
        try:
            spans = tree_phrases([row[5] for row in rows], source=source, line=line)
        except FormatError as error:
            if not broken_trees:
                raise
            left_out.append((f"{source}:{error.line}", f"tree: {error.message}"))
        roles = [row[_FIXED:] for row in rows]
        frames = sentence_frames(roles, rolesets, left_out, source=source, line=line)
        words, tags = ([row[column] for row in rows] for column in (3, 4))
        document, number = rows[0][:2]
        yield PropbankSentence(document, number, line, words, tags, spans, frames, left_out)


@dataclass(frozen=True, kw_only=True)
class Propbank(Files):
    """PropBank's skeletons, a file or folders of .gold_skel, with words from another file.

    Tags, trees and roles are the skeleton's; spaces, lemmas and heads are CoNLL-U's.
    """

    lang: Lang = "en"
    pattern: Pattern = "*.gold_skel"
    words: Annotated[Path, "CoNLL-U or one tokenised sentence per line, in the skeletons' order."]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), self.words]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        """Read the skeletons. Raises FormatError where they and the words aren't parallel."""
        part, words = Part([], Losses()), str(self.words)
        masked = (
            (str(path), sentence)
            for path in super().sources(inputs)
            for sentence in parse_propbank(read_text(path), source=str(path))
        )
        for known, read in zip_longest(masked, self._words()):
            before = len(part.sentences)
            if known is None:
                message = f"the skeletons have only {before} sentences, and this is another"
                raise FormatError(message, words, read[0])
            path, skeleton = known
            if read is None:
                message = f"{words} has only {before} sentences, and this is another"
                raise FormatError(message, path, skeleton.line)
            line, sentence, fault = read
            if len(sentence.words) != len(skeleton.tags):
                tokens = f"{len(skeleton.tags)} tokens in the same sentence"
                message = f"{len(sentence.words)} words, but {tokens} at {path}:{skeleton.line}"
                raise FormatError(message, words, line)
            if fault:
                part.losses.left_out["without heads"].append((f"{words}:{line}", fault))
            part.losses.left_out["frames left out"] += skeleton.left_out
            part.sentences.append(with_skeleton(sentence, skeleton))
        if not part.sentences:
            raise ValueError(f"no sentences in {', '.join(map(str, inputs))}")
        return {"": part}

    def _words(self) -> Iterator[tuple[int, TreebankSentence, str]]:
        if CONLLU_SUFFIXES.intersection(self.words.suffixes):
            for read in read_conllu(self.words):
                yield read.line, *to_sentence(read)
            return
        for line, text in enumerate(read_text(self.words).split("\n"), start=1):
            if words := text.split():
                yield line, TreebankSentence(words=words), ""


def with_skeleton(sentence: TreebankSentence, skeleton: PropbankSentence) -> TreebankSentence:
    return replace(
        sentence, tags=skeleton.tags, constituents=skeleton.spans, frames=skeleton.frames
    )


if __name__ == "__main__":
    typer.run(command(Propbank))
