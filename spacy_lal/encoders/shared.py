"""Shared encoders: a component that holds one (`lal_tok2vec`), an embedding beside one
(`spacy-lal.WithEncoder.v1`), and Docs without its vectors at the end of a pipeline
(`lal_empty_tensor`)."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy
from spacy.language import Language
from spacy.pipeline import Tok2Vec
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model
from thinc.types import Floats2d

from ..batching.batches import WITH_ENCODER, read_plain
from ..bridge.shim import Output, model_from_disk, model_to_disk, side_by_side
from ..embeddings.forms import learn_vocabulary


def build_with_encoder_v1(
    embed: Model[list[Doc], list[Floats2d]],
    encoder: Model[list[Doc], list[Floats2d]],
    gradient: float = 1.0,
) -> Model[list[Doc], list[Floats2d]]:
    """Concatenate the vectors of an embedding and those of an encoder.

    For example, an encoder that lowers case does not see capitals, but the embedding does.

    embed: any Tok2Vec model, such as `spacy-lal.WordAffixEmbed.v1`, whose vocabulary is learned
    when the component is initialised. encoder: `spacy-lal.PretrainedEncoder.v1`, or a listener to a
    shared one. gradient: factor of the encoder's gradient; with 0 only other components train it.
    Components of this package send the mean gradient over a batch's words. spaCy's tagger and
    senter send the sum, which would outweigh other components in a shared encoder; for these, 0.001
    turns the sum into about a mean.
    """
    if not gradient >= 0:
        raise ValueError(f"gradient must be at least 0, got {gradient}")
    return Model(
        WITH_ENCODER,
        _forward,
        init=_init,
        layers=[embed, encoder],
        refs={"embed": embed},
        attrs={"gradient": gradient},
        dims={"nO": None},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    for layer in model.layers:
        layer.initialize(X=X)
    if all(layer.has_dim("nO") for layer in model.layers):
        model.set_dim("nO", sum(layer.get_dim("nO") for layer in model.layers))


def _forward(model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool) -> Output:
    embed, encoder = model.layers
    encoded, backprop_encoder = encoder(docs, is_train)
    gradient = model.attrs["gradient"]

    def backprop(d_encoded: list[Floats2d]) -> list[Doc]:
        # without a gradient too, since the last listener's backprop updates the encoder for all
        return backprop_encoder([gradient * d for d in d_encoded])

    return side_by_side(model, read_plain(embed, docs, is_train), (encoded, backprop))


class SharedEncoder(Tok2Vec):
    """`lal_tok2vec`: spaCy's `tok2vec`, which keeps weights of torch modules as safetensors.

    `lal package` writes files of less than 100 MB of them, however large the encoder is. When it is
    initialised, embeddings such as `spacy-lal.WordAffixEmbed.v1` learn the training data's words.
    """

    encoder: "SharedEncoder | None" = None
    """The pipeline's `lal_tok2vec` that this one listens to."""

    def read(self, doc: Doc) -> None:
        """Write a Doc's vectors, whatever has read it before."""
        if self.encoder is not None:
            self.encoder.read(doc)
        self.set_annotations([doc], self.predict([doc]))

    def find_listeners(self, component: Any) -> None:
        """Look for layers that listen, as spaCy's `tok2vec` does. Components of this package then
        know whom to ask for the vectors of a Doc by itself, such as that of `kbest`."""
        super().find_listeners(component)
        if getattr(component, "name", None) in self.listener_map and hasattr(component, "encoder"):
            component.encoder = self

    def initialize(
        self, get_examples: Callable[[], Iterable[Example]], *, nlp: Language | None = None
    ) -> None:
        learn_vocabulary(self.model, (example.reference for example in get_examples()))
        super().initialize(get_examples, nlp=nlp)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        path, exclude = Path(path), list(exclude)
        super().to_disk(path, exclude=[*exclude, "model"])
        if "model" not in exclude:
            model_to_disk(self.model, path)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "SharedEncoder":
        """Read the output of `to_disk`. Raises ValueError, naming the file, if it is damaged."""
        path, exclude = Path(path), list(exclude)
        super().from_disk(path, exclude=[*exclude, "model"])
        if "model" not in exclude:
            model_from_disk(self.model, path)
        return self


@Language.factory("lal_tok2vec", assigns=["doc.tensor"])
def make_shared_encoder(
    nlp: Language, name: str, model: Model[list[Doc], list[Floats2d]]
) -> SharedEncoder:
    return SharedEncoder(nlp.vocab, model, name)


@Language.factory("lal_empty_tensor", retokenizes=False)
def make_empty_tensor(nlp: Language, name: str) -> Callable[[Doc], Doc]:
    """Give every Doc a `doc.tensor` of no numbers, as a new Doc has.

    spaCy's `doc_cleaner` sets None, with which `token.vector`, `span.as_doc()` and similarity raise
    AttributeError wherever the vocabulary has no vectors.
    """
    return empty_tensor


def empty_tensor(doc: Doc) -> Doc:
    """Empties the Doc's tensor."""
    doc.tensor = numpy.zeros(0, dtype="f")
    return doc
