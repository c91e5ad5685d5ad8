"""`calibrate`: how right a pipeline is where it is sure, for the thresholds of `silver`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .measuring import MetricsOption, ThreadsOption, measuring


def calibrate(
    model: Annotated[str, typer.Argument(help="A pipeline's name or folder.")],
    corpus: Annotated[
        Path, typer.Argument(help="A .spacy file, one sentence per Doc.", exists=True)
    ],
    output: MetricsOption = None,
    threads: ThreadsOption = 0,
) -> None:
    """Show, for thresholds of certainty, how much of CORPUS is kept, and how often MODEL is right.

    MODEL reads gold words and sentences and predicts everything else. The scores of the sentences
    that are kept are accuracy of tags, EVALB's F1 of trees, CoNLL-18's LAS of heads, and F1 of
    roles end to end.
    """
    with measuring("calibrate", output, [corpus], threads) as result:
        from ..pipeline.loading import load_pipeline
        from ..silver.calibration import calibrate as calibrate_pipeline
        from ..training.corpus import Corpus

        nlp = load_pipeline(model)
        result["results"] = calibrate_pipeline(nlp, list(Corpus(corpus)(nlp)))
        msg.table(
            [
                (
                    row["layer"],
                    f"{row['threshold']:.3f}",
                    *(f"{row[share]:.1%}" for share in ("sentences", "words")),
                    "" if row["score"] is None else f"{100 * row['score']:.2f}",
                )
                for row in result["results"]
            ],
            header=("layer", "certainty", "sentences", "words", "score"),
            divider=True,
            aligns=("l", "r", "r", "r", "r"),
        )
