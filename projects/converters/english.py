"""Converters of MASC, CRAFT and GUM to the English Web Treebank's conventions.

Systematic differences would make a parser trained on several treebanks guess the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, compress
from pathlib import Path
from typing import Annotated

import typer
from propbank import PropbankSentence, parse_propbank

from spacy_lal.annotations import FrameSpans
from spacy_lal.cli.convert import command
from spacy_lal.formats.conllu import Conllu, ConlluSentence
from spacy_lal.formats.files import FormatError, is_number, read_text
from spacy_lal.formats.penn_brackets import (
    Brackets,
    clean_label,
    clean_sentences,
    clean_tree,
    numbered,
    parse_treebank,
)
from spacy_lal.formats.treebank_format import Files, Lang, Losses, Part, Pattern
from spacy_lal.formats.treebank_sentence import TreebankSentence
from spacy_lal.trees.brackets import ptb_unescape
from spacy_lal.trees.tree import ConstituentTree, LabelledSpan

MARKS = frozenset({"CODE", "SU"})
"""Tags of markup and of the marks of a transcript's units, which aren't words."""

SPLICED = frozenset({"TITLE", "HEADING", "CAPTION", "CIT"})
"""CRAFT's labels of phrases that the English Web Treebank lacks; their parts stay."""

_TAGS = {f"-{side}{kind}B-": f"-{side}RB-" for side in "LR" for kind in "SC"}
"""Tags of square and curly brackets, with those of round ones."""

Trees = list[ConstituentTree]


@dataclass(frozen=True, kw_only=True)
class Masc(Files):
    """PropBank's .gold_conll: words, tags, trees and roles in the English Web Treebank's
    conventions; no heads."""

    lang: Lang = "en"
    pattern: Pattern = "*gold_conll"
    documents: Annotated[
        Path | None, "Take only what this file lists: `name`, or `name first last` of sentences."
    ] = None
    without: Annotated[Path | None, "Leave out what this file lists."] = None

    @cached_property
    def lists(self) -> list[DocumentList | None]:
        paths = self.documents, self.without
        return [None if path is None else read_documents(path) for path in paths]

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), *filter(None, (self.documents, self.without))]

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        parts = super().read_parts(inputs)
        for listed in filter(None, self.lists):
            listed.check_seen()
        return parts

    def parse(self, text: str, source: str, losses: Losses) -> Iterator[TreebankSentence]:
        taken, left = self.lists
        for found in parse_propbank(text, source=source, broken_trees=True):
            if not is_number(found.number):
                message = f"bad sentence number {found.number!r} in the second column"
                raise FormatError(message, source, found.line)
            place = found.document, int(found.number)
            sentence = masc_sentence(found)
            outside = (taken and not taken(*place)) or (left and left(*place))
            if sentence is not None and not outside:
                losses.left_out["left out"] += found.left_out
                yield like_ewt(sentence)


def masc_sentence(found: PropbankSentence) -> TreebankSentence | None:
    """Return the sentence, unescaped and without MARKS; None without words."""
    keep = [tag not in MARKS for tag in found.tags]
    before = list(accumulate(keep, initial=0))

    def kept(spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
        moved = [(before[start], before[end], label) for start, end, label in spans]
        return [span for span in moved if span[0] < span[1]]

    if not any(keep):
        return None
    return TreebankSentence(
        words=[ptb_unescape(word) for word in compress(found.words, keep)],
        tags=[_TAGS.get(tag, tag) for tag in compress(found.tags, keep)],
        constituents=None
        if found.spans is None
        else kept((start, end, clean_label(label)) for start, end, label in found.spans),
        frames=None
        if found.frames is None
        else [
            FrameSpans(before[frame.predicate], frame.roleset, kept(frame.spans))
            for frame in found.frames
            if keep[frame.predicate]
        ],
        id=f"{found.document}.{found.number}",
        paragraph=found.document,  # the format has documents only
    )


@dataclass(frozen=True, kw_only=True)
class Craft(Brackets):
    """CRAFT's trees, from files or folders; TITLE, HEADING, CAPTION and CIT lose their brackets."""

    lang: Lang = "en"
    pattern: Pattern = "*.tree"
    skip: Annotated[str, "Leave out the trees FIRST-LAST, counted from 1."] = ""
    every: Annotated[int, "Take every N-th tree."] = 1

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        """Read the trees, counted through all files."""
        losses, skipped = Losses(), limits(self.skip)
        places = (
            place
            for path in inputs
            for file in self.files(path)
            for place in numbered(parse_treebank(read_text(file), source=str(file)), file)
        )
        taken = [
            place
            for number, place in enumerate(places, start=1)
            if number % self.every == 0 and number not in skipped
        ]
        sentences = list(map(like_ewt, clean_sentences(taken, losses, clean=self.clean)))
        if not sentences:
            raise ValueError(f"no trees are left of {', '.join(map(str, inputs))}")
        return {"": Part(sentences, losses)}

    def clean(self, tree: ConstituentTree) -> ConstituentTree | None:
        cleaned = clean_tree(tree)
        return cleaned and spliced(cleaned, SPLICED)


def limits(text: str) -> range:
    """Return `first-last` as a range; "" is an empty one. Raises ValueError for anything else."""
    if not text:
        return range(0)
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
        raise ValueError(f"--skip must be FIRST-LAST, as 12-40, not {text!r}")
    return range(int(first), int(last) + 1)


def spliced(tree: ConstituentTree, labels: frozenset[str]) -> ConstituentTree:
    """Return the tree with phrases of these labels replaced by their children. The root stays, and
    so do words."""

    def parts(
        node: ConstituentTree, children: list[list[ConstituentTree]]
    ) -> list[ConstituentTree]:
        if node.word is not None:
            return [node]
        below = [part for child in children for part in child]
        removed = node.label in labels and node is not tree
        return below if removed else [ConstituentTree(node.label, below)]

    return tree.fold(parts)[0]


@dataclass(frozen=True, kw_only=True)
class Gum(Conllu):
    """CoNLL-U, of which only the documents in a list are taken."""

    lang: Lang = "en"
    documents: Annotated[Path, "A file with a document a line: `name`, or `name first last`."]

    @cached_property
    def listed(self) -> DocumentList:
        return read_documents(self.documents)

    def sources(self, inputs: Sequence[Path]) -> Iterable[Path]:
        return [*super().sources(inputs), self.documents]

    def takes(self, found: ConlluSentence) -> bool:
        return self.listed(found.document, found.number)

    def read_parts(self, inputs: Sequence[Path]) -> dict[str, Part]:
        parts = super().read_parts(inputs)
        self.listed.check_seen()
        return parts


@dataclass
class DocumentList:
    """A list of documents and of ranges of their sentences.

    ranges: first and last sentence, from 0, of each document; None for all. source: the list's
    file. seen: documents that were looked up.
    """

    ranges: dict[str, tuple[int, int] | None]
    source: str = "<string>"
    seen: set[str] = field(default_factory=set)

    def __call__(self, document: str, number: int) -> bool:
        """Return whether sentence `number` of a document is in the list."""
        if document not in self.ranges:
            return False
        self.seen.add(document)
        limits = self.ranges[document]
        return limits is None or limits[0] <= number <= limits[1]

    def check_seen(self) -> None:
        """Raise ValueError for a listed document that was not looked up."""
        if missing := sorted(self.ranges.keys() - self.seen):
            raise ValueError(f"{self.source}: no document {missing[0]!r} in the input")


def read_documents(path: str | Path) -> DocumentList:
    """Read a list with a document a line, `name` or `name first last`; `#` begins a comment. Raises
    FormatError for another line, or a document twice."""
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
    """Apply `prepositions` and `parentheses`; a sentence without tags or tree stays as it is."""
    if sentence.tags is None or sentence.constituents is None:
        return sentence
    return replace(
        sentence,
        tags=prepositions(sentence.tags, sentence.constituents),
        constituents=parentheses(sentence.tags, sentence.constituents),
    )


def prepositions(tags: Sequence[str], spans: Sequence[LabelledSpan]) -> list[str]:
    """Return tags with TO for "to" before verbs only, and IN for the preposition. The older Penn
    Treebank tags every "to" TO. It is a preposition if the smallest phrase around it is one of
    prepositions (PP, WHPP) or quantities (QP)."""
    parents = [""] * len(tags)
    for start, end, label in spans:  # in preorder, so the smallest is last
        parents[start:end] = [label] * (end - start)
    return [
        "IN" if tag == "TO" and parent in ("PP", "WHPP", "QP") else tag
        for tag, parent in zip(tags, parents, strict=True)
    ]


def parentheses(tags: Sequence[str], spans: Sequence[LabelledSpan]) -> list[LabelledSpan]:
    """Return phrases in preorder, with brackets inside the phrase that they enclose. (PRN (-LRB- x)
    (NP …) (-RRB- x)) becomes (NP (-LRB- x) … (-RRB- x)). If they don't enclose exactly one phrase,
    brackets and contents become children of PRN's parent."""
    kept: list[LabelledSpan] = []
    enclosed: set[tuple[int, int]] = set()
    for k, (start, end, label) in enumerate(spans):
        inside = start + 1, end - 1
        if (start, end) in enclosed:
            enclosed.discard((start, end))  # only the topmost of a unary chain has moved
        elif label == "PRN" and (tags[start], tags[end - 1]) == ("-LRB-", "-RRB-"):
            following = spans[k + 1] if k + 1 < len(spans) else None
            if following is not None and following[:2] == inside:
                kept.append((start, end, following[2]))
                enclosed.add(inside)
        else:
            kept.append((start, end, label))
    return kept


if __name__ == "__main__":
    app = typer.Typer()
    for name, format in (("masc", Masc), ("craft", Craft), ("gum", Gum)):
        app.command(name)(command(format))
    app()
