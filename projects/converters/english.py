"""What converters of English treebanks share: lists of documents, and the English Web Treebank's
conventions.

All have its labels and tags and mean much the same by them. Where they systematically don't, a
parser trained on two of them would guess which one a sentence is from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spacy_lal.formats.files import FormatError, is_number, read_text
from spacy_lal.formats.treebank_sentence import TreebankSentence
from spacy_lal.trees.tree import LabelledSpan


@dataclass
class DocumentList:
    """ranges: of each document the first and last of its sentences that are meant, from 0; None
    for all of them. source: where the list is from. seen: documents that were asked for."""

    ranges: dict[str, tuple[int, int] | None]
    source: str = "<string>"
    seen: set[str] = field(default_factory=set)

    def __call__(self, document: str, number: int) -> bool:
        """Whether sentence `number` of a document is in the list."""
        if document not in self.ranges:
            return False
        self.seen.add(document)
        limits = self.ranges[document]
        return limits is None or limits[0] <= number <= limits[1]

    def check_seen(self) -> None:
        """Raises ValueError for a listed document that nobody has asked for."""
        if missing := sorted(self.ranges.keys() - self.seen):
            raise ValueError(f"{self.source}: no document {missing[0]!r} in the input")


def read_documents(path: str | Path) -> DocumentList:
    """A list with a document a line, `name` or `name first last`; `#` begins a remark.

    Raises FormatError for another line, or a document twice.
    """
    ranges: dict[str, tuple[int, int] | None] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        name, *limits = line.partition("#")[0].split() or [""]
        if not name:
            continue
        if name in ranges:
            raise FormatError(f"document {name} twice", str(path), number)
        if not limits:
            ranges[name] = None
        elif len(limits) == 2 and all(map(is_number, limits)) and int(limits[0]) <= int(limits[1]):
            ranges[name] = int(limits[0]), int(limits[1])
        else:
            message = f"expected `name` or `name first last`, found {line.strip()!r}"
            raise FormatError(message, str(path), number)
    return DocumentList(ranges, str(path))


def like_ewt(sentence: TreebankSentence) -> TreebankSentence:
    """`prepositions` and `parentheses`; a sentence without tags or tree stays as it is."""
    if sentence.tags is None or sentence.constituents is None:
        return sentence
    return replace(
        sentence,
        tags=prepositions(sentence.tags, sentence.constituents),
        constituents=parentheses(sentence.tags, sentence.constituents),
    )


def prepositions(tags: Sequence[str], spans: Sequence[LabelledSpan]) -> list[str]:
    """Tags in which "to" is TO before a verb alone, and IN as any other preposition.

    The older Penn Treebank tags every "to" TO. It is a preposition where the smallest phrase around
    it is one of prepositions (PP, WHPP) or quantities (QP)."""
    parents = [""] * len(tags)
    for start, end, label in spans:  # in preorder: the smallest comes last
        parents[start:end] = [label] * (end - start)
    return [
        "IN" if tag == "TO" and parent in ("PP", "WHPP", "QP") else tag
        for tag, parent in zip(tags, parents, strict=True)
    ]


def parentheses(tags: Sequence[str], spans: Sequence[LabelledSpan]) -> list[LabelledSpan]:
    """Phrases in preorder in which brackets belong to the phrase that they enclose.

    (PRN (-LRB- x) (NP …) (-RRB- x)) becomes (NP (-LRB- x) … (-RRB- x)); if no one phrase is
    enclosed, the brackets and what they enclose belong to what PRN belonged to.
    """
    kept: list[LabelledSpan] = []
    enclosed: set[tuple[int, int]] = set()
    for k, (start, end, label) in enumerate(spans):
        inside = start + 1, end - 1
        if (start, end) in enclosed:
            enclosed.discard((start, end))  # of a unary chain the topmost alone has moved
        elif label == "PRN" and (tags[start], tags[end - 1]) == ("-LRB-", "-RRB-"):
            following = spans[k + 1] if k + 1 < len(spans) else None
            if following is not None and following[:2] == inside:
                kept.append((start, end, following[2]))
                enclosed.add(inside)
        else:
            kept.append((start, end, label))
    return kept
