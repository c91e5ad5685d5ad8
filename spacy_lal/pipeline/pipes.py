"""Loading of pipelines, with the damaged file in the error, and look-up of their components."""

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy
import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config
from thinc.config import ConfigValidationError


def load_pipeline(model: str | Path, **options: Any) -> Language:
    """Load a pipeline by its name or folder, as `spacy.load` does. Raises OSError or ImportError if
    it is missing, ValueError in one line if it is damaged, with the file and place if known."""
    try:
        return spacy.load(model, **options)
    except FileNotFoundError:
        raise
    except ImportError as error:
        raise ImportError(f"{model}: {' '.join(str(error).split())}") from error
    except Exception as error:  # spaCy raises many types for damaged files
        if isinstance(error, OSError) and not Path(model).exists():
            raise
        if isinstance(error, ConfigValidationError):
            # without the long config
            error = ConfigValidationError.from_error(error, show_config=False)
        said = " ".join(f"{type(error).__name__}: {error}".split())
        if isinstance(error, ValueError) and f"{model}" in said:  # a component of ours
            said = said.removeprefix("ValueError: ")
        else:
            said = _damaged(Path(model)) or f"{model}: can't be loaded: {said}"
        raise ValueError(said) from error


def _damaged(folder: Path) -> str:
    """Return the first malformed file and the place in it; "" if there is none."""
    for path in sorted(folder.rglob("*")):
        read = _READERS.get(path.name, _READERS.get(path.suffix))
        if read is not None and path.is_file():
            try:
                read(path)
            except Exception as error:
                return f"{path}: {' '.join(str(error).split()) or type(error).__name__}"
    return ""


_READERS: dict[str, Callable[[Path], Any]] = {
    **dict.fromkeys((".json", "cfg", "vectors.cfg"), lambda path: json.loads(path.read_bytes())),
    **dict.fromkeys(("model", "tokenizer", "key2row", "lookups.bin"), srsly.read_msgpack),
    "config.cfg": load_config,
    "vectors": partial(numpy.load, allow_pickle=False),
}
"""Readers by file name, else by suffix."""


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
    """Return copies of Docs, annotated by the components before `pipe`; the Docs if it is first."""
    earlier = pipes_before(nlp, pipe)
    return list(run_pipes(earlier, [doc.copy() for doc in docs])) if earlier else docs
