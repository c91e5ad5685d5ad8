"""`spacy-lal.TransformerLayers.v1`: all layers of a pretrained transformer (spacy-transformers)."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from threading import Lock
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from thinc.api import ArgsKwargs, Model, to_numpy, torch2xp, xp2torch
from thinc.types import Floats3d
from torch import Tensor

from ..annotations.escapes import plain_doc
from ..annotations.words import bare_doc
from ..batching.sentences import SentencePolicy
from ..encoders.windows import Window, alike, deepest, sentence_spans

MOST_TOKENS = 4096
"""Most tokens of a batch of windows: their number times the tokens of the longest."""
_IS_WINDOW = "transformer_layers_window"
# Rust tokenizers can't be set up by two threads; prediction switches the network's mode
_LOCK = Lock()


def build_transformer_layers_v1(
    name: str,
    window: int = 128,
    stride: int = 96,
    embeddings: bool = False,
    tokenizer_config: dict[str, Any] | None = None,
    transformer_config: dict[str, Any] | None = None,
    mixed_precision: bool = False,
    sentences: SentencePolicy = "split",
    pretrained: bool = True,
) -> Model[list[Doc], Floats3d]:
    """Fine-tune a pretrained transformer, and return the outputs of all its layers.

    Returns [layers, tokens of all Docs, width]: every token has the vectors of its first piece
    (Kaneko and Komachi 2019, section 4.2); whitespace tokens have zeros.

    name: name of a model on the Hugging Face hub, or its folder.
    window, stride: in tokens. A sentence is read in overlapping windows; a token's vectors come
        from the window where it is farther from the edges. A window of too many pieces for the
        transformer is halved until it fits; only single tokens are ever cut off.
    embeddings: whether layer 0, the embeddings, is included; in the paper it is not.
    tokenizer_config, transformer_config, mixed_precision: as in
        `spacy-transformers.TransformerModel.v3`.
    sentences: "split", "existing" or "doc"; see `lal_constituency`. A detector trained on single
        sentences should read single sentences.
    pretrained: false for a transformer of these sizes, with this tokenizer, but with new weights by
        the training's seed: the paper's BERT without pretraining (section 4.3).

    The transformer can't be shared, because listeners return only the gradient of the last layer.
    spacy-transformers stores its weights.
    """
    try:
        from spacy_transformers.layers.transformer_model import TransformerModel
    except ImportError as error:
        raise ImportError(
            "spacy-lal.TransformerLayers.v1 needs spacy-transformers: "
            "pip install 'spacy-lal[transformers]'"
        ) from error
    if not 1 <= stride <= window:
        raise ValueError(
            f"stride must be from 1 to window, got stride = {stride} and window = {window}"
        )
    transformer = TransformerModel(
        name,
        get_spans=None,  # type: ignore[arg-type]
        tokenizer_config={"use_fast": True, **(tokenizer_config or {})},
        transformer_config={**(transformer_config or {}), "output_hidden_states": True},
        mixed_precision=mixed_precision,
    )
    transformer.attrs["get_spans"] = _Windows(transformer, window, stride, sentences)
    # spacy-transformers' own returns only the gradient of the last layer
    transformer.layers[0].attrs["convert_outputs"] = _with_gradients_of_all_layers
    return Model(
        "transformer_layers",
        _forward,
        init=_init,
        layers=[transformer],
        attrs={"embeddings": embeddings, "pretrained": pretrained},
        dims={"nO": None},
    )


@dataclass
class _Windows:
    """Docs -> the spans that the transformer reads separately."""

    transformer: Any
    window: int
    stride: int
    sentences: SentencePolicy

    def __call__(self, docs: Iterable[Doc]) -> list[list[Span]]:
        # spacy-transformers cuts off longer input
        self.transformer.tokenizer.model_max_length = self._most()
        return [
            [doc[:]]
            if _IS_WINDOW in doc.user_data
            else [
                window
                for sentence in sentence_spans(doc, self.sentences)
                for window in self._of_sentence(sentence)
            ]
            for doc in docs
        ]

    def _most(self) -> int:
        """Return the most pieces that the transformer takes."""
        # some tokenizers have no limit; some models reserve two positions
        positions = getattr(self.transformer.transformer.config, "max_position_embeddings", None)
        return min(self.transformer.tokenizer.model_max_length, positions - 2 if positions else 512)

    def _of_sentence(self, sentence: Span) -> list[Span]:
        starts = range(0, max(1, len(sentence) - self.window + self.stride), self.stride)
        waiting = [sentence[start : start + self.window] for start in reversed(starts)]
        spans: list[Span] = []
        while waiting:
            span = waiting.pop()
            if len(span) > 1 and not self._fits(span.text):
                middle = len(span) // 2
                waiting += [span[middle:], span[:middle]]
            elif len(span):
                spans.append(span)
        # halves of overlapping windows may precede the end of an earlier window
        return sorted(spans, key=lambda span: (span.start, span.end))

    def _fits(self, text: str) -> bool:
        tokenizer, most = self.transformer.tokenizer, self._most()
        # the longest normalisation form makes 18 characters of three bytes
        return 6 * len(text.encode()) + 2 <= most or len(tokenizer(text)["input_ids"]) <= most


def _with_gradients_of_all_layers(
    model: Model, inputs_outputs: tuple[Any, Any], is_train: bool
) -> tuple[Any, Callable[[list[Tensor]], ArgsKwargs]]:
    output = inputs_outputs[1]

    def backprop(gradients: list[Tensor]) -> ArgsKwargs:
        return ArgsKwargs(args=(output.hidden_states,), kwargs={"grad_tensors": gradients})

    return output, backprop


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    transformer = model.layers[0]
    if not (model.attrs["pretrained"] or transformer.attrs["has_transformer"]):
        _set_untrained(transformer)
    # without Docs: it can't cut windows before it has a tokenizer
    transformer.initialize()
    model.set_dim("nO", transformer.get_dim("nO"))


def _set_untrained(transformer: Any) -> None:
    """Give it a tokenizer and new weights; no pretrained weights are read or downloaded."""
    from spacy_transformers.layers.transformer_model import huggingface_from_pretrained
    from transformers import AutoModel

    made = SimpleNamespace(from_pretrained=lambda _, config: AutoModel.from_config(config))
    settings = (transformer._init_tokenizer_config, transformer._init_transformer_config)
    found = huggingface_from_pretrained(transformer.attrs["name"], *settings, model_cls=made)
    transformer.attrs["set_transformer"](transformer, found)


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    transformer, docs = cast(Any, model.layers[0]), [plain_doc(doc) for doc in docs]
    skipped = 0 if model.attrs["embeddings"] else 1
    n_tokens = sum(map(len, docs))
    if not n_tokens:
        n_layers = transformer.transformer.config.num_hidden_layers + 1 - skipped
        return model.ops.alloc3f(n_layers, 0, model.get_dim("nO")), lambda d_stack: []
    stack: Tensor | None = None
    read: list[tuple[_Batch, Callable[[Tensor], None]]] = []
    with _LOCK:
        for batch in _batches(transformer.attrs["get_spans"](docs), docs, at_once=is_train):
            found, backprop_batch = _read(transformer, batch.windows, skipped, is_train)
            if stack is None:
                stack = found.new_zeros(len(found), n_tokens, found.shape[-1])
            stack[:, batch.tokens] = found[:, batch.rows]
            if is_train:
                read.append((batch, backprop_batch))
    assert stack is not None  # for there are tokens

    def backprop(d_stack: Floats3d) -> list[Doc]:
        given = xp2torch(d_stack, device=stack.device)
        for batch, backprop_batch in read:
            batch_pieces = sum(map(len, batch.windows))
            d_found = given.new_zeros(len(given), batch_pieces, given.shape[-1])
            d_found[:, batch.rows] = given[:, batch.tokens]
            backprop_batch(d_found)
        return []

    return cast(Floats3d, torch2xp(stack)), backprop


class _Batch(NamedTuple):
    """Windows that are read together, each as a Doc. Row `rows[k]` of the windows' tokens in order
    is the output of token `tokens[k]` of all Docs."""

    windows: list[Doc]
    rows: NDArray[numpy.int64]
    tokens: NDArray[numpy.int64]


def _batches(spans: list[list[Span]], docs: list[Doc], at_once: bool = False) -> Iterator[_Batch]:
    """Yield windows of like length, at most `MOST_TOKENS` a batch; or all of them at once."""
    offsets = numpy.cumsum([0, *map(len, docs)]).tolist()
    spans_in_all = [span for doc_spans in spans for span in doc_spans]
    windows = [
        Window(offset + span.start, offset + span.end)
        for offset, doc_spans in zip(offsets, spans, strict=False)
        for span in doc_spans
    ]
    owner = deepest(windows, offsets[-1])
    most = sys.maxsize if at_once else MOST_TOKENS
    for numbers in alike([len(span) for span in spans_in_all], most):
        rows, tokens, done = [], [], 0
        for number in numbers:
            start, end = windows[number]
            own = numpy.flatnonzero(owner[start:end] == number)
            rows.append(done + own)
            tokens.append(start + own)
            done += end - start
        read = [bare_doc(spans_in_all[k], sentence_starts=False) for k in numbers]
        for window in read:
            window.user_data[_IS_WINDOW] = True
        yield _Batch(read, numpy.concatenate(rows), numpy.concatenate(tokens))


def _read(
    transformer: Any, windows: list[Doc], skipped: int, is_train: bool
) -> tuple[Tensor, Callable[[Tensor], None]]:
    """Return all layers of the windows' tokens [layers, tokens, width]."""
    batch, backprop_transformer = transformer(windows, is_train)
    hidden = batch.model_output.hidden_states
    pieces = torch.from_numpy(_first_pieces(batch)).to(hidden[0].device)
    known = pieces >= 0
    rows = pieces.clamp(min=0)
    stack = torch.stack([layer.detach().flatten(0, 1)[rows] for layer in hidden[skipped:]])
    stack = stack * known.unsqueeze(-1)

    def backprop(d_stack: Tensor) -> None:
        given = d_stack * known.unsqueeze(-1)
        gradients = [torch.zeros_like(layer) for layer in hidden]
        for gradient, token_gradients in zip(gradients[skipped:], given, strict=True):
            gradient.flatten(0, 1).index_add_(0, rows, token_gradients.to(gradient.dtype))
        batch.model_output = gradients
        backprop_transformer(batch)

    return stack.float(), backprop


def _first_pieces(batch: Any) -> NDArray[numpy.int64]:
    """Return the index of each token's first piece over all windows, -1 for none [tokens]."""
    lengths = to_numpy(batch.align.lengths)
    first = numpy.full(len(lengths), -1, dtype=numpy.int64)
    known = lengths > 0
    first[known] = to_numpy(batch.align.dataXd).reshape(-1)[(lengths.cumsum() - lengths)[known]]
    return first
