"""Look-up of components in a pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc


def only_pipe(nlp: Language | Any, kind: type | tuple[type, ...], what: str) -> Any:
    """Return the only component of a kind in a pipeline, or `nlp` if it is that component itself.
    Raises ValueError, naming the kind `what`, if there is none or several."""
    if not isinstance(nlp, Language):
        if isinstance(nlp, kind):
            return nlp
        raise ValueError(f"{getattr(nlp, 'name', nlp)!r} is no {what}, nor a pipeline with one")
    pipes: list[tuple[str, Any]] = nlp.pipeline
    return one_of([pipe for _, pipe in pipes if isinstance(pipe, kind)], nlp, what)


def one_of(found: list[Any], nlp: Language, what: str) -> Any:
    """Return the only one of the components found. Raises ValueError as `only_pipe`."""
    if len(found) == 1:
        return found[0]
    names = f"{[pipe.name for pipe in found]}: pass nlp.get_pipe of one of them"
    raise ValueError(
        f"expected one {what} in the pipeline {nlp.pipe_names}, found {names if found else 'none'}"
    )


def pipes_before(nlp: Language | Any, pipe: Any) -> list[Any]:
    """Return the components before another one; none if `nlp` is that component itself."""
    if not isinstance(nlp, Language):
        return []
    pipes = [other for _, other in nlp.pipeline]
    return pipes[: pipes.index(pipe)] if pipe in pipes else pipes


def run_pipes(pipes: Iterable[Any], docs: Iterable[Doc], batch_size: int = 128) -> Iterable[Doc]:
    """Apply components or functions to Docs, without effect on other threads; return the Docs."""
    for pipe in pipes:
        if hasattr(pipe, "pipe"):
            docs = pipe.pipe(docs, batch_size=batch_size)
        else:
            docs = map(pipe, docs)
    return docs


def through_earlier_pipes(nlp: Language | Any, pipe: Any, docs: list[Doc]) -> list[Doc]:
    """Return copies of Docs, annotated by the components before `pipe`; without such, the Docs."""
    earlier = pipes_before(nlp, pipe)
    return list(run_pipes(earlier, [doc.copy() for doc in docs])) if earlier else docs
