"""`threshold`: from which probability on `gec_detector` marks tokens, so that it leaves correct
text alone.

Learners' text has an error every tenth token, other text has not, and a user reads both.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import check_folder, clear_errors


def threshold(
    model: Annotated[Path, typer.Argument(help="A pipeline with `gec_detector`.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to write it with its threshold.")],
    correct: Annotated[
        Path,
        typer.Argument(help=".spacy file without errors: `corrupt --rate 0`.", exists=True),
    ],
    most: Annotated[
        float,
        typer.Option("--most", min=0, max=1, help="Share of CORRECT's tokens that may be marked."),
    ] = 0.015,
) -> None:
    """Write MODEL to OUTPUT with the lowest threshold that is high enough for CORRECT."""
    import spacy

    from ..evaluation.errors import detector_of, lowest_threshold, scored

    with clear_errors("threshold"):
        check_folder(output, [model, correct])
        nlp = spacy.load(model)
        pipe = detector_of(nlp)
        gold, scores, _ = scored(nlp, pipe, correct)
        if gold.any():
            raise ValueError(f"{correct} has tokens that are labelled as errors")
        pipe.cfg["threshold"] = lowest_threshold(scores, most)
        nlp.get_pipe_config(pipe.name)["threshold"] = pipe.cfg["threshold"]
        nlp.to_disk(output)
    marked = (scores >= pipe.cfg["threshold"]).mean()
    msg.good(f"threshold {pipe.cfg['threshold']:.4f}: marks {marked:.2%} of {correct.name}")
