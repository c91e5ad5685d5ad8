"""The mean of a trained component and the one that its training began with.

    python scripts/mean_weights.py MODEL BEGUN OUTPUT [--component gec_detector] [--share 0.5]

Wortsman et al. (2022, Model soups) average the weights of trainings that began alike. Here it is
one training and its beginning: what was learned before fades less. What BEGUN doesn't have, such as
further words, keeps 1 - share of what MODEL learned of it, and is otherwise as `warm_start` has it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from wasabi import msg

from spacy_lal.bridge.shim import torch_shims
from spacy_lal.bridge.warm_start import take_weights
from spacy_lal.pipeline.loading import load_pipeline


def main(
    model: Annotated[str, typer.Argument(help="A pipeline's name or folder.")],
    begun: Annotated[str, typer.Argument(help="The pipeline that its training began with.")],
    output: Annotated[Path, typer.Argument(help="Where to write the mean.")],
    component: Annotated[str, typer.Option(help="Of which component.")] = "gec_detector",
    share: Annotated[float, typer.Option(help="Of BEGUN in the mean.", min=0, max=1)] = 0.5,
) -> None:
    """Write MODEL with the mean of its own weights and those of BEGUN."""
    nlp = load_pipeline(model)
    mine, before, other = (_model(p, component) for p in (nlp, load_pipeline(model), begun))
    taken, total = take_weights(before, other)
    with torch.no_grad():
        for (_, of_mean), (_, of_other) in zip(torch_shims(mine), torch_shims(before), strict=True):
            theirs = dict(of_other.module.named_parameters())
            for name, parameter in of_mean.module.named_parameters():
                parameter.data.lerp_(theirs[name].data, share)
    nlp.to_disk(output)
    msg.good(f"{output}: the mean, where {taken:,} of {total:,} weights are there twice")


def _model(pipeline: Any, component: str) -> Any:
    nlp = load_pipeline(pipeline) if isinstance(pipeline, str) else pipeline
    if component not in nlp.pipe_names:
        typer.echo(f"mean_weights: a pipeline has no component {component}", err=True)
        raise typer.Exit(1)
    return nlp.get_pipe(component).model


if __name__ == "__main__":
    typer.run(main)
