"""`spacy-lal.CuratedLayers.v1`: all layers of a shared transformer (spacy-curated-transformers)."""

from collections.abc import Callable
from typing import Any

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d, Floats3d


def build_curated_layers_v1(
    listener: Model[list[Doc], list[list[Floats2d]]], embeddings: bool = False
) -> Model[list[Doc], Floats3d]:
    """Return the outputs of all layers of a transformer that the pipeline's components share.

    Returns [layers, tokens of all Docs, width].

    listener: `spacy-curated-transformers.TransformerLayersListener.v1`, which gives the layers of
    every Doc, embeddings first; with `spacy-lal.first_piece.v1` as its pooling a token has its
    first piece's (Kaneko and Komachi 2019, section 4.2). The transformer must have
    `all_layer_outputs = true`.
    embeddings: whether layer 0, the embeddings, is among the layers; the paper leaves it out.

    spacy-curated-transformers 0.3.1 can predict, but can't be trained together with numpy 2.4.
    """
    return Model(
        "curated_layers",
        _forward,
        init=_init,
        layers=[listener],
        attrs={"embeddings": embeddings},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    model.layers[0].initialize(X=X)


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    listener = model.layers[0]
    skipped = 0 if model.attrs["embeddings"] else 1
    if not any(map(len, docs)):
        # without tokens the transformer has no layers, and its listener says so
        empty = model.ops.alloc3f(listener.attrs["layers"] - skipped, 0, listener.get_dim("nO"))
        return empty, lambda d_stack: []
    doc_layers, backprop_listener = listener(docs, is_train)
    xp = model.ops.xp
    layer_rows = list(zip(*doc_layers, strict=True))[skipped:]
    stack = xp.stack([xp.concatenate(layer) for layer in layer_rows])

    def backprop(d_stack: Floats3d) -> list[Doc]:
        d_docs: list[list[Floats2d]] = []
        start = 0
        for layers in doc_layers:
            end = start + len(layers[0])
            unused = [xp.zeros_like(layer) for layer in layers[:skipped]]
            d_docs.append([*unused, *(layer[start:end] for layer in d_stack)])
            start = end
        docs_back: list[Doc] = backprop_listener(d_docs)
        return docs_back

    return stack, backprop
