"""Scores and speed of a pipeline on corpora: parses, roles, errors; from gold words or raw text."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language

from ..annotations.frames import FRAMES_KEY
from ..ged.component import ErrorDetector
from ..pipeline.pipes import only_pipe
from ..scoring.evalb import EvalbParameters
from ..srl.component import LisaSRL
from ..training.corpus import Corpus
from .detection_scores import best_threshold, detector_of, measure_errors, score_words
from .parse_scores import is_parsed, measure_parses
from .role_scores import measure_roles
from .textbook import TEXTBOOK, measure_textbook


def about(nlp: Language) -> dict[str, Any]:
    """Return name and version of a pipeline, and the number of torch's threads."""
    name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    return {"model": name, "threads": torch.get_num_threads()}


def evaluate(
    nlp: Language,
    corpora: Iterable[Path],
    *,
    prm: str = "nk",
    roles: Mapping[str, Any] | None = None,
    tune: Path | None = None,
) -> dict[str, Any]:
    """Return scores, as fractions, of each layer that the pipeline predicts and a corpus has.

    `results` has a dict for each corpus. prm: EVALB's parameters, a name or a file. roles:
    arguments of `measure_roles`. tune: a corpus whose best threshold the detector gets. A `.checks`
    file is measured by `measure_textbook`. Raises OSError, or ValueError if there is nothing to
    compare, or if the pipeline lacks the component that roles or tune need.
    """
    EvalbParameters.load(prm)  # raises its error before a corpus is parsed
    if roles:
        only_pipe(nlp, LisaSRL, "component lisa_srl")
    report = about(nlp)
    if tune is not None:
        report["threshold"] = best_threshold(*score_words(nlp, Corpus(tune)))
    elif any(isinstance(pipe, ErrorDetector) for _, pipe in nlp.pipeline):
        report["threshold"] = detector_of(nlp).cfg["threshold"]
    threshold = report.get("threshold")
    report["results"] = [
        {"corpus": path.name} | measure_textbook(nlp, path)
        if path.suffix == TEXTBOOK
        else _measured(nlp, path, threshold, prm, roles or {})
        for path in corpora
    ]
    return report


def _measured(
    nlp: Language, path: Path, threshold: float | None, prm: str, roles: Mapping[str, Any]
) -> dict[str, Any]:
    corpus = Corpus(path)
    gold = list(corpus.docs(nlp))
    # each measurement reads the corpus anew, as it annotates the Docs
    parts: list[dict[str, Any]] = []
    if any(map(is_parsed, gold)) and is_parsed(nlp(next(iter(corpus(nlp))).predicted)):
        parts.append(measure_parses(nlp, list(corpus(nlp)), prm))
    has_lisa = any(isinstance(pipe, LisaSRL) for _, pipe in nlp.pipeline)
    if has_lisa and any(FRAMES_KEY in doc.spans for doc in gold):
        parts.append(measure_roles(nlp, list(corpus(nlp)), **roles))
    if threshold is not None and any(detector_of(nlp).spans_key in doc.spans for doc in gold):
        parts.append(measure_errors(nlp, corpus, threshold))
    if not parts:
        raise ValueError(f"nothing to compare: {path} has no gold of what the pipeline finds")
    result: dict[str, Any] = {"corpus": path.name, "sentences": len(gold)}
    result |= {"words": sum(map(len, gold)), "by_label": {}}
    for part in parts:
        result["by_label"] |= part.pop("by_label", {})
        result |= part
    return result
