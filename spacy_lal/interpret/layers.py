"""What a detector of errors takes from its encoder's layers, word by word (Kaneko and Komachi
2019, eq. 7 and figure 2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from thinc.api import to_numpy

from ..ged.component import ErrorDetector
from ..ged.network import layer_attention
from .earlier_pipes import through_earlier_pipes


@dataclass(frozen=True, eq=False)
class LayersOfWords:
    """Attention over L layers, lowest first, of J heads for each of n tokens.

    words [n]; attention [L, n, J], which sums to one over the layers.
    """

    words: list[str]
    attention: numpy.ndarray


def layers_of_words(nlp: Language | ErrorDetector, doc: Doc) -> LayersOfWords:
    """The attention over layers for a Doc's words; whitespace is left out.

    The components before the detector are run on a copy of the Doc. Raises ValueError if there is
    not one detector in the pipeline.
    """
    pipe = nlp
    if isinstance(nlp, Language):
        pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, ErrorDetector)]
        if len(pipes) != 1:
            raise ValueError(
                f"expected one detector of errors in the pipeline {nlp.pipe_names}, "
                f"found {[pipe.name for pipe in pipes]}: pass nlp.get_pipe of one of them"
            )
        pipe = pipes[0]
    if not isinstance(pipe, ErrorDetector):
        name = getattr(pipe, "name", pipe)
        raise ValueError(f"{name!r} is no detector of errors, nor a pipeline with one")
    (doc,) = through_earlier_pipes(nlp, pipe, [doc])
    alpha = to_numpy(layer_attention(pipe.model, [doc]))
    words = [token.i for token in doc if not token.is_space]
    return LayersOfWords([doc[i].text for i in words], alpha[:, words])
