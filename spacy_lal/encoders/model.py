"""`spacy-lal.PretrainedEncoder.v1`: a pretrained transformer in the shape of a Tok2Vec model."""

from collections.abc import Callable
from typing import Any, Literal, cast

from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor

from ..bridge.shim import TorchShim, backward, to_rows, torch_shim
from ..bridge.weights import Header
from .batches import Pooling, piece_batches
from .folder import read_transformer
from .network import Output, PretrainedNetwork, build_network
from .pieces import WordPieces
from .transformers import first_position, is_bert

Precision = Literal["float32", "bfloat16"]


def _word_pieces(header: Header) -> WordPieces:
    return WordPieces(header["tokenizer"])


def build_pretrained_encoder_v1(
    path: str | None = None,
    sha256: str | None = None,
    output: Output = "mix",
    layers: int = 4,
    pooling: Pooling = "first",
    window: int = 128,
    trained_from: int = 0,
    mixed_precision: bool = False,
    prediction: Precision = "float32",
) -> Model[list[Doc], list[Floats2d]]:
    """Fine-tune a pretrained transformer, for one component or, in a shared `tok2vec`, for many.

    Any BERT-, RoBERTa-, XLM-R-, XLNet- or Electra-like model that Hugging Face's library knows.
    Each token gets one vector; a whitespace token gets zeros.

    path: path of the model's folder, with config.json, tokenizer.json and model.safetensors. It is
    read only when a pipeline is initialised: a trained pipeline holds weights and tokenizer.
    sha256: hash of model.safetensors; a file with another hash is refused.
    output: "last", the last layer; "mix", a learned mix of the last `layers` (Peters et al. 2018,
    eq. 1); "all", all layers but the embeddings, side by side. pooling: whether a token's vector is
    that of its "first" piece, of its "last" piece, or the "mean" of all its pieces.
    window: number of pieces that are read together, special ones such as [CLS] included. A Doc is
    cut into windows at its sentence boundaries, or at blank lines if it has no boundaries; each
    window gets as many sentences as fit. A longer sentence is read in overlapping windows, and a
    token's vector comes from the window in which it is farthest from the edges.
    trained_from: the lowest layer that is trained; 0, the default, is the embeddings.
    mixed_precision: train with bfloat16 products, where the processor has them.
    prediction: "float32", or "bfloat16" to predict with such products, too; vectors then differ in
    the third digit, and from one processor to another. You can change this setting in the `attrs`
    of a trained model.
    """
    if window < 16:
        raise ValueError(f"window must be at least 16, got {window}")
    for name, value, known in (
        ("output", output, ("last", "mix", "all")),
        ("pooling", pooling, ("first", "last", "mean")),
        ("prediction", prediction, ("float32", "bfloat16")),
    ):
        if value not in known:
            raise ValueError(f"{name} must be one of {known}, not {value!r}")
    settings = {
        "output": output,
        "layers": layers,
        "pooling": pooling,
        "trained_from": trained_from,
    }
    attrs = {
        "path": path,
        "sha256": sha256,
        "settings": settings,
        "window": window,
        "mixed_precision": mixed_precision,
        "prediction": prediction,
    }
    return Model(
        "pretrained_encoder",
        _forward,
        init=_init,
        attrs=attrs,
        dims={"nO": None},
        shims=[TorchShim(build_network, _word_pieces)],
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = torch_shim(model)
    if shim.header is not None:
        return
    path = model.attrs["path"]
    if path is None:
        raise ValueError("spacy-lal.PretrainedEncoder.v1 needs the path of a transformer's folder")
    config, tokenizer, tensors = read_transformer(path, model.attrs["sha256"])
    most = config.get("max_position_embeddings")
    # of the kinds that another library reads, some keep two positions for themselves, like RoBERTa
    if most and model.attrs["window"] > most - (first_position(config) if is_bert(config) else 2):
        raise ValueError(
            f"window = {model.attrs['window']} is too long: {path} has {most} positions"
        )
    shim.initialize(
        {"transformer": config, "tokenizer": tokenizer, "settings": model.attrs["settings"]}
    )
    network = cast(PretrainedNetwork, shim.module)
    network.transformer.load_state_dict(tensors)
    model.set_dim("nO", network.output_dim)


def _forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim = torch_shim(model)
    network = cast(PretrainedNetwork, shim.module)
    n_tokens = sum(map(len, docs))
    window: int = model.attrs["window"]
    lower = model.attrs["mixed_precision"] if is_train else model.attrs["prediction"] == "bfloat16"
    batches = piece_batches(
        docs, shim.reader, window, network.pooling, network.padding, few_shapes=is_train or lower
    )
    batches = [type(batch)(*(tensor.to(shim.device) for tensor in batch)) for batch in batches]
    if is_train:
        rows: Tensor = shim.begin_update(batches, n_tokens, lower, dropout=0.0)
    else:
        rows = shim.predict(batches, n_tokens, lower)

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backward(model, rows, d_rows)
        return []

    return to_rows(model, rows, [len(doc) for doc in docs]), backprop
