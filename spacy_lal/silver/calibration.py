"""What a pipeline's certainty is worth: how right it is where it is sure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from spacy.language import Language
from spacy.scorer import Scorer
from spacy.training import Example

from ..annotations.constituents import CONSTITUENTS_KEY
from ..annotations.frames import FRAMES_KEY
from ..parsing.scorer import score_constituency
from ..scoring.attachment import score_attachment
from ..srl.scorer import score_frames
from .certainty import Certainty, annotated

THRESHOLDS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99)
"""Certainties from which on it is counted what is right, by default."""

Pairs = list[tuple[Example, Certainty]]

SCORES: dict[str, tuple[str, Callable[[list[Example]], dict[str, Any]]]] = {
    "tags": ("tag_acc", lambda pairs: Scorer.score_token_attr(pairs, "tag")),
    "trees": ("const_evalb_f", score_constituency),
    "heads": ("conll18_las", score_attachment),
    "roles": ("srl_f", score_frames),
}
"""By layer what says how right it is: a score from 0 to 1, of sentences."""


def calibrate(
    nlp: Language, examples: Sequence[Example], thresholds: Sequence[float] = THRESHOLDS
) -> list[dict[str, Any]]:
    """For each layer and threshold: how much is as sure, and how right that is.

    examples: one sentence a Doc; words and sentences are read, the rest is compared. Each row has
    layer, certainty, sentences and words (shares of what has gold of the layer), score, its name.
    Raises ValueError if there is nothing to compare, or a Doc has several sentences.
    """
    found = list(annotated(nlp, (example.predicted for example in examples)))
    if len(found) != len(examples):
        raise ValueError(
            f"each Doc must be one sentence: {len(examples)} Docs have {len(found)} sentences"
        )
    pairs = [
        (Example(doc, example.reference), certainty)
        for (doc, certainty), example in zip(found, examples, strict=True)
    ]
    rows = []
    for layer, (name, score) in SCORES.items():
        if not any(layer in certainty for _, certainty in pairs):
            continue
        scored = [pair for pair in pairs if _has_gold(pair[0], layer)]
        words = sum(len(example.reference) for example, _ in scored)
        for threshold in thresholds if scored else ():
            # what was parsed in pieces has no certainty and is never kept
            sure = [example for example, found in scored if found.get(layer, -1.0) >= threshold]
            rows.append(
                {
                    "layer": layer,
                    "certainty": threshold,
                    "sentences": len(sure) / len(scored),
                    "words": sum(len(example.reference) for example in sure) / words,
                    "score": score(sure)[name] if sure else None,
                    "of": name,
                }
            )
    if not rows:
        raise ValueError("nothing to compare: the Docs have no gold of what the pipeline finds")
    return rows


def _has_gold(example: Example, layer: str) -> bool:
    doc = example.reference
    if layer in ("tags", "heads"):
        return bool(doc.has_annotation("TAG" if layer == "tags" else "DEP"))
    return (CONSTITUENTS_KEY if layer == "trees" else FRAMES_KEY) in doc.spans
