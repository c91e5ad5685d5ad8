"""The English Web Treebank: words and heads from Universal Dependencies, trees and roles from
PropBank's skeletons, which mask the words of the same sentences.

Documents are paired by name and sentences by order (where their numbers differ: by the best
monotone alignment of their tags). A pair is kept if it has as many words as tags and the tags
aren't shifted against each other; then word i has tag i. Both sides re-tag words now and then,
so that agreement as such is not asked for.
"""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

from .conllu import ConlluSentence, read_conllu, to_sentence
from .docs import TreebankSentence
from .files import FormatError, decoded, read_text
from .skeleton import SkeletonSentence, parse_skeleton

SPLITS = ("train", "dev", "test")
"""The parts of the treebank, as UD splits it."""
SHIFTED_RUN = 5
"""So many consecutive tags disagree if tokens are split differently; corrections come at most three
in a row."""

NO_DOCUMENT = "document has no skeleton"
"""Why a sentence is left out."""
NO_PARTNER = "no partner: sentences are split differently"
"""Why a sentence is left out."""
TOKENISATION = "number of tokens differs"
"""Why a sentence is left out."""
SHIFTED = "tags are shifted: tokens are split differently"
"""Why a sentence is left out."""

DocumentName = tuple[str, str]
"""(genre, document), as in `weblog-<document>` and `weblog/00/<document>.xml.gold_skel`."""


@dataclass
class Join:
    """The sentences of a split that have everything, and why the others haven't.

    dropped: (sentence id, reason) in order. unused: skeleton sentences that no kept sentence has.
    headless: sentences kept without heads, with the reason. left_out: frames that a Doc can't hold;
    a sentence with such a frame has no others.
    """

    sentences: list[TreebankSentence] = field(default_factory=list)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    headless: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    unused: int = 0
    tags_agree: int = 0

    def drops(self) -> Counter[str]:
        return Counter(reason for _, reason in self.dropped)


def join(
    sentences: Sequence[ConlluSentence],
    skeletons: Mapping[DocumentName, Callable[[], Sequence[SkeletonSentence]]],
) -> Join:
    """Join the sentences of a split with their skeletons, which are read document by document.

    Raises FormatError for sentences outside any document.
    """
    result = Join()
    for name, group in groupby(sentences, key=lambda sentence: sentence.document):
        document = list(group)
        genre, hyphen, rest = name.partition("-")
        if not hyphen:
            raise FormatError(
                f"no '# newdoc id = genre-document' before this sentence (found {name!r})",
                source=document[0].source,
                line=document[0].line,
            )
        read = skeletons.get((genre, rest))
        if read is None:
            result.dropped += ((sentence.id, NO_DOCUMENT) for sentence in document)
            continue
        skeleton = list(read())
        kept = len(result.sentences)
        if len(skeleton) == len(document):
            partners: list[int | None] = list(range(len(document)))
        else:
            partners = align([s.xpos for s in document], [s.tags for s in skeleton])
        for sentence, partner in zip(document, partners, strict=True):
            _join_sentence(result, sentence, None if partner is None else skeleton[partner])
        result.unused += len(skeleton) - (len(result.sentences) - kept)
    return result


def _join_sentence(
    result: Join, sentence: ConlluSentence, skeleton: SkeletonSentence | None
) -> None:
    if skeleton is None:
        reason = NO_PARTNER
    elif len(skeleton.tags) != len(sentence.words):
        reason = TOKENISATION
    elif longest_disagreement(sentence.xpos, skeleton.tags) >= SHIFTED_RUN:
        reason = SHIFTED
    else:
        words, fault = to_sentence(sentence)
        if fault:
            result.headless.append((sentence.id, fault))
        result.left_out += skeleton.left_out
        result.tags_agree += agreement(sentence.xpos, skeleton.tags)
        result.sentences.append(
            replace(
                words,
                tags=skeleton.tags,
                constituents=skeleton.spans,
                frames=skeleton.frames,
            )
        )
        return
    result.dropped.append((sentence.id, reason))


def agreement(left: Sequence[str], right: Sequence[str]) -> int:
    """At how many positions the two are equal."""
    return sum(a == b for a, b in zip(left, right, strict=True))


def longest_disagreement(left: Sequence[str], right: Sequence[str]) -> int:
    """The longest run of positions at which the two differ."""
    differ = (a != b for a, b in zip(left, right, strict=True))
    return max((len(list(run)) for different, run in groupby(differ) if different), default=0)


def align(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> list[int | None]:
    """For each tag sequence on the left its partner on the right, or None.

    The monotone alignment with most agreeing tags; partners have equal length, and half of
    their tags agree.
    """
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


# The two sides on disk


def read_ud_split(directory: str | Path, split: str) -> list[ConlluSentence]:
    """A split of a UD release: `*-ud-<split>.conllu`, plain or compressed, or, where a checkout
    lacks the file, its documents from `not-to-release/sources` in the order of `file-lists`.

    Raises FileNotFoundError if there is neither.
    """
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


def find_skeletons(
    path: str | Path,
) -> dict[DocumentName, Callable[[], Sequence[SkeletonSentence]]]:
    """Every skeleton `<genre>/<section>/<document>.xml.gold_skel` below a directory or in a tar
    archive, to be parsed when called for.

    Raises FileNotFoundError if there are none.
    """
    path = Path(path)
    found: dict[DocumentName, Callable[[], Sequence[SkeletonSentence]]] = {}
    if path.is_dir():
        for file in sorted(path.rglob("*.gold_skel")):
            found[_document_name(file)] = _Skeleton(str(file))
    else:
        for member, content in _archived(path):
            source = f"{path}:{member}"
            found[_document_name(Path(member))] = _Skeleton(source, decoded(content, source))
    if not found:
        raise FileNotFoundError(f"no .gold_skel files in {path}")
    return found


def _archived(path: Path) -> Iterator[tuple[str, bytes]]:
    """The skeletons in a tar archive, by name. Nothing is unpacked to the disk.

    Raises FormatError for one that is damaged.
    """
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if member.name.endswith(".gold_skel") and (content := archive.extractfile(member)):
                    yield member.name, content.read()
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, KeyError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        message = f"not a whole tar archive: {error}"
        raise FormatError(message, source=str(path), line=1) from error


def _document_name(path: Path) -> DocumentName:
    return path.parts[-3] if len(path.parts) > 2 else "", path.name.removesuffix(".xml.gold_skel")


@dataclass(frozen=True)
class _Skeleton:
    source: str
    text: str | None = None

    def __call__(self) -> Sequence[SkeletonSentence]:
        text = read_text(self.source) if self.text is None else self.text
        return list(parse_skeleton(text, source=self.source))
