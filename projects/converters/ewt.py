"""The English Web Treebank: words and heads from UD, trees and roles from PropBank's skeletons.

Skeletons mask the words of the same sentences. Documents are paired by name, sentences by order
(where numbers differ, by the best monotone alignment of tags). A pair is kept if it has as many
words as tags, and the tags aren't shifted. Both sides re-tag words now and then, so agreement isn't
required.
"""

from __future__ import annotations

import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Annotated

import typer
from propbank import PropbankSentence, parse_propbank, with_skeleton

from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import ConlluSentence, read_conllu, to_sentence
from spacy_lal.formats.files import DAMAGE, FormatError, decoded, read_text
from spacy_lal.formats.treebank_format import PARTS, Format, Lang, Losses, Part

SHIFTED_RUN = 5
"""Consecutive tags that disagree if tokens are split differently; corrections come at most three in
a row."""

DocumentName = tuple[str, str]
"""Genre and document, as in `weblog-<document>` and `weblog/00/<document>.xml.gold_skel`."""

Skeletons = Mapping[DocumentName, Callable[[], Sequence[PropbankSentence]]]
"""Documents' names and functions that read them."""


@dataclass(frozen=True, kw_only=True)
class EnglishWebTreebank(Format):
    """The English Web Treebank: words and heads from UD, trees and roles from PropBank's skeletons.

    INPUT is UD_English-EWT, a release or a checkout.
    """

    parts = PARTS

    lang: Lang = "en"
    propbank: Annotated[Path, "Folder or tar archive of .gold_skel files."]
    splits: Annotated[str, "Which splits to convert, comma-separated."] = ",".join(PARTS)

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        skeletons = self.propbank.rglob("*.gold_skel")
        return [self.propbank, *inputs[0].rglob("*.conllu*"), *skeletons]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        wanted = [split.strip() for split in self.splits.split(",")]
        if unknown := sorted(set(wanted) - set(PARTS)):
            raise ValueError(f"--splits has {unknown[0]!r}, which is none of {', '.join(PARTS)}")
        skeletons = find_skeletons(self.propbank)
        parts = {split: join(read_ud_split(inputs[0], split), skeletons) for split in wanted}
        for split, (sentences, _) in parts.items():
            if not sentences:
                raise ValueError(f"no sentences for {split} in {inputs[0]}")
        return parts


def join(sentences: Sequence[ConlluSentence], skeletons: Skeletons) -> Part:
    """Return the sentences of a split with their skeletons; sentences without one are dropped.
    Raises FormatError for sentences outside any document."""
    part = Part([], Losses())
    dropped, counts = part.losses.left_out["dropped"], part.losses.counts
    counts["skeleton sentences without words"] = counts["tags that agree"] = 0
    for name, group in groupby(sentences, key=lambda sentence: sentence.document):
        document = list(group)
        genre, hyphen, rest = name.partition("-")
        if not hyphen:
            message = f"no '# newdoc id = genre-document' before this sentence (found {name!r})"
            raise FormatError(message, document[0].source, document[0].line)
        read = skeletons.get((genre, rest))
        if read is None:
            dropped += ((sentence.id, "document has no skeleton") for sentence in document)
            continue
        skeleton = list(read())
        partners: Sequence[int | None] = range(len(document))
        if len(skeleton) != len(document):
            partners = align([s.xpos for s in document], [s.tags for s in skeleton])
        kept = len(part.sentences)
        for sentence, partner in zip(document, partners, strict=True):
            found = None if partner is None else skeleton[partner]
            reason = fault_of(sentence, found)
            if found is None or reason:
                dropped.append((sentence.id, reason))
            else:
                _add(part, sentence, found)
        counts["skeleton sentences without words"] += len(skeleton) - len(part.sentences) + kept
    return part


def fault_of(sentence: ConlluSentence, skeleton: PropbankSentence | None) -> str:
    """Return why the two can't be joined, "" if they can."""
    if skeleton is None:
        return "no partner: sentences are split differently"
    if len(skeleton.tags) != len(sentence.words):
        return "number of tokens differs"
    shifted = longest_disagreement(sentence.xpos, skeleton.tags) >= SHIFTED_RUN
    return "tags are shifted: tokens are split differently" if shifted else ""


def _add(part: Part, sentence: ConlluSentence, skeleton: PropbankSentence) -> None:
    words, fault = to_sentence(sentence)
    if fault:
        part.losses.left_out["without heads"].append((sentence.id, fault))
    part.losses.left_out["frames left out"] += skeleton.left_out
    part.losses.counts["tags that agree"] += agreement(sentence.xpos, skeleton.tags)
    part.sentences.append(with_skeleton(words, skeleton))


def agreement(left: Sequence[str], right: Sequence[str]) -> int:
    return sum(a == b for a, b in zip(left, right, strict=True))


def longest_disagreement(left: Sequence[str], right: Sequence[str]) -> int:
    differ = (a != b for a, b in zip(left, right, strict=True))
    return max((len(list(run)) for different, run in groupby(differ) if different), default=0)


def align(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> list[int | None]:
    """Return the partner on the right, or None, of each tag sequence on the left. The monotone
    alignment has most agreeing tags; partners have equal length, and half of their tags agree."""
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    weights: dict[tuple[int, int], int] = {}
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            if len(a) == len(b) and 2 * agreement(a, b) >= len(a):
                weights[i, j] = agreement(a, b)
            best[i + 1][j + 1] = max(
                best[i][j + 1], best[i + 1][j], best[i][j] + weights.get((i, j), 0)
            )
    partners: list[int | None] = [None] * len(left)
    i, j = len(left), len(right)
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            partners[i] = j
    return partners


def read_ud_split(directory: str | Path, split: str) -> list[ConlluSentence]:
    """Read a split of a UD release: `*-ud-<split>.conllu`, plain or compressed. A checkout without
    the file has its documents in `not-to-release/sources`, in the order of `file-lists`. Raises
    FileNotFoundError if there is neither."""
    directory = Path(directory)
    files = [
        path
        for path in sorted(directory.glob(f"*-ud-{split}.conllu*"))
        if path.suffix in (".conllu", ".xz", ".gz", ".bz2")
    ]
    if len(files) > 1:
        raise ValueError(f"both {files[0]} and {files[1]} are there: one of them is the split")
    if files:
        return list(read_conllu(files[0]))
    listed = directory / "file-lists" / f"files.{split}"
    if not listed.exists():
        raise FileNotFoundError(f"neither *-ud-{split}.conllu[.xz] nor {listed} is there")
    names = [line.strip() for line in read_text(listed).splitlines()]
    sources = directory / "not-to-release" / "sources"
    return [sentence for name in names if name for sentence in read_conllu(sources / name)]


def find_skeletons(path: str | Path) -> Skeletons:
    """Return the skeletons `<genre>/<section>/<document>.xml.gold_skel` of a folder or tar archive.
    Raises FileNotFoundError if there are none."""
    path = Path(path)
    found: dict[DocumentName, Callable[[], Sequence[PropbankSentence]]] = {}
    if path.is_dir():
        for file in sorted(path.rglob("*.gold_skel")):
            found[_document_name(file)] = partial(_parsed, str(file))
    else:
        for member, content in _archived(path):
            source = f"{path}:{member}"
            found[_document_name(Path(member))] = partial(_parsed, source, decoded(content, source))
    if not found:
        raise FileNotFoundError(f"no .gold_skel files in {path}")
    return found


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the skeletons in a tar archive, by name, without unpacking to the disk. Raises
    FormatError for a damaged archive."""
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.endswith(".gold_skel") and (content := archive.extractfile(member)):
                    yield member.name, content.read()
    except (tarfile.TarError, KeyError, *DAMAGE) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FormatError(f"not a whole tar archive: {error}", str(path), 1) from error


def _document_name(path: Path) -> DocumentName:
    return path.parts[-3] if len(path.parts) > 2 else "", path.name.removesuffix(".xml.gold_skel")


def _parsed(source: str, text: str | None = None) -> list[PropbankSentence]:
    return list(parse_propbank(read_text(source) if text is None else text, source=source))


if __name__ == "__main__":
    typer.run(command(EnglishWebTreebank))
