"""Train, dev and test of a treebank: which files are in which, and heads or tags from CoNLL-X files
that have the same sentences in the same order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from . import conllu
from .docs import TreebankSentence
from .files import FormatError
from .head_rules import HeadRules
from .props import Drop

PARTS = ("train", "dev", "test")
"""The parts of a treebank."""


class Take(StrEnum):
    """What to read from CoNLL-X files."""

    heads = "heads"
    tags = "tags"
    both = "both"


@dataclass(frozen=True)
class Annotation:
    """Where heads and tags come from.

    conllx: the folder of {train,dev,test}.conllx, "" for none. take: what to read from them.
    unescape: what their words must undergo to be the treebank's. rules: where they give no heads.
    """

    conllx: str = ""
    take: Take = Take.heads
    unescape: Callable[[str], str] = str
    rules: HeadRules = HeadRules.none

    def file(self, part: str) -> Path | None:
        """The file of a part, there or not. Raises FileNotFoundError if there is no folder."""
        if not self.conllx:
            return None
        if not Path(self.conllx).is_dir():
            raise FileNotFoundError(f"no folder {self.conllx} of CoNLL-X files")
        return Path(self.conllx) / f"{part}.conllx"

    @property
    def rules_in_use(self) -> HeadRules:
        """None where heads are read: rules never fill gaps, which would mix two schemes."""
        given = bool(self.conllx) and self.take is not Take.tags
        return HeadRules.none if given else self.rules


def numbers(text: str, kind: str = "sections") -> list[int]:
    """ "2-4,24" is 2, 3, 4 and 24. Raises ValueError, which calls them `kind`."""
    found: list[int] = []
    for part in text.split(","):
        first, hyphen, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not hyphen)):
            raise ValueError(f"{kind} {text!r}: write them as 02-21 or 00,24")
        if int(last or first) < int(first):
            raise ValueError(f"{kind} {text!r}: {part.strip()} goes backwards")
        found += range(int(first), int(last or first) + 1)
    return found


def merge(
    sentences: Sequence[TreebankSentence],
    path: Path,
    take: Take,
    unescape: Callable[[str], str] = str,
) -> tuple[list[TreebankSentence], list[Drop]]:
    """The sentences with what a CoNLL-X file says, and which have no usable heads there.

    Raises FormatError at the first place where the words aren't the same.
    """
    merged: list[TreebankSentence] = []
    headless: list[Drop] = []
    for row in conllu.read_conllu(path):
        source, line = row.source, row.line
        if len(merged) == len(sentences):
            raise FormatError(
                f"this file has more sentences than the treebank, which has {len(sentences)}",
                source=source,
                line=line,
            )
        sentence = sentences[len(merged)]
        if [unescape(word) for word in row.words] != list(sentence.words):
            raise FormatError(
                f"sentence {len(merged) + 1} is {' '.join(row.words)!r} here and "
                f"{' '.join(sentence.words)!r} in the treebank",
                source=source,
                line=line,
            )
        predicted, fault = conllu.to_sentence(row)
        if take is not Take.tags:
            sentence = replace(sentence, heads=predicted.heads, deps=predicted.deps)
            if predicted.heads is None:
                headless.append((f"{source}:{line}", fault or "no heads"))
        if take is not Take.heads:
            if not predicted.tags or not all(predicted.tags):
                raise FormatError(
                    f"sentence {len(merged) + 1} has words without a tag", source=source, line=line
                )
            sentence = replace(sentence, tags=predicted.tags)
        merged.append(sentence)
    if len(merged) != len(sentences):
        raise ValueError(f"{path}: {len(merged)} sentences, the treebank has {len(sentences)}")
    return merged, headless


def check_apart(files: Mapping[str, Sequence[Path]]) -> None:
    """Raises ValueError if two splits have a file in common."""
    owners: dict[Path, str] = {}
    for part, paths in files.items():
        for path in paths:
            owner = owners.setdefault(path.resolve(), part)
            if owner != part:
                raise ValueError(f"{path} is in both {owner} and {part}")
