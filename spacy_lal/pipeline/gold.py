"""Reading gold constituents and tags off training examples, in the predicted Doc's tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy
from spacy.attrs import ORTH
from spacy.training import Example

from ..annotations import get_constituents, project_constituents
from ..models.sentences import Sentence
from ..trees import LabelledSpan


def same_tokens(example: Example) -> bool:
    """Whether both Docs of the example have the same tokens."""
    x, y = example.predicted, example.reference
    return len(x) == len(y) and bool(numpy.array_equal(x.to_array([ORTH]), y.to_array([ORTH])))


def gold_constituents(example: Example, key: str) -> list[LabelledSpan] | None:
    """Preorder (start, end, label) in predicted tokens; None if the reference has no trees.

    A span group without spans is a tree of words alone, not a missing one.

    Constituents whose borders are no token borders of the predicted Doc are left out.
    """
    if key not in example.reference.spans:
        return None
    spans = get_constituents(example.reference, key)
    if same_tokens(example):
        return spans
    alignment = example.alignment
    projected = project_constituents(spans, alignment.y2x, alignment.x2y)
    return [(start, end, label) for start, end, label, exact in projected if exact]


def gold_tags(example: Example) -> list[str]:
    """The tag of every predicted token; "" where there is none."""
    if same_tokens(example):
        return [token.tag_ for token in example.reference]
    return [tag or "" for tag in example.get_aligned("TAG", as_string=True)]


def in_words(spans: Iterable[LabelledSpan], sentence: Sentence) -> list[LabelledSpan]:
    """The spans inside the sentence, counted in its words; those of whitespace are left out."""
    words = sentence.words
    inside = [s for s in spans if sentence.start <= s[0] and s[1] <= sentence.end]
    if not inside:
        return []
    starts = numpy.searchsorted(words, [s[0] for s in inside])
    ends = numpy.searchsorted(words, [s[1] for s in inside])
    return [
        (int(i), int(j), label)
        for i, j, (_, _, label) in zip(starts, ends, inside, strict=True)
        if i < j
    ]
