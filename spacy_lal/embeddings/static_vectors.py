"""`spacy-lal.WithVectors.v1`: an embedding beside the pipeline's static word vectors."""

from collections.abc import Callable
from typing import Any

from spacy.ml.staticvectors import StaticVectors
from spacy.tokens import Doc
from thinc.api import Model, chain, concatenate, list2ragged, ragged2list
from thinc.types import Floats2d, Ragged


def build_with_vectors_v1(
    embed: Model[list[Doc], list[Floats2d]], width: int | None = None
) -> Model[list[Doc], list[Floats2d]]:
    """Concatenate static word vectors, such as fastText's, with the vectors of an embedding.

    embed: any Tok2Vec model. width: width of the learned linear projection of the static vectors;
    by default the width of the vectors.

    The static vectors are the pipeline's own (`nlp.vocab.vectors`, of either mode) and are not
    trained. Words without a vector get zeros.
    """
    vectors = StaticVectors(width)
    # spaCy sets every "dropout_rate" it finds, and would drop features of a whole batch here
    del vectors.attrs["dropout_rate"]
    pair: Model[list[Doc], Ragged] = concatenate(chain(embed, list2ragged()), vectors)
    embed_width = embed.maybe_get_dim("nO")
    return Model(
        "with_vectors",
        _forward,
        init=_init,
        layers=[chain(pair, ragged2list())],
        refs={"embed": embed, "vectors": vectors},
        dims={"nO": None if width is None or embed_width is None else embed_width + width},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    embed, vectors = model.get_ref("embed"), model.get_ref("vectors")
    if X:
        shape = X[0].vocab.vectors.shape
        if 0 in shape:
            raise ValueError(
                "spacy-lal.WithVectors.v1 needs word vectors, but the pipeline has none: set "
                "`vectors` in the [initialize] block of the config to a pipeline that has them. "
                "`python -m spacy init vectors` makes one of a file of vectors."
            )
        if vectors.has_dim("nO") is None:
            vectors.set_dim("nO", shape[1])
    model.layers[0].initialize(X=X)
    if embed.has_dim("nO"):
        model.set_dim("nO", embed.get_dim("nO") + vectors.get_dim("nO"))


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    return model.layers[0](docs, is_train)
