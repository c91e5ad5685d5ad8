"""PropBank's skeletons of any treebank, and their words from a file that has the same sentences in
the same order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from . import conllu
from .docs import TreebankSentence
from .files import FormatError, read_text
from .props import Drop
from .skeleton import parse_skeleton

CONLLU_SUFFIXES = frozenset({".conllu", ".conllx", ".conll"})
"""What the names of files in CoNLL-U and CoNLL-X end in."""


def read_propbank(
    skeletons: Iterable[str | Path], words: str | Path
) -> Iterator[tuple[TreebankSentence, list[Drop], list[Drop]]]:
    """The sentences of these skeletons in order, with their words; unusable heads, and frames that
    are left out.

    words: CoNLL-U or CoNLL-X by its name, otherwise one tokenised sentence a line, in which blank
    lines don't count. Tags, constituents and frames are the skeleton's; spaces, lemmas, heads and
    the rest are what CoNLL-U says.
    Raises FormatError where the two aren't parallel.
    """
    skeletons = list(skeletons)
    masked = (
        (path, sentence)
        for path in skeletons
        for sentence in parse_skeleton(read_text(path), source=str(path))
    )
    for number, (known, read) in enumerate(zip_longest(masked, _read_words(Path(words))), start=1):
        if known is None:
            if number == 1:
                raise ValueError(f"no sentences in {', '.join(map(str, skeletons))}")
            line = read[0]
            raise FormatError(
                f"this is sentence {number}, and there are only {number - 1} in the skeletons",
                source=str(words),
                line=line,
            )
        path, skeleton = known
        if read is None:
            raise FormatError(
                f"this is sentence {number}, and {words} has only {number - 1}",
                source=str(path),
                line=skeleton.line,
            )
        line, sentence, fault = read
        if len(sentence.words) != len(skeleton.tags):
            raise FormatError(
                f"{len(sentence.words)} words, but {len(skeleton.tags)} tokens in the same "
                f"sentence at {path}:{skeleton.line}",
                source=str(words),
                line=line,
            )
        yield (
            replace(
                sentence,
                tags=skeleton.tags,
                constituents=skeleton.spans,
                frames=skeleton.frames,
            ),
            [(f"{words}:{line}", fault)] if fault else [],
            skeleton.left_out,
        )


def _read_words(path: Path) -> Iterator[tuple[int, TreebankSentence, str]]:
    """Where each sentence begins, the sentence, and why it has no heads ("" if they are fine)."""
    if CONLLU_SUFFIXES.intersection(path.suffixes):
        for read in conllu.read_conllu(path):
            yield read.line, *conllu.to_sentence(read)
        return
    for line, text in enumerate(read_text(path).split("\n"), start=1):
        if words := text.split():
            yield line, TreebankSentence(words=words), ""
