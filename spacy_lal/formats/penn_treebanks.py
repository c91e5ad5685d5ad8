"""The Penn Treebank's Wall Street Journal, and the Penn Chinese Treebank.

Heads and relations, or tags, may come from CoNLL-X files {train,dev,test}.conllx with the same
sentences in the same order.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from ..trees.brackets import ptb_unescape
from . import conllu
from .files import FormatError, read_text_as
from .penn_brackets import clean_sentences, numbered, parse_treebank
from .treebank_format import Lang, Losses, Part, Treebank, files_in
from .treebank_sentence import TreebankSentence

PTB_SUFFIXES = {".mrg", ".tree", ".ptb"}
"""Suffixes of the Penn Treebank's files with trees."""

WSJ_NAME = re.compile(r"wsj_((\d\d)\d\d)\.\w+", re.IGNORECASE)
"""Names of the Wall Street Journal's files: wsj_0203.mrg is of section 02."""

CTB_NAME = re.compile(r"chtb_(\d+)\.\w+", re.IGNORECASE)
"""Names of the Chinese treebank's files: chtb_001.fid; in later versions chtb_0001.nw."""

CTB_ENCODINGS = ("utf-8-sig", "gb18030")
"""Encodings of version 5.1's files; text in the second is never valid in the first."""


class Take(StrEnum):
    """Layers to read from CoNLL-X files."""

    heads = "heads"
    tags = "tags"
    both = "both"


class WsjSplit(StrEnum):
    """The usual split by sections, or one of the 199 files that NLTK distributes."""

    sections = "sections"
    nltk = "nltk"


class Split(StrEnum):
    """The split of most constituency parsers, or Zhang and Clark's (2008) for dependencies."""

    constituency = "constituency"
    dependency = "dependency"


SPLITS: dict[StrEnum, dict[str, str]] = {
    WsjSplit.sections: {"train": "02-21", "dev": "22", "test": "23"},
    WsjSplit.nltk: {"train": "0001-0159", "dev": "0160-0179", "test": "0180-0199"},
    Split.constituency: {"train": "001-270,440-1151", "dev": "301-325", "test": "271-300"},
    Split.dependency: {
        "train": "001-815,1001-1136",
        "dev": "886-931,1148-1151",
        "test": "816-885,1137-1147",
    },
}
"""Sections or files of each part; for Chinese, file numbers of version 5.1."""


@dataclass(frozen=True, kw_only=True)
class _NumberedTreebank(Treebank):
    split: StrEnum
    conllx: Annotated[str, "Folder of CoNLL-X files; empty for none."] = ""
    take: Annotated[Take, "What to take from the CoNLL-X files."] = Take.heads

    def given(self) -> dict[str, str]:
        return {part: text or SPLITS[self.split][part] for part, text in super().given().items()}

    def gives_heads(self) -> bool:
        return bool(self.conllx) and self.take is not Take.tags

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        if self.conllx and not Path(self.conllx).is_dir():
            raise FileNotFoundError(f"no folder {self.conllx} of CoNLL-X files")
        return [*super().sources(inputs), *map(self._conllx, self.parts if self.conllx else ())]

    @staticmethod
    def unescape(word: str) -> str:
        """Return a word of a CoNLL-X file as the treebank has it."""
        return word

    def read_part(self, part: str, paths: Sequence[Path]) -> Part:
        read, path = super().read_part(part, paths), self._conllx(part)
        if self.conllx and not path.exists():
            note = f"{part}: {path} isn't there, the treebank's annotation stays as it is"
            read.losses.notes.append(note)
        elif self.conllx:
            read = with_conllx(read, path, self.take, self.unescape)
        return read

    def _conllx(self, part: str) -> Path:
        return Path(self.conllx) / f"{part}.conllx"


@dataclass(frozen=True, kw_only=True)
class PennTreebank(_NumberedTreebank):
    """The Penn Treebank's WSJ, split by sections; INPUT is the folder of 00 … 24, or of all files.

    The split nltk is for NLTK's sample: INPUT is nltk_data/corpora/treebank/combined."""

    lang: Lang = "en"
    split: Annotated[WsjSplit, "Sections 02-21, 22 and 23, or files of NLTK's sample."] = (
        WsjSplit.sections
    )
    train: Annotated[str, "Sections (02-21) or files (0001-0159), instead of the split's."] = ""
    dev: Annotated[str, "Development sections or files, likewise."] = ""
    test: Annotated[str, "Test sections or files, likewise."] = ""

    unescape = staticmethod(ptb_unescape)

    def part_files(self, folder: Path) -> dict[str, list[Path]]:
        there, files = wsj_files(folder), dict[str, list[Path]]()
        for part, text in self.given().items():
            files[part] = [path for name in wsj_numbers(text) for path in there.get(name, ())]
            if not files[part]:
                found = ", ".join(name for name in there if len(name) == 2) or "no files"
                raise FileNotFoundError(f"no trees of {text} in {folder}, which has {found}")
        return files

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        parts, there = super().read_parts(inputs), wsj_files(inputs[0])
        for part, text in self.given().items():
            if empty := [name for name in wsj_numbers(text) if name not in there]:
                kind = "sections" if len(empty[0]) == 2 else "files"
                note = f"{part}: no trees in {kind} {', '.join(empty)}"
                parts[part].losses.notes.append(note)
        return parts

    def parse(self, text: str, source: str, losses: Losses) -> Iterable[TreebankSentence]:
        """Yield sentences with tags and constituents; drop functions, undo escapes."""
        trees = parse_treebank(text, source=source, unescape=ptb_unescape)
        return clean_sentences(numbered(trees, source), losses)


@dataclass(frozen=True, kw_only=True)
class ChineseTreebank(_NumberedTreebank):
    """The Penn Chinese Treebank, split by file numbers; INPUT is the folder of chtb_001.fid …"""

    lang: Lang = "zh"
    split: Annotated[Split, "Which common split to use."] = Split.constituency
    train: Annotated[str, "Files to train on, instead of the split's."] = ""
    dev: Annotated[str, "Development files, likewise."] = ""
    test: Annotated[str, "Test files, likewise."] = ""
    encoding: Annotated[str, "gb18030, utf-8, or auto to detect it."] = "auto"

    def part_files(self, folder: Path) -> Mapping[str, Sequence[Path]]:
        there = numbered_files(folder)
        files: dict[str, list[Path]] = {}
        for part, text in self.given().items():
            files[part] = [there[n] for n in numbers(text, "files") if n in there]
            if not files[part]:
                raise FileNotFoundError(f"no files chtb_*.fid with numbers {text} in {folder}")
        return files

    def read(self, path: Path, losses: Losses) -> Iterable[TreebankSentence]:
        """Yield sentences with tags and constituents without functions, no spaces between words."""
        text, _ = read_text_as(path, self.encoding, CTB_ENCODINGS)
        trees = numbered(parse_treebank(text, source=str(path)), path)
        return clean_sentences(trees, losses, spaces=False)


def wsj_files(folder: Path) -> dict[str, list[Path]]:
    """Return the files of each section, as "02", and the file of each number, as "0203"; a section
    is a folder's name or the beginning of a number. Raises ValueError if two share a number."""
    files = defaultdict[str, list[Path]](list)
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in PTB_SUFFIXES:
            top, name = path.relative_to(folder).parts[0], WSJ_NAME.fullmatch(path.name)
            if section := top if re.fullmatch(r"\d\d", top) else name and name[2]:
                files[section].append(path)
            if name:
                files[name[1]].append(path)
                if len(files[name[1]]) > 1:
                    raise ValueError(f"{files[name[1]][0]} and {path} have the same number")
    return dict(files)


def wsj_numbers(text: str) -> list[str]:
    """Return sections, of two digits, and files, of four: 02-04,0203. Raises ValueError."""
    ranges = [part.strip() for part in text.split(",")]
    widths = [2 if len(part.partition("-")[0]) <= 2 else 4 for part in ranges]
    kind = "sections or files"
    return [
        f"{n:0{w}}" for part, w in zip(ranges, widths, strict=True) for n in numbers(part, kind)
    ]


def numbered_files(folder: Path) -> dict[int, Path]:
    """Return the Chinese treebank's files by number. Raises ValueError if two share one."""
    files: dict[int, Path] = {}
    for path in sorted(folder.rglob("*")):
        if match := CTB_NAME.fullmatch(path.name):
            number = int(match[1])
            if number in files:
                raise ValueError(f"{files[number]} and {path} have the same number")
            files[number] = path
    return files


def numbers(text: str, kind: str = "sections") -> list[int]:
    """Return the numbers of a list of ranges such as 2-4,24. Raises ValueError, with `kind`."""
    found: list[int] = []
    for part in text.split(","):
        first, hyphen, last = part.strip().partition("-")
        last = last if hyphen else first
        if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
            raise ValueError(f"{kind} {text!r}: write them as 02-21 or 00,24")
        found += range(int(first), int(last) + 1)
    return found


def with_conllx(read: Part, path: Path, take: Take, unescape: Callable[[str], str] = str) -> Part:
    """Return the part with the layers of a CoNLL-X file or of a folder of them, and their counts.
    Raises ValueError as `merge`."""
    sentences = merge(read.sentences, path, take, read.losses, unescape)
    found = len(sentences) - len(read.losses.left_out["without heads"])
    for kind in ("tags", "heads") if take is Take.both else (take,):
        read.losses.counts[f"{kind} from CoNLL-X"] = found
    return Part(sentences, read.losses)


def merge(
    sentences: Sequence[TreebankSentence],
    path: Path,
    take: Take,
    losses: Losses,
    unescape: Callable[[str], str] = str,
) -> list[TreebankSentence]:
    """Return the sentences with the layers of a CoNLL-X file, or of a folder's files in order;
    sentences without heads go to `losses`. Raises FormatError at the first place where the words
    differ."""
    merged: list[TreebankSentence] = []
    rows = [row for file in files_in(path, "*") for row in conllu.read_conllu(file)]
    for number, (sentence, row) in enumerate(zip(sentences, rows, strict=False), start=1):
        if [unescape(word) for word in row.words] != list(sentence.words):
            here, there = " ".join(row.words), " ".join(sentence.words)
            message = f"sentence {number} is {here!r} here and {there!r} in the treebank"
            raise FormatError(message, row.source, row.line)
        predicted, fault = conllu.to_sentence(row)
        if take is not Take.tags:
            sentence = replace(sentence, heads=predicted.heads, deps=predicted.deps)
            if predicted.heads is None:
                place = f"{row.source}:{row.line}"
                losses.left_out["without heads"].append((place, fault or "no heads"))
        if take is not Take.heads:
            if not predicted.tags or not all(predicted.tags):
                message = f"sentence {number} has words without a tag"
                raise FormatError(message, row.source, row.line)
            sentence = replace(sentence, tags=predicted.tags)
        merged.append(sentence)
    if len(rows) != len(sentences):
        raise ValueError(f"{path}: {len(rows)} sentences, the treebank has {len(sentences)}")
    return merged
