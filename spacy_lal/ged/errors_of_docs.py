"""Gold errors of training examples."""

from __future__ import annotations

from spacy.tokens import Doc
from spacy.training import Example

from ..annotations.grammar_errors import CORRECT, get_errors
from ..pipeline.examples import Counts, Reader, same_tokens


def read_errors(key: str) -> Reader:
    """Types of errors."""

    def read(doc: Doc, counts: Counts) -> None:
        if key not in doc.spans:
            counts.lacking["errors"] += 1
            return
        types = (label for label in get_errors(doc, key) if label != CORRECT)
        counts.names["labels"].update(types)

    return read


def gold_errors(example: Example, key: str) -> list[str | None]:
    """The label of every predicted token; None where there is no gold.

    A token that is made of several gold ones is an error if one of them is.
    """
    if key not in example.reference.spans:
        return [None] * len(example.predicted)
    labels = get_errors(example.reference, key)
    if same_tokens(example):
        return list(labels)
    found: list[str | None] = []
    for i in range(len(example.predicted)):
        parts = [labels[int(k)] for k in example.alignment.x2y[i]]
        found.append(
            next((label for label in parts if label != CORRECT), CORRECT if parts else None)
        )
    return found
