"""Speed, load time, memory and size of pipelines side by side, and of components alone.

    python benchmarks/speed.py PIPELINE… --data FILE.spacy [--threads 1] [--repeats 3]
        [--sentences 1000] [--processes 2] [--alone] [--json FILE]

Every pipeline reads the same sentences, one a Doc, with gold words and boundaries, with and without
roles, in a process of its own, `--repeats` times in turn; the numbers are medians. `--processes`
also times `nlp.pipe(n_process=…)` with as many threads each, start-up included. `--alone` times
each component of this package alone (wall time, the best of `--repeats` runs), and LISA also with 0
to 8 words of a sentence given as predicates.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import measure

WITHOUT = {"all": [], "trees and heads": ["lisa_srl"]}
PREDICATES = (0, 1, 2, 4, 8)


def main() -> None:
    parser = measure.options(__doc__, repeats=3)
    parser.add_argument("models", nargs="+", metavar="PIPELINE", help="names or folders")
    parser.add_argument("--data", type=Path, required=True, help="a .spacy file of sentences")
    parser.add_argument("--sentences", type=int, default=1000, help="the first so many")
    parser.add_argument("--processes", type=int, default=0, help="of nlp.pipe, 0: not measured")
    parser.add_argument("--alone", action="store_true", help="components alone")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = measure.parsed(parser)
    if arguments.one is not None:
        print(json.dumps(one(arguments)))
        return
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    if arguments.alone:
        report["results"] = [row for model in arguments.models for row in alone(model, arguments)]
    else:
        runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for _ in range(arguments.repeats):
            for model in arguments.models:
                for layers in WITHOUT:
                    found = in_a_process(model, layers, arguments)
                    runs.setdefault((model, layers), []).append(found)
        report["results"] = [
            {"pipeline": model, "layers": layers}
            | {key: statistics.median(run[key] for run in found) for key in found[0]}
            for (model, layers), found in runs.items()
        ]
    print(measure.table(report["results"]))
    measure.write(arguments.json, report)


def in_a_process(model: str, layers: str, arguments: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, __file__, model, "--one", layers, "--data", str(arguments.data)]
    for name in ("threads", "sentences", "processes"):
        command += [f"--{name}", str(getattr(arguments, name))]
    threads = {"OMP_NUM_THREADS": str(arguments.threads)}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=dict(os.environ) | threads
    )
    return json.loads(done.stdout.splitlines()[-1])


def one(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the numbers of one pipeline, in this process."""
    measure.hide_entry_points("spacy_transformers", "spacy_curated_transformers")
    (model,) = arguments.models
    start = measure.cpu_seconds()
    nlp = measure.load(model, exclude=WITHOUT[arguments.one])
    load_seconds = measure.cpu_seconds() - start
    gold = [eg.reference for eg in measure.read_examples(arguments.data, nlp, arguments.sentences)]
    list(nlp.pipe(measure.bare(gold[:50])))
    docs = measure.bare(gold)
    words = sum(map(len, docs))
    run = measure.timed(lambda: list(nlp.pipe(docs)))
    found = {
        "words_per_cpu_second": words / run["cpu_seconds"],
        "words_per_second": words / run["wall_seconds"],
        "load_seconds": load_seconds,
        "peak_mb": measure.peak_mb(),
        "disk_mb": sum(p.stat().st_size for p in nlp.path.rglob("*") if p.is_file()) / 1e6,
    }
    if arguments.processes:
        docs = measure.bare(gold)
        run = measure.timed(lambda: list(nlp.pipe(docs, n_process=arguments.processes)))
        found[f"words_per_second_of_{arguments.processes}"] = words / run["wall_seconds"]
    return found


def alone(model: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return rows of the components of this package."""
    nlp = measure.load(model)
    gold = [eg.reference for eg in measure.read_examples(arguments.data, nlp, arguments.sentences)]
    # sentences long enough for the most predicates
    long = [doc for doc in gold if max(PREDICATES) <= len(doc) <= 40]
    rows = []
    for name, pipe in nlp.pipeline:
        if not type(pipe).__module__.startswith("spacy_lal.") or not hasattr(pipe, "predict"):
            continue
        seconds = best(pipe, partial(measure.bare, gold), nlp.batch_size, arguments.repeats)
        row = {"pipeline": model, "component": name, "words": sum(map(len, gold))}
        row["words_per_second"] = row["words"] / seconds
        rows.append(row)
        if name == "lisa_srl":
            pipe.predicate_source = "doc"
            for count in PREDICATES:
                make = partial(with_predicates, long, count)
                seconds = best(pipe, make, nlp.batch_size, arguments.repeats)
                row[f"us, {count} predicates"] = 1e6 * seconds / len(long)
    return rows


def best(pipe: Any, make: Callable[[], list[Any]], batch_size: int, repeats: int) -> float:
    """Return seconds of a component on fresh Docs, of the fastest run."""
    times = []
    for _ in range(repeats):
        docs = make()
        start = time.perf_counter()
        for _ in pipe.pipe(iter(docs), batch_size=batch_size):
            pass
        times.append(time.perf_counter() - start)
    return min(times)


def with_predicates(docs: list[Any], count: int) -> list[Any]:
    """Return copies of Docs whose first `count` words are predicates."""
    from spacy_lal.annotations.frames import FrameSpans, set_frames

    copies = measure.bare(docs)
    for doc in copies:
        set_frames(doc, [FrameSpans(i, "", [(i, i + 1, "V")]) for i in range(count)])
    return copies


if __name__ == "__main__":
    main()
