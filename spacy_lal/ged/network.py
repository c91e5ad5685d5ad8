"""`spacy-lal.MHMLA.v1`: an encoder's layers, attention over them, a classifier of tokens."""

from collections.abc import Callable
from typing import Any, cast

from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d
from torch import Tensor

from ..bridge.shim import TorchShim, torch_shim
from ..layers.layer_attention import LayerAttention, LayerAttentionSettings
from ..layers.settings import with_settings_of


@with_settings_of(LayerAttentionSettings)
def build_mhmla_v1(
    layers: Model[list[Doc], Floats3d], **settings: Any
) -> Model[list[Doc], Floats2d]:
    """Multi-head multi-layer attention (Kaneko and Komachi 2019): scores of every token's labels.

    Returns [tokens of all Docs, labels]. The component sets the attribute `labels`, "correct"
    first, before initialisation.

    layers: an encoder that gives all its layers, [layers, tokens of all Docs, width]:
        `spacy-lal.BiLSTMLayers.v1`, `spacy-lal.EncoderLayers.v1` or
        `spacy-lal.TransformerLayers.v1`; or `spacy-lal.WithWordLayer.v1` on top of one of them.
    settings: see `LayerAttentionSettings`.
    """
    return Model(
        "mhmla",
        _forward,
        init=_init,
        layers=[layers],
        refs={"layers": layers, "tok2vec": layers.maybe_get_ref("tok2vec")},
        shims=[TorchShim(LayerAttentionSettings(**settings).build)],
        attrs={"labels": []},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    layers = model.get_ref("layers")
    layers.initialize(X=X)
    if not X:
        raise ValueError("the number of layers is not known: give nlp.initialize() example Docs")
    n_layers, _, width = layers.predict(X[:1]).shape
    torch_shim(model).initialize(
        {"d": int(width), "n_layers": int(n_layers), "labels": model.attrs["labels"]}
    )


def _forward(
    model: Model[list[Doc], Floats2d], docs: list[Doc], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[Doc]]]:
    shim = torch_shim(model)
    stack, backprop_layers = model.get_ref("layers")(docs, is_train)
    h = xp2torch(stack, device=shim.device).requires_grad_(is_train)
    logits = shim.run(h, is_train=is_train)

    def backprop(d_logits: Floats2d) -> list[Doc]:
        logits.backward(xp2torch(d_logits, device=logits.device))
        return backprop_layers(cast(Floats3d, torch2xp(cast(Tensor, h.grad))))

    return cast(Floats2d, torch2xp(logits.detach())), backprop


def layer_attention(model: Model[list[Doc], Floats2d], docs: list[Doc]) -> Floats3d:
    """Return alpha [layers, tokens of all Docs, heads], eq. 7, figure 2."""
    shim = torch_shim(model)
    stack = model.get_ref("layers").predict(docs)
    alpha = cast(LayerAttention, shim.module).attention(xp2torch(stack, device=shim.device))
    return cast(Floats3d, torch2xp(alpha.detach()))
