"""A pipeline on a treebank: EVALB, attachment scores, and speed.

The pipeline reads the gold words, one sentence a Doc, and predicts everything else. The scored
trees' terminals carry the gold tags, so that EVALB skips no sentence over a mistagged comma;
tag accuracy is reported apart. If the pipeline finds heads, they are scored in three conventions
(`scoring/attachment.py`): dep_*, spaCy's, without words of the relation punct; ptb_*,
without words with a tag of punctuation; conll18_*, all words, relations up to ":". by_label has
the scores of every label of constituents and relations in percent, and how often gold has it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ..annotations.constituents import CONSTITUENTS_KEY, get_constituents
from ..parsing.scorer import score_constituency
from ..pipeline.loading import load_pipeline
from ..scoring.attachment import score_attachment
from ..scoring.evalb import EvalbParameters
from ..training.corpus import Corpus
from . import about

ATTACHMENT = ("dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las")
"""The scores of heads that a report tells."""


def measure(
    nlp: Language, examples: list[Example], prm: str = "nk", batch_size: int | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores of the pipeline, and how much it read and how fast."""
    nlp("One sentence to warm up .")
    cpu, wall = time.process_time(), time.perf_counter()
    docs = nlp.pipe((example.predicted for example in examples), batch_size=batch_size)
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    if not any(map(_is_parsed, (pair.predicted for pair in pairs))):
        raise ValueError("the pipeline finds neither constituents nor heads nor tags")
    if not any(map(_is_parsed, (pair.reference for pair in pairs))):
        raise ValueError("nothing to compare: no Doc has gold constituents, heads or tags")
    scores = score_constituency(pairs, prm=prm)
    labels = (label for pair in pairs for _, _, label in get_constituents(pair.reference))
    by_label = {"constituents": _by_label(scores["spans_constituents_per_type"], labels)}
    crossing = {}
    if any(pair.predicted.has_annotation("DEP") for pair in pairs):
        attachment = score_attachment(pairs)
        scores |= {key: attachment[key] for key in (*ATTACHMENT, "dep_las_per_type")}
        relations = (token.dep_.lower() for pair in pairs for token in pair.reference)
        by_label["relations"] = _by_label(attachment["dep_las_per_type"], relations)
        crossing = {
            "nonprojective_gold": attachment["dep_nonproj"],
            "nonprojective_predicted": attachment["dep_nonproj_pred"],
        }
    words = sum(len(pair.reference) for pair in pairs)
    return scores, {
        "sentences": len(pairs),
        "words": words,
        **crossing,
        "by_label": by_label,
        "words_per_cpu_second": round(words / cpu, 1),
        "words_per_second": round(words / wall, 1),
    }


def _is_parsed(doc: Doc) -> bool:
    return CONSTITUENTS_KEY in doc.spans or any(map(doc.has_annotation, ("DEP", "TAG")))


def _by_label(
    per_type: Mapping[str, Mapping[str, float]] | None, gold: Iterable[str]
) -> dict[str, dict[str, float]]:
    counts = Counter(gold)
    return {
        label: {key: round(100 * of[key], 2) for key in "prf"} | {"gold": counts[label]}
        for label, of in sorted((per_type or {}).items())
    }


def evaluate(
    model: str, corpus: Path, prm: str = "nk", batch_size: int | None = None
) -> dict[str, Any]:
    """Scores of a pipeline on a corpus, as fractions, with what was measured and how fast.

    prm: EVALB's parameters, a name or a file. batch_size: Docs a batch, None for the pipeline's.
    Raises OSError or ValueError.
    """
    EvalbParameters.load(prm)  # a wrong one is told before the corpus is parsed
    nlp = load_pipeline(model)
    scores, counts = measure(nlp, list(Corpus(corpus)(nlp)), prm, batch_size)
    of_pipeline = about(nlp)
    return {
        "model": of_pipeline.pop("model"),
        "corpus": str(corpus),
        "sentences": counts.pop("sentences"),
        "words": counts.pop("words"),
        "evalb_parameters": prm,
        **scores,
        **counts,
        **of_pipeline,
    }
