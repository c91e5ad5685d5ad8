"""A pretrained transformer as a Tok2Vec model (`spacy-lal.PretrainedEncoder.v1`)."""

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..bridge.shim import Output, TorchShim, rows_of_docs, torch_shim
from ..bridge.weights import Header
from ..layers.bert import Bert
from ..layers.precision import Precision, bfloat16_products
from ..layers.settings import Settings, with_settings_of
from .hugging_face import (
    build_transformer,
    first_position,
    is_bert,
    padding_of,
    read_transformer,
    width_and_depth,
)
from .kept_states import KeptStates
from .word_pieces import PieceBatch, Pooling, WordPieces, piece_batches

LAYER = re.compile(r"(?:^|\.)layers?\.(\d+)\.")
"""Finds the layer in a parameter's name: "encoder.layer.3.…" of BERT and its kin, "layer.3.…" of
XLNet, "layers.3.…" of ModernBERT."""


@dataclass(frozen=True)
class PretrainedSettings(Settings):
    """Settings of a pretrained encoder.

    path: path of the model's folder, with config.json, tokenizer.json and model.safetensors. It is
    read only when a pipeline is initialised: a trained pipeline holds weights and tokenizer.
    sha256: hash of model.safetensors; a file with another hash is refused.
    output: "last", the last layer; "mix", a learned mix of the last `layers` (Peters et al. 2018,
    eq. 1); "all", all layers but the embeddings, side by side.
    pooling: a token's vector is that of its "first" piece or of its "last" piece.
    compounds: whether words of several parts, with "_" between them as in treebanks, are read with
    spaces instead, which a transformer knows.
    window: number of pieces that are read together, special ones such as [CLS] included. A Doc is
    cut into windows at its sentence boundaries, or at blank lines if it has no boundaries; each
    window gets as many sentences as fit. A longer sentence is read in overlapping windows, and a
    token's vector comes from the window in which it is farthest from the edges.
    trained_from: the lowest layer that is trained; 0, the default, is the embeddings.
    mixed_precision: train with bfloat16 products, where the processor has them.
    cache: a folder that keeps the outputs of the layers below `trained_from` in bfloat16, so that
    every window is computed once; these layers then work without dropout. For training on the same
    windows again and again; a trained pipeline should have none. Not for transformers of Hugging
    Face's library.
    prediction: as in `spacy-lal.LabelAttentionParser.v1`; transformers of Hugging Face's library
    have no "int8", and predict in float32 then.
    """

    name: ClassVar[str] = "spacy-lal.PretrainedEncoder.v1"
    path: str | None = None
    sha256: str | None = None
    output: Literal["last", "mix", "all"] = "mix"
    layers: int = 4
    pooling: Pooling = "first"
    compounds: bool = False
    window: int = 128
    trained_from: int = 0
    mixed_precision: bool = False
    cache: str | None = None
    prediction: Precision = "float32"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window < 16:
            raise ValueError(f"window must be at least 16, got {self.window}")
        if self.cache is not None and self.trained_from < 1:
            raise ValueError("a cache is of frozen layers: it needs trained_from of at least 1")

    def build(self, header: Header) -> "PretrainedNetwork":
        return PretrainedNetwork(header["transformer"], self)

    def reader(self, header: Header) -> WordPieces:
        return WordPieces(header["tokenizer"], self.compounds)


class LayerMix(nn.Module):
    """A softmax-weighted sum of layers [k, n, d] -> [n, d], times a factor: gamma sum_j
    softmax(weights)_j h_j (Peters et al. 2018, section 3.2, eq. 1)."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(n_layers))
        self.gamma = nn.Parameter(torch.ones(1))

    def forward(self, layers: Tensor) -> Tensor:
        return self.gamma * torch.einsum("k,knd->nd", torch.softmax(self.weights, 0), layers)


class PretrainedNetwork(nn.Module):
    """Batches of pieces -> the vectors of all tokens [tokens, width]; zeros without pieces.
    transformer: the contents of its config.json."""

    def __init__(self, transformer: dict[str, Any], settings: PretrainedSettings) -> None:
        super().__init__()
        self.transformer = build_transformer(transformer)
        self.padding = padding_of(transformer)
        self.width, self.n_layers = width_and_depth(transformer)
        layers, output = settings.layers, settings.output
        if output == "mix" and not 1 <= layers <= self.n_layers:
            raise ValueError(f"layers must be from 1 to {self.n_layers}, got {layers}")
        self.output_dim = self.width * (self.n_layers if output == "all" else 1)
        self.first = {"last": self.n_layers, "mix": self.n_layers - layers + 1, "all": 1}[output]
        self.mix = LayerMix(layers) if output == "mix" else None
        _freeze(self.transformer, settings.trained_from)
        self.cache, self.trained_from = settings.cache, settings.trained_from
        self.kept: KeptStates | None = None
        if self.cache is not None and not isinstance(self.transformer, Bert):
            raise ValueError(
                "a cache needs a transformer like BERT, RoBERTa, XLM-R, Electra, MPNet"
            )

    def forward(self, batches: list[PieceBatch], n_tokens: int, lower_precision: bool) -> Tensor:
        """Computes the vectors; lower_precision: whether with bfloat16 products, where possible."""
        vectors = next(self.transformer.parameters()).new_zeros(n_tokens, self.output_dim)
        for batch in batches:
            vectors.index_copy_(0, batch.tokens, self._of_tokens(batch, lower_precision))
        return vectors

    def _of_tokens(self, batch: PieceBatch, lower_precision: bool) -> Tensor:
        device = batch.pieces.device.type
        with bfloat16_products(device, lower_precision):
            windows = batch.pieces, batch.types, batch.mask
            begun = () if self.cache is None else (self._begun(batch),)
            hidden = self.transformer(*windows, *begun)[self.first :]
        rows = [layer.flatten(0, 1)[batch.rows] for layer in hidden]
        if lower_precision:
            rows = [layer.float() for layer in rows]
        if self.mix is not None:
            return self.mix(torch.stack(rows))
        return torch.cat(rows, -1)

    def _begun(self, batch: PieceBatch) -> list[Tensor]:
        """Returns the outputs of frozen layers from the cache."""
        transformer = cast(Bert, self.transformer)
        if self.kept is None:
            highest = min(self.trained_from - 1, self.n_layers)
            outputs = range(min(self.first, highest), highest + 1)
            self.kept = KeptStates(cast(str, self.cache), transformer, outputs)
        return self.kept(transformer, batch)


def _freeze(transformer: Any, trained_from: int) -> None:
    """Freezes the embeddings and the layers below `trained_from`. Raises ValueError if no
    parameter's name contains its layer."""
    if trained_from <= 0:
        return
    layer = 0
    for name, parameter in transformer.named_parameters():
        if named := LAYER.search(name):
            layer = int(named[1]) + 1
            frozen = layer < trained_from
        else:
            # parts behind the layers, such as a last norm, stay trained; MPNet's biases of
            # distances are read by the lowest layer, too
            frozen = not layer or "embed" in name or "relative_attention_bias" in name
        if frozen:
            parameter.requires_grad_(False)
    if not layer:
        raise ValueError(
            f"trained_from = {trained_from}, and no parameter of this transformer says of which "
            "layer it is: only trained_from = 0 is possible"
        )


@with_settings_of(PretrainedSettings)
def build_pretrained_encoder_v1(**settings: Any) -> Model[list[Doc], list[Floats2d]]:
    """Fine-tune a pretrained transformer, for one component or, in a shared `tok2vec`, for many.

    Any BERT-, RoBERTa-, XLM-R-, XLNet- or Electra-like model that Hugging Face's library knows.
    Each token gets one vector; a whitespace token gets zeros. settings: see `PretrainedSettings`.
    """
    own = PretrainedSettings(**settings)
    return Model(
        "pretrained_encoder",
        _forward,
        init=_init,
        attrs={"settings": own},
        dims={"nO": None},
        shims=[TorchShim(own.build, own.reader)],
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = torch_shim(model)
    if shim.header is not None:
        return
    settings: PretrainedSettings = model.attrs["settings"]
    path, window = settings.path, settings.window
    if path is None:
        raise ValueError("spacy-lal.PretrainedEncoder.v1 needs the path of a transformer's folder")
    config, tokenizer, tensors = read_transformer(path, settings.sha256)
    most = config.get("max_position_embeddings")
    # some kinds in Hugging Face's library keep two positions for themselves, like RoBERTa
    if most and window > most - (first_position(config) if is_bert(config) else 2):
        raise ValueError(f"window = {window} is too long: {path} has {most} positions")
    shim.initialize({"transformer": config, "tokenizer": tokenizer})
    network = cast(PretrainedNetwork, shim.module)
    network.transformer.load_state_dict(tensors)
    model.set_dim("nO", network.output_dim)


def _forward(model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool) -> Output:
    shim = torch_shim(model)
    settings: PretrainedSettings = model.attrs["settings"]
    network = cast(PretrainedNetwork, shim.module)
    lower = settings.mixed_precision if is_train else settings.prediction == "bfloat16"
    batches = piece_batches(
        docs,
        shim.reader,
        settings.window,
        settings.pooling,
        network.padding,
        few_shapes=is_train or lower,
    )
    batches = [type(batch)(*(tensor.to(shim.device) for tensor in batch)) for batch in batches]
    # one sum of layers is float32 in any case, so the network itself lowers the precision
    prediction: Precision = "int8" if settings.prediction == "int8" else "float32"
    n_tokens = sum(map(len, docs))
    rows: Tensor = shim.run(batches, n_tokens, lower, is_train=is_train, prediction=prediction)
    return rows_of_docs(model, rows, docs)
