"""Wall and CPU time of `lal annotate` by engine and workers, and what the page's model says of it.

python benchmarks/annotate_engines.py MODEL [--sentences 1000,10000,100000] [--workers 1,2]
    [--engines processes,ray] [--json FILE]

Each row is a command of its own, one thread a worker. start: the seconds of the same with a single
sentence a worker. model: start + sentences / (workers x the rate of one process with the most of
them). gain: over one process of this machine, start-up left out. Processor time is that of the
command and its processes; Ray's actors are not among them. The machine must have as many idle cores
as workers.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import measure
from annotate_cost import sentences

WORDS = 10**9


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("model", help="a pipeline")
    parser.add_argument("--sentences", default="1000,10000,100000", help="commas between")
    parser.add_argument("--workers", default="1,2", help="commas between")
    parser.add_argument("--engines", default="processes,ray", help="commas between")
    arguments = measure.parsed(parser)
    report = measure.machine(arguments, "spacy", "torch", "ray", "spacy-lal") | {"rows": []}
    counts = sorted(map(int, arguments.sentences.split(",")))
    print("engine     workers  sentences     words   start  seconds   model  gain   CPU s")
    alone: dict[int, float] = {}
    for engine in arguments.engines.split(","):
        for workers in map(int, arguments.workers.split(",")):
            start, _ = timed(arguments.model, workers, workers, engine, 1)
            rows = [
                (count, *timed(arguments.model, count, workers, engine, arguments.threads))
                for count in counts
            ]
            for count, seconds, cpu in rows:
                words = sum(line.count(" ") + 2 for line in islice(sentences(WORDS), count))
                if (engine, workers) == ("processes", 1):
                    alone[count] = seconds - start
                rate = alone.get(counts[-1])
                row: dict[str, Any] = {"engine": engine, "workers": workers, "sentences": count}
                row |= {"words": words, "start": start, "seconds": seconds}
                if rate is not None:
                    row["model"] = start + rate * count / counts[-1] / workers
                    row["gain"] = alone[count] / (seconds - start)
                row["cpu_seconds"] = cpu
                report["rows"].append(row)
                print(
                    f"{engine:9}  {workers:7}  {count:9,}  {words:8,}  {start:6.1f}  "
                    f"{seconds:7.1f}  {row.get('model', 0):6.1f}  {row.get('gain', 0):4.2f}  "
                    f"{cpu:6.1f}",
                    flush=True,
                )
    measure.write(arguments.json, report)


def timed(model: str, count: int, workers: int, engine: str, threads: int) -> tuple[float, float]:
    """Wall and CPU seconds of the command on so many sentences, in four shards a worker."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("\n".join(islice(sentences(WORDS), count)) + "\n")
        chars = max(1, text.stat().st_size // (4 * workers))
        command = [sys.executable, "-m", "spacy", "lal", "annotate", model, str(text)]
        command += [str(Path(folder) / "out"), "--n-process", str(workers), "--engine", engine]
        command += ["--threads", str(threads), "--shard-chars", str(min(500_000, chars))]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
