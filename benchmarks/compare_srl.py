"""The central comparison of Strubell et al. 2018: self-attention without and with syntax, and with
better parses handed to the trained model.

For each seed, trains CONFIG without the parser's head and paths that go by it (SA) and as it is
(LISA), and scores LISA on the same data with its own parses, with another pipeline's, and with gold
ones.
A run is GROUP/ARM-SEED in RESULTS (results.py); one that is there is not trained again. The tables
are printed.
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
from tables import roles
from wasabi import msg

from spacy_lal.evaluation import evaluate
from spacy_lal.pipeline.loading import load_pipeline

MODEL = "--components.lisa_srl.model"
ARMS = {
    "sa": [f"{MODEL}.syntax_layer", "null", f"{MODEL}.role_paths", "false"],
    "lisa": [],
}


def main(
    config: Annotated[Path, typer.Argument(help="The config of both arms.", exists=True)],
    table: Annotated[Path, typer.Argument(metavar="RESULTS", help="Table of results, .jsonl.")],
    train: Annotated[Path, typer.Option(help="Training data.", exists=True)],
    dev: Annotated[Path, typer.Option(help="Development data.", exists=True)],
    test: Annotated[Path, typer.Option(help="Test data.", exists=True)],
    parser: Annotated[str, typer.Option(help="A pipeline that finds heads.")] = "en_lal_sm",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    group: Annotated[str, typer.Option(help="Of the runs, in their names.")] = "srl",
    options: Annotated[str, typer.Option(help="More options of `spacy train`.")] = "",
) -> None:
    """Train and score both arms with every seed that has no result yet; print the tables."""
    there = results.read(table)
    for seed in seeds.split(","):
        for arm, settings in ARMS.items():
            run = f"{group}/{arm}-{seed}"
            if run in there:
                before = there[run].get("options", options)
                if before != options:
                    message = f"{run} was made with {before!r}: use another file of results"
                    typer.echo(f"compare_srl: {message}", err=True)
                    raise typer.Exit(1)
                msg.info(f"{run} is there")
                continue
            msg.info(f"{arm}, seed {seed}")
            with tempfile.TemporaryDirectory() as scratch:
                command = [sys.executable, "-m", "spacy", "train", str(config)]
                command += ["--output", scratch, "--system.seed", seed]
                command += ["--paths.train", str(train), "--paths.dev", str(dev)]
                start = time.perf_counter()
                subprocess.run([*command, *settings, *shlex.split(options)], check=True)
                seconds = time.perf_counter() - start
                parses = ["model", parser, "gold"] if arm == "lisa" else ["model"]
                decoders = ["probabilities", "viterbi", "valid", "greedy"]
                best = load_pipeline(f"{scratch}/model-best")
                report = evaluate(best, [test], roles={"parses": parses, "decoders": decoders})
            rows = [results.in_percent(row) for row in report["results"][0]["roles"]]
            result = {"corpus": test.name, "results": rows}
            about = {"arm": arm, "seed": int(seed), "options": options, "seconds": seconds}
            results.add(run, about | result, table)
    typer.echo(roles(table, group))


if __name__ == "__main__":
    typer.run(main)
