"""Set the threshold from which on `gec_detector` marks tokens so that it leaves correct text alone.

Learners' text has an error every tenth token, other text has not, and a user reads both.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import numpy
import spacy
import typer
from evaluate_ged import detector_of, scored
from wasabi import msg


def main(
    model: Annotated[Path, typer.Argument(help="A pipeline with `gec_detector`.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to write it with its threshold.")],
    correct: Annotated[
        Path,
        typer.Argument(help=".spacy file without errors: `corrupt --rate 0`.", exists=True),
    ],
    most: Annotated[
        float, typer.Option(min=0, max=1, help="Share of CORRECT's tokens that may be marked.")
    ] = 0.015,
) -> None:
    """Write MODEL to OUTPUT with the lowest threshold that is high enough for CORRECT."""
    nlp = spacy.load(model)
    try:
        pipe = detector_of(nlp)
        gold, scores, _ = scored(nlp, pipe, correct)
        if gold.any():
            raise ValueError(f"{correct} has tokens that are labelled as errors")
    except ValueError as error:
        typer.echo(f"threshold: {error}", err=True)
        raise typer.Exit(1) from None
    pipe.cfg["threshold"] = threshold(scores, most)
    marked = (scores >= pipe.cfg["threshold"]).mean()
    msg.good(f"threshold {pipe.cfg['threshold']:.4f}: marks {marked:.2%} of {correct.name}")
    nlp.get_pipe_config(pipe.name)["threshold"] = pipe.cfg["threshold"]
    nlp.to_disk(output)


def threshold(scores: numpy.ndarray, most: float) -> float:
    """The lowest one of nine decimals, as they are stored, that at most a share `most` reaches."""
    allowed = int(most * len(scores))
    if allowed >= len(scores):
        return 0.0
    # just above the first score that would be one too many
    one_too_many = numpy.sort(scores)[-1 - allowed]
    return min(1.0, (math.floor(one_too_many * 1e9) + 1) / 1e9)


if __name__ == "__main__":
    typer.run(main)
