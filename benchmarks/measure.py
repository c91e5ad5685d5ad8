"""Shared parts of benchmarks: options, clocks, memory, pipelines, Docs and reports.

Module imports are of the standard library alone, as some benchmarks run without spaCy.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.metadata
import json
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

# Options and reports


def options(doc: str | None, *, threads: int = 1, repeats: int | None = None) -> Any:
    """Return a parser of arguments with --threads, --json and, if it has a default, --repeats."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=threads, help="threads of torch")
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats, help="runs of each")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the arguments; sets torch's threads, and checks that --data is a file."""
    arguments = parser.parse_args()
    data: Path | None = getattr(arguments, "data", None)
    if data is not None and not data.is_file():
        raise SystemExit(f"no converted treebank at {data}: see benchmarks/README.md")
    with contextlib.suppress(ImportError):
        import torch

        torch.set_num_threads(arguments.threads)
    return arguments


def write(path: Path | None, report: Mapping[str, Any]) -> None:
    """Write the report as JSON, if a file is named."""
    if path is not None:
        path.write_text(json.dumps(report, indent=1) + "\n", encoding="utf8")


def machine(arguments: argparse.Namespace, *packages: str) -> dict[str, Any]:
    """Return and print a description of the machine, the beginning of a report."""
    about = {"processor": processor(), "versions": versions(*packages)}
    about |= {k: getattr(arguments, k) for k in ("threads", "repeats") if hasattr(arguments, k)}
    print(json.dumps(about))
    return about


def versions(*packages: str) -> dict[str, str]:
    """Return versions of Python and of installed packages."""
    found = {"python": platform.python_version()}
    for name in packages:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found


def processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows as Markdown, with rounded numbers."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(_cell(row.get(c, '')) for c in columns)} |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return f"{value:,}" if isinstance(value, int) else str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if value < 1 else f"{value:.2f}"


# Time


def cpu_seconds() -> float:
    """Return user and system time of this process, its threads and its finished children."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def timed(run: Callable[[], object]) -> dict[str, float]:
    """Return CPU and wall seconds of one run."""
    gc.collect()
    cpu, wall = cpu_seconds(), time.perf_counter()
    run()
    wall = time.perf_counter() - wall
    return {"cpu_seconds": cpu_seconds() - cpu, "wall_seconds": wall}


def speed(words: int, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Return medians, and the slowest and the fastest run, which show the machine's noise."""
    per_cpu = [words / run["cpu_seconds"] for run in runs]
    return {
        "words": words,
        "words_per_cpu_second": statistics.median(per_cpu),
        "words_per_cpu_second_min": min(per_cpu),
        "words_per_cpu_second_max": max(per_cpu),
        "words_per_second": statistics.median(words / run["wall_seconds"] for run in runs),
    }


def in_turn(
    runs: Mapping[str, Callable[[], object]],
    repeats: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return median seconds of each run, measured in turn, so that noise affects all. Each warms up
    once; short runs are timed several at once."""
    at_once = {}
    for name, run in runs.items():
        start = clock()
        run()
        at_once[name] = max(1, int(0.02 / max(1e-6, clock() - start)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            start = clock()
            for _ in range(at_once[name]):
                run()
            times[name].append((clock() - start) / at_once[name])
    return {name: statistics.median(found) for name, found in times.items()}


# Memory


def peak_mb() -> float:
    """Return the peak resident memory in MB (ru_maxrss: KiB on Linux, bytes on macOS). Linux counts
    in ru_maxrss what the parent had when it started this process, but not in VmHWM."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf8").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def tensors_mb(run: Callable[[], object]) -> float:
    """Return the most memory, in MB, of tensors that a run holds at once. It comes from all
    allocations in torch's profiler, and so excludes libraries and reserves of the allocator, and is
    the same every time."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        run()
    results = record.profiler.kineto_results  # type: ignore[union-attr]
    events = [e for e in results.events() if e.name() == "[memory]"]  # type: ignore[union-attr]
    held = accumulate(e.nbytes() for e in sorted(events, key=lambda e: e.start_ns()))
    return max(held, default=0) / 1e6


# Pipelines and Docs


def load(name: str, **options: Any) -> Any:
    """Load a pipeline by package name or folder, with errors in one line."""
    import spacy

    try:
        return spacy.load(name, **options)
    except (OSError, ValueError) as err:
        raise SystemExit(f"can't load the pipeline {name!r}: {err}") from err


def hide_entry_points(*packages: str) -> None:
    """Hide these packages' entry points from spaCy, which imports them for every pipeline."""
    import catalogue

    found = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = {
        group: tuple(e for e in found.select(group=group) if e.value.split(".")[0] not in packages)
        for group in found.groups
    }


def component(nlp: Any, kind: type) -> Any:
    """Return the pipeline's one component of a class."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, kind)]
    if len(pipes) != 1:
        raise SystemExit(f"expected one {kind.__name__} in {nlp.pipe_names}, found {len(pipes)}")
    return pipes[0]


def read_examples(data: Path, nlp: Any, limit: int = 0) -> list[Any]:
    """Return examples of a .spacy file, sentences of gold words with gold annotation."""
    from spacy_lal.training.corpus import Corpus

    return list(Corpus(data, limit=limit)(nlp))


def bare(docs: list[Any], *, boundaries: bool = True) -> list[Any]:
    """Return copies of one-sentence Docs without annotations; `boundaries`: with their start."""
    from spacy_lal.annotations import bare_doc

    return [bare_doc(doc, sentence_starts=False, one_sentence=boundaries) for doc in docs]
