"""Speed, load time, memory and size of pipelines side by side, whole and without roles.

    python benchmarks/side_by_side.py PIPELINE… --data FILE.spacy [--threads 1] [--repeats 3]
        [--sentences 1000] [--processes 2] [--json FILE]

Every pipeline reads the same sentences, one a Doc, with gold words and boundaries, in a process of
its own, `--repeats` times in turn; the numbers are medians. `--processes` also takes the time of
`nlp.pipe(n_process=…)` with as many threads each, start-up included.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import measure

WITHOUT = {"trees and heads": ["lisa_srl"], "all": []}


def main() -> None:
    parser = measure.options(__doc__, repeats=3)
    parser.add_argument("models", nargs="+", metavar="PIPELINE", help="names or folders")
    parser.add_argument("--data", type=Path, required=True, help="a .spacy file of sentences")
    parser.add_argument("--sentences", type=int, default=1000, help="the first so many")
    parser.add_argument("--processes", type=int, default=0, help="of nlp.pipe, 0: not measured")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = measure.parsed(parser)
    if arguments.one is not None:
        print(json.dumps(one(arguments)))
        return
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _ in range(arguments.repeats):
        for model in arguments.models:
            for layers in WITHOUT:
                runs.setdefault((model, layers), []).append(in_a_process(model, layers, arguments))
    report["results"] = [
        {"pipeline": model, "layers": layers}
        | {key: statistics.median(run[key] for run in found) for key in found[0]}
        for (model, layers), found in runs.items()
    ]
    print(measure.headline(report))
    print(table(report["results"]))
    measure.write(arguments.json, report)


def in_a_process(model: str, layers: str, arguments: Any) -> dict[str, Any]:
    command = [sys.executable, __file__, model, "--one", layers, "--data", str(arguments.data)]
    for name in ("threads", "sentences", "processes"):
        command += [f"--{name}", str(getattr(arguments, name))]
    threads = {"OMP_NUM_THREADS": str(arguments.threads)}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=dict(os.environ) | threads
    )
    return json.loads(done.stdout.splitlines()[-1])


def one(arguments: Any) -> dict[str, Any]:
    """The numbers of one pipeline, in this process."""
    measure.hide_entry_points("spacy_transformers", "spacy_curated_transformers")
    import spacy

    (model,) = arguments.models
    start = measure.cpu_seconds()
    nlp = spacy.load(model, exclude=WITHOUT[arguments.one])
    load_seconds = measure.cpu_seconds() - start
    list(nlp.pipe(read(arguments.data, nlp, 50)))
    docs = list(read(arguments.data, nlp, arguments.sentences))
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
        docs = list(read(arguments.data, nlp, arguments.sentences))
        run = measure.timed(lambda: list(nlp.pipe(docs, n_process=arguments.processes)))
        found[f"words_per_second_of_{arguments.processes}"] = words / run["wall_seconds"]
    return found


def read(path: Path, nlp: Any, n: int) -> Iterator[Any]:
    """Docs of words and sentence starts alone."""
    from spacy.tokens import Doc, DocBin

    for doc in islice(DocBin().from_disk(path).get_docs(nlp.vocab), n):
        yield Doc(
            nlp.vocab,
            words=[token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            sent_starts=[token.i == 0 for token in doc],
        )


def table(results: list[dict[str, Any]]) -> str:
    names = [key for key in results[0] if key not in ("pipeline", "layers")]
    lines = [f"| pipeline | layers | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for result in results:
        cells = [f"{result[name]:.{0 if result[name] >= 100 else 1}f}" for name in names]
        lines.append(f"| {result['pipeline']} | {result['layers']} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
