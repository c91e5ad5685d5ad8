"""`spacy-lal.EncoderLayers.v1`: all layers of a pretrained encoder that reads single sentences."""

from collections.abc import Callable, Iterator
from typing import cast

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Floats3d

from ..annotations.words import bare_doc
from ..batching.sentences import SentencePolicy, sentence_starts
from ..bridge.shim import torch_shim
from ..encoders.network import PretrainedNetwork


def build_encoder_layers_v1(
    encoder: Model[list[Doc], list[Floats2d]], sentences: SentencePolicy = "split"
) -> Model[list[Doc], Floats3d]:
    """Return the outputs of all layers of a component's own pretrained encoder.

    Returns [layers, tokens of all Docs, width], the lowest layer first, without the embeddings;
    rows of whitespace tokens are zeros.

    encoder: `spacy-lal.PretrainedEncoder.v1` with output = "all". It can't be a listener, which
    would get other Docs than its encoder has read.
    sentences: "split", "existing" or "doc"; see `lal_constituency`. Each sentence is read by
    itself, though the encoder's window could hold several, because a detector that was trained
    on single sentences should read single sentences.

    Raises ValueError for another encoder.
    """
    settings = encoder.attrs.get("settings", {})
    if encoder.name != "pretrained_encoder":
        raise ValueError(
            "spacy-lal.EncoderLayers.v1 needs spacy-lal.PretrainedEncoder.v1, not the model "
            f"{encoder.name!r}"
        )
    if settings["output"] != "all":
        raise ValueError(
            'spacy-lal.EncoderLayers.v1 needs an encoder with output = "all", not '
            f"{settings['output']!r}"
        )
    return Model(
        "encoder_layers",
        _forward,
        init=_init,
        layers=[encoder],
        attrs={"sentences": sentences},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    model.layers[0].initialize(X=X)


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    encoder = model.layers[0]
    network = cast(PretrainedNetwork, torch_shim(encoder).module)
    xp = model.ops.xp
    # sentences cover a Doc, so their tokens stand in the order of the Docs'
    read = [sentence for doc in docs for sentence in _alone(doc, model.attrs["sentences"])]
    lengths = [len(sentence) for sentence in read]
    vectors, backprop_encoder = encoder(read, is_train)
    flat = xp.concatenate([model.ops.alloc2f(0, network.output_dim), *vectors])
    # a view: of long texts, layers take gigabytes
    stack = flat.reshape(len(flat), network.n_layers, network.width).transpose(1, 0, 2)

    def backprop(d_stack: Floats3d) -> list[Doc]:
        d_flat = xp.transpose(d_stack, (1, 0, 2)).reshape(len(flat), network.output_dim)
        if read:
            backprop_encoder(model.ops.unflatten(d_flat, model.ops.asarray1i(lengths)))
        return []

    return cast(Floats3d, stack), backprop


def _alone(doc: Doc, policy: SentencePolicy) -> Iterator[Doc]:
    """The sentences of a Doc, each as a Doc that the encoder takes for one sentence."""
    starts = sentence_starts(doc, policy)
    for start, end in zip(starts, [*starts, len(doc)][1:], strict=True):
        yield bare_doc(doc[start:end], one_sentence=True)
