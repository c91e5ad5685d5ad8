"""Wall and CPU time of `lal annotate` by engine and workers, and what the page's model says of it.

python benchmarks/annotate_engines.py MODEL [--sentences 1000,10000,100000] [--workers 1,2]
    [--engines processes,ray] [--json FILE]

Each row is a command of its own, one thread a worker. start: the seconds of the same with a single
sentence a worker. model: start + sentences / (workers x the rate of one process with the most of
them). gain: over one process of this machine, start-up left out. CPU s: of the command and its
processes; Ray's actors are not among them. apart: by how much a score differs at most from that of
one process; whatever else they find must be the same. The machine must have as many idle cores as
workers.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import measure
from annotate_cost import sentences

WORDS = 10**9
FIRST = "processes-1"
"""The run that others are compared with: one process of this machine."""


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("model", help="a pipeline")
    parser.add_argument("--sentences", default="1000,10000,100000", help="commas between")
    parser.add_argument("--workers", default="1,2", help="commas between")
    parser.add_argument("--engines", default="processes,ray", help="commas between")
    arguments = measure.parsed(parser)
    report = measure.machine(arguments, "spacy", "torch", "ray", "spacy-lal") | {"rows": []}
    counts = sorted(map(int, arguments.sentences.split(",")))
    print("engine     workers  sentences     words   start  seconds   model  gain   CPU s    apart")
    alone: dict[int, float] = {}
    with tempfile.TemporaryDirectory() as place:
        for engine in arguments.engines.split(","):
            for workers in map(int, arguments.workers.split(",")):
                run = Run(arguments.model, engine, workers, arguments.threads, Path(place))
                start, _ = run.timed(workers, "start")
                rows = [(count, *run.timed(count, f"{run.name}-{count}")) for count in counts]
                if run.name == FIRST:
                    alone = {count: seconds - start for count, seconds, _ in rows}
                for count, seconds, cpu in rows:
                    row: dict[str, Any] = {"engine": engine, "workers": workers}
                    row |= {"sentences": count, "words": words(count)}
                    row |= {"start": start, "seconds": seconds, "cpu_seconds": cpu}
                    if alone:
                        row["model"] = start + alone[counts[-1]] * count / counts[-1] / workers
                        row["gain"] = alone[count] / (seconds - start)
                        row["apart"] = run.apart(count)
                    report["rows"].append(row)
                    print(
                        f"{engine:9}  {workers:7}  {count:9,}  {row['words']:8,}  {start:6.1f}  "
                        f"{seconds:7.1f}  {row.get('model', 0):6.1f}  {row.get('gain', 0):4.2f}  "
                        f"{cpu:6.1f}  {row.get('apart', 0):.1e}",
                        flush=True,
                    )
    measure.write(arguments.json, report)


def words(count: int) -> int:
    return sum(line.count(" ") + 2 for line in islice(sentences(WORDS), count))


@dataclass
class Run:
    """The command with one engine and so many workers; `place` is where its folders are."""

    model: str
    engine: str
    workers: int
    threads: int
    place: Path

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.workers}"

    def timed(self, count: int, name: str) -> tuple[float, float]:
        """Wall and CPU seconds on so many sentences, in four shards a worker."""
        text = self.place / "text.txt"
        text.write_text("\n".join(islice(sentences(WORDS), count)) + "\n")
        output = self.place / name
        shutil.rmtree(output, ignore_errors=True)
        chars = min(500_000, max(1, text.stat().st_size // (4 * self.workers)))
        command = [sys.executable, "-m", "spacy", "lal", "annotate", self.model]
        command += [str(text), str(output), "--n-process", str(self.workers)]
        command += ["--engine", self.engine, "--threads", str(self.threads)]
        command += ["--shard-chars", str(chars)]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def apart(self, count: int) -> float:
        """The greatest difference of a score. Raises ValueError if anything else differs."""
        pairs = zip(
            records(self.place / f"{FIRST}-{count}"),
            records(self.place / f"{self.name}-{count}"),
            strict=True,
        )
        most = 0.0
        for one, other in pairs:
            scores: list[float] = []
            others: list[float] = []
            if unscored(one, scores) != unscored(other, others):
                raise ValueError(f"{self.name} finds something else in {one['text']!r}")
            most = max(most, *(abs(a - b) for a, b in zip(scores, others, strict=True)))
        return most


def records(output: Path) -> Iterator[dict[str, Any]]:
    """Of all shards, in order."""
    for path in sorted(output.glob("part-*.jsonl")):
        with path.open(encoding="utf8") as file:
            yield from map(json.loads, file)


def unscored(value: Any, scores: list[float]) -> Any:
    """The value without its scores, which go into the list."""
    if isinstance(value, list):
        return [unscored(inner, scores) for inner in value]
    if not isinstance(value, dict):
        return value
    if isinstance(value.get("score"), float):
        scores.append(value["score"])
    scores += value.get("error_scores", [])
    return {
        name: unscored(inner, scores)
        for name, inner in value.items()
        if name not in ("score", "error_scores")
    }


if __name__ == "__main__":
    main()
