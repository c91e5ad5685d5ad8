"""What `error_cooccurrence` of a detector gives: F0.5 with weights, each at its own threshold.

    python benchmarks/company.py MODEL CORPUS... --correct FILE [--correct FILE] [--weights 0,0.2]
        [--pairs tests/textbook/pairs.tsv] [--most 0.02] [--json FILE]

MODEL reads every corpus once; the weights are tried on its probabilities. The threshold is the
lowest that marks at most a share `most` of the tokens of each file without errors. Prints a table,
with --pairs also of the textbook's errors that are found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy
import typer
from tables import markdown

from spacy_lal.annotations.grammar_errors import CORRECT, error_scores, get_errors
from spacy_lal.evaluation.detection_scores import (
    detection,
    detector_of,
    lowest_threshold,
    outcomes,
    read_pairs,
)
from spacy_lal.ged.component import ErrorDetector
from spacy_lal.pipeline.loading import load_pipeline
from spacy_lal.training.corpus import Corpus


def main(
    model: Annotated[str, typer.Argument(help="A pipeline whose only component is a detector.")],
    corpora: Annotated[list[Path], typer.Argument(help=".spacy files with errors.", exists=True)],
    correct: Annotated[list[Path], typer.Option(help=".spacy files without errors.", exists=True)],
    pairs: Annotated[
        Path | None, typer.Option(help="Wrong and right sentences.", exists=True)
    ] = None,
    weights: str = "0,0.1,0.15,0.2,0.25,0.3",
    most: float = 0.02,
    output: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Score MODEL with several weights."""
    names = [path.stem for path in corpora]
    if again := sorted({name for name in names if names.count(name) > 1}):
        raise typer.BadParameter(f"two corpora are called {again[0]}: their columns would be one")
    nlp = load_pipeline(model)
    pipe = detector_of(nlp)
    tried = [float(weight) for weight in weights.split(",")]
    of_correct = [_scores(nlp, pipe, path, tried)[1] for path in correct]
    thresholds = [
        max(lowest_threshold(scores[k], most) for scores in of_correct) for k in range(len(tried))
    ]
    rows: list[dict[str, Any]] = [
        {"company": weight, "threshold": threshold}
        for weight, threshold in zip(tried, thresholds, strict=True)
    ]
    for path in corpora:
        gold, scores = _scores(nlp, pipe, path, tried)
        for row, of_weight in zip(rows, scores, strict=True):
            marked = of_weight >= row["threshold"]
            # on text without errors, what counts is how little is marked
            row[path.stem] = detection(gold, marked).f() if gold.any() else float(marked.mean())
    for row in rows if pairs is not None else ():
        pipe.error_cooccurrence = row["company"]
        found = list(outcomes(nlp, read_pairs(pairs), row["threshold"], pipe.spans_key))
        row[pairs.stem] = sum(one.found for one in found) / len(found)
    print(markdown([*rows[0]], [_cells(row) for row in rows]))
    if output is not None:
        output.write_text(json.dumps({"model": model, "most": most, "rows": rows}) + "\n")


def _scores(
    nlp: Any, pipe: ErrorDetector, path: Path, weights: list[float]
) -> tuple[numpy.ndarray, list[numpy.ndarray]]:
    """Of all tokens whether they are errors, and the scores with each weight."""
    examples = list(Corpus(path)(nlp))
    docs = [example.predicted for example in examples]
    labels = [get_errors(example.reference, pipe.spans_key) for example in examples]
    size = nlp.batch_size
    found = [p for at in range(0, len(docs), size) for p in pipe.predict(docs[at : at + size])]
    scores = []
    for weight in weights:
        pipe.error_cooccurrence = weight
        pipe.set_annotations(docs, found)
        scores.append(numpy.concatenate([error_scores(doc, pipe.spans_key) for doc in docs]))
    return numpy.array([label != CORRECT for doc in labels for label in doc]), scores


def _cells(row: dict[str, Any]) -> list[str]:
    company, threshold, *others = row.values()
    return [f"{company:g}", f"{threshold:.4f}", *(f"{100 * value:.2f}" for value in others)]


if __name__ == "__main__":
    typer.run(main)
