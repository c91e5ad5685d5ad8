"""Choose the threshold from which on `gec_detector` marks tokens, and store it in the pipeline.

The best F0.5 on DEV counts, among those thresholds that leave correct text alone: learners' text
has an error every tenth token, other text has not, and a user reads both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy
import spacy
import typer
from evaluate_ged import best_threshold, detector_of, scored
from wasabi import msg


def main(
    model: Annotated[Path, typer.Argument(help="A pipeline with `gec_detector`.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to write it with its threshold.")],
    dev: Annotated[Path, typer.Option(help="A .spacy file with errors.", exists=True)],
    correct: Annotated[
        Path, typer.Option(help="One without: `spacy lal corrupt --rate 0`.", exists=True)
    ],
    most: Annotated[
        float, typer.Option(min=0, max=1, help="Share of CORRECT's tokens that may be marked.")
    ] = 0.02,
) -> None:
    """Write MODEL with the threshold to OUTPUT."""
    nlp = spacy.load(model)
    try:
        pipe = detector_of(nlp)
        gold, scores, _ = scored(nlp, pipe, dev)
        _, of_correct, _ = scored(nlp, pipe, correct)
    except ValueError as error:
        typer.echo(f"threshold: {error}", err=True)
        raise typer.Exit(1) from None
    pipe.cfg["threshold"] = threshold(gold, scores, of_correct, most)
    msg.good(
        f"threshold {pipe.cfg['threshold']:.4f}: marks "
        f"{(of_correct >= pipe.cfg['threshold']).mean():.2%} of {correct.name}"
    )
    nlp.to_disk(output)


def threshold(
    gold: numpy.ndarray, scores: numpy.ndarray, of_correct: numpy.ndarray, most: float
) -> float:
    """The best one for `gold` that at most a share `most` of `of_correct` reaches."""
    allowed = int(most * len(of_correct))
    highest = numpy.sort(of_correct)[::-1]
    # just above the first score that would be one too many
    least = numpy.nextafter(highest[allowed], numpy.inf) if allowed < len(highest) else 0.0
    return best_threshold(gold, scores, float(least))


if __name__ == "__main__":
    typer.run(main)
