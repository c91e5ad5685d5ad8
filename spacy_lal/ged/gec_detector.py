"""`gec_detector`: grammatical errors by attention over layers (Kaneko and Komachi 2019)."""

from collections import Counter
from collections.abc import Callable, Iterable
from numbers import Real
from typing import cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Config, Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..annotations.grammar_errors import CORRECT, ERRORS_KEY, set_errors
from ..batching.sentences import sentence_starts
from ..pipeline.component import WeightsPipe
from ..pipeline.examples import count
from .company import in_company
from .errors_of_docs import gold_errors, read_errors

DEFAULT_MODEL = Config().from_str(
    """
    [model]
    @architectures = "spacy-lal.MHMLA.v1"
    heads = 12

    [model.layers]
    @architectures = "spacy-lal.BiLSTMLayers.v1"
    hidden_width = 192
    depth = 3

    [model.layers.tok2vec]
    @architectures = "spacy-lal.WordAffixEmbed.v1"
    word_width = 128
    affix_width = 32
    """
)["model"]
"""The model of a component whose config names none."""

READING = ("sentences", "max_batch_spans")
"""Attributes of encoders that no weights depend on."""

Probabilities = list[NDArray[numpy.float32]]


@Language.factory(
    "gec_detector",
    assigns=["doc.spans"],
    default_config={
        "model": DEFAULT_MODEL,
        "spans_key": ERRORS_KEY,
        "threshold": 0.5,
        "error_weight": 1.0,
        "company": 0.0,
        "scorer": {"@scorers": "spacy-lal.detection_scorer.v1"},
    },
    default_score_weights={
        "ged_f05": 1.0,
        "ged_p": 0.0,
        "ged_r": 0.0,
        "ged_per_type": None,
    },
)
def make_gec_detector(
    nlp: Language,
    name: str,
    model: Model[list[Doc], Floats2d],
    spans_key: str,
    threshold: float,
    error_weight: float,
    company: float,
    scorer: Callable | None,
) -> "ErrorDetector":
    """Construct the component.

    model: maps Docs to scores of every token's labels [tokens of all Docs, labels].
    spans_key: name of the span group with the errors. `Token._.is_error` and the other extension
        attributes read only "errors"; `grammar_errors(doc, key)` of `annotations/grammar_errors.py`
        reads any group.
    threshold: a token is marked if the probability that it is an error is at least this. It is
        stored with the component as `cfg["threshold"]`, where `spacy find-threshold` and you set
        it: the threshold of a trained component takes precedence over that of its config.
    error_weight: weight of the loss of a token that is an error; that of a correct token is 1. A
        higher weight finds more errors, with lower precision.
    company: how much the surest error of a sentence raises the probability of the other tokens
        (see `in_company`); at 0 each token's is the model's own.
    """
    return ErrorDetector(
        nlp.vocab,
        model,
        name,
        spans_key=spans_key,
        threshold=threshold,
        error_weight=error_weight,
        company=company,
        scorer=scorer,
    )


def _checked_threshold(threshold: float) -> float:
    """Users set it, in a dictionary."""
    if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be from 0 to 1, got {threshold!r}")
    return threshold


class ErrorDetector(WeightsPipe):
    """Writes `doc.spans[spans_key]`, with the probability of every token; see `set_errors`."""

    def __init__(
        self,
        vocab: Vocab,
        model: Model[list[Doc], Floats2d],
        name: str,
        *,
        spans_key: str = ERRORS_KEY,
        threshold: float = 0.5,
        error_weight: float = 1.0,
        company: float = 0.0,
        scorer: Callable | None = None,
    ) -> None:
        _checked_threshold(threshold)
        if error_weight <= 0:
            raise ValueError(f"error_weight must be above 0, got {error_weight}")
        if not 0 <= company < float("inf"):
            raise ValueError(f"company must be a number from 0 on, got {company}")
        self.spans_key = spans_key
        self.error_weight = error_weight
        self.company = company
        self._reading = [
            (node, {name: node.attrs[name] for name in READING if name in node.attrs})
            for node in model.walk()
        ]
        super().__init__(vocab, model, name, scorer, labels=[], threshold=threshold)

    def _configure_model(self) -> None:
        """The config decides how text is read, whatever was stored with the weights."""
        super()._configure_model()
        for node, settings in self._reading:
            node.attrs.update(settings)

    def _outputs(self) -> dict[str, list[str]]:
        return {"labels": [CORRECT, *self.labels]}

    def _check_cfg(self) -> None:
        super()._check_cfg()
        _checked_threshold(self.cfg["threshold"])

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of errors; one if they are not told apart."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        return list(self.labels)

    def add_label(self, label: str) -> int:
        """Add a type of errors; 0 if it was there. ValueError once the model is initialised."""
        return self._add("labels", label)

    # Training

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        warm_start: str | None = None,
    ) -> None:
        """Read the types of errors off the training data and set up the model.

        labels: types to take instead. warm_start: a trained pipeline whose detector's weights begin
        what fits. Raises ValueError if no example has errors.
        """
        validate_get_examples(get_examples, f"{self.name}.initialize")
        counts = count(get_examples(), read_errors(self.spans_key))
        found, without = counts.names["labels"], counts.lacking["errors"]
        if labels is None and not found:
            raise ValueError(
                f"none of the {counts.docs} training Docs has errors in "
                f"doc.spans[{self.spans_key!r}]: {counts.docs - without} are annotated as correct, "
                f"and so left alone by spacy-lal.corrupt.v1, {without} are not annotated"
            )
        if labels is not None and (not labels or CORRECT in labels):
            raise ValueError(f"the labels given to {self.name!r} must be types of errors: {labels}")
        counts.tell_lacking(self.name, "errors", "are not annotated")
        known = self.cfg["labels"]
        self.cfg["labels"] = labels or [*known, *sorted(set(found) - set(known))]
        self._initialize_weights(get_examples, counts.sample, warm_start, nlp)

    def get_loss(self, examples: Iterable[Example], scores: Floats2d) -> tuple[float, Floats2d]:
        """The mean cross-entropy of all words and its gradient with respect to every score.

        What has no gold does not count: Docs that are not annotated, tokens without a counterpart,
        types that were not there at initialisation, whitespace.
        """
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        index = {label: k for k, label in enumerate([CORRECT, *self.labels])}
        labels = [gold_errors(example, self.spans_key) for example in examples]
        self._warn_unknown(
            "labels",
            Counter(name for found in labels for name in found if name and name != CORRECT),
        )
        gold = [
            index.get(label, -1) if label is not None and not token.is_space else -1
            for example, doc_labels in zip(examples, labels, strict=True)
            for token, label in zip(example.predicted, doc_labels, strict=True)
        ]
        logits = xp2torch(scores).detach().clone().requires_grad_()
        weights = torch.full((len(index),), self.error_weight, device=logits.device)
        weights[0] = 1.0
        targets = torch.tensor(gold, dtype=torch.long, device=logits.device)
        loss = torch.nn.functional.cross_entropy(
            logits, targets, weights, ignore_index=-1, reduction="sum"
        ) / max(1, int((targets >= 0).sum()))
        loss.backward()
        gradient = cast(Floats2d, torch2xp(cast(torch.Tensor, logits.grad)))
        return float(loss.detach()), gradient

    # Annotations

    def predict(self, docs: Iterable[Doc]) -> Probabilities:
        """The probability of each of a token's labels, "correct" first: [tokens, labels]."""
        docs = list(docs)
        self._check_initialised()
        logits = xp2torch(self.model.predict(docs))
        flat = torch.softmax(logits, -1).cpu().numpy()
        return numpy.split(flat, numpy.cumsum([len(doc) for doc in docs]))[:-1]

    def set_annotations(self, docs: Iterable[Doc], scores: Probabilities) -> None:
        """Write the errors, and the probability of every token to be one. Whitespace is none."""
        threshold = _checked_threshold(self.cfg["threshold"])
        for doc, doc_probabilities in zip(docs, scores, strict=True):
            spaces = [token.is_space for token in doc]
            # as many digits as a threshold has, which may lie between two scores
            errors = doc_probabilities[:, 1:].sum(1).astype(numpy.float64)
            errors[spaces] = 0.0
            if self.company:
                errors = in_company(errors, sentence_starts(doc, "split"), self.company)
            marked = (errors >= threshold) & ~numpy.asarray(spaces, dtype=bool)
            types = doc_probabilities[:, 1:].argmax(1).tolist() if len(doc) else []
            labels = [
                self.labels[k] if here else CORRECT
                for k, here in zip(types, marked.tolist(), strict=True)
            ]
            set_errors(doc, labels, errors.tolist(), key=self.spans_key)
