"""A pipeline around a released parser, from its header and its parameters."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import spacy
from spacy.language import Language
from torch import Tensor

from ..models.bridge.shim import torch_shim
from ..models.bridge.weights import Header
from ..pipeline.parser import ParserPipe
from .tokenizers import TOKENIZERS


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
