"""What the converters of licensed treebanks share: files to splits, heads or tags from CoNLL-X
files that have the same sentences in the same order, and counts of what is left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from wasabi import msg

from spacy_lal.treebanks import brackets, conllu
from spacy_lal.treebanks.docs import Sentence, write_docs
from spacy_lal.treebanks.files import FormatError
from spacy_lal.treebanks.head_rules import HeadRules, heads_by_rules
from spacy_lal.trees import ConstituentTree

PARTS = ("train", "dev", "test")

HEADER = ("", "numbers", "files", "sentences", "words", "from CoNLL-X", "no usable heads", "heads")
SIZES = ("", "from", "sentences", "words", "constituents")
"""The header for treebanks that have no heads."""


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

    def check(self) -> None:
        """Raises FileNotFoundError if the folder isn't there."""
        if self.conllx and not Path(self.conllx).is_dir():
            raise FileNotFoundError(f"no folder {self.conllx} of CoNLL-X files")

    @property
    def gives_heads(self) -> bool:
        """Whether heads are read: then rules never fill gaps, which would mix two schemes."""
        return bool(self.conllx) and self.take is not Take.tags


def numbers(text: str, kind: str = "sections") -> list[int]:
    """ "2-4,24" is 2, 3, 4 and 24. Raises ValueError, which calls them `kind`."""
    found: list[int] = []
    for part in text.split(","):
        first, hyphen, last = part.strip().partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not hyphen)):
            raise ValueError(f"{kind} {text!r}: write them as 02-21 or 00,24")
        found += range(int(first), int(last or first) + 1)
    return found


def to_sentence(
    tree: ConstituentTree, *, spaces: bool = True, rules: HeadRules = HeadRules.none
) -> Sentence | None:
    """A tree's words, tags, bare constituents and, by rules, heads; None if it has no words.

    Rules know no relations; all are "dep".
    """
    cleaned = brackets.clean_tree(tree)
    if cleaned is None:
        return None
    sentence = brackets.to_sentence(cleaned, spaces=spaces)
    if rules is HeadRules.none:
        return sentence
    return replace(sentence, heads=heads_by_rules(cleaned, rules))


def merge(
    sentences: Sequence[Sentence],
    path: Path,
    take: Take,
    unescape: Callable[[str], str] = str,
) -> tuple[list[Sentence], int]:
    """The sentences with what a CoNLL-X file says, and how many have no usable heads there.

    Raises FormatError at the first place where the words aren't the same.
    """
    merged: list[Sentence] = []
    faults = 0
    for row in conllu.read_conllu(path):
        source, line = row.source, row.line
        if len(merged) == len(sentences):
            raise FormatError(
                f"more than the treebank's {len(sentences)} sentences", source=source, line=line
            )
        sentence = sentences[len(merged)]
        if [unescape(word) for word in row.words] != list(sentence.words):
            raise FormatError(
                f"sentence {len(merged) + 1} is {' '.join(row.words)!r} here and "
                f"{' '.join(sentence.words)!r} in the treebank",
                source=source,
                line=line,
            )
        predicted, _ = conllu.to_sentence(row)
        if take is not Take.tags:
            sentence = replace(sentence, heads=predicted.heads, deps=predicted.deps)
            faults += predicted.heads is None
        if take is not Take.heads:
            if not predicted.tags or not all(predicted.tags):
                raise FormatError(
                    f"sentence {len(merged) + 1} has words without a tag", source=source, line=line
                )
            sentence = replace(sentence, tags=predicted.tags)
        merged.append(sentence)
    if len(merged) != len(sentences):
        raise ValueError(f"{path}: {len(merged)} sentences, the treebank has {len(sentences)}")
    return merged, faults


def write_split(
    split: str,
    text: str,
    files: Sequence[Path],
    read: Callable[[Path, HeadRules], Iterable[Sentence]],
    annotation: Annotation,
    output: Path,
    lang: str,
) -> tuple[object, ...]:
    """Write `files` as OUTPUT/SPLIT.spacy, one Doc a sentence. Returns a row of the table.

    text: the numbers as the user wrote them. Raises FormatError, BracketError, OSError, ValueError.
    """
    rules = HeadRules.none if annotation.gives_heads else annotation.rules
    sentences = [sentence for path in files for sentence in read(path, rules)]
    taken, faults, take = "", 0, annotation.take
    if annotation.conllx:
        path = Path(annotation.conllx) / f"{split}.conllx"
        if path.exists():
            sentences, faults = merge(sentences, path, take, annotation.unescape)
            taken = "tags, heads" if take is Take.both else take
        else:
            msg.warn(f"{split}: {path} isn't there, the treebank's annotation stays as it is")
    write_docs(sentences, output / f"{split}.spacy", lang)
    words = sum(len(sentence.words) for sentence in sentences)
    heads = "given" if annotation.gives_heads and taken else f"by rules: {rules}"
    if heads != "given" and rules is HeadRules.none:
        heads = "none"
    return split, text, len(files), len(sentences), words, taken, faults, heads


def sentences_of(
    trees: Iterable[ConstituentTree], *, spaces: bool, rules: HeadRules
) -> Iterator[Sentence]:
    """The sentences of those trees that have words."""
    for tree in trees:
        sentence = to_sentence(tree, spaces=spaces, rules=rules)
        if sentence is not None:
            yield sentence


@dataclass
class Losses:
    """What a conversion leaves out. counts: within sentences; dropped: sentences, by place.

    drop_malformed: leave out sentences that can't be read; otherwise they raise ValueError.
    """

    drop_malformed: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    dropped: list[str] = field(default_factory=list)

    def show(self) -> None:
        """Print all of it."""
        for place in self.dropped:
            msg.warn(f"left out: {place}")
        for kind, count in self.counts.items():
            msg.text(f"{kind}: {count:,}")


def clean_sentences(
    trees: Iterable[brackets.Bracketing],
    losses: Losses,
    *,
    functions: bool = False,
    null_words: re.Pattern[str] | None = None,
) -> Iterator[Sentence]:
    """The sentences of those trees that have words (see `brackets.clean_tree`).

    Raises ValueError for a malformed one, unless `losses` says that it may be dropped.
    """
    for place, tree, fault in trees:
        if fault and not losses.drop_malformed:
            raise ValueError(f"{place}: {fault}")
        cleaned = tree and brackets.clean_tree(tree, functions=functions, null_words=null_words)
        if tree is None or cleaned is None:
            losses.dropped.append(f"{place}: {fault or 'no words'}")
            continue
        before, after = _sizes(tree), _sizes(cleaned)
        losses.counts["empty elements removed"] += before[0] - after[0]
        losses.counts["phrases removed that had no words"] += before[1] - after[1]
        yield brackets.to_sentence(cleaned)


def _sizes(tree: ConstituentTree) -> tuple[int, int]:
    """Numbers of words and of phrases."""
    words = len(tree.leaves)
    return words, sum(1 for _ in tree.preorder()) - words


def check_apart(files: Mapping[str, Sequence[Path]]) -> None:
    """Raises ValueError if two splits have a file in common."""
    owners: dict[Path, str] = {}
    for part, paths in files.items():
        for path in paths:
            owner = owners.setdefault(path.resolve(), part)
            if owner != part:
                raise ValueError(f"{path} is in both {owner} and {part}")


def write_parts(
    parts: Mapping[str, tuple[str, Sequence[Sentence]]], output: Path, lang: str, losses: Losses
) -> None:
    """Write OUTPUT/PART.spacy, one Doc a sentence, and print sizes and losses.

    parts: where each is from, in words, and its sentences. Raises ValueError if one has none.
    """
    for part, (origin, sentences) in parts.items():
        if not sentences:
            raise ValueError(f"{part}: no sentences in {origin}")
    table = []
    for part, (origin, sentences) in parts.items():
        write_docs(sentences, output / f"{part}.spacy", lang)
        words = sum(len(sentence.words) for sentence in sentences)
        constituents = sum(len(sentence.constituents or ()) for sentence in sentences)
        table.append((part, origin, len(sentences), words, constituents))
    losses.show()
    msg.table(table, header=SIZES, divider=True)
