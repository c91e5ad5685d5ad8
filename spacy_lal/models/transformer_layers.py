"""`spacy-lal.TransformerLayers.v1`: all layers of a pretrained transformer (spacy-transformers)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from thinc.api import ArgsKwargs, Model, to_numpy, torch2xp, xp2torch
from thinc.types import Floats3d
from torch import Tensor

from .sentences import SentencePolicy, sentence_starts

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
    """Fine-tune a pretrained transformer, and give the outputs of all its layers.

    Returns [layers, tokens of all Docs, width]: of every token its first piece (Kaneko and Komachi
    2019, section 3.1); rows of tokens without pieces, which are whitespace, are zeros.

    name: of a model on the Hugging Face hub, or its folder. window, stride: in tokens: a sentence
    is read in windows that overlap; where two do, a token belongs to the one in which it stands
    farther from the edges. A window of more pieces than the transformer takes is halved until it
    fits, so nothing is cut off but the end of a single token of that many pieces.
    embeddings: whether layer 0, the embeddings, is among the layers; the paper leaves it out.
    tokenizer_config, transformer_config, mixed_precision: as in
    `spacy-transformers.TransformerModel.v3`. sentences: "split", "existing" or "doc"; see
    `lal_constituency`. A detector that was trained on single sentences should read so.

    The transformer is the component's own: a shared one's listeners send the last layer's gradient
    back, and no others'. Its weights are stored by spacy-transformers.
    """
    try:
        from spacy_transformers.layers.transformer_model import TransformerModel
    except ImportError as error:
        raise ImportError(
            "spacy-lal.TransformerLayers.v1 needs spacy-transformers: "
            "pip install 'spacy-lal[transformers]'"
        ) from error
    if not 1 <= stride <= window:
        raise ValueError(f"stride must lie in 1..window, got {stride} and {window}")
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
    if not any(map(len, docs)):
        layers = cast(Any, model.layers[0]).transformer.config.num_hidden_layers + 1
        empty = model.ops.alloc3f(layers - _skipped(model), 0, model.get_dim("nO"))
        return empty, lambda d_stack: []
    if is_train:
        # spacy-transformers knows Docs by their identity
        docs = [doc if doc not in docs[:k] else doc.copy() for k, doc in enumerate(docs)]
        with _LOCK:
            stack, backprop = _read(model, docs, True)
    else:
        with _LOCK:
            stack, backprop = _predict(model, docs), lambda d_stack: []
    return cast(Floats3d, torch2xp(stack)), backprop


def _skipped(model: Model) -> int:
    return 0 if model.attrs["embeddings"] else 1


def _read(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Tensor, Callable[[Floats3d], list[Doc]]]:
    """All windows of the Docs at once."""
    skipped = _skipped(model)
    batch, backprop_transformer = cast(Any, model.layers[0])(docs, is_train)
    hidden = batch.model_output.hidden_states
    device = hidden[0].device
    pieces = torch.from_numpy(_first_pieces(batch, docs)).to(device)
    known = pieces >= 0
    rows = pieces.clamp(min=0)
    stack = torch.stack([layer.detach().flatten(0, 1)[rows] for layer in hidden[skipped:]])
    stack = stack * known.unsqueeze(-1)

    def backprop(d_stack: Floats3d) -> list[Doc]:
        given = xp2torch(d_stack, device=device) * known.unsqueeze(-1)
        gradients = [torch.zeros_like(layer) for layer in hidden]
        for gradient, of_tokens in zip(gradients[skipped:], given, strict=True):
            gradient.flatten(0, 1).index_add_(0, rows, of_tokens.to(gradient.dtype))
        batch.model_output = gradients
        docs_back: list[Doc] = backprop_transformer(batch)
        return docs_back

    return stack.float(), backprop


def _predict(model: Model[list[Doc], Floats3d], docs: list[Doc]) -> Tensor:
    """The same in batches of windows, each as a Doc of its own."""
    offsets = numpy.cumsum([0, *map(len, docs)])
    of_docs = cast(Any, model.layers[0]).attrs["get_spans"](docs)
    windows = [
        (int(offset) + span.start, span)
        for offset, of_doc in zip(offsets, of_docs, strict=False)
        for span in of_doc
    ]
    owner = numpy.full(offsets[-1], -1)
    farthest = numpy.full(offsets[-1], -1)
    for number, (start, span) in enumerate(windows):
        inside = numpy.arange(len(span))
        distance = numpy.minimum(inside, inside[::-1])
        better = distance > farthest[start : start + len(span)]
        farthest[start : start + len(span)][better] = distance[better]
        owner[start : start + len(span)][better] = number
    stack: Tensor | None = None
    for batch in _batches([len(span) for _, span in windows]):
        found, _ = _read(model, [_window_doc(windows[number][1]) for number in batch], False)
        if stack is None:
            stack = found.new_zeros(len(found), int(offsets[-1]), found.shape[-1])
        done = 0
        for number in batch:
            start, span = windows[number]
            own = numpy.flatnonzero(owner[start : start + len(span)] == number)
            stack[:, start + own] = found[:, done + own]
            done += len(span)
    assert stack is not None  # for there are tokens
    return stack


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of windows, those of like length together."""
    batch: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) + 1) * lengths[number] > MOST_TOKENS:
            yield batch
            batch = []
        batch.append(number)
    if batch:
        yield batch


def _window_doc(span: Span) -> Doc:
    words = [token.text for token in span]
    spaces = [bool(token.whitespace_) for token in span]
    return Doc(span.vocab, words=words, spaces=spaces, user_data={_IS_WINDOW: True})


def _first_pieces(batch: FullTransformerBatch, docs: list[Doc]) -> NDArray[numpy.int64]:
    """The number of each token's first piece among all of all windows, -1 for none [tokens].

    Of a token in several windows, that in the window whose edges are farthest.
    """
    width = batch.wordpieces.input_ids.shape[1]
    spans = [span for of_doc in batch.spans for span in of_doc]
    align = batch.align
    offsets = numpy.cumsum([0, *align.lengths.tolist()])
    of_pieces = to_numpy(align.dataXd).reshape(-1)
    first = numpy.full(sum(map(len, docs)), -1, dtype=numpy.int64)
    position = 0  # of the token among all
    for doc, of_doc in zip(docs, batch.spans, strict=True):
        covered = max((span.end for span in of_doc), default=0)
        for i in range(covered):
            mine = of_pieces[offsets[position + i] : offsets[position + i + 1]]
            best = -1
            for piece in mine.tolist():
                span = spans[piece // width]
                distance = min(i - span.start, span.end - 1 - i)
                if distance > best:
                    best = distance
                    first[position + i] = piece
        position += len(doc)
    return first
