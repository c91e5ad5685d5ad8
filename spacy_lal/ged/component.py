"""`gec_detector`: grammatical errors by attention over layers (Kaneko and Komachi 2019)."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from numbers import Real
from typing import cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..annotations.grammar_errors import CORRECT, ERROR, ERRORS_KEY, get_errors, set_errors
from ..batching.sentences import sentence_starts
from ..pipeline.component import WeightsPipe, register_factory
from ..pipeline.examples import Counts, count, same_tokens

_EMBEDDING = {"@architectures": "spacy-lal.WordAffixEmbed.v1", "word_width": 128, "affix_width": 32}
DEFAULT_MODEL = {
    "@architectures": "spacy-lal.MHMLA.v1",
    "layers": {"@architectures": "spacy-lal.BiLSTMLayers.v1", "tok2vec": _EMBEDDING},
}
"""The model of a component whose config names none."""

DOUBT = 0.05
"""Probability up to which an error doesn't affect the sentence's other words."""
CERTAIN = 1.0 - 1e-9
"""Largest probability for odds, which would be infinite at 1."""

UNKNOWN = -2
"""Target of an error of unknown type."""

Probabilities = list[NDArray[numpy.float32]]


class ErrorDetector(WeightsPipe):
    """`gec_detector` writes `doc.spans[spans_key]`, with the probability of every token.

    model: maps Docs to scores of every token's labels [tokens of all Docs, labels].
    spans_key: the span group of the errors. `Token._.is_error` and the other extension attributes
        read only "errors"; `grammar_errors(doc, key)` reads any group.
    threshold: a token is marked if it is an error with at least this probability. Stored as
        `cfg["threshold"]`, which `spacy lal find-threshold` sets; a trained component ignores the
        config's threshold.
    error_weight: weight of the loss of an erroneous token; that of a correct token is 1. A higher
        weight finds more errors, with lower precision.
    error_cooccurrence: how much the most probable error of a sentence raises the probability of its
        other tokens (see `with_cooccurrence`); 0: the model's own probabilities.
    """

    def __init__(
        self,
        nlp: Language,
        name: str,
        model: Model[list[Doc], Floats2d],
        *,
        spans_key: str = ERRORS_KEY,
        threshold: float = 0.5,
        error_weight: float = 1.0,
        error_cooccurrence: float = 0.0,
        scorer: Callable | None = None,
    ) -> None:
        _checked_threshold(threshold)
        if error_weight <= 0:
            raise ValueError(f"error_weight must be above 0, got {error_weight}")
        if not 0 <= error_cooccurrence < float("inf"):
            raise ValueError(f"error_cooccurrence must be from 0 on, got {error_cooccurrence}")
        self.spans_key = spans_key
        self.error_weight = error_weight
        self.error_cooccurrence = error_cooccurrence
        super().__init__(nlp.vocab, model, name, scorer, labels=[], threshold=threshold)

    def _outputs(self) -> dict[str, list[str]]:
        return {"labels": [CORRECT, *self.labels]}

    def _check_cfg(self) -> None:
        super()._check_cfg()
        _checked_threshold(self.cfg["threshold"])

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of errors; a single one if errors are untyped."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        return list(self.labels)

    def add_label(self, label: str) -> int:
        """Add a type of errors; 0 if it exists. Raises ValueError once the model is initialised."""
        return self._add("labels", label)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        warm_start: str | None = None,
    ) -> None:
        """Read the types of errors from labels or else the training data, and set up the model.
        Beside other types, `ERROR` is none of them, but an error of unknown type.
        warm_start: a trained pipeline; its detector's weights are copied where they fit, and every
        type begins as its `ERROR`.
        Raises ValueError if no example has errors."""
        validate_get_examples(get_examples, f"{self.name}.initialize")
        counts = count(get_examples(), partial(read_errors, key=self.spans_key))
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
        types = set(found) - {ERROR} or {ERROR}
        self.cfg["labels"] = labels or [*known, *sorted(types - set(known))]
        self._initialize_weights(get_examples, counts.sample, warm_start, nlp)

    def get_loss(self, examples: Iterable[Example], scores: Floats2d) -> tuple[float, Floats2d]:
        """Return the mean cross-entropy of words with known gold and every score's gradient. An
        error of unknown type counts by the sum of the probabilities of all types."""
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        index = {label: k for k, label in enumerate([CORRECT, *self.labels])}
        labels = [gold_errors(example, self.spans_key) for example in examples]
        # "", a correct token's, is no name
        named = Counter(name for of in labels for name in of if name and name != ERROR)
        self._warn_unknown("labels", named)
        unknown = -1 if ERROR in index else UNKNOWN
        gold = [
            index.get(label, unknown if label == ERROR else -1)
            if label is not None and not token.is_space
            else -1
            for example, doc_labels in zip(examples, labels, strict=True)
            for token, label in zip(example.predicted, doc_labels, strict=True)
        ]
        logits = xp2torch(scores).detach().clone().requires_grad_()
        weights = torch.full((len(index),), self.error_weight, device=logits.device)
        weights[0] = 1.0
        targets = torch.tensor(gold, dtype=torch.long, device=logits.device)
        untyped = targets == UNKNOWN
        types = torch.log_softmax(logits[untyped], -1)[:, 1:].logsumexp(-1)
        loss = torch.nn.functional.cross_entropy(
            logits, targets.masked_fill(untyped, -1), weights, ignore_index=-1, reduction="sum"
        )
        loss = (loss - self.error_weight * types.sum()) / max(1, int((targets != -1).sum()))
        loss.backward()
        return float(loss.detach()), cast(Floats2d, torch2xp(cast(torch.Tensor, logits.grad)))

    def predict(self, docs: Iterable[Doc]) -> Probabilities:
        """Return the probabilities of each token's labels, "correct" first: [tokens, labels]."""
        docs = list(docs)
        self._check_initialised()
        logits = xp2torch(self.model.predict(docs))
        flat = torch.softmax(logits, -1).cpu().numpy()
        return numpy.split(flat, numpy.cumsum([len(doc) for doc in docs]))[:-1]

    def set_annotations(self, docs: Iterable[Doc], scores: Probabilities) -> None:
        """Write the errors, and each token's error probability, 0 for whitespace."""
        threshold = _checked_threshold(self.cfg["threshold"])
        for doc, doc_probabilities in zip(docs, scores, strict=True):
            spaces = numpy.fromiter((token.is_space for token in doc), bool, len(doc))
            # as precise as a threshold, which may lie between two scores
            errors = doc_probabilities[:, 1:].sum(1).astype(numpy.float64)
            errors[spaces] = 0.0
            if self.error_cooccurrence:
                starts = sentence_starts(doc, "split")
                errors = with_cooccurrence(errors, starts, self.error_cooccurrence)
            marked = (errors >= threshold) & ~spaces
            types = doc_probabilities[:, 1:].argmax(1).tolist() if len(doc) else []
            labels = [
                self.labels[k] if here else CORRECT
                for k, here in zip(types, marked.tolist(), strict=True)
            ]
            # the model judges each word by itself
            begins = range(len(doc))
            set_errors(doc, labels, errors.tolist(), key=self.spans_key, begins=begins)


def read_errors(doc: Doc, counts: Counts, key: str) -> None:
    """Count the types of errors in a Doc."""
    if key not in doc.spans:
        counts.lacking["errors"] += 1
        return
    types = (label for label in get_errors(doc, key) if label != CORRECT)
    counts.names["labels"].update(types)


def gold_errors(example: Example, key: str) -> list[str | None]:
    """Return gold labels of predicted tokens, or None; one wrong gold token makes a token wrong."""
    if key not in example.reference.spans:
        return [None] * len(example.predicted)
    labels = get_errors(example.reference, key)
    if same_tokens(example):
        return list(labels)
    x2y = example.alignment.x2y
    parts = ([labels[int(k)] for k in x2y[i]] for i in range(len(example.predicted)))
    return [max(of, key=lambda label: label != CORRECT, default=None) for of in parts]


def with_cooccurrence(
    probabilities: NDArray[numpy.float64], starts: Sequence[int], weight: float
) -> NDArray[numpy.float64]:
    """Raise each token's odds by those of the most probable other token of its sentence.

    probabilities: error probabilities of a Doc's tokens [tokens]. starts: where sentences begin.
        With odds o = p / (1 - p): o_i' = o_i * max(1, o_j / o(DOUBT))^weight, where j is the most
        probable other token in the sentence. Zero stays zero, and no probability falls.
    """
    found = probabilities.copy()
    for start, end in pairwise([*starts, len(probabilities)]):
        if end - start < 2:
            continue
        of_sentence = probabilities[start:end]
        surest = int(of_sentence.argmax())
        others = numpy.full(end - start, of_sentence[surest])
        others[surest] = numpy.delete(of_sentence, surest).max()
        others = numpy.minimum(others, CERTAIN)
        odds = others / (1.0 - others) * ((1.0 - DOUBT) / DOUBT)
        gain = numpy.maximum(1.0, odds) ** weight
        raised = of_sentence * gain / (1.0 - of_sentence + of_sentence * gain)
        found[start:end] = numpy.maximum(of_sentence, raised)
    return found


def _checked_threshold(threshold: float) -> float:
    if not isinstance(threshold, Real) or not 0 <= threshold <= 1:
        raise ValueError(f"threshold must be from 0 to 1, got {threshold!r}")
    return threshold


make_gec_detector = register_factory(
    "gec_detector",
    ErrorDetector,
    assigns=["doc.spans"],
    score_weights={"ged_f05": 1.0, "ged_p": 0.0, "ged_r": 0.0, "ged_per_type": None},
    model=DEFAULT_MODEL,
    scorer={"@scorers": "spacy-lal.detection_scorer.v1"},
)
