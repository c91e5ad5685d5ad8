"""A Doc as a component of a pipeline gets it."""

from __future__ import annotations

from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


def through_earlier_pipes(nlp: Language | Any, pipe: Any, docs: list[Doc]) -> list[Doc]:
    """Copies of Docs that have gone through the components before `pipe`; the Docs themselves if
    there is none, or if `nlp` is the component."""
    if not isinstance(nlp, Language):
        return docs
    earlier: list[str] = []
    for name, other in nlp.pipeline:
        if other is pipe:
            break
        earlier.append(name)
    if not earlier:
        return docs
    with nlp.select_pipes(enable=earlier):
        return list(nlp.pipe([doc.copy() for doc in docs]))
