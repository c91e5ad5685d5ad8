"""Treebanks of English brought to the conventions of the English Web Treebank.

All have its labels and tags and mean much the same by them. Where they systematically don't, a
parser trained on two of them would guess which one a sentence is from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..trees.tree import LabelledSpan
from .docs import TreebankSentence

_OPENING, _CLOSING = "-LRB-", "-RRB-"


def like_ewt(sentence: TreebankSentence) -> TreebankSentence:
    """`prepositions` and `parentheses`; a sentence without tags or tree stays as it is."""
    if sentence.tags is None or sentence.constituents is None:
        return sentence
    return replace(
        sentence,
        tags=prepositions(sentence.words, sentence.tags, sentence.constituents),
        constituents=parentheses(sentence.tags, sentence.constituents),
    )


def prepositions(
    words: Sequence[str], tags: Sequence[str], spans: Sequence[LabelledSpan]
) -> list[str]:
    """Tags in which "to" is TO before a verb alone, and IN as any other preposition.

    The older Penn Treebank tags every "to" TO. It is a preposition where the smallest phrase around
    it is one of prepositions (PP, WHPP) or quantities (QP)."""
    parents = [""] * len(words)
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
        elif label == "PRN" and tags[start] == _OPENING and tags[end - 1] == _CLOSING:
            following = spans[k + 1] if k + 1 < len(spans) else None
            if following is not None and following[:2] == inside:
                kept.append((start, end, following[2]))
                enclosed.add(inside)
        else:
            kept.append((start, end, label))
    return kept


def without_tags(sentence: TreebankSentence, tags: Collection[str]) -> TreebankSentence:
    """The sentence with "", not annotated, in the place of these tags."""
    if sentence.tags is None or not tags:
        return sentence
    return replace(sentence, tags=["" if tag in tags else tag for tag in sentence.tags])
