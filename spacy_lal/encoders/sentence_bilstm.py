"""A BiLSTM over sentences as a Tok2Vec model (`spacy-lal.SentenceBiLSTM.v1`), for components that
share it."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..batching.batches import (
    READING,
    initialize_tok2vec,
    read_docs,
    token_batches,
    unpadded_words,
)
from ..bridge.shim import Output, TorchShim, backward, no_docs, to_rows, torch_shim
from ..bridge.weights import Header
from ..layers.input_encoders import BiLSTMInput, ReadWords, TaggingBiLSTM
from ..layers.precision import Precision
from ..layers.settings import Settings, with_settings_of

MAX_BATCH_SPANS = 120_000
"""Size of batches in chart spans, as of parsers' `max_batch_spans`; an LSTM has no charts."""


@dataclass(frozen=True)
class SentenceBiLSTMSettings(Settings):
    """Settings of a shared BiLSTM.

    hidden_width: width of each direction. depth: number of layers. mixed_precision: train with
    bfloat16 products, where the processor has them. tags: number of tags that the lowest layers
    tell apart, 0 for none. Their shares follow a word's states, and a parser learns them
    (`spacy-lal.SharedRows.v1` with a `width`). tag_depth, tag_width: as in
    `spacy-lal.BiLSTMRows.v1`, in a BiLSTM with tags. passed: number of the word vectors' last
    features that follow a word's own as they are, such as those of an encoder below.
    """

    name: ClassVar[str] = "spacy-lal.SentenceBiLSTM.v1"
    hidden_width: int = 256
    depth: int = 3
    mixed_precision: bool = False
    tags: int = 0
    tag_depth: int = 1
    tag_width: int = 64
    passed: int = 0

    @property
    def width(self) -> int:
        """Number of features of a word."""
        return 2 * self.hidden_width + self.tags + self.passed

    def build(self, d_in: int) -> "SentenceBiLSTM":
        """Return the network."""
        return SentenceBiLSTM(self, d_in)


class SentenceBiLSTM(TaggingBiLSTM):
    """Word vectors [B, n, d_in], lengths [B] -> features of words [B, n, width]: states, shares of
    tags, and those of the vectors that are passed on."""

    def __init__(self, settings: SentenceBiLSTMSettings, d_in: int) -> None:
        own = BiLSTMInput(
            settings.hidden_width,
            settings.depth,
            settings.tag_depth if settings.tags else 0,
            settings.tag_width,
            settings.mixed_precision,
        )
        super().__init__(own, d_in, settings.tags)
        self.passed = settings.passed
        if not 0 <= self.passed <= d_in:
            raise ValueError(
                f"passed must be from 0 to the width of the word vectors, {d_in}, got {self.passed}"
            )

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return features(self.read_padded(x, lengths), x, self.passed)


def features(read: ReadWords, words: Tensor, passed: int) -> Tensor:
    """Return the features of words [..., width]. words: their vectors [..., d_in]."""
    parts = [read.states]
    if read.tags is not None:
        parts.append(torch.softmax(read.tags, -1))
    if passed:
        parts.append(words[..., -passed:])
    return parts[0] if len(parts) == 1 else torch.cat(parts, -1)


def build_network(header: Header) -> nn.Module:
    """Return the network of a header: d_in and `settings`."""
    return SentenceBiLSTMSettings.from_json(header["settings"]).build(header["d_in"])


@with_settings_of(SentenceBiLSTMSettings)
def build_sentence_bilstm_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    prediction: Precision = "float32",
    **settings: Any,
) -> Model[list[Doc], list[Floats2d]]:
    """Read each sentence with a BiLSTM, for one component or, in a shared `lal_tok2vec`, for many.

    Each word gets the states of both directions, a whitespace token zeros. Sentences are those of
    the Doc, or found by rule in a Doc without, as components find them (`sentences = "split"`).
    tok2vec: word vectors, such as `spacy-lal.WordAffixEmbed.v1`. prediction: as in
    `spacy-lal.LabelAttentionParser.v1`. settings: see `SentenceBiLSTMSettings`.
    """
    own = SentenceBiLSTMSettings(**settings)
    return Model(
        "sentence_bilstm",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        dims={"nO": own.width},
        shims=[TorchShim(build_network)],
        attrs={"settings": own, "prediction": prediction, **READING},
    )


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    width = initialize_tok2vec(model, X)
    shim = torch_shim(model)
    if shim.header is None:
        shim.initialize({"d_in": width, "settings": model.attrs["settings"].to_json()})


def _forward(model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool) -> Output:
    if not is_train and (read := _read_ahead(model, docs)) is not None:
        return read, no_docs
    run = partial(
        torch_shim(model).run,
        is_train=is_train,
        dropout=model.attrs["dropout_rate"],
        prediction=model.attrs["prediction"],
    )
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)
    places, states = [torch.zeros(0, dtype=torch.long)], [flat.new_zeros(0, model.get_dim("nO"))]
    for _, lengths, tokens in token_batches(docs, sentences, MAX_BATCH_SPANS):
        words = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        of_batch: Tensor = run(flat[tokens.to(flat.device)], lengths)
        states.append(of_batch[words.to(flat.device)])
        places.append(tokens[words])
    rows = flat.new_zeros(len(flat), model.get_dim("nO"))
    rows = rows.index_copy(0, torch.cat(places).to(flat.device), torch.cat(states))
    sizes = [len(doc) for doc in docs]

    def backprop(d_rows: list[Floats2d]) -> list[Doc]:
        backward(model, rows, d_rows)
        d_flat = flat.grad if flat.grad is not None else torch.zeros_like(flat)
        return backprop_tok2vec(to_rows(model, d_flat, sizes))

    return to_rows(model, rows, sizes), backprop


@torch.inference_mode()
def _read_ahead(model: Model, docs: list[Doc]) -> list[Floats2d] | None:
    """Return the features of the Docs' tokens by products without padding, if there are such."""
    shim = torch_shim(model)
    if model.attrs["prediction"] != "int8" or shim.device.type != "cpu":
        return None
    run = partial(shim.run, is_train=False, prediction="int8", method="read")
    passed, sizes = model.attrs["settings"].passed, [len(doc) for doc in docs]
    rows = torch.zeros(sum(sizes), model.get_dim("nO"))
    for tokens, words, steps in unpadded_words(model, docs):
        read: ReadWords | None = run(words, steps)
        if read is None:
            return None
        rows.index_copy_(0, tokens, features(read, words, passed))
    return to_rows(model, rows, sizes)
