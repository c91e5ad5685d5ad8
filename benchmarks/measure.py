"""What benchmarks share: their options, clocks, memory, pipelines, Docs and reports.

At the top it imports the standard library alone, because some benchmarks run in environments
without spaCy: what needs spaCy or torch imports it when it is called.
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
    """A parser of arguments with --threads, --json and, if it has a default, --repeats."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=threads, help="threads of torch")
    if repeats is not None:
        parser.add_argument("--repeats", type=int, default=repeats, help="runs of each")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    return parser


def parsed(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments; torch has as many threads as they say, and --data, if any, is a file."""
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
    """What the numbers were measured on, the beginning of a report; it is printed, too."""
    about = {"processor": processor(), "versions": versions(*packages)}
    about |= {k: getattr(arguments, k) for k in ("threads", "repeats") if hasattr(arguments, k)}
    print(json.dumps(about))
    return about


def versions(*packages: str) -> dict[str, str]:
    """Versions of Python and of those packages that are installed."""
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
    """Rows as Markdown: numbers with as many digits as they deserve."""
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
    """User and system time of this process, its threads and its finished children."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        total += usage.ru_utime + usage.ru_stime
    return total


def timed(run: Callable[[], object]) -> dict[str, float]:
    """CPU and wall seconds of one run."""
    gc.collect()
    cpu, wall = cpu_seconds(), time.perf_counter()
    run()
    wall = time.perf_counter() - wall
    return {"cpu_seconds": cpu_seconds() - cpu, "wall_seconds": wall}


def speed(words: int, runs: list[dict[str, float]]) -> dict[str, Any]:
    """Medians; the slowest and the fastest say how quiet the machine was."""
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
    """Median seconds of each, measured in turn, so that a busy machine is so to all of them.

    Each runs once before to warm up; of short runs, several are timed at once.
    """
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
    """The greatest resident memory so far, in MB (ru_maxrss: KiB on Linux, bytes on macOS)."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def tensors_mb(run: Callable[[], object]) -> float:
    """The most memory, in MB, of tensors that a run makes and holds at once.

    Counted from the record of every allocation in torch's profiler: unlike resident memory it has
    neither libraries nor an allocator's reserves in it, and is the same every time.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as record:
        run()
    results = record.profiler.kineto_results  # type: ignore[union-attr]
    events = [e for e in results.events() if e.name() == "[memory]"]  # type: ignore[union-attr]
    held = accumulate(e.nbytes() for e in sorted(events, key=lambda e: e.start_ns()))
    return max(held, default=0) / 1e6


# Pipelines and Docs


def load(name: str, **options: Any) -> Any:
    """A pipeline by package name or folder; errors in one line."""
    import spacy

    try:
        return spacy.load(name, **options)
    except (OSError, ValueError) as err:
        raise SystemExit(f"can't load the pipeline {name!r}: {err}") from err


def hide_entry_points(*packages: str) -> None:
    """From now on spaCy registers nothing of these packages, as where they aren't installed: it
    imports whatever has entry points, for every pipeline."""
    import catalogue

    found = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = {
        group: tuple(e for e in found.select(group=group) if e.value.split(".")[0] not in packages)
        for group in found.groups
    }


def component(nlp: Any, kind: type) -> Any:
    """The pipeline's one component of a class."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, kind)]
    if len(pipes) != 1:
        raise SystemExit(f"expected one {kind.__name__} in {nlp.pipe_names}, found {len(pipes)}")
    return pipes[0]


def read_examples(data: Path, nlp: Any, limit: int = 0) -> list[Any]:
    """Examples of a .spacy file: sentences of gold words, and what is gold of them."""
    from spacy_lal.training.corpus import Corpus

    return list(Corpus(data, limit=limit)(nlp))


def full_name(nlp: Any) -> str:
    return f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"


def bare(docs: list[Any], *, boundaries: bool = True) -> list[Any]:
    """Copies of Docs of one sentence without annotations; `boundaries`: but where it starts."""
    from spacy_lal.annotations import bare_doc

    return [bare_doc(doc, sentence_starts=False, one_sentence=boundaries) for doc in docs]
