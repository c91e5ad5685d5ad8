"""A trained pipeline whose components have the word vectors that they read: what was trained with
`spacy-lal.WithVectors.v1` becomes `spacy-lal.WithOwnVectors.v1`, and the pipeline's own go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import torch
from spacy.language import Language
from spacy.util import load_model_from_config
from thinc.api import Model, to_numpy

from ..bridge.shim import torch_shim, torch_shims
from ..embeddings.own_vectors import OwnVectors, take_vectors
from .component import WeightsPipe

ABOUT = ("name", "version", "description", "author", "email", "url", "license", "sources", "notes")
"""Fields of meta.json that the other pipeline takes over."""
SHARED, OWN = "spacy-lal.WithVectors.v1", "spacy-lal.WithOwnVectors.v1"
"""The architectures whose vectors are the vocabulary's, and the component's own."""


def own_vectors(nlp: Language) -> Language:
    """A pipeline of the same weights. Raises ValueError if none of it reads vectors, or a component
    isn't this package's."""
    config = nlp.config.copy()
    places = list(_places(config["components"]))
    if not places:
        raise ValueError(f"no component of the pipeline has {SHARED}")
    for place in places:
        place["@architectures"] = OWN
        # the default is the width of the vectors
        place["width"] = place.get("width") or nlp.vocab.vectors.shape[1]
    config["initialize"]["vectors"] = None
    other = load_model_from_config(config)
    for name, pipe in nlp.pipeline:
        if not isinstance(pipe, WeightsPipe):
            raise ValueError(f"{name!r} is not a component of this package")
        mine = cast(Any, other.get_pipe(name))
        mine.cfg.update(cast(Any, pipe).cfg)
        _copy(mine.model, cast(Any, pipe).model, nlp)
    theirs = cast(Any, nlp.tokenizer).to_bytes(exclude=["vocab"])
    cast(Any, other.tokenizer).from_bytes(theirs, exclude=["vocab"])
    for string in nlp.vocab.strings:
        other.vocab.strings.add(string)
    other.meta.update({key: nlp.meta[key] for key in ABOUT if key in nlp.meta})
    return other


def _places(config: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if config.get("@architectures") == SHARED:
        yield config
    for value in config.values():
        if isinstance(value, dict):
            yield from _places(value)


def _copy(mine: Model, theirs: Model, nlp: Language) -> None:
    if [node.name for node, _ in torch_shims(theirs)] != [
        node.name for node, _ in torch_shims(mine) if node.name != "with_own_vectors"
    ]:
        raise ValueError(
            f"the model {mine.name!r} has other parts than {theirs.name!r}, so the weights of "
            "one can't go into the other"
        )
    mine.attrs.update(theirs.attrs)
    sources = (shim for _, shim in torch_shims(theirs))
    projections = (
        node.get_ref("vectors").get_param("W")
        for node in theirs.walk()
        if node.name == "with_vectors"
    )
    for node, shim in torch_shims(mine):
        if node.name == "with_own_vectors":
            take_vectors(node, nlp.vocab.vectors)
            weight = cast(OwnVectors, torch_shim(node).module).projection.weight
            weight.data = torch.from_numpy(to_numpy(next(projections)).copy())
        else:
            source = next(sources)
            if source.header is not None:
                shim.load(source.header, source.tensors())
