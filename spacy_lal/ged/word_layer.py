"""`spacy-lal.WithWordLayer.v1`: a layer above an encoder's that also sees the words' forms."""

from collections.abc import Callable
from typing import Any, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d
from torch import Tensor

from ..batching.batches import check_listeners, initialize_tok2vec
from ..bridge.shim import TorchShim, to_rows, to_tensor, torch_shim
from ..bridge.weights import Header
from ..layers.word_layer import WordLayer


def _build(header: Header) -> WordLayer:
    return WordLayer(**header)


def build_with_word_layer_v1(
    layers: Model[list[Doc], Floats3d],
    embed: Model[list[Doc], list[Floats2d]],
    hidden_width: int = 384,
) -> Model[list[Doc], Floats3d]:
    """Put one more layer above those of an encoder; it reads the last layer and an embedding.

    For example, an encoder that lowers case does not see capitals, but the embedding does.

    Returns [layers + 1, tokens of all Docs, width].

    layers: an encoder that gives all its layers; see `spacy-lal.MHMLA.v1`. embed: any Tok2Vec
    model, such as `spacy-lal.WordAffixEmbed.v1`, whose vocabulary is learned when the component is
    initialised. hidden_width: width of the feed-forward layer.
    """
    return Model(
        "with_word_layer",
        _forward,
        init=_init,
        layers=[layers, embed],
        refs={"layers": layers, "tok2vec": embed},
        shims=[TorchShim(_build)],
        attrs={"hidden_width": hidden_width, "dropout_rate": 0.0},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    layers = model.get_ref("layers")
    layers.initialize(X=X)
    width = initialize_tok2vec(model, X)
    if not X:
        raise ValueError("the width of the layers is not known: give nlp.initialize() example Docs")
    torch_shim(model).initialize(
        {
            "d": int(layers.predict(X[:1]).shape[2]),
            "d_words": width,
            "d_hidden": model.attrs["hidden_width"],
        }
    )


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    shim = torch_shim(model)
    network = cast(WordLayer, shim.module)
    if not is_train:
        check_listeners(model, docs)
    below, backprop_layers = model.get_ref("layers")(docs, is_train)
    rows, backprop_embed = model.get_ref("tok2vec")(docs, is_train)
    stack = xp2torch(below, device=shim.device)
    last = stack[-1].detach().requires_grad_(is_train)
    d_words = network.hidden.in_features - network.output.out_features
    # without a Doc there is no width
    words = to_tensor(model, rows, shim.device).view(-1, d_words).requires_grad_(is_train)
    if is_train:
        above = shim.begin_update(last, words, dropout=model.attrs["dropout_rate"])
    else:
        above = shim.predict(last, words)
    result = torch.cat([stack, above.detach().unsqueeze(0)])

    def backprop(d_stack: Floats3d) -> list[Doc]:
        given = xp2torch(d_stack, device=shim.device)
        above.backward(given[-1])
        d_below = given[:-1].clone()
        d_below[-1] += cast(Tensor, last.grad)
        backprop_layers(cast(Floats3d, torch2xp(d_below)))
        docs_back: list[Doc] = backprop_embed(
            to_rows(model, cast(Tensor, words.grad), [len(doc) for doc in docs])
        )
        return docs_back

    return cast(Floats3d, torch2xp(result)), backprop
