"""What the converters of licensed treebanks share: numbered files to splits, and heads or tags
from CoNLL-X files that have the same sentences in the same order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from wasabi import msg

from spacy_lal.treebanks import brackets, conllu
from spacy_lal.treebanks.docs import Sentence, write_docs
from spacy_lal.treebanks.files import FormatError
from spacy_lal.treebanks.head_rules import HeadRules, heads_by_rules
from spacy_lal.trees import ConstituentTree

HEADER = ("", "numbers", "files", "sentences", "words", "from CoNLL-X", "no usable heads", "heads")


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
