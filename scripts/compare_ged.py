"""What one setting of `gec_detector`'s attention is worth: a short training for each of its values.

For each value and seed, trains CONFIG for the same number of steps, takes the weights of the last
one, chooses the threshold on DEV and scores TEST. A run's result is a JSON file in OUTPUT; one that
is there is not trained again.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from evaluate_ged import evaluate
from report import split, spread, write
from wasabi import msg

MODEL = "--components.gec_detector.model"
NAMES = {
    "attention": "attention over layers (MHMLA)",
    "last": "last layer alone",
    "average": "mean of the layers (AvgL)",
}


def main(
    config: Annotated[Path, typer.Argument(help="The config of all runs.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder of the results.")],
    setting: Annotated[str, typer.Option(help="Of the model: pooling or heads.")],
    values: Annotated[str, typer.Option(help="Its values, separated by commas.")],
    train: Annotated[Path, typer.Option(help="Training data.", exists=True)],
    dev: Annotated[Path, typer.Option(help="Chooses the threshold.", exists=True)],
    test: Annotated[Path, typer.Option(help="Test data.", exists=True)],
    name: Annotated[str, typer.Option(help="Of the data, in the files' names.")],
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    options: Annotated[str, typer.Option(help="More options of `spacy train`.")] = "",
    page: Annotated[Path | None, typer.Option(help="Write the table between its markers.")] = None,
) -> None:
    """Train and score every run that has no result yet; write the table."""
    part = f"{name} {setting}"
    if page is not None:
        try:
            split(page, part)
        except ValueError as error:
            typer.echo(f"compare_ged: {error}", err=True)
            raise typer.Exit(1) from None
    output.mkdir(parents=True, exist_ok=True)
    for seed in seeds.split(","):
        for value in values.split(","):
            path = output / f"{name}-{setting}-{value}-{seed}.json"
            if path.exists():
                before = srsly.read_json(path).get("options", options)
                if before != options:
                    message = f"{path} was made with {before!r}: use another folder"
                    typer.echo(f"compare_ged: {message}", err=True)
                    raise typer.Exit(1)
                msg.info(f"{path} is there")
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
                result = evaluate(f"{scratch}/model-last", [test], dev)
            run = {"setting": setting, "value": value, "seed": int(seed)}
            run |= {"options": options, "seconds": round(seconds)}
            srsly.write_json(path, run | result)
    if page is not None:
        write(page, part, table(output, name, setting, values.split(",")))


def table(folder: Path, name: str, setting: str, values: list[str]) -> str:
    """A row for every value: the mean over seeds and its standard deviation."""
    lines = [
        f"| {setting} | seeds | F0.5 | precision | recall | F0.5 at its best threshold |",
        "|---|---|---|---|---|---|",
    ]
    for value in values:
        found = sorted(folder.glob(f"{name}-{setting}-{value}-*.json"))
        results: list[dict[str, Any]] = [srsly.read_json(path)["results"][0] for path in found]
        cells = [NAMES.get(value, value), str(len(results))]
        cells += [spread([r[key] for r in results]) for key in ("f05", "p", "r", "best_f05")]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
