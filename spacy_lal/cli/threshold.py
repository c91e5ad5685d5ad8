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
    output: Annotated[
        Path, typer.Argument(help="Where to write the pipeline with its new threshold.")
    ],
    correct: Annotated[
        list[Path],
        typer.Argument(
            help=".spacy files without errors, one per kind of text: `corrupt --rate 0`.",
            exists=True,
        ),
    ],
    most: Annotated[
        float,
        typer.Option(
            "--most", min=0, max=1, help="Share of each file's tokens that may be marked."
        ),
    ] = 0.015,
) -> None:
    """Write MODEL to OUTPUT with the lowest threshold that is high enough for each of CORRECT."""
    from ..evaluation.errors import detector_of, lowest_threshold, scored
    from ..pipeline.loading import load_pipeline

    with clear_errors("threshold"):
        check_folder(output, [model, *correct])
        nlp = load_pipeline(model)
        pipe = detector_of(nlp)
        scores = {}
        for path in correct:
            gold, scores[path], _ = scored(nlp, pipe, path)
            if gold.any():
                raise ValueError(f"{path} has tokens that are labelled as errors")
        # of all files together, a small one would say nothing
        needed = {path: lowest_threshold(of_file, most) for path, of_file in scores.items()}
        chosen = max(needed.values())
        pipe.cfg["threshold"] = chosen
        nlp.get_pipe_config(pipe.name)["threshold"] = chosen
        nlp.to_disk(output)
    for path, of_file in scores.items():
        marked = (of_file >= chosen).mean()
        msg.text(f"{path.name}: {marked:.2%} of {len(of_file):,} tokens, needs {needed[path]:.4f}")
    strictest = max(needed, key=lambda path: needed[path])
    msg.good(f"threshold {chosen:.4f}, which {strictest.name} needs")
