"""The Vietnamese Treebank, as VLSP distributes it.

Sentences stand between <s> and </s>, as in the .prd files, or are plain bracketings. Labels lose
their functions and tags their marks of heads (NP-SUB is NP, N-H is N). Words are in Unicode's NFC;
underscores join their syllables, as PhoBERT expects. LBKT and RBKT become brackets. Empty elements,
as *T* and *E*, are removed.

P.-T. Nguyen, X.-L. Vu, T.-M.-H. Nguyen, V.-H. Nguyen and H.-P. Le (2009), Building a Large
Syntactically-Annotated Corpus of Vietnamese.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated
from unicodedata import normalize

from ..trees.tree import ConstituentTree
from .penn_brackets import clean_sentences, clean_tree, parse_sentences
from .treebank_format import PARTS, Lang, Losses, Part, Treebank
from .treebank_sentence import TreebankSentence

SUFFIXES = {".prd", ".mrg", ".ptb", ".tree"}
"""Suffixes of files with trees; raw texts of the same names lie beside them."""

NULL_WORDS = re.compile(r"\*[A-Z0]\*(?:-\d+)?")
"""Pattern of empty elements."""

BRACKETS = {"LBKT": "(", "RBKT": ")"}
"""The treebank's words for brackets."""

# a tag and at least two words: (N-H hiện nay)
_SYLLABLES = re.compile(r"(?<=\()([^\s()]+[ \t]+)([^\s()]+(?:[ \t]+[^\s()]+)+)(?=[ \t]*\))")


class Malformed(StrEnum):
    """The treatment of a sentence between <s> and </s> that isn't one well-formed bracketing."""

    stop = "stop"
    drop = "drop"


@dataclass(frozen=True, kw_only=True)
class VietnameseTreebank(Treebank):
    """The Vietnamese Treebank; INPUT has train, dev and test: folders, or files with any suffix."""

    lang: Lang = "vi"
    train: Annotated[str, "Files, folders or patterns in INPUT to train on: a.prd,b*.prd"] = ""
    dev: Annotated[str, "Development files, likewise."] = ""
    test: Annotated[str, "Test files, likewise."] = ""
    ratio: Annotated[str, "Instead: split the sentences of all files in a ratio: 18:1:1."] = ""
    malformed: Annotated[Malformed, "If <s> … </s> isn't well-formed: stop, or drop it."] = (
        Malformed.stop
    )

    def part_files(self, folder: Path) -> Mapping[str, Sequence[Path]]:
        given = self.given()
        if self.ratio:
            if any(given.values()):
                raise ValueError("give --ratio or the files of each part, not both")
            shares(self.ratio)
            return {"all": tree_files(folder)}
        if not folder.is_dir():
            raise ValueError(f"{folder} is one file: give the --ratio to cut it in, such as 18:1:1")
        return {part: named_files(folder, text or part) for part, text in given.items()}

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        (folder,) = inputs
        parts = super().read_parts(inputs)
        if not self.ratio:
            used = {path for paths in self.part_files(folder).values() for path in paths}
            if rest := set(tree_files(folder)) - used:
                note = f"{len(rest)} files of {folder} are in no split, as {min(rest)}"
                parts["train"].losses.notes.append(note)
            return parts
        ratio, sentences = shares(self.ratio), parts["all"].sentences
        ends = [len(sentences) * end // sum(ratio) for end in accumulate(ratio, initial=0)]
        cut = {}
        for part, share, (start, end) in zip(PARTS, ratio, pairwise(ends), strict=True):
            if start == end:
                raise ValueError(f"{part}: no sentences in {share}/{sum(ratio)} of {folder}")
            cut[part] = Part(sentences[start:end], Losses())
        return cut | parts

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        text, joined = _SYLLABLES.subn(lambda match: match[1] + "_".join(match[2].split()), text)
        losses.counts["words whose syllables were apart"] += joined
        drop = self.malformed is Malformed.drop
        # S1 is a clause here, not the root
        trees = (
            found._replace(tree=ConstituentTree("", (found.tree,)))
            if found.tree and found.tree.label == "S1"
            else found
            for found in parse_sentences(text, source=source, strict=not drop)
        )
        clean = partial(clean_tree, null_words=NULL_WORDS)
        for sentence in clean_sentences(trees, losses, clean=clean, drop_malformed=drop):
            words = [normalize("NFC", word) for word in sentence.words]
            losses.counts["words brought to NFC"] += sum(
                word != new for word, new in zip(sentence.words, words, strict=True)
            )
            yield replace(sentence, words=[BRACKETS.get(word, word) for word in words])


def tree_files(path: Path) -> list[Path]:
    """Return the file itself, or a folder's files of trees, by name."""
    if not path.is_dir():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and p.suffix.lower() in SUFFIXES)


def named_files(folder: Path, names: str) -> list[Path]:
    """Return the files of comma-separated files, folders and patterns in `folder`. A name
    also matches NAME.* if nothing else has it. Raises FileNotFoundError."""
    files: dict[Path, None] = {}
    for name in map(str.strip, names.split(",")):
        found: list[Path] = []
        if name and (folder / name).exists():
            found = [folder / name]
        elif name and not Path(name).is_absolute():
            found = sorted(folder.glob(name)) or sorted(folder.glob(f"{name}.*"))
        inside = [file for path in found for file in tree_files(path)]
        if not inside:
            raise FileNotFoundError(f"no trees in {str(folder / name) if name else repr(names)}")
        files |= dict.fromkeys(inside)
    return list(files)


def shares(text: str) -> list[int]:
    """Return the numbers of a ratio such as 18:1:1. Raises ValueError."""
    found = text.split(":")
    if len(found) != len(PARTS) or not all(part.isdecimal() and int(part) for part in found):
        raise ValueError(f"ratio {text!r}: write it as 18:1:1, of train, dev and test")
    return [int(part) for part in found]
