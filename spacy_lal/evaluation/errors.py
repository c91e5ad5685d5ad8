"""A pipeline's grammatical error detection, at its threshold and at others.

The pipeline reads the gold words and, unless sentences are joined, the gold sentence boundaries.
Precision, recall and F0.5 count tokens, as MultiGED-2023 does (`ged/scorer.py`).
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from wasabi import msg

from ..annotations.grammar_errors import CORRECT, error_scores, get_errors, set_errors
from ..ged.gec_detector import ErrorDetector
from ..ged.scorer import Detection
from ..pipeline.loading import load_pipeline
from ..pipeline.pipes import pipes_before, run_pipes
from ..training.corpus import Corpus
from . import about


def evaluate(
    model: str, corpora: list[Path], tune: Path | None = None, join: int = 1
) -> dict[str, Any]:
    """Scores on every corpus. Raises ValueError."""
    nlp = load_pipeline(model)
    pipe = detector_of(nlp)
    threshold = pipe.cfg["threshold"]
    if tune is not None:
        gold, scores, _ = scored(nlp, pipe, tune)
        threshold = best_threshold(gold, scores)
        msg.info(f"threshold {threshold:.3f}, the best of {tune.name}")
    results = []
    for corpus in corpora:
        gold, scores, speed = scored(nlp, pipe, corpus, join)
        counts = detection(gold, scores >= threshold)
        best = best_threshold(gold, scores)
        at_best = detection(gold, scores >= best)
        result = {"corpus": corpus.name, "tokens": len(gold), "errors": int(gold.sum())}
        result |= _percent(counts)
        result |= {"marked": round(100 * float((scores >= threshold).mean()), 2)}
        # what a threshold made for this very corpus would give: a bound, not a result
        result |= {"best_threshold": round(best, 3), "best_f05": _percent(at_best)["f05"]}
        result |= {"words_per_second": round(speed)}
        results.append(result)
        msg.info(
            f"{corpus.name}: P {result['p']:.2f}, R {result['r']:.2f}, F0.5 {result['f05']:.2f}, "
            f"{result['marked']:.2f} % of tokens marked"
        )
    several = {"sentences_a_doc": join} if join > 1 else {}
    return several | about(nlp) | {"threshold": round(threshold, 4), "results": results}


def detector_of(nlp: Language) -> ErrorDetector:
    """Raises ValueError if there is none."""
    for _, pipe in nlp.pipeline:
        if isinstance(pipe, ErrorDetector):
            return pipe
    raise ValueError(f"{nlp.meta['lang']}_{nlp.meta['name']} has no component gec_detector")


def scored(
    nlp: Language, pipe: ErrorDetector, corpus: Path, join: int = 1
) -> tuple[numpy.ndarray, numpy.ndarray, float]:
    """Of all words whether they are errors and how probably; words a second of the component."""
    examples = [e for e in Corpus(corpus)(nlp) if pipe.spans_key in e.reference.spans]
    if not examples:
        raise ValueError(
            f"no errors are annotated in {corpus}: none of its Docs has "
            f"doc.spans[{pipe.spans_key!r}]"
        )
    if join > 1:
        some = [examples[start : start + join] for start in range(0, len(examples), join)]
        examples = [_joined([e.reference for e in few], pipe.spans_key) for few in some]
    docs = [example.predicted for example in examples]
    docs = list(run_pipes(pipes_before(nlp, pipe), docs, nlp.batch_size))
    start = time.perf_counter()
    docs = list(pipe.pipe(docs, batch_size=nlp.batch_size))
    seconds = time.perf_counter() - start
    gold: list[bool] = []
    scores: list[float] = []
    for doc, example in zip(docs, examples, strict=True):
        labels = get_errors(example.reference, pipe.spans_key)
        of_doc = error_scores(doc, pipe.spans_key) or []
        for token, label, score in zip(doc, labels, of_doc, strict=True):
            if not token.is_space:
                gold.append(label != CORRECT)
                scores.append(score)
    return numpy.asarray(gold), numpy.asarray(scores), len(gold) / seconds


def _joined(references: list[Doc], key: str) -> Example:
    """A text without boundaries of the sentences, as users have them."""
    tokens = [(token, token.i + 1 == len(doc)) for doc in references for token in doc]
    words = [token.text for token, _ in tokens]
    spaces = [is_last or bool(token.whitespace_) for token, is_last in tokens]
    text, labelled = (Doc(references[0].vocab, words=words, spaces=spaces) for _ in range(2))
    set_errors(labelled, [label for doc in references for label in get_errors(doc, key)], key=key)
    return Example(text, labelled)


def detection(gold: numpy.ndarray, found: numpy.ndarray) -> Detection:
    """Counts over tokens, of each of which it is said whether it is an error."""
    right = int((gold & found).sum())
    return Detection(right, int(found.sum()) - right, int(gold.sum()) - right)


def best_threshold(gold: numpy.ndarray, scores: numpy.ndarray) -> float:
    """The score from which on marking tokens gives the highest F0.5."""
    order = numpy.argsort(-scores, kind="stable")
    right = numpy.cumsum(gold[order])
    marked = numpy.arange(1, len(gold) + 1)
    # F0.5 = 1.25 TP / (TP + FP + 0.25 (TP + FN))
    f = 1.25 * right / (marked + 0.25 * max(1, gold.sum()))
    # tokens of the same score are marked together
    last = numpy.append(scores[order][1:] != scores[order][:-1], True)
    f[~last] = -1.0
    return float(scores[order][int(f.argmax())])


def _percent(counts: Detection) -> dict[str, float]:
    values = {"p": counts.p, "r": counts.r, "f05": counts.f()}
    return {name: round(100 * value, 2) for name, value in values.items()}


def lowest_threshold(scores: numpy.ndarray, most: float) -> float:
    """The lowest one of nine decimals, as they are stored, that at most a share `most` reaches.

    Raises ValueError if more have the highest score there is.
    """
    allowed = math.floor(most * len(scores) + 1e-9)  # 0.29 * 100 is less than 29
    if allowed >= len(scores):
        return 0.0
    # just above the first score that would be one too many
    one_too_many = numpy.sort(scores)[-1 - allowed]
    if one_too_many >= 1:
        raise ValueError(f"no threshold marks at most {most:.2%}: more have the probability 1")
    return min(1.0, (math.floor(one_too_many * 1e9) + 1) / 1e9)
