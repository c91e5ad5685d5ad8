"""The interface of formats: dataclasses whose fields are options of `convert`."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

from spacy.tokens import Doc

from .files import read_text
from .treebank_sentence import TreebankSentence

PARTS = ("train", "dev", "test")
"""The parts of a treebank."""

Drop = tuple[str, str]
"""The place (file and line) of something left out, and the reason."""

Lang = Annotated[str, "Language code of the vocabulary."]
Pattern = Annotated[str, "Which files to take from a folder."]


@dataclass
class Losses:
    """Changes and omissions of a conversion.

    counts: changes within sentences, by name. left_out: place and reason of items, by name;
    sentences are "dropped". notes: warnings.
    """

    counts: Counter[str] = field(default_factory=Counter)
    left_out: dict[str, list[Drop]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)


class Part(NamedTuple):
    """The sentences of one output file, and its losses."""

    sentences: list[TreebankSentence]
    losses: Losses


@dataclass(frozen=True, kw_only=True)
class Format:
    """A format of treebanks. parts: names of the `.spacy` files in the output folder; empty if the
    output is one file."""

    parts: ClassVar[Sequence[str]] = ()

    lang: Lang = "xx"

    def gives_heads(self) -> bool:
        """Return whether heads are read, with which head rules would mix two schemes."""
        return False

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        """Return all files that are read."""
        raise NotImplementedError

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        """Return the parts by name, "" for a single part; parts of other names are reported, not
        written. Raises ValueError, with the input, for a part without sentences."""
        raise NotImplementedError

    def read(self, path: Path, losses: Losses) -> Iterable[TreebankSentence]:
        """Yield the sentences of one file. Raises ValueError with the place of malformed text."""
        return self.parse(read_text(path), str(path), losses)

    def parse(self, text: str, source: str, losses: Losses) -> Iterable[TreebankSentence]:
        """Yield the sentences of the text of a file. Raises ValueError as `read`."""
        raise NotImplementedError

    def write(self, doc: Doc) -> str:
        """Return the Doc in this format. Raises ValueError if the format can't express it."""
        raise ValueError("this format is read, not written")


@dataclass(frozen=True, kw_only=True)
class Files(Format):
    """A format of independent files; all input files become one output file."""

    pattern: Pattern = "*"

    def files(self, path: Path) -> list[Path]:
        """Return the input itself, or the files of a folder. Raises FileNotFoundError for none."""
        return files_in(path, self.pattern)

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [file for path in inputs for file in self.files(path)]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        part = Part([], Losses())
        for path in inputs:
            before = len(part.sentences)
            for file in self.files(path):
                part.sentences.extend(self.read(file, part.losses))
            if len(part.sentences) == before:
                raise ValueError(f"no sentences in {path}")
        return {"": part}


@dataclass(frozen=True, kw_only=True)
class Treebank(Format):
    """A treebank: the input is its folder, the output a folder of train, dev and test."""

    parts: ClassVar[Sequence[str]] = PARTS

    def part_files(self, folder: Path) -> Mapping[str, Sequence[Path]]:
        """Return the files of each part. Raises FileNotFoundError or ValueError."""
        raise NotImplementedError

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [path for paths in self._files(inputs).values() for path in paths]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        return {part: self.read_part(part, paths) for part, paths in self._files(inputs).items()}

    def read_part(self, part: str, paths: Sequence[Path]) -> Part:
        """Return the sentences of these files. Raises ValueError if there are none."""
        losses = Losses(counts=Counter(files=len(paths)))
        sentences = [sentence for path in paths for sentence in self.read(path, losses)]
        if not sentences:
            raise ValueError(f"{part}: no sentences in {', '.join(map(str, paths))}")
        return Part(sentences, losses)

    def given(self) -> dict[str, str]:
        """Return the options that select the parts."""
        return {part: getattr(self, part) for part in PARTS}

    def _files(self, inputs: Sequence[Path]) -> Mapping[str, Sequence[Path]]:
        if len(inputs) != 1:
            raise ValueError(f"a treebank is one folder or file, not {len(inputs)}")
        files = self.part_files(inputs[0])
        owners: dict[Path, str] = {}
        for part, paths in files.items():
            for path in paths:
                if (owner := owners.setdefault(path.resolve(), part)) != part:
                    raise ValueError(f"{path} is in both {owner} and {part}")
        return files


def files_in(path: Path, pattern: str) -> list[Path]:
    """Return the file itself, or a folder's files that match. Raises FileNotFoundError."""
    if not path.is_dir():
        return [path]
    if found := sorted(file for file in path.rglob(pattern) if file.is_file()):
        return found
    raise FileNotFoundError(f"no {pattern} in {path}")
