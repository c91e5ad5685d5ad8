"""`gec_detector`: grammatical errors by attention over layers (Kaneko and Komachi 2019)."""

import base64
import gzip
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Self, cast

import numpy
import torch
from numpy.typing import NDArray
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..annotations.grammar_errors import (
    CORRECT,
    EDIT,
    ERROR,
    ERRORS_KEY,
    Correction,
    get_errors,
    set_errors,
    span_corrections,
    type_of,
)
from ..annotations.span_groups import current_spans
from ..annotations.words import bare_doc
from ..batching.sentences import sentence_starts
from ..bridge.shim import naming, torch_shim
from ..formats.files import read_text
from ..pipeline.component import WeightsPipe, register_factory
from ..pipeline.examples import Counts, count, same_tokens
from .edits import edits_of
from .ngrams import NgramCounts
from .odds import raised, weigh_ngrams, with_cooccurrence
from .phrases import Phrase, straight
from .rules import judge_by_rules
from .suggestions import SPELLING, Suggester

_EMBEDDING = {"@architectures": "spacy-lal.WordAffixEmbed.v1", "word_width": 128, "affix_width": 32}
DEFAULT_MODEL = {
    "@architectures": "spacy-lal.MHMLA.v1",
    "layers": {"@architectures": "spacy-lal.BiLSTMLayers.v1", "tok2vec": _EMBEDDING},
}
"""The model of a component whose config names none."""

RIGHT, ANY = "right", " *"
"""Names of a correct token's label, and, behind a type, of all labels of that type."""
WORDS = "words.gz"
"""Name of the file of right words."""
NGRAMS = "ngrams.safetensors"
"""Name of the file of counts of n-grams."""
EDIT_COUNT = 20
"""How often an edit is in the training data if it is a label."""
WORD_COUNT = 3
"""How often a right word is there if others may be misspellings of it."""

_WORD = re.compile(r"[^\W\d_]+")
_ENTRY = re.compile(r"([^\W\d_]+) (\d+)")

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
    misspelling_odds: by how much the odds grow that a word is wrong which isn't among the right
        words, but like one of them (see `RightWords`); 1: the model's own probabilities.
    ngram_evidence: how much counts of n-grams, if the detector has any, change the probability of
        words that may be wrong (see `evidence`); 0: not at all, 1: as fitted for English.
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
        misspelling_odds: float = 1.0,
        ngram_evidence: float = 0.0,
        scorer: Callable | None = None,
    ) -> None:
        _checked_threshold(threshold)
        if error_weight <= 0:
            raise ValueError(f"error_weight must be above 0, got {error_weight}")
        if not 0 <= error_cooccurrence < float("inf"):
            raise ValueError(f"error_cooccurrence must be from 0 on, got {error_cooccurrence}")
        if not 1 <= misspelling_odds < float("inf"):
            raise ValueError(f"misspelling_odds must be from 1 on, got {misspelling_odds}")
        if not 0 <= ngram_evidence < float("inf"):
            raise ValueError(f"ngram_evidence must be from 0 on, got {ngram_evidence}")
        self.spans_key = spans_key
        self.error_weight = error_weight
        self.error_cooccurrence = error_cooccurrence
        self.misspelling_odds = misspelling_odds
        self.ngram_evidence = ngram_evidence
        self._made: tuple[list[str], list[str], Suggester] | None = None
        self._read: tuple[str, NgramCounts] | None = None
        super().__init__(nlp.vocab, model, name, scorer, labels=[], threshold=threshold)

    def _outputs(self) -> dict[str, list[str]]:
        return {"labels": [CORRECT, *self.cfg["labels"]]}

    def _check_cfg(self) -> None:
        super()._check_cfg()
        _checked_threshold(self.cfg["threshold"])

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of errors; a single one if errors are untyped."""
        return tuple(dict.fromkeys(map(type_of, self.cfg["labels"])))

    @property
    def label_data(self) -> list[str]:
        return list(self.cfg["labels"])

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: list[str] | None = None,
        warm_start: str | None = None,
        words: str | None = None,
    ) -> None:
        """Read the types of errors from labels or else the training data, and set up the model.
        Beside other types, `ERROR` is none of them, but an error of unknown type. Where errors have
        corrections, the edits seen `EDIT_COUNT` times become labels, too (`ged.edits`), beside
        those that `warm_start` knows of the same types.
        warm_start: a trained pipeline; its detector's weights are copied where they fit, and every
        type begins as its `ERROR`, every edit as its type.
        words: a file of text, by whose words misspellings are corrected, or of lines of a word and
            its count; None for the words that are right in the training data.
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
        often = {label for label, n in counts.names["edits"].items() if n >= EDIT_COUNT}
        source = self._pretrained(warm_start)
        header = source and torch_shim(source).header
        often |= {edit for edit in (header or {}).get("labels", ()) if type_of(edit) in types}
        self.cfg["labels"] = labels or [*known, *sorted((types | often) - set(known))]
        if any(EDIT in label for label in self.cfg["labels"]):
            seen = counts.names["words"] if words is None else words_of_text(Path(words))
            self.cfg["words"] = known_words(seen)
        self._initialize_weights(get_examples, counts.sample, warm_start, nlp)

    def get_loss(self, examples: Iterable[Example], scores: Floats2d) -> tuple[float, Floats2d]:
        """Return the mean cross-entropy of words with known gold and every score's gradient. An
        error of unknown type or correction counts by the sum of the probabilities of all labels
        that it may have."""
        examples = list(examples)
        validate_examples(examples, f"{self.name}.get_loss")
        gold = [label for example in examples for label in gold_labels(example, self.spans_key)]
        # "", a correct token's, is no name
        self._warn_unknown(
            "labels", Counter(of[0] for of in gold if of and of[0] not in ("", ERROR))
        )
        choices = self._choices()
        tokens = (token for example in examples for token in example.predicted)
        names = [
            "" if of is None or token.is_space else _choice(*of, choices)
            for token, of in zip(tokens, gold, strict=True)
        ]
        known = [k for k, name in enumerate(names) if name]
        used = {name: k for k, name in enumerate(dict.fromkeys(names[k] for k in known))}
        logits = xp2torch(scores).detach().clone().requires_grad_()
        barred = torch.full((len(used), logits.shape[1]), -torch.inf)
        for name, k in used.items():
            barred[k, choices[name]] = 0.0
        targets = torch.tensor([used[names[k]] for k in known], dtype=torch.long)
        weights = torch.tensor([1.0 if name == RIGHT else self.error_weight for name in used])
        log_p = torch.log_softmax(logits[known], -1) + barred.to(logits.device)[targets]
        loss = -(weights[targets].to(logits.device) * log_p.logsumexp(-1)).sum() / max(
            1, len(known)
        )
        loss.backward()
        return float(loss.detach()), cast(Floats2d, torch2xp(cast(torch.Tensor, logits.grad)))

    def _choices(self) -> dict[str, list[int]]:
        """Return the numbers of the labels that a token may have: by label, by a type whose edit is
        unknown, and for an error of unknown type."""
        choices = {RIGHT: [0], ERROR: [*range(1, len(self.cfg["labels"]) + 1)]}
        choices |= {label: [k] for k, label in enumerate(self.cfg["labels"], 1)}
        choices[ERROR + ANY] = choices[ERROR]
        for k, label in enumerate(self.cfg["labels"], 1):
            choices.setdefault(type_of(label) + ANY, []).append(k)
        return choices

    def predict(self, docs: Iterable[Doc]) -> Probabilities:
        """Return the probabilities of each token's labels, "correct" first: [tokens, labels]."""
        docs = list(docs)
        self._check_initialised()
        suggest = self._suggester()
        if suggest is not None and suggest.english:
            docs = [_straight_doc(doc) for doc in docs]
        logits = xp2torch(self.model.predict(docs))
        flat = torch.softmax(logits, -1).cpu().numpy()
        return numpy.split(flat, numpy.cumsum([len(doc) for doc in docs]))[:-1]

    def set_annotations(self, docs: Iterable[Doc], scores: Probabilities) -> None:
        """Write the errors, each token's error probability, 0 for whitespace, and corrections if
        the detector has learned any."""
        threshold = _checked_threshold(self.cfg["threshold"])
        types, rows = self.labels, self.cfg["labels"]
        of_type = numpy.zeros((len(rows), len(types)), "f")
        for k, label in enumerate(rows):
            of_type[k, types.index(type_of(label))] = 1.0
        suggest = self._suggester()
        counts = self._ngram_counts() if self.ngram_evidence else None
        spelling = [rows.index(label) for label in (SPELLING, ERROR) if label in rows]
        docs = list(docs)
        judged = []
        for doc, doc_probabilities in zip(docs, scores, strict=True):
            spaces = numpy.fromiter((token.is_space for token in doc), bool, len(doc))
            words = [token.text for token in doc]
            wrong = doc_probabilities[:, 1:].copy()
            starts = sentence_starts(doc, "split")
            ruled: list[Phrase] = []
            if suggest is not None and suggest.english:
                ruled = judge_by_rules(doc, words, starts, wrong, suggest)
            # as precise as a threshold, which may lie between two scores
            errors = wrong.sum(1).astype(numpy.float64)
            errors[spaces] = 0.0
            own = errors
            if self.error_cooccurrence:
                errors = with_cooccurrence(errors, starts, self.error_cooccurrence)
            if suggest is not None and self.misspelling_odds > 1 and spelling:
                at = suggest.right.misspelt(words, english=suggest.english)
                wrong[at, spelling[0]] += raised(own[at], self.misspelling_odds) - own[at]
                errors[at] = raised(errors[at], self.misspelling_odds)
            judged.append((words, starts, spaces, wrong, ruled, errors))
        if counts:
            texts = [(words, starts) for words, starts, *_ in judged]
            weigh_ngrams(texts, [errors for *_, errors in judged], self.ngram_evidence, counts)
        for doc, (words, _, spaces, wrong, ruled, errors) in zip(docs, judged, strict=True):
            sums = wrong @ of_type
            marked = {
                i: types[int(sums[i].argmax())]
                for i in numpy.flatnonzero((errors >= threshold) & ~spaces).tolist()
            }
            corrections, swapped = None, set[int]()
            if suggest is not None and suggest.corrects:
                known = {i for phrase in ruled for i in range(phrase.start, phrase.end)}
                marked = {i: of for i, of in marked.items() if i not in known}
                corrections, swapped = suggest(words, marked, wrong)
                for start, end, of, text in ruled:
                    marked |= dict.fromkeys(range(start, end), of)
                    errors[start:end] = 1.0
                    corrections[start] = [] if text is None else [Correction(text, 1.0)]
                    swapped.update(range(start + 1, end))
                if corrections and "’" in doc.text:
                    corrections = {
                        i: [Correction(text.replace("'", "’"), p) for text, p in of]
                        for i, of in corrections.items()
                    }
            set_errors(
                doc,
                [marked.get(i, CORRECT) for i in range(len(doc))],
                errors.tolist(),
                key=self.spans_key,
                # the model judges each word by itself, but some are wrong together
                begins={*range(len(doc))} - swapped,
                corrections=corrections,
            )

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the component, with its right words in `words.gz`, a word a line, and the counts of
        n-grams in `ngrams.safetensors`."""
        stored = [name for name in ("words", "ngrams") if name in self.cfg]
        apart: dict[str, Any] = {name: self.cfg.pop(name) for name in stored}
        try:
            super().to_disk(path, exclude=exclude)
        finally:
            self.cfg.update(apart)
        if "cfg" in exclude:
            return
        if "words" in apart:
            data = "".join(f"{word}\n" for word in apart["words"]).encode()
            (Path(path) / WORDS).write_bytes(gzip.compress(data, mtime=0))
        if "ngrams" in apart:
            (Path(path) / NGRAMS).write_bytes(base64.b64decode(apart["ngrams"]))

    def from_disk(self: Self, path: str | Path, *, exclude: Iterable[str] = ()) -> Self:
        """Read the output of `to_disk`. Raises ValueError, naming the file, if it is damaged."""
        super().from_disk(path, exclude=exclude)
        if (file := Path(path) / WORDS).is_file() and "cfg" not in exclude:
            with naming(file):
                self.cfg["words"] = gzip.decompress(file.read_bytes()).decode().split()
        if (file := Path(path) / NGRAMS).is_file() and "cfg" not in exclude:
            self.read_ngrams(file)
        return self

    def read_ngrams(self, file: Path) -> None:
        """Take the counts of n-grams from a file that `scripts/ngrams.py` writes. Raises
        ValueError, naming the file, if it is damaged."""
        data = file.read_bytes()
        with naming(file):
            counts = NgramCounts.from_bytes(data)
        self.cfg["ngrams"] = base64.b64encode(data).decode()
        self._read = self.cfg["ngrams"], counts

    def _ngram_counts(self) -> NgramCounts | None:
        """Return the counts of n-grams, None without any."""
        data = self.cfg.get("ngrams")
        if data is None:
            return None
        if self._read is None or self._read[0] is not data:
            self._read = data, NgramCounts.from_bytes(base64.b64decode(data))
        return self._read[1]

    def _suggester(self) -> Suggester | None:
        """Return what knows right words, None without any; it is made anew for other labels."""
        if "words" not in self.cfg:
            return None
        labels, words = self.cfg["labels"], self.cfg["words"]
        if self._made is None or self._made[0] is not labels or self._made[1] is not words:
            self._made = labels, words, Suggester(labels, words)
        return self._made[2]


def read_errors(doc: Doc, counts: Counts, key: str) -> None:
    """Count the types of errors and the edits in a Doc, and, beside corrections, right words."""
    if key not in doc.spans:
        counts.lacking["errors"] += 1
        return
    labels = get_errors(doc, key)
    counts.names["labels"].update(label for label in labels if label != CORRECT)
    if "corrections" in doc.spans[key].attrs:
        edits = zip(labels, gold_edits(doc, key), strict=True)
        counts.names["edits"].update(f"{label}{EDIT}{edit}" for label, edit in edits if edit)
        right = (t for t, label in zip(doc, labels, strict=True) if label == CORRECT and t.is_alpha)
        counts.names["words"].update(token.lower_ for token in right)


def words_of_text(path: Path) -> Counter[str]:
    """Return the counts of a text's words in small letters; a line of a word and a number is so
    many of them."""
    counts: Counter[str] = Counter()
    for line in read_text(path).lower().split("\n"):
        if entry := _ENTRY.fullmatch(line):
            counts[entry[1]] += int(entry[2])
        else:
            counts.update(_WORD.findall(line))
    return counts


def known_words(counts: Counter[str]) -> list[str]:
    """Return the right words by which misspellings are corrected, the most frequent first."""
    return [word for word, count in counts.most_common() if count >= WORD_COUNT]


def gold_edits(doc: Doc, key: str) -> list[str | None]:
    """Return the edit of every token (`edits_of`), "" of correct ones, None where it is unknown."""
    edits: list[str | None] = [""] * len(doc)
    group = doc.spans[key]
    known = zip(current_spans(group), span_corrections(group), strict=True)
    for span, corrections in reversed(list(known)):
        best = corrections[0].text if corrections else None
        words = [token.text for token in span]
        edits[span.start : span.end] = edits_of(words, span.label_, best)
    return edits


def gold_labels(example: Example, key: str) -> list[tuple[str, str | None] | None]:
    """Return the gold type of errors and edit of every predicted token, or None. One wrong gold
    token makes a token wrong; edits are known only where tokens are the same."""
    if key not in example.reference.spans:
        return [None] * len(example.predicted)
    labels = get_errors(example.reference, key)
    if same_tokens(example):
        return list(zip(labels, gold_edits(example.reference, key), strict=True))
    x2y = example.alignment.x2y
    parts = ([labels[int(k)] for k in x2y[i]] for i in range(len(example.predicted)))
    found = (max(of, key=lambda label: label != CORRECT, default=None) for of in parts)
    return [None if label is None else (label, None) for label in found]


def _choice(type: str, edit: str | None, choices: Container[str]) -> str:
    """Return the choice of an error's labels that fits best, "" without any."""
    if type == CORRECT:
        return RIGHT
    label = f"{type}{EDIT}{edit}"
    found = type + ANY if edit is None else label if edit and label in choices else type
    return found if found in choices else ""


def _straight_doc(doc: Doc) -> Doc:
    """Return the Doc, or, of one with curly apostrophes, another with straight ones, which are what
    learners' corpora have."""
    if "’" not in doc.text:
        return doc
    return bare_doc(doc, words=[straight(token.text) for token in doc])


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
