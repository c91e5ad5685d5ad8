"""`spacy-lal.TransformerLayers.v1`: all layers of a pretrained transformer (spacy-transformers)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from thinc.api import ArgsKwargs, Model, to_numpy, torch2xp, xp2torch
from thinc.types import Floats3d
from torch import Tensor

from ..annotations.words import bare_doc
from ..batching.sentences import SentencePolicy, sentence_starts
from ..encoders.windows import Window, deepest

if TYPE_CHECKING:
    from spacy_transformers.data_classes import FullTransformerBatch

MOST_TOKENS = 4096
"""Of windows that are predicted together: their number times the tokens of the longest."""
_IS_WINDOW = "transformer_layers_window"
# tokenizers in Rust refuse to be set up by two threads, and a network is put into evaluation mode
# and back for every prediction
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
) -> Model[list[Doc], Floats3d]:
    """Fine-tune a pretrained transformer, and return the outputs of all its layers.

    Returns [layers, tokens of all Docs, width]: every token has the vectors of its first piece
    (Kaneko and Komachi 2019, section 4.2); tokens without pieces, which are whitespace, have zeros.

    name: name of a model on the Hugging Face hub, or its folder. window, stride: in tokens. A
    sentence is read in overlapping windows; a token's vectors come from the window in which it is
    farther from the edges. A window of more pieces than the transformer takes is halved until it
    fits. So only the end of a single token of that many pieces is cut off.
    embeddings: whether layer 0, the embeddings, is among the layers; the paper leaves it out.
    tokenizer_config, transformer_config, mixed_precision: as in
    `spacy-transformers.TransformerModel.v3`. sentences: "split", "existing" or "doc"; see
    `lal_constituency`. A detector that was trained on single sentences should read single
    sentences.

    The transformer belongs to the component. It can't be shared, because listeners send back only
    the gradient of the last layer. spacy-transformers stores its weights.
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
    # spacy-transformers' own sends the gradient of the last layer back alone
    transformer.layers[0].attrs["convert_outputs"] = _with_gradients_of_all_layers
    return Model(
        "transformer_layers",
        _forward,
        init=_init,
        layers=[transformer],
        attrs={"embeddings": embeddings},
        dims={"nO": None},
    )


class _Windows:
    """Docs -> the spans that the transformer reads one by one."""

    def __init__(
        self, transformer: Any, window: int, stride: int, sentences: SentencePolicy
    ) -> None:
        self.transformer = transformer
        self.sentences = sentences
        self.window = window
        self.stride = stride

    def __call__(self, docs: Iterable[Doc]) -> list[list[Span]]:
        # what it has more of is cut off by spacy-transformers
        self.transformer.tokenizer.model_max_length = self._most()
        return [[doc[:]] if _IS_WINDOW in doc.user_data else self._of_doc(doc) for doc in docs]

    def _of_doc(self, doc: Doc) -> list[Span]:
        starts = sentence_starts(doc, self.sentences)
        bounds = zip(starts, [*starts, len(doc)][1:], strict=True)
        return [span for start, end in bounds for span in self._of_sentence(doc[start:end])]

    def _most(self) -> int:
        """How many pieces the transformer takes."""
        # some tokenizers know of no limit; some models keep two positions for themselves
        positions = getattr(self.transformer.transformer.config, "max_position_embeddings", None)
        most: int = min(
            self.transformer.tokenizer.model_max_length, positions - 2 if positions else 512
        )
        return most

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
        # halves of overlapping windows may come before the end of the one before
        return sorted(spans, key=lambda span: (span.start, span.end))

    def _fits(self, text: str) -> bool:
        tokenizer, most = self.transformer.tokenizer, self._most()
        # of normalisation forms, the longest makes 18 characters of three bytes
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
    # without Docs, for then it cuts no windows before it has a tokenizer
    transformer.initialize()
    model.set_dim("nO", transformer.get_dim("nO"))


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    transformer = cast(Any, model.layers[0])
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
    """Windows that are read together, each as a Doc, and what of them is wanted.

    Row `rows[k]` of all the windows' tokens, one window after the other, is the output of token
    `tokens[k]`, counted over all Docs.
    """

    windows: list[Doc]
    rows: NDArray[numpy.int64]
    tokens: NDArray[numpy.int64]


def _batches(spans: list[list[Span]], docs: list[Doc], at_once: bool = False) -> Iterator[_Batch]:
    """Windows of like length together, at most `MOST_TOKENS`; or all of them at once."""
    offsets = numpy.cumsum([0, *map(len, docs)])
    windows = [
        (int(offset) + span.start, span)
        for offset, doc_spans in zip(offsets[:-1], spans, strict=True)
        for span in doc_spans
    ]
    owner = deepest([Window(start, start + len(span)) for start, span in windows], int(offsets[-1]))
    numbers = sorted(range(len(windows)), key=lambda number: len(windows[number][1]))
    for some in [numbers] if at_once else _padded([len(span) for _, span in windows], numbers):
        rows, tokens, done = [], [], 0
        for number in some:
            start, span = windows[number]
            own = numpy.flatnonzero(owner[start : start + len(span)] == number)
            rows.append(done + own)
            tokens.append(start + own)
            done += len(span)
        window_docs = [_window_doc(windows[number][1]) for number in some]
        yield _Batch(window_docs, numpy.concatenate(rows), numpy.concatenate(tokens))


def _padded(lengths: Sequence[int], numbers: Sequence[int]) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in numbers:  # by length
        if batch and (len(batch) + 1) * lengths[number] > MOST_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    yield batch


def _window_doc(span: Span) -> Doc:
    window = bare_doc(span, sentence_starts=False)
    window.user_data[_IS_WINDOW] = True
    return window


def _read(
    transformer: Any, windows: list[Doc], skipped: int, is_train: bool
) -> tuple[Tensor, Callable[[Tensor], None]]:
    """All layers of the windows' tokens [layers, tokens, width]."""
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


def _first_pieces(batch: "FullTransformerBatch") -> NDArray[numpy.int64]:
    """The number of each token's first piece among all of all windows, -1 for none [tokens]."""
    lengths = to_numpy(batch.align.lengths)
    first = numpy.full(len(lengths), -1, dtype=numpy.int64)
    known = lengths > 0
    first[known] = to_numpy(batch.align.dataXd).reshape(-1)[(lengths.cumsum() - lengths)[known]]
    return first
