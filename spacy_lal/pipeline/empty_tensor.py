"""`lal_empty_tensor`: the last component of a pipeline whose vectors nobody needs any more."""

from collections.abc import Callable

import numpy
from spacy.language import Language
from spacy.tokens import Doc


@Language.factory("lal_empty_tensor", retokenizes=False)
def make_empty_tensor(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Give every Doc a `doc.tensor` of no numbers, as a new Doc has.

    spaCy's `doc_cleaner` puts None there, with which `token.vector`, `span.as_doc()` and similarity
    end in an AttributeError wherever the vocabulary has no vectors.
    """
    return empty_tensor


def empty_tensor(doc: Doc) -> Doc:
    """The Doc, its tensor of no numbers."""
    doc.tensor = numpy.zeros(0, dtype="f")
    return doc
