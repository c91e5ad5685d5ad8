"""PropBank's trees and roles where their words are open, as MASC's are (`.gold_conll`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, compress
from pathlib import Path
from typing import Annotated

import typer
from english import DocumentList, like_ewt, read_documents
from propbank import PropbankSentence, parse_propbank

from spacy_lal.annotations import FrameSpans
from spacy_lal.cli.convert import command
from spacy_lal.formats.files import FormatError, is_number, read_text
from spacy_lal.formats.penn_brackets import clean_label
from spacy_lal.formats.treebank_format import Files, Lang, Losses, Part, Pattern
from spacy_lal.formats.treebank_sentence import TreebankSentence
from spacy_lal.trees.brackets import ptb_unescape
from spacy_lal.trees.tree import LabelledSpan

MARKS = frozenset({"CODE", "SU"})
"""Tags of what is no word: markup, and the marks of a transcript's units."""

_TAGS = {f"-{side}{kind}B-": f"-{side}RB-" for side in "LR" for kind in "SC"}
"""Square and curly brackets have the tags of round ones, as in the English Web Treebank."""


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

    def read(self, path: Path, losses: Losses) -> Iterator[TreebankSentence]:
        taken, left = self.lists
        for found in parse_propbank(read_text(path), source=str(path), broken_trees=True):
            if not is_number(found.number):
                message = f"bad sentence number {found.number!r} in the second column"
                raise FormatError(message, str(path), found.line)
            place = found.document, int(found.number)
            sentence = to_sentence(found)
            outside = (taken and not taken(*place)) or (left and left(*place))
            if sentence is not None and not outside:
                losses.left_out["left out"] += found.left_out
                yield like_ewt(sentence)


def to_sentence(found: PropbankSentence) -> TreebankSentence | None:
    """Words unescaped, tags, bare constituents and frames, without MARKS; None without words."""
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
        paragraph=found.document,  # the format knows documents alone
    )


if __name__ == "__main__":
    typer.run(command(Masc))
