"""`spacy-lal.BiLSTMLayers.v1`: a small encoder that returns all its layers."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d
from torch import Tensor, nn

from ..batching.batches import initialize_tok2vec, read_docs, token_batches, unpadded_words
from ..batching.sentences import Reading, SentencePolicy
from ..bridge.shim import TorchShim, no_docs, to_rows, torch_shim, torch_shims
from ..bridge.weights import Header
from ..embeddings.forms import distinct_words, word_form
from ..layers.bilstm import BiLSTM, Steps
from ..layers.dropout import FeatureDropout
from ..layers.precision import Precision
from ..layers.settings import Settings, with_settings_of

LAYER_SENTENCE_WORDS = 5000
"""Words of a sentence; longer text without boundaries is read in pieces."""
LANGUAGE_WIDTH = 50
"""Hidden units of the language model in each direction."""


@dataclass(frozen=True)
class BiLSTMLayersSettings(Settings):
    """hidden_width: units of each direction. depth: number of BiLSTM layers.
    embeddings: whether the projected word vectors are layer 0.
    language_weight: weight of a language model's loss in training, the gamma of Rei (2017), added
        to the component's loss if that is a mean over words. 0: no language model.
    language_words: size of the language model's vocabulary, the most frequent words.
    mixed_precision: train with bfloat16 products, where the processor has them.
    sentences: "split", "existing" or "doc"; see `lal_constituency`.
    max_batch_spans: limit of the padded batch: the sum of n(n+1)/2 over its sentences, n the words
        of the longest.
    prediction: as in `spacy-lal.LabelAttentionParser.v1`.
    """

    name: ClassVar[str] = "spacy-lal.BiLSTMLayers.v1"
    hidden_width: int = 192
    depth: int = 3
    embeddings: bool = False
    language_weight: float = 0.0
    language_words: int = 7500
    mixed_precision: bool = False
    sentences: SentencePolicy = "split"
    max_batch_spans: int = 400_000
    prediction: Precision = "float32"

    def vocabulary(self, words: Counter[str]) -> list[str]:
        """Return the language model's words, most frequent first; none without a language model."""
        forms = Counter[str]()
        for word, count in words.items():
            forms[word_form(word)] += count
        most = self.language_words if self.language_weight else 0
        return [form for form, _ in forms.most_common(most)]

    def build(self, header: Header) -> "LayeredBiLSTM":
        return LayeredBiLSTM(header["d_in"], header["vocabulary"], self)


class LayeredBiLSTM(nn.Module):
    """Word vectors [B,n,d_in], lengths [B] -> outputs of all layers [L,B,n,2*hidden_width], and the
    loss of the language model, 0 without one.

    vocabulary: words of the language model, most frequent first; empty for none. The lowest layer's
        forward state predicts the next word and its backward state the previous one, each through
        `LANGUAGE_WIDTH` units (Rei 2017, "Semi-supervised Multitask Learning for Sequence
        Labeling", section 3, eqs. 7 to 10). The loss is the cross-entropy of both directions summed
        over words with the numbers [B,n]: 0 is an unknown word, the last number either end of the
        sentence.
    """

    def __init__(self, d_in: int, vocabulary: list[str], settings: BiLSTMLayersSettings) -> None:
        super().__init__()
        width, depth = settings.hidden_width, settings.depth
        self.bilstm = BiLSTM(d_in, width, depth, mixed_precision=settings.mixed_precision)
        self.embeddings = nn.Linear(d_in, 2 * width) if settings.embeddings else None
        self.n_layers = depth + settings.embeddings
        self.index = {form: k for k, form in enumerate(vocabulary, 1)}
        self.end = len(vocabulary) + 1
        self.language = nn.ModuleList(
            nn.Sequential(
                nn.Linear(width, LANGUAGE_WIDTH),
                nn.Tanh(),
                nn.Linear(LANGUAGE_WIDTH, self.end + 1),
            )
            for _ in range(2 if vocabulary else 0)
        )
        self.dropout = FeatureDropout()

    def forward(
        self, x: Tensor, lengths: Tensor, words: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        states = self.bilstm.states(x, lengths)
        loss = x.new_zeros(())
        if words is not None and self.language:
            loss = self._language_loss(states[0], lengths, words)
        if self.embeddings is not None:
            states = [self.embeddings(self.dropout(x)), *states]
        return torch.stack(states), loss

    def read(self, words: Tensor, steps: Steps) -> Tensor | None:
        """Predict with rounded weights: words [W,d_in] of all sentences -> outputs of all layers
        [L,W,2*hidden_width]; None if there are no such weights."""
        if not self.bilstm.prepared():
            return None
        states = [*self.bilstm.read_layers(words, steps)]
        if self.embeddings is not None:
            # in float64: what is above rounds it, and it has to be the same in every batch
            weights = (parameter.double() for parameter in self.embeddings.parameters())
            states.insert(0, F.linear(words.double(), *weights).float())
        return torch.stack(states)

    def _language_loss(self, states: Tensor, lengths: Tensor, words: Tensor) -> Tensor:
        here = torch.arange(words.shape[1], device=words.device) < lengths.unsqueeze(1)
        end = words.new_full((len(words), 1), self.end)
        before = torch.cat([end, words[:, :-1]], 1)
        # after the last word of shorter sentences
        after = torch.cat([words[:, 1:], end], 1).scatter(1, lengths.unsqueeze(1) - 1, self.end)
        loss = states.new_zeros(())
        for head, seen, target in zip(
            self.language, states.chunk(2, -1), (after, before), strict=True
        ):
            loss = loss + F.cross_entropy(head(seen[here]), target[here], reduction="sum")
        return loss

    def numbers(self, docs: list[Doc]) -> Tensor:
        """Return the number of every token in the language model's vocabulary [tokens]."""
        words, which = distinct_words(docs)
        numbers = [self.index.get(word_form(word), 0) for word in words]
        return torch.tensor(numbers, dtype=torch.long)[which]


@with_settings_of(BiLSTMLayersSettings)
def build_bilstm_layers_v1(
    tok2vec: Model[list[Doc], list[Floats2d]], **settings: Any
) -> Model[list[Doc], Floats3d]:
    """Read sentences with a BiLSTM and return the states of all its layers.

    Returns [layers, tokens of all Docs, 2 * hidden_width]; rows of whitespace tokens are zeros.
    tok2vec: any Tok2Vec model: an embedding of words, or a listener.
    settings: see `BiLSTMLayersSettings`.
    """
    own = BiLSTMLayersSettings(**settings)
    return Model(
        "bilstm_layers",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[TorchShim(own.build)],
        dims={"nO": 2 * own.hidden_width},
        attrs={
            "settings": own,
            "reading": Reading(own.sentences, LAYER_SENTENCE_WORDS),
            "dropout_rate": 0.0,
        },
    )


def drop_language_models(model: Model) -> None:
    """Remove the language models, which only training reads, from a trained model."""
    for node, shim in torch_shims(model):
        if node.name == "bilstm_layers":
            node.attrs["settings"] = replace(node.attrs["settings"], language_weight=0.0)
            kept = {n: t for n, t in shim.tensors().items() if not n.startswith("language.")}
            shim.load({**(shim.header or {}), "vocabulary": []}, kept)


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim, settings = torch_shim(model), model.attrs["settings"]
    if settings.language_weight and "vocabulary" not in shim.cfg:
        raise ValueError(
            "the language model of spacy-lal.BiLSTMLayers.v1 has not seen the training data: use "
            "it inside a spacy-lal component, or set language_weight = 0"
        )
    width = initialize_tok2vec(model, X)
    vocabulary = shim.cfg.get("vocabulary", [])
    shim.initialize({"d_in": width, "vocabulary": vocabulary})


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    shim, settings = torch_shim(model), model.attrs["settings"]
    if not is_train and (read := _read_ahead(model, docs)) is not None:
        return cast(Floats3d, torch2xp(read)), no_docs
    network = cast(LayeredBiLSTM, shim.module)
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)
    weight = settings.language_weight if is_train else 0.0
    numbers = network.numbers(docs) if weight else None
    stack = flat.new_zeros(network.n_layers, len(flat), model.get_dim("nO"))
    rows, places = [stack[:, :0]], [torch.zeros(0, dtype=torch.long)]
    language_loss = flat.new_zeros(())
    for _, lengths, tokens in token_batches(docs, sentences, settings.max_batch_spans):
        here = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        x, lengths = flat[tokens.to(flat.device)], lengths.to(flat.device)
        words = None if numbers is None else numbers[tokens].to(flat.device)
        rate = model.attrs["dropout_rate"]
        outputs, loss = shim.run(
            x, lengths, words, is_train=is_train, dropout=rate, prediction=settings.prediction
        )
        rows.append(outputs[:, here.to(flat.device)])
        places.append(tokens[here])
        language_loss = language_loss + loss
    words_in_all = torch.cat(places).to(flat.device)
    stack = stack.index_copy(1, words_in_all, torch.cat(rows, 1))

    def backprop(d_stack: Floats3d) -> list[Doc]:
        outputs, gradients = [stack], [xp2torch(d_stack, device=stack.device)]
        if language_loss.requires_grad:
            outputs.append(language_loss)
            gradients.append(torch.full_like(language_loss, weight / len(words_in_all)))
        if stack.requires_grad:
            torch.autograd.backward(outputs, gradients)
        d_flat = flat.grad if flat.grad is not None else torch.zeros_like(flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return cast(Floats3d, torch2xp(stack.detach())), backprop


@torch.inference_mode()
def _read_ahead(model: Model, docs: list[Doc]) -> Tensor | None:
    """Return all layers by products without padding, if there are such."""
    shim = torch_shim(model)
    if model.attrs["settings"].prediction != "int8" or shim.device.type != "cpu":
        return None
    network = cast(LayeredBiLSTM, shim.module)
    stack = torch.zeros(network.n_layers, sum(map(len, docs)), model.get_dim("nO"))
    for tokens, words, steps in unpadded_words(model, docs):
        read = shim.run(words, steps, is_train=False, prediction="int8", method="read")
        if read is None:
            return None
        stack.index_copy_(1, tokens, read)
    return stack
