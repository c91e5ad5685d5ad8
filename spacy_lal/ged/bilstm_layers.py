"""`spacy-lal.BiLSTMLayers.v1`: the package's own small encoder, with all its layers."""

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import torch
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d, Floats3d
from torch import Tensor

from ..batching.batches import initialize_tok2vec, read_docs, token_batches
from ..batching.sentences import Reading, SentencePolicy
from ..bridge.shim import to_rows, torch_shim, torch_shims
from ..bridge.weights import Header
from ..embeddings.vocabulary import VocabularyShim, distinct_words, word_form
from ..layers.layered_encoder import LayeredBiLSTM

LAYER_SENTENCE_WORDS = 5000
"""Of a longer "sentence", text without any boundary, pieces are read one by one."""


LANGUAGE = "language."
"""Begins the names of the language model's parameters."""


class BiLSTMLayersNetwork(LayeredBiLSTM):
    """Built from its settings, and the words of its language model, most frequent first."""

    def __init__(self, vocabulary: list[str], **settings: Any) -> None:
        # number 0 is unknown
        super().__init__(n_words=len(vocabulary) + 1 if vocabulary else 0, **settings)
        self.index = {form: k for k, form in enumerate(vocabulary, 1)}


class LanguageShim(VocabularyShim):
    """Owns one `BiLSTMLayersNetwork`."""

    def __init__(self) -> None:
        super().__init__(_build)

    def learn(self, words: Counter[str], attrs: dict[str, Any]) -> None:
        forms = Counter[str]()
        for word, count in words.items():
            forms[word_form(word)] += count
        most = attrs["language_words"] if attrs["language_weight"] else 0
        self.cfg["vocabulary"] = [form for form, _ in forms.most_common(most)]

    def drop_language_model(self) -> None:
        """Keep what prediction reads."""
        kept = {name: t for name, t in self.tensors().items() if not name.startswith(LANGUAGE)}
        self.load({**(self.header or {}), "vocabulary": []}, kept)


def _build(header: Header) -> BiLSTMLayersNetwork:
    return BiLSTMLayersNetwork(**header)


def build_bilstm_layers_v1(
    tok2vec: Model[list[Doc], list[Floats2d]],
    hidden_width: int = 192,
    depth: int = 3,
    embeddings: bool = False,
    language_weight: float = 0.0,
    language_words: int = 7500,
    mixed_precision: bool = False,
    sentences: SentencePolicy = "split",
    max_batch_spans: int = 400_000,
) -> Model[list[Doc], Floats3d]:
    """Read sentences with a BiLSTM and return the states of all its layers.

    Returns [layers, tokens of all Docs, 2 * hidden_width]; rows of whitespace tokens are zeros.

    tok2vec: any Tok2Vec model: an embedding of words, or a listener. depth: number of BiLSTM
    layers.
    embeddings: whether the words' own vectors, projected, are layer 0.
    language_weight: weight of the loss of a language model in training, the gamma of Rei (2017).
        The forward states of the lowest layer predict the next word, its backward states the
        previous word, among `language_words` known words. The loss is added to that of the
        component, if that is a mean over words. 0: no language model.
    mixed_precision: train with bfloat16 products, where the processor has them.
    sentences: "split", "existing" or "doc"; see `lal_constituency`.
    max_batch_spans: limits how many sentences are padded together: the sum of n(n+1)/2 over them, n
        the words of the longest.
    """
    return Model(
        "bilstm_layers",
        _forward,
        init=_init,
        layers=[tok2vec],
        refs={"tok2vec": tok2vec},
        shims=[LanguageShim()],
        dims={"nO": 2 * hidden_width},
        attrs={
            "settings": {
                "d_hidden": hidden_width,
                "depth": depth,
                "embeddings": embeddings,
                "mixed_precision": mixed_precision,
            },
            "language_weight": language_weight,
            "language_words": language_words,
            "reading": Reading(sentences, LAYER_SENTENCE_WORDS),
            "max_batch_spans": max_batch_spans,
            "dropout_rate": 0.0,
        },
    )


def drop_language_models(model: Model) -> None:
    """Take the language models, which only training reads, out of a trained model."""
    for node, shim in torch_shims(model):
        if isinstance(shim, LanguageShim):
            shim.drop_language_model()
            node.attrs["language_weight"] = 0.0


def _init(model: Model, X: list[Doc] | None = None, Y: Any = None) -> None:
    shim = cast(LanguageShim, torch_shim(model))
    if model.attrs["language_weight"] and "vocabulary" not in shim.cfg:
        raise ValueError(
            "the language model of spacy-lal.BiLSTMLayers.v1 has not seen the training data: use "
            "it inside a spacy-lal component, or set language_weight = 0"
        )
    width = initialize_tok2vec(model, X)
    vocabulary = shim.cfg.get("vocabulary", [])
    shim.initialize({"d_in": width, "vocabulary": vocabulary, **model.attrs["settings"]})


def _forward(
    model: Model[list[Doc], Floats3d], docs: list[Doc], is_train: bool
) -> tuple[Floats3d, Callable[[Floats3d], list[Doc]]]:
    shim = torch_shim(model)
    network = cast(BiLSTMLayersNetwork, shim.module)
    sentences, flat, backprop_tok2vec = read_docs(model, docs, is_train)
    weight = model.attrs["language_weight"] if is_train else 0.0
    numbers = _numbers(network, docs) if weight else None
    # a row of all layers for every word in order of the batches, and one for what is no word
    n_words = sum(len(sentence.words) for sentence in sentences)
    order = torch.full((len(flat),), n_words)
    rows: list[Tensor] = []
    done = 0
    language_loss = flat.new_zeros(())
    for _, lengths, tokens in token_batches(docs, sentences, model.attrs["max_batch_spans"]):
        here = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
        word_tokens = tokens[here]
        order[word_tokens] = torch.arange(done, done + len(word_tokens))
        done += len(word_tokens)
        x, lengths = flat[tokens.to(flat.device)], lengths.to(flat.device)
        if is_train:
            words = None if numbers is None else numbers[tokens].to(flat.device)
            found = shim.begin_update(x, lengths, words, dropout=model.attrs["dropout_rate"])
        else:
            found = shim.predict(x, lengths)
        rows.append(found.outputs[:, here.to(flat.device)])
        if found.language_loss is not None:
            language_loss = language_loss + found.language_loss
    rows.append(flat.new_zeros(network.n_layers, 1, model.get_dim("nO")))
    stack = torch.cat(rows, 1)[:, order.to(flat.device)]

    def backprop(d_stack: Floats3d) -> list[Doc]:
        outputs, gradients = [stack], [xp2torch(d_stack, device=stack.device)]
        if language_loss.requires_grad:
            outputs.append(language_loss)
            gradients.append(torch.full_like(language_loss, weight / n_words))
        if stack.requires_grad:
            torch.autograd.backward(outputs, gradients)
        d_flat = flat.grad if flat.grad is not None else torch.zeros_like(flat)
        return backprop_tok2vec(to_rows(model, d_flat, [len(doc) for doc in docs]))

    return cast(Floats3d, torch2xp(stack.detach())), backprop


def _numbers(network: BiLSTMLayersNetwork, docs: list[Doc]) -> Tensor:
    """The number of every token in the language model's vocabulary [tokens], 0 if it has none."""
    words, which = distinct_words(docs)
    numbers = [network.index.get(word_form(word), 0) for word in words]
    return torch.tensor(numbers, dtype=torch.long)[which]
