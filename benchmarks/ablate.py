"""Train pipelines that differ from a base in a few settings, and record their scores.

ROWS is a JSON file (ablation_rows.json, crf_rows.json, srl_rows.json, ged_rows.json) of bases, each
a config of configs/ or another base with other settings; rows, names for further settings; and
tables of rows, with a paper's figures. Every row and seed is a run GROUP/ROW-SEED in RESULTS
(results.py). Existing runs are skipped, so a stopped comparison continues. Further options are
settings for all rows, as for `spacy train`: `--training.max_steps 200`; each size needs a group or
file of its own.

Parsers are scored with the weights that were best on the development set; so are roles, with the
model's parses and those of --parses. Detectors are scored with their last weights, at the best
threshold on the development set, or with --no-tune at their own: 0.5, the likelier class. They may
have several test sets. --keep stores the scored pipelines in a folder, each as ROW-SEED.
"""

from __future__ import annotations

import copy
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import IO, Annotated, Any

import results
import spacy
import srsly
import torch
import typer
from measure import versions
from spacy.cli._util import parse_config_overrides, setup_gpu
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from thinc.api import Config
from wasabi import msg

from spacy_lal.bridge.shim import torch_shims
from spacy_lal.evaluation import evaluate
from spacy_lal.evaluation.parse_scores import measure_parses
from spacy_lal.training.corpus import Corpus

ROOT = Path(__file__).parents[1]
LOGGER = "spacy-lal.ablation_curve"
DETECTOR = "gec_detector"
ON_DEV = ("const_evalb_f", "const_complete", "conll18_uas", "conll18_las", "tag_acc")
OF_TEST = (
    *("const_evalb_f", "const_evalb_p", "const_evalb_r", "const_complete", "tag_acc"),
    *("dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las"),
)
PACKAGES = ("spacy-lal", "spacy", "thinc", "torch", "numpy")

Settings = dict[str, Any]
"""Values by dotted place in a config; a section may be replaced, or removed by null."""


def chosen_rows(text: str, known: dict[str, Any]) -> list[str]:
    """Return the rows in these rows, tables or patterns. Raises ValueError."""
    chosen: list[str] = []
    tables = known.get("tables", {})
    for name in (part.strip() for part in text.split(",")):
        found = tables.get(name, {}).get("rows") or [
            row for row in known["rows"] if fnmatchcase(row, name)
        ]
        if not found:
            choice = ", ".join((*tables, *known["rows"]))
            raise ValueError(f"no row or table {name!r}: choose of {choice}")
        chosen += found
    return list(dict.fromkeys(chosen))


def base_config(name: str, bases: dict[str, Any]) -> Config:
    """Return the config of a base."""
    base = bases[name]
    if "of" in base:
        config = base_config(base["of"], bases)
    else:
        config = Config().from_disk(ROOT / base["config"], interpolate=False)
    return with_settings(config, base["settings"], new=True)


def with_settings(config: Config, settings: Settings, *, new: bool = False) -> Config:
    """Return a copy of the config with these values. Raises ValueError for an unknown place; with
    `new`, only for an unknown section."""
    changed: Config = config.copy()
    for place, value in settings.items():
        *sections, last = place.split(".")
        section: dict[str, Any] = changed
        for name in sections:
            section = section.get(name) or {}
        if last not in section and not (new and section):
            raise ValueError(f"the config has no {place}")
        section[last] = copy.deepcopy(value)
    return changed


def curve_logger(curve: list[dict[str, Any]], words: list[int]) -> Callable[..., Any]:
    """Return a logger for spaCy's training loop. It appends evaluations to `curve`, and the numbers
    of words seen to `words`."""

    def setup(nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr) -> Any:
        def log_step(info: dict[str, Any] | None) -> None:
            if info is None:
                return
            scores = info["other_scores"]
            point = {key: round(scores[key], 5) for key in ON_DEV if scores.get(key) is not None}
            curve.append({"step": info["step"], "score": round(info["score"], 5), **point})
            words.append(info["words"])
            stdout.write(f"  step {info['step']:>6}  {info['seconds']:>6} s  {curve[-1]}\n")
            stdout.flush()

        return log_step, lambda: None

    return setup


def timed_evaluation(nlp: Language) -> list[float]:
    """Return a list to which every evaluation of the pipeline appends its processor time."""
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


def logged(config: Config) -> Config:
    """Return the config with this script's logger, below one that tells a schedule the scores."""
    passes_on = "logger" in config["training"].get("logger", {})
    place = "training.logger" + ".logger" * passes_on
    return with_settings(config, {place: {"@loggers": LOGGER}}, new=True)


def run(
    config: Config,
    scored: Callable[[Path, str], dict[str, Any]],
    gpu_id: int,
    into: Path | None = None,
) -> Settings:
    """Train a pipeline, and score it. scored: function of its folder and component's factory.
    into: a folder for the pipeline."""
    curve: list[dict[str, Any]] = []
    words: list[int] = []
    spacy.registry.loggers.register(LOGGER, func=lambda: curve_logger(curve, words))
    config = logged(config)
    wall = time.perf_counter()
    nlp = init_nlp(config, use_gpu=gpu_id)
    evaluations = timed_evaluation(nlp)
    cpu = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        train(nlp, Path(folder), use_gpu=gpu_id)
        cpu = time.process_time() - cpu - sum(evaluations)
        _, pipe = nlp.pipeline[-1]
        factory = nlp.get_pipe_meta(nlp.pipe_names[-1]).factory
        chosen = Path(folder) / ("model-last" if factory == DETECTOR else "model-best")
        found = scored(chosen, factory)
        if into is not None:
            shutil.copytree(chosen, into, dirs_exist_ok=True)
    top = max(curve, key=lambda point: (point["score"], -point["step"]))
    return found | {
        "steps": curve[-1]["step"],
        "best_step": top["step"],
        "dev": {key: value for key, value in top.items() if key not in ("step", "score")},
        "curve": curve,
        "parameters": sum(
            t.numel() for _, shim in torch_shims(pipe.model) for t in shim.tensors().values()
        ),
        "seconds": round(time.perf_counter() - wall, 1),
        "training_cpu_seconds": round(cpu, 1),
        "training_words": words[-1],
        "training_words_per_cpu_second": round(words[-1] / cpu, 1),
    }


def main(
    ctx: typer.Context,
    table: Annotated[Path, typer.Argument(metavar="ROWS", help="Rows, a JSON file.", exists=True)],
    results_table: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Table of results, .jsonl.")
    ],
    group: Annotated[str, typer.Option(help="Of runs in it.")],
    train_path: Annotated[str, typer.Option("--train", help="Training data.")],
    dev: Annotated[Path, typer.Option(help="Development data.", exists=True)],
    test: Annotated[
        list[Path], typer.Option(help="Test data; of detectors, repeatable.", exists=True)
    ],
    rows: Annotated[str, typer.Option(help="Rows, tables or patterns, commas between.")] = "*",
    base: Annotated[str, typer.Option(help="The base of the rows.")] = "bilstm",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    prm: Annotated[str, typer.Option(help="EVALB parameters: a name or a .prm file.")] = "nk",
    parses: Annotated[
        str, typer.Option(help="Of roles: other parses to score with, commas between.")
    ] = "gold",
    tune: Annotated[
        bool, typer.Option(help="Detectors get the threshold that is best on dev.")
    ] = True,
    keep: Annotated[Path | None, typer.Option(help="Folder for the scored pipelines.")] = None,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    threads: Annotated[int, typer.Option(help="Threads of torch, 0 for its own choice.")] = 0,
) -> None:
    """Train every row with every seed that has no result in RESULTS yet."""
    setup_gpu(gpu_id, silent=True)
    if threads:
        torch.set_num_threads(threads)
    known = srsly.read_json(table)
    options: Settings = parse_config_overrides(ctx.args)

    def scored(folder: Path, factory: str) -> dict[str, Any]:
        nlp = spacy.load(folder)
        if factory == DETECTOR:
            report = evaluate(nlp, test, tune=dev if tune else None)
            rows = [results.in_percent(row) for row in report["results"]]
            rows = [row | {key: row[f"ged_{key}"] for key in ("p", "r", "f05")} for row in rows]
            return {"threshold": report["threshold"], "results": rows}
        if factory == "lisa_srl":
            model = nlp.config["components"]["lisa_srl"]["model"]
            given = ["model", *parses.split(",")] if model["syntax_layer"] else ["model"]
            decoders = ["probabilities", "viterbi", "valid", "greedy"]
            how = {"parses": given, "decoders": decoders}
            (found,) = evaluate(nlp, test, roles=how)["results"]
            return {"results": [results.in_percent(row) for row in found["roles"]]}
        scores = measure_parses(nlp, list(Corpus(test[0])(nlp)), prm)
        kept = {key: round(scores[key], 5) for key in OF_TEST if scores.get(key) is not None}
        return {"test": kept, "test_words_per_cpu_second": scores["words_per_cpu_second"]}

    try:
        paths = {"paths.train": train_path, "paths.dev": str(dev)}
        config = with_settings(base_config(base, known["bases"]), paths | options)
        last = config["components"][config["nlp"]["pipeline"][-1]]["factory"]
        if len(test) > 1 and last != DETECTOR:
            raise ValueError(f"{last} can have one test set, not {len(test)}")
        plan = [(row, int(seed)) for seed in seeds.split(",") for row in chosen_rows(rows, known)]
        # all of them first: a row that doesn't fit the base stops before hours of training
        of_rows = {row: with_settings(config, known["rows"][row]) for row, _ in plan}
        there = results.read(results_table)
        for number, (row, seed) in enumerate(plan, start=1):
            name = f"{group}/{row}-{seed}"
            key = {"row": row, "settings": known["rows"][row], "options": options, "seed": seed}
            key |= {"config": f"benchmarks/{table.name}", "base": base, "evalb_parameters": prm}
            key |= {} if tune else {"tuned": False}
            if name in there:
                tuned_as_now = there[name].get("tuned", True) == tune
                if not tuned_as_now or any(there[name].get(k, v) != v for k, v in key.items()):
                    raise ValueError(f"{name} is of other settings: give another file or group")
                msg.info(f"{number} of {len(plan)}: {name} is there")
                continue
            msg.info(f"{number} of {len(plan)}: {row}, seed {seed}")
            of_row = with_settings(of_rows[row], {"system.seed": seed})
            into = keep / f"{row}-{seed}" if keep else None
            result = run(of_row, scored, gpu_id, into)
            about = {
                "threads": torch.get_num_threads(),
                "device": "cpu" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id),
                "versions": versions(*PACKAGES),
            }
            results.add(name, result | key | about, results_table)
    except (KeyError, OSError, ValueError) as error:
        typer.echo(f"ablate: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(main)
    app()
