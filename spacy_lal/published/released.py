"""A pipeline around a released parser, from its header and its parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import spacy
from spacy.language import Language
from torch import Tensor

from ..bridge.shim import torch_shim
from ..bridge.weights import Header
from ..parsing.component import ParserPipe
from .tokenizers import TOKENIZERS


@contextmanager
def converting(program: str, checkpoint: Path, encoder: Path | None) -> Iterator[None]:
    """Turns what goes wrong with a checkpoint's contents into a ValueError that names the file.

    One that names the checkpoint, or a file of the encoder's folder, stays as it is.
    """
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        named = str(checkpoint), str(encoder or checkpoint)
        if isinstance(error, ValueError) and str(error).startswith(named):
            raise
        raise ValueError(f"{checkpoint}: not as {program} writes it: {error!r}") from error


def check_rows(checkpoint: Path, name: str, found: int, expected: int, kind: str) -> None:
    """Raise ValueError unless a table has as many rows as there are of a kind."""
    if found != expected:
        raise ValueError(f"{checkpoint}: {name} has {found} rows, and there are {expected} {kind}")


def released_pipeline(
    lang: str,
    factory: str,
    config: dict[str, Any],
    header: Header,
    tensors: dict[str, Tensor],
    source: Path,
) -> Language:
    """A blank pipeline with one component, of these parameters.

    Raises ValueError, naming `source`, if they are not what the header asks for.
    """
    nlp = spacy.blank(lang)
    nlp.meta["name"] = re.sub(r"\W+", "_", source.stem).strip("_").lower() or header["format"]
    nlp.meta["requirements"] = [TOKENIZERS]
    model = {"@architectures": "spacy-lal.ReleasedParser.v1", "format": header["format"]}
    pipe = cast(ParserPipe, nlp.add_pipe(factory, config={"model": model, **config}))
    try:
        torch_shim(pipe.model).load(header, tensors)
    except ValueError as error:
        raise ValueError(f"{source}: {error}".replace("\n", " ")) from error
    for kind in pipe.kinds:
        pipe.cfg[kind] = list(header[kind])
    return nlp
