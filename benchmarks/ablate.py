"""Train parsers that differ from a base config in a few settings, and keep what each came to.

A row is a name for such settings (ablation_rows.json, or --table). Every row and seed is a run
GROUP/ROW-SEED in RESULTS (results.py); one that is there is not trained again, so a stopped
comparison goes on where it was. More options are settings for all rows, as for `spacy train`:
`--training.max_steps 200`; keep the results of each size in a group or file of their own.
"""

from __future__ import annotations

import copy
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from os.path import relpath
from pathlib import Path
from typing import IO, Annotated, Any

import results
import spacy
import srsly
import torch
import typer
from spacy.cli._util import parse_config_overrides, setup_gpu
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config
from wasabi import msg

from spacy_lal.bridge.shim import torch_shims
from spacy_lal.evaluation.parses import measure
from spacy_lal.parsing.component import ParserPipe
from spacy_lal.training.corpus import Corpus

ROWS = Path(__file__).parents[1] / "benchmarks/ablation_rows.json"
LOGGER = "spacy-lal.ablation_curve"
ON_DEV = ("const_evalb_f", "const_complete", "conll18_uas", "conll18_las", "tag_acc")
OF_TEST = (
    *("const_evalb_f", "const_evalb_p", "const_evalb_r", "const_complete", "tag_acc"),
    *("dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las"),
)
PACKAGES = ("spacy-lal", "spacy", "thinc", "torch", "numpy")

Settings = dict[str, Any]
"""Values by their dotted place in a config; a section may be replaced, or removed by null."""


def chosen_rows(text: str, rows: dict[str, Settings], tables: dict[str, Any]) -> list[str]:
    """The rows that names of rows and tables, or "all", stand for. Raises ValueError."""
    chosen: list[str] = []
    for name in (part.strip() for part in text.split(",")):
        if name == "all":
            chosen += rows
        elif name in tables:
            chosen += tables[name]["rows"]
        elif name in rows:
            chosen.append(name)
        else:
            known = ", ".join(("all", *tables, *rows))
            raise ValueError(f"no row or table {name!r}: choose of {known}")
    return list(dict.fromkeys(chosen))


def with_settings(config: Config, settings: Settings) -> Config:
    """A copy of the config with these values. Raises ValueError for a place it doesn't have."""
    changed: Config = config.copy()
    for place, value in settings.items():
        *sections, last = place.split(".")
        section: dict[str, Any] = changed
        for name in sections:
            section = section.get(name) or {}
        if last not in section:
            raise ValueError(f"the config has no {place}")
        section[last] = copy.deepcopy(value)
    return changed


def curve_logger(curve: list[dict[str, Any]], words: list[int]) -> Callable[..., Any]:
    """A logger for spaCy's training loop that appends each evaluation to `curve`, and how many
    words were seen so far to `words`."""

    def setup(nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr) -> Any:
        def log_step(info: dict[str, Any] | None) -> None:
            if info is None:
                return
            scores = info["other_scores"]
            point = {key: round(scores[key], 5) for key in ON_DEV if scores.get(key) is not None}
            curve.append({"step": info["step"], "score": round(info["score"], 5), **point})
            words.append(info["words"])
            shown = "  ".join(f"{key} {100 * value:.2f}" for key, value in point.items())
            stdout.write(f"  step {info['step']:>6}  {info['seconds']:>6} s  {shown}\n")
            stdout.flush()

        return log_step, lambda: None

    return setup


def timed_evaluation(nlp: Language) -> list[float]:
    """Let every evaluation of the pipeline append the processor time it took to the list."""
    taken: list[float] = []
    evaluate = nlp.evaluate

    def timed(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return evaluate(*args, **kwargs)
        finally:
            taken.append(time.process_time() - start)

    nlp.evaluate = timed  # type: ignore[method-assign]
    return taken


def run(config: Config, test: Path, prm: str, gpu_id: int, scratch: Path) -> dict[str, Any]:
    """Train, and score the best model of the development set on the test set."""
    curve: list[dict[str, Any]] = []
    words: list[int] = []
    spacy.registry.loggers.register(LOGGER, func=lambda: curve_logger(curve, words))
    config = with_settings(config, {"training.logger": {"@loggers": LOGGER}})
    wall = time.perf_counter()
    nlp = init_nlp(config, use_gpu=gpu_id)
    evaluations = timed_evaluation(nlp)
    cpu = time.process_time()
    train(nlp, scratch, use_gpu=gpu_id)
    cpu = time.process_time() - cpu - sum(evaluations)
    best = spacy.load(scratch / "model-best")
    scores, speed = measure(best, list(Corpus(test)(best)), prm)
    models = [pipe.model for _, pipe in best.pipeline if isinstance(pipe, ParserPipe)]
    shims = [shim for model in models for _, shim in torch_shims(model)]
    top = max(curve, key=lambda point: (point["score"], -point["step"]))
    return {
        "steps": curve[-1]["step"],
        "best_step": top["step"],
        "dev": {key: value for key, value in top.items() if key not in ("step", "score")},
        "test": {key: round(scores[key], 5) for key in OF_TEST if scores.get(key) is not None},
        "curve": curve,
        "parameters": sum(t.numel() for shim in shims for t in shim.tensors().values()),
        "seconds": round(time.perf_counter() - wall, 1),
        "training_cpu_seconds": round(cpu, 1),
        "training_words": words[-1],
        "training_words_per_cpu_second": round(words[-1] / cpu, 1),
        "test_words_per_cpu_second": speed["words_per_cpu_second"],
    }


def main(
    ctx: typer.Context,
    base: Annotated[Path, typer.Argument(help="Config of the base row.", exists=True)],
    table_of_results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Table of results, .jsonl.")
    ],
    group: Annotated[str, typer.Option(help="Of runs in it.")] = "ablation",
    rows: Annotated[
        str, typer.Option(help="Names of rows or tables, or all, separated by commas.")
    ] = "table 1,table 2,table 5",
    table: Annotated[Path, typer.Option(help="What rows there are.", exists=True)] = ROWS,
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    train_path: Annotated[str, typer.Option("--train", help="Training data.")] = "",
    dev_path: Annotated[str, typer.Option("--dev", help="Development data.")] = "",
    test: Annotated[Path, typer.Option(help="Test data.", exists=True)] = Path(
        "projects/ewt/corpus/test.spacy"
    ),
    prm: Annotated[str, typer.Option(help="EVALB parameters: a name or a .prm file.")] = "nk",
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    threads: Annotated[int, typer.Option(help="Threads of torch, 0 for its own choice.")] = 0,
) -> None:
    """Train every row with every seed that has no result in RESULTS yet."""
    setup_gpu(gpu_id, silent=True)
    if threads:
        torch.set_num_threads(threads)
    known = srsly.read_json(table)
    options: Settings = parse_config_overrides(ctx.args)
    paths = {"paths.train": train_path, "paths.dev": dev_path}
    try:
        config = Config().from_disk(base, interpolate=False)
        config = with_settings(config, {k: v for k, v in paths.items() if v} | options)
        plan = [
            (row, int(seed))
            for seed in seeds.split(",")
            for row in chosen_rows(rows, known["rows"], known["tables"])
        ]
        there = results.read(table_of_results)
        for number, (row, seed) in enumerate(plan, start=1):
            settings = known["rows"][row]
            key = {
                "row": row,
                "settings": settings,
                "options": options,
                "seed": seed,
                "config": Path(relpath(base, ROWS.parents[1])).as_posix(),
                "evalb_parameters": prm,
            }
            name = f"{group}/{row}-{seed}"
            if name in there:
                if {k: v for k, v in there[name].items() if k in key} != key:
                    raise ValueError(f"{name} is of other settings: give another file or group")
                msg.info(f"{number} of {len(plan)}: {name} is there")
                continue
            msg.info(f"{number} of {len(plan)}: {row}, seed {seed}")
            of_row = with_settings(config, settings | {"system.seed": seed})
            with tempfile.TemporaryDirectory() as scratch:
                result = run(of_row, test, prm, gpu_id, Path(scratch))
            about = {
                "threads": torch.get_num_threads(),
                "device": "cpu" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id),
                "versions": {"python": platform.python_version()}
                | {name: version(name) for name in PACKAGES},
            }
            results.add(name, key | result | about, table_of_results)
    except (OSError, ValueError) as error:
        typer.echo(f"ablate: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    app()
