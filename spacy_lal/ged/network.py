"""Attention over layers (`spacy-lal.MHMLA.v1`), and pretrained encoders that return them all."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import torch
import torch.nn.functional as F
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d
from torch import Tensor, nn

from ..annotations.words import bare_doc
from ..batching.batches import check_listeners, initialize_tok2vec, read_plain
from ..batching.sentences import SentencePolicy
from ..bridge.shim import TorchShim, no_docs, to_rows, to_tensor, torch_shim
from ..bridge.weights import Header
from ..encoders.windows import sentence_spans
from ..layers.dropout import Dropout
from ..layers.integers import OneSidedLinear
from ..layers.layer_attention import LayerAttention, LayerAttentionSettings
from ..layers.precision import Precision
from ..layers.settings import with_settings_of

PART = 4096
"""Most words read at one time in prediction, unless one Doc has more."""


@with_settings_of(LayerAttentionSettings)
def build_mhmla_v1(
    layers: Model[list[Doc], Floats3d], prediction: Precision = "float32", **settings: Any
) -> Model[list[Doc], Floats2d]:
    """Multi-head multi-layer attention (Kaneko and Komachi 2019): scores of every token's labels.

    Returns [tokens of all Docs, labels]. The component sets the attribute `labels`, "correct"
    first, before initialisation.

    layers: an encoder that gives all its layers, [layers, tokens of all Docs, width]:
        `spacy-lal.BiLSTMLayers.v1`, `spacy-lal.EncoderLayers.v1` or
        `spacy-lal.TransformerLayers.v1`; or `spacy-lal.WithWordLayer.v1` on top of one of them.
    prediction: as in `spacy-lal.LabelAttentionParser.v1`; "int8" for layers that are the same in
        every batch, to the bit, as those of encoders and word layers with "int8".
    settings: see `LayerAttentionSettings`.
    """
    return Model(
        "mhmla",
        _attend,
        init=_init_attention,
        layers=[layers],
        refs={"layers": layers, "tok2vec": layers.maybe_get_ref("tok2vec")},
        shims=[TorchShim(LayerAttentionSettings(**settings).build)],
        attrs={"labels": [], "prediction": prediction},
    )


def _init_attention(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    n_layers, width = _sizes(model, X)
    header = {"d": width, "n_layers": n_layers, "labels": model.attrs["labels"]}
    torch_shim(model).initialize(header)


def _sizes(model: Model, X: list[Doc] | None) -> tuple[int, int]:
    """Initialise the layers below, and return their number and width."""
    layers = model.get_ref("layers")
    layers.initialize(X=X)
    if not X:
        raise ValueError("the layers' sizes are not known: give nlp.initialize() example Docs")
    n_layers, _, width = layers.predict(X[:1]).shape
    return int(n_layers), int(width)


def _attend(
    model: Model[list[Doc], Floats2d], docs: list[Doc], is_train: bool
) -> tuple[Floats2d, Callable[[Floats2d], list[Doc]]]:
    if not is_train and (parts := _parts(docs))[1:]:
        return model.ops.xp.concatenate([_attend(model, part, False)[0] for part in parts]), no_docs
    shim = torch_shim(model)
    stack, backprop_layers = model.get_ref("layers")(docs, is_train)
    h = xp2torch(stack, device=shim.device).requires_grad_(is_train)
    logits = shim.run(h, is_train=is_train, prediction=model.attrs["prediction"])

    def backprop(d_logits: Floats2d) -> list[Doc]:
        logits.backward(xp2torch(d_logits, device=logits.device))
        return backprop_layers(cast(Floats3d, torch2xp(cast(Tensor, h.grad))))

    return cast(Floats2d, torch2xp(logits.detach())), backprop


def _parts(docs: list[Doc]) -> list[list[Doc]]:
    """Return Docs in parts of `PART` words at most, or of one Doc: all layers of many Docs take
    gigabytes."""
    parts: list[list[Doc]] = [[]]
    words = 0
    for doc in docs:
        if parts[-1] and words + len(doc) > PART:
            parts.append([])
            words = 0
        parts[-1].append(doc)
        words += len(doc)
    return parts


def layer_attention(model: Model[list[Doc], Floats2d], docs: list[Doc]) -> Floats3d:
    """Return alpha [layers, tokens of all Docs, heads], eq. 7, figure 2."""
    shim = torch_shim(model)
    stack = model.get_ref("layers").predict(docs)
    alpha = cast(LayerAttention, shim.module).attention(xp2torch(stack, device=shim.device))
    return cast(Floats3d, torch2xp(alpha.detach()))


def build_encoder_layers_v1(
    encoder: Model[list[Doc], list[Floats2d]], sentences: SentencePolicy = "split"
) -> Model[list[Doc], Floats3d]:
    """Return the outputs of all layers of a component's own pretrained encoder.

    Returns [layers, tokens of all Docs, width], lowest layer first, without the embeddings; rows of
    whitespace tokens are zeros.

    encoder: `spacy-lal.PretrainedEncoder.v1` with output = "all". It can't be a listener, whose
        encoder has read other Docs.
    sentences: "split", "existing" or "doc"; see `lal_constituency`. Each sentence is read by
        itself, as a detector trained on single sentences needs.
    Raises ValueError for another encoder.
    """
    if encoder.name != "pretrained_encoder" or encoder.attrs["settings"].output != "all":
        raise ValueError(
            'spacy-lal.EncoderLayers.v1 needs spacy-lal.PretrainedEncoder.v1 with output = "all"'
        )
    forward = partial(_all_layers, sentences=sentences)
    return Model("encoder_layers", forward, init=_initialize_layers, layers=[encoder])


def _initialize_layers(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    model.layers[0].initialize(X=X)


def _all_layers(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool, *, sentences: SentencePolicy
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    encoder = model.layers[0]
    # not its type, which would import tokenizers
    network = cast(Any, torch_shim(encoder).module)
    xp = model.ops.xp
    # sentences cover a Doc, so their tokens keep the order of the Docs'
    read = [
        bare_doc(sentence, one_sentence=True)
        for doc in docs
        for sentence in sentence_spans(doc, sentences)
    ]
    lengths = [len(sentence) for sentence in read]
    vectors, backprop_encoder = encoder(read, is_train)
    flat = xp.concatenate([model.ops.alloc2f(0, network.output_dim), *vectors])
    # a view: layers of long texts take gigabytes
    stack = flat.reshape(len(flat), network.n_layers, network.width).transpose(1, 0, 2)

    def backprop(d_stack: Floats3d) -> list[Doc]:
        d_flat = xp.transpose(d_stack, (1, 0, 2)).reshape(len(flat), network.output_dim)
        if read:
            backprop_encoder(model.ops.unflatten(d_flat, model.ops.asarray1i(lengths)))
        return []

    return cast(Floats3d, stack), backprop


class WordLayer(nn.Module):
    """h [n,d], a layer's outputs for n words, and words [n,e], other features -> [n,d].

    LayerNorm(h + W_2 gelu(W_1 [h; words] + b_1) + b_2): a transformer's feed-forward layer with its
    residual (Vaswani et al. 2017, sections 3.1 and 3.3) over both, so that features may depend on
    h. In training, features and hidden layer have dropout.
    """

    def __init__(self, d: int, d_words: int, d_hidden: int) -> None:
        super().__init__()
        self.hidden = OneSidedLinear(d + d_words, d_hidden)
        self.output = OneSidedLinear(d_hidden, d)
        self.norm = nn.LayerNorm(d)
        self.dropout = Dropout()

    def forward(self, h: Tensor, words: Tensor) -> Tensor:
        hidden = F.gelu(self.hidden(torch.cat([h, self.dropout(words)], -1)))
        return self.norm(h + self.output(self.dropout(hidden)))


def _build(header: Header) -> WordLayer:
    return WordLayer(**header)


def build_with_word_layer_v1(
    layers: Model[list[Doc], Floats3d],
    embed: Model[list[Doc], list[Floats2d]],
    hidden_width: int = 384,
    prediction: Precision = "float32",
) -> Model[list[Doc], Floats3d]:
    """Put one more layer above those of an encoder; it reads the last layer and an embedding.

    The embedding restores, for example, the capitals that an uncased encoder drops. Returns [layers
    + 1, tokens of all Docs, width].

    layers: an encoder that gives all its layers; see `spacy-lal.MHMLA.v1`.
    embed: any Tok2Vec model, such as `spacy-lal.WordAffixEmbed.v1`, whose vocabulary is learned at
        initialisation.
    hidden_width: width of the feed-forward layer. prediction: as in `spacy-lal.MHMLA.v1`.
    """
    return Model(
        "with_word_layer",
        _add_words,
        init=_init_word_layer,
        layers=[layers, embed],
        refs={"layers": layers, "tok2vec": embed},
        shims=[TorchShim(_build)],
        attrs={"hidden_width": hidden_width, "dropout_rate": 0.0, "prediction": prediction},
    )


def _init_word_layer(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    d_hidden = model.attrs["hidden_width"]
    _, width = _sizes(model, X)
    header = {"d": width, "d_words": initialize_tok2vec(model, X), "d_hidden": d_hidden}
    torch_shim(model).initialize(header)


def _add_words(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    shim = torch_shim(model)
    network = cast(WordLayer, shim.module)
    if not is_train:
        check_listeners(model, docs)
    below, backprop_layers = model.get_ref("layers")(docs, is_train)
    rows, backprop_embed = read_plain(model.get_ref("tok2vec"), docs, is_train)
    stack = xp2torch(below, device=shim.device)
    last = stack[-1].detach().requires_grad_(is_train)
    d_words = network.hidden.in_features - network.output.out_features
    # without a Doc the width is unknown
    words = to_tensor(model, rows, shim.device).view(-1, d_words).requires_grad_(is_train)
    rate, prediction = model.attrs["dropout_rate"], model.attrs["prediction"]
    above = shim.run(last, words, is_train=is_train, dropout=rate, prediction=prediction)
    result = torch.cat([stack, above.detach().unsqueeze(0)])

    def backprop(d_stack: Floats3d) -> list[Doc]:
        given = xp2torch(d_stack, device=shim.device)
        above.backward(given[-1])
        d_below = given[:-1].clone()
        d_below[-1] += cast(Tensor, last.grad)
        backprop_layers(cast(Floats3d, torch2xp(d_below)))
        return backprop_embed(to_rows(model, cast(Tensor, words.grad), [len(doc) for doc in docs]))

    return cast(Floats3d, torch2xp(result)), backprop
