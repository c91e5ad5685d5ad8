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
    pipes: list[Any] = [other for _, other in nlp.pipeline]
    earlier = pipes[: pipes.index(pipe)] if pipe in pipes else pipes
    if earlier:
        docs = [doc.copy() for doc in docs]
    # not through `nlp.select_pipes`: other threads may be using the pipeline
    for other in earlier:
        docs = list(other.pipe(docs)) if hasattr(other, "pipe") else [other(doc) for doc in docs]
    return docs
