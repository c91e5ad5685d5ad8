"""`threshold`: from which probability on `gec_detector` marks tokens, so that it leaves correct
text alone.

Learners' text has an error every tenth token, other text has not, and a user reads both.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import check_folder, clear_errors


def threshold(
    model: Annotated[str, typer.Argument(help="A pipeline with `gec_detector`: name or folder.")],
    output: Annotated[
        Path, typer.Argument(help="Where to write the pipeline with its new threshold.")
    ],
    correct: Annotated[
        list[Path] | None,
        typer.Argument(
            help=".spacy files without errors, one per kind of text: `corrupt --rate 0`.",
            exists=True,
        ),
    ] = None,
    most: Annotated[
        float,
        typer.Option(
            "--most", min=0, max=1, help="Share of each file's tokens that may be marked."
        ),
    ] = 0.015,
    tune: Annotated[
        Path | None,
        typer.Option(
            "--tune",
            help="A .spacy file with errors: no threshold below the one with its best F0.5.",
            exists=True,
        ),
    ] = None,
) -> None:
    """Write MODEL to OUTPUT with the lowest threshold that is high enough for each of CORRECT,
    and not below the best of another file."""
    from ..evaluation.errors import best_threshold, detector_of, lowest_threshold, scored
    from ..pipeline.loading import load_pipeline

    correct = correct or []
    with clear_errors("threshold"):
        if not correct and tune is None:
            raise ValueError("no files to choose a threshold by")
        check_folder(output, [Path(model), *correct, *([tune] if tune else [])])
        nlp = load_pipeline(model)
        pipe = detector_of(nlp)
        scores = {}
        for path in correct:
            gold, scores[path], _ = scored(nlp, pipe, path)
            if gold.any():
                raise ValueError(f"{path} has tokens that are labelled as errors")
        # of all files together, a small one would say nothing
        needed = {path: lowest_threshold(of_file, most) for path, of_file in scores.items()}
        if tune is not None:
            gold, scores[tune], _ = scored(nlp, pipe, tune)
            if not gold.any():
                raise ValueError(f"no token in {tune} is labelled as an error")
            # as many decimals as are stored, and no token less that is marked
            needed[tune] = math.floor(best_threshold(gold, scores[tune]) * 1e9) / 1e9
        chosen = max(needed.values())
        pipe.cfg["threshold"] = chosen
        nlp.get_pipe_config(pipe.name)["threshold"] = chosen
        nlp.to_disk(output)
    for path, of_file in scores.items():
        marked = (of_file >= chosen).mean()
        msg.text(f"{path.name}: {marked:.2%} of {len(of_file):,} tokens, needs {needed[path]:.4f}")
    strictest = max(needed, key=lambda path: needed[path])
    msg.good(f"threshold {chosen:.4f}, which {strictest.name} needs")
