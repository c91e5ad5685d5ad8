"""Padded batches of sentences from Docs, and gradients back to the Docs' vectors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy
import torch
import torch.nn.functional as F
from spacy.pipeline.tok2vec import Tok2VecListener
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d
from torch import Tensor, nn

from ..annotations.escapes import plain_doc
from ..bridge.shim import TorchShim, no_docs, to_rows, to_tensor, torch_shim
from ..bridge.weights import Header
from ..layers.bilstm import Steps, steps_of
from ..layers.input_encoders import ReadWords
from ..layers.precision import Precision
from ..layers.settings import Settings
from ..structure.chart import chart_size
from .sentences import Reading, Sentence

S = TypeVar("S", bound=tuple)

SPANS_A_WORD = 24
"""Memory of one word in the layers, in chart spans; charts of short sentences alone are small."""
BATCH_COST = 60
"""Time that a batch takes by itself, in that of one word or padding (measured on a CPU)."""
STEP_COST = 3
"""Time that each step of its recurrent layers takes by itself, in the same unit."""

READ_AHEAD = 2048
"""Most words in one reading without padding, unless one sentence has more."""

WITH_ENCODER = "with_encoder"
"""Name of the model that has an embedding and an encoder side by side."""

READING: dict[str, Any] = {"reading": Reading(), "dropout_rate": 0.0}
"""Initial attributes of models that read sentences; components and training set them."""


@dataclass
class SentenceBatch(Generic[S]):
    """Scores of sentences of similar length, padded together.

    members: index of each sentence in `ParserScores.sentences` [B]; lengths: its words [B]. scores:
    `Scores` of a parser, `LisaScores` of LISA.
    """

    members: list[int]
    lengths: Tensor
    scores: S


@dataclass
class ParserScores(Generic[S]):
    """The scores of a batch of Docs; their gradient has the same shape. batches: a list in
    training; from `predict` an iterator, for one use."""

    sentences: list[Sentence]
    batches: Iterable[SentenceBatch[S]]


def _init(kinds: Sequence[str], model: Model, X: Any = None, Y: Any = None) -> None:
    width = initialize_tok2vec(model, getattr(X, "docs", X))
    names = {kind: model.attrs[kind] for kind in kinds}
    settings = model.attrs["settings"].to_json()
    torch_shim(model).initialize({"d_in": width, **names, "settings": settings})


def sentence_model(
    name: str,
    tok2vec: Model[list[Doc], list[Floats2d]],
    forward: Callable,
    build: Callable[[Header], nn.Module],
    kinds: Sequence[str],
    settings: Settings,
    max_batch_spans: int,
    prediction: Precision = "float32",
) -> Model:
    """Returns a Thinc model that reads Docs' sentences with a network.

    Docs are split after tok2vec, so that a listener sees whole batches, and sentences are padded
    together while their charts hold at most `max_batch_spans` spans. The component sets the
    attribute `reading` and, before initialisation, the names of each kind of outputs.
    forward: see `score_sentences`. build: makes the network from a header with d_in, the names of
    each kind, and `settings`. prediction: products in prediction, see `Precision`.
    """

    return Model(
        # stored with the weights and checked in a warm start
        name,
        forward,
        init=partial(_init, kinds),
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[TorchShim(build)],
        attrs={
            "settings": settings,
            "max_batch_spans": max_batch_spans,
            "prediction": prediction,
            **{kind: [] for kind in kinds},
            **READING,
        },
    )


def initialize_tok2vec(model: Model, docs: list[Doc] | None) -> int:
    """Initialises a model's tok2vec and returns the width of its vectors."""
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=docs)
    width = tok2vec.maybe_get_dim("nO")
    if width is None:
        if not docs:
            raise ValueError(
                "the width of tok2vec is not known: give nlp.initialize() example Docs"
            )
        width = tok2vec.predict(docs[:1])[0].shape[1]
    return int(width)


def similar(
    sizes: list[int], most: int, room: Callable[[int], int], step_cost: float = STEP_COST
) -> list[list[int]]:
    """Returns batches of indices of sequences of similar size, smallest first, that are read
    fastest: a batch costs its padded size, `BATCH_COST`, and `step_cost` for its longest's steps.

    room: function from a padded size to the room that a sequence then takes. A batch takes at most
    `most`, unless one sequence takes more.
    """
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    numbers = numpy.arange(len(order))
    # the least cost of the sequences before each, and where their last batch begins
    least, begins = numpy.zeros(len(order) + 1), [0]
    for last, index in enumerate(order):
        size = sizes[index]
        first = max(0, last + 1 - max(1, most // max(1, room(size))))
        costs = least[first : last + 1] + (last + 1 - numbers[first : last + 1]) * size
        best = int(costs.argmin())
        least[last + 1] = costs[best] + BATCH_COST + step_cost * size
        begins.append(first + best)
    batches = []
    end = len(order)
    while end:
        batches.append(order[begins[end] : end])
        end = begins[end]
    return batches[::-1]


def batch_by_spans(
    lengths: list[int], max_spans: int, step_cost: float = STEP_COST
) -> list[list[int]]:
    """Returns batches of indices of sentences of similar length, whose padded charts hold at most
    `max_spans` spans; each word or padding counts as at least `SPANS_A_WORD`. step_cost: see
    `similar`."""
    return similar(lengths, max_spans, lambda n: max(chart_size(n), n * SPANS_A_WORD), step_cost)


def read_docs(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Sentence], Tensor, Callable[[list[Floats2d]], list[Doc]]]:
    """Returns the sentences, the vectors of all tokens [tokens, d_in], and tok2vec's backprop."""
    reading: Reading = model.attrs["reading"]
    sentences = reading.split(docs)
    if not is_train:
        check_listeners(model, docs)
    # Thinc's copies, such as those of replace_listeners, have layers but no references
    vectors, backprop = read_plain(model.layers[0], docs, is_train)
    flat = to_tensor(model, vectors, torch_shim(model).device).requires_grad_(is_train)
    return sentences, flat, backprop


class DocVectors:
    """The vectors of Docs' tokens in prediction: those of a layer, or of an embedding and an
    encoder. Long Docs have large arrays: only those of some sentences are joined at a time."""

    def __init__(self, model: Model, docs: list[Doc]) -> None:
        check_listeners(model, docs)
        self.model, self.device = model, torch_shim(model).device
        layer = model.layers[0]
        layers = layer.layers if layer.name == WITH_ENCODER else [layer]
        self.parts = [read_plain(of, docs, is_train=False)[0] for of in layers]

    def of(self, sentences: list[Sentence]) -> Tensor:
        """Returns the vectors of the sentences' words [W, d_in]."""
        whole = [len(of.words) == of.end - of.start for of in sentences]
        found = []
        for part in self.parts:
            rows = [
                part[of.doc][of.start : of.end] if all_words else part[of.doc][of.words]
                for of, all_words in zip(sentences, whole, strict=True)
            ]
            found.append(to_tensor(self.model, rows, self.device))
        return found[0] if len(found) == 1 else torch.cat(found, -1)


def read_plain(layer: Model, docs: list[Doc], is_train: bool) -> Any:
    """Calls a layer with plain words in place of escapes; but a listener knows Docs by their words,
    and its encoder has read plain ones."""
    listens = any("Listener" in type(node).__name__ for node in layer.walk())
    return layer(docs if listens else [plain_doc(doc) for doc in docs], is_train)


def check_listeners(model: Model, docs: list[Doc]) -> None:
    """Raises ValueError if the tok2vec that a listener depends on has not run, or if another one
    has. The listener itself would go on with zeros, or with wrong vectors."""
    waiting = [node for node in model.walk() if isinstance(node, Tok2VecListener)]
    if not waiting:
        return
    listens = f"this component listens to {waiting[0].upstream_name!r}, which "
    alone = (
        "for a component that works alone, call replace_listeners of the pipeline in which it "
        "listens"
    )
    # doc_cleaner leaves None
    tensors = [doc.tensor for doc in docs if len(doc)]
    if any(tensor is None or not tensor.size for tensor in tensors):
        raise ValueError(
            f"{listens}has not read the Doc, or a later component, such as 'lal_empty_tensor' or "
            f"'doc_cleaner', has emptied doc.tensor. Put the component between them; or, {alone}"
        )
    width = waiting[0].get_dim("nO")
    for tensor in tensors:
        if tensor.shape[-1] != width:
            raise ValueError(
                f"{listens}had vectors of width {width} where it was trained. Here they are "
                f"{tensor.shape[-1]} wide, of another component in its place; {alone}"
            )


def padded_batches(
    docs: list[Doc], sentences: list[Sentence], flat: Tensor, max_spans: int
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yields batches of the sentences to parse, each of similar length.

    flat: the vectors of all tokens [tokens, d_in]. A batch is the index of each sentence in
    `sentences`, their lengths in words [B], and the words' vectors [B, n, d_in].
    """
    for members, lengths, tokens in token_batches(docs, sentences, max_spans):
        yield members, lengths.to(flat.device), flat[tokens.to(flat.device)]


def token_batches(
    docs: list[Doc], sentences: list[Sentence], max_spans: int
) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yields `padded_batches` with indices over all Docs' tokens [B, n] in place of vectors."""
    first_token = numpy.cumsum([0, *map(len, docs)])
    parsed = _parsed(sentences)
    lengths = [len(sentences[k].words) for k in parsed]
    for group in batch_by_spans(lengths, max_spans):
        members = [parsed[k] for k in group]
        size = max(lengths[k] for k in group)
        # padding repeats token 0; nothing of a sentence's result depends on it
        tokens = numpy.zeros((len(members), size), dtype=numpy.int64)
        for row, k in enumerate(members):
            sentence = sentences[k]
            tokens[row, : len(sentence.words)] = first_token[sentence.doc] + sentence.words
        yield members, torch.tensor([lengths[k] for k in group]), torch.from_numpy(tokens)


def _parsed(sentences: list[Sentence]) -> list[int]:
    return [k for k, sentence in enumerate(sentences) if sentence.parsed]


def unpadded_batches(sentences: list[Sentence]) -> Iterator[tuple[list[int], Tensor, Tensor]]:
    """Yields batches of sentences of similar length, of `READ_AHEAD` words: the index of each in
    `sentences`, and its first word, of all in the batch, and its length [B]."""
    parsed = sorted(_parsed(sentences), key=lambda k: len(sentences[k].words))
    ends = numpy.cumsum([len(sentences[k].words) for k in parsed])
    begin = before = 0
    while begin < len(parsed):
        upto = max(begin + 1, int(numpy.searchsorted(ends, before + READ_AHEAD, "right")))
        lengths = torch.from_numpy(numpy.diff(ends[begin:upto], prepend=before))
        yield parsed[begin:upto], lengths.cumsum(0) - lengths, lengths
        begin, before = upto, int(ends[upto - 1])


def unpadded_words(model: Model, docs: list[Doc]) -> Iterator[tuple[Tensor, Tensor, Steps]]:
    """Yields the words of `unpadded_batches`: their places among all tokens [W], their vectors
    [W, d_in], and the steps in which an LSTM reads them."""
    reading: Reading = model.attrs["reading"]
    sentences, vectors = reading.split(docs), DocVectors(model, docs)
    first_token = numpy.cumsum([0, *map(len, docs)])
    for group, first, lengths in unpadded_batches(sentences):
        some = [sentences[k] for k in group]
        tokens = numpy.concatenate([first_token[of.doc] + of.words for of in some])
        yield torch.from_numpy(tokens), vectors.of(some), steps_of(first, lengths)


def batches_read_ahead(
    sentences: list[Sentence],
    vectors: DocVectors,
    max_spans: int,
    read: Callable[[Tensor, Steps], ReadWords | None],
) -> Iterator[tuple[list[int], Tensor, Tensor, ReadWords | None]]:
    """Yields `padded_batches` with what a network reads of words without padding (see
    `unpadded_batches`), in the place of their vectors, which then have no features; None where it
    reads padded batches alone."""
    for group, first, lengths in unpadded_batches(sentences):
        words = vectors.of([sentences[k] for k in group])
        found = read(words, steps_of(first, lengths))
        cost = STEP_COST if found is None else 0
        words = words if found is None else words.new_empty(len(words), 0)
        for batch in batch_by_spans(lengths.tolist(), max_spans, cost):
            own = lengths[batch]
            # padding repeats a sentence's first word
            step = torch.arange(int(own.max()))
            at = first[batch].unsqueeze(1) + step.where(step < own.unsqueeze(1), 0)
            at = at.to(words.device)
            members = [group[k] for k in batch]
            there = None if found is None else found.at(at)
            yield members, own.to(words.device), F.embedding(at, words), there


def score_sentences(
    model: Model,
    docs: list[Doc],
    is_train: bool,
    score: Callable[..., SentenceBatch[S]],
) -> tuple[ParserScores[S], Callable[[ParserScores[S]], list[Doc]]]:
    """Returns the scores of all sentences, and their backprop to the Docs.

    score: scores a batch, from all sentences and what `padded_batches` yields, or, in prediction,
    `batches_read_ahead`.
    """
    most = model.attrs["max_batch_spans"]
    if not is_train:
        reading: Reading = model.attrs["reading"]
        sentences, vectors = reading.split(docs), DocVectors(model, docs)
        run, prediction = torch_shim(model).run, model.attrs["prediction"]
        read = partial(run, is_train=False, prediction=prediction, method="read")
        ahead = batches_read_ahead(sentences, vectors, most, read)
        # each batch's charts are freed once decoded
        return ParserScores(sentences, (score(sentences, *batch) for batch in ahead)), no_docs
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)
    batches = padded_batches(docs, sentences, flat, most)
    scores = ParserScores(sentences, [score(sentences, *batch) for batch in batches])

    def backprop(d_scores: ParserScores[S]) -> list[Doc]:
        walk_back(scores, d_scores)
        d_flat = flat.grad if flat.grad is not None else torch.zeros_like(flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return scores, backprop


def padded(like: Tensor, rows: Iterable[Sequence[int] | numpy.ndarray]) -> Tensor:
    """Pads rows of numbers with -1 to [B, n], with the n and the device of `like` [B, n, …]."""
    padded = numpy.full(like.shape[:2], -1, dtype=numpy.int64)
    for row, values in enumerate(rows):
        padded[row, : len(values)] = values
    return torch.from_numpy(padded).to(like.device)


def walk_back(scores: ParserScores, d_scores: ParserScores) -> None:
    """Backpropagates the scores' gradients to the parameters and all layers below."""
    outputs, gradients = [], []
    for batch, d_batch in zip(scores.batches, d_scores.batches, strict=True):
        for output, gradient in zip(batch.scores, d_batch.scores, strict=True):
            if output is not None and output.requires_grad:
                outputs.append(output)
                gradients.append(gradient)
    if outputs:
        torch.autograd.backward(outputs, gradients)


def differentiate(
    sentences: list[Sentence],
    batches: Iterable[SentenceBatch[S]],
    loss: Callable[[SentenceBatch[S], list[Sentence]], Tensor],
) -> tuple[float, ParserScores[S]]:
    """Returns the sum of the batches' losses and its gradient, in the shape of the scores. `loss`
    takes a batch, whose scores are leaves, and its sentences."""
    total = 0.0
    d_batches = []
    for batch in batches:
        make = type(batch.scores)._make  # type: ignore[attr-defined]
        leaves = make(None if s is None else s.detach().requires_grad_() for s in batch.scores)
        value = loss(replace(batch, scores=leaves), [sentences[k] for k in batch.members])
        value.backward()
        total += float(value.detach())
        gradients = make(
            None if leaf is None else torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
            for leaf in leaves
        )
        d_batches.append(SentenceBatch(batch.members, batch.lengths, gradients))
    return total, ParserScores(sentences, d_batches)
