"""What one setting of `gec_detector`'s attention is worth: a short training for each of its values.

For each value and seed, trains CONFIG for the same number of steps, takes the weights of the last
one, chooses the threshold on DEV and scores TEST. A run is ged/NAME-SETTING-VALUE-SEED in RESULTS
(benchmarks/results.py); one that is there is not trained again. The table is printed.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import results
import typer
from tables import detectors
from wasabi import msg

from spacy_lal.evaluation import evaluate
from spacy_lal.pipeline.loading import load_pipeline

MODEL = "--components.gec_detector.model"


def main(
    config: Annotated[Path, typer.Argument(help="The config of all runs.", exists=True)],
    table: Annotated[Path, typer.Argument(metavar="RESULTS", help="Table of results, .jsonl.")],
    setting: Annotated[str, typer.Option(help="Of the model: pooling or heads.")],
    values: Annotated[str, typer.Option(help="Its values, separated by commas.")],
    train: Annotated[Path, typer.Option(help="Training data.", exists=True)],
    dev: Annotated[Path, typer.Option(help="Chooses the threshold.", exists=True)],
    test: Annotated[Path, typer.Option(help="Test data.", exists=True)],
    name: Annotated[str, typer.Option(help="Of the data, in the runs' names.")],
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    options: Annotated[str, typer.Option(help="More options of `spacy train`.")] = "",
) -> None:
    """Train and score every run that has no result yet; print the table."""
    there = results.read(table)
    for seed in seeds.split(","):
        for value in values.split(","):
            run = f"ged/{name}-{setting}-{value}-{seed}"
            if run in there:
                before = there[run].get("options", options)
                if before != options:
                    message = f"{run} was made with {before!r}: use another file of results"
                    typer.echo(f"compare_ged: {message}", err=True)
                    raise typer.Exit(1)
                msg.info(f"{run} is there")
                continue
            msg.info(f"{setting} {value}, seed {seed}")
            with tempfile.TemporaryDirectory() as scratch:
                command = [sys.executable, "-m", "spacy", "train", str(config)]
                command += ["--output", scratch, "--system.seed", seed]
                command += ["--paths.train", str(train), "--paths.dev", str(dev)]
                command += [f"{MODEL}.{setting}", value, *shlex.split(options)]
                begin = time.perf_counter()
                subprocess.run(command, check=True)
                seconds = time.perf_counter() - begin
                report = evaluate(load_pipeline(f"{scratch}/model-last"), [test], tune=dev)
            row = results.in_percent(report["results"][0])
            row |= {key: row[f"ged_{key}"] for key in ("p", "r", "f05")}
            result = {"threshold": report["threshold"], "results": [row]}
            about = {"setting": setting, "value": value, "seed": int(seed)}
            about |= {"options": options, "seconds": round(seconds)}
            results.add(run, about | result, table)
    typer.echo(detectors(name, setting, values.split(","), table))


if __name__ == "__main__":
    typer.run(main)
