"""Random inputs for pipelines and readers, until one fails; prints counts.

python benchmarks/robustness.py pipelines MODEL [--examples 1000] [--seed 0]
python benchmarks/robustness.py formats [--examples 100000] [--seed 0]
python benchmarks/robustness.py models [--examples 1000] [--seed 0]
python benchmarks/robustness.py together MODEL [--outputs 1200]
python benchmarks/robustness.py all MODEL... [--seed 0]

The long form of `tests/robust`, with more of the same inputs. Failures are raised, with their
input.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import spacy
import torch
import typer
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "projects/converters"))
from tests.robust import concurrency, model_files
from tests.robust import formats as readers
from tests.robust.made_docs import Made, batches
from tests.robust.test_pipelines import try_batch

app = typer.Typer(add_completion=False)


@app.command()
def pipelines(model: str, examples: int = 1000, seed: int = 0) -> Counter[str]:
    """Run batches of up to six Docs through the pipeline, together and alone."""
    torch.set_num_threads(1)
    nlp = spacy.load(model)
    counts = Counter[str]()

    @seeded(seed)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(batches)
    def run(batch: list[Made]) -> None:
        counts["batches"] += 1
        counts["Docs"] += len(batch)
        counts["tokens"] += sum(len(made.doc(nlp)) for made in batch)
        try_batch(nlp, batch)

    run()
    return _reported(f"{model}: ", counts)


@app.command()
def formats(examples: int = 100_000, seed: int = 0) -> Counter[str]:
    """Give damaged files of each format in turn to their command."""
    rng = random.Random(seed)
    counts = Counter[str]()
    names = list(readers.INPUTS)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(examples):
            said = readers.fuzz(names[k % len(names)], rng, Path(folder) / "x")
            counts["files"] += 1
            counts["read all the same"] += not said
            counts["refused, file named"] += bool(said)
            counts["refused, place named"] += readers.PLACE.search(said) is not None
            if not (k + 1) % 1000:
                said = ", ".join(f"{name} {count:,}" for name, count in counts.items())
                print(f"… {said}, CPU s {time.process_time():,.0f}", file=sys.stderr, flush=True)
    return _reported("", counts)


@app.command()
def models(examples: int = 1000, seed: int = 0) -> Counter[str]:
    """Damage each file of a pipeline's folder in turn."""
    rng = random.Random(seed)
    counts = Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        names = model_files.save(Path(folder))
        for k in range(examples):
            said = model_files.fuzz(Path(folder), names[k % len(names)], rng)
            counts["folders"] += 1
            counts["loaded all the same"] += not said
            counts["refused"] += bool(said)
            counts["refused, file named"] += names[k % len(names)] in said
    return _reported("", counts)


@app.command()
def together(model: str, outputs: int = 1200) -> Counter[str]:
    """Run eight threads over one pipeline, and processes with each start method."""
    torch.set_num_threads(1)
    nlp = spacy.load(model)
    serial = concurrency.serial(nlp)
    counts = Counter[str]()
    with concurrency.switching():
        counts["outputs of 8 threads"] = concurrency.in_threads(nlp, serial, 8, outputs)
    for method in ("fork", "spawn", "forkserver"):
        counts[f"outputs of a process by {method}"] = concurrency.in_process(nlp, serial, method)
    return _reported(f"{model}: ", counts)


@app.command("all")
def every(
    names: list[str],
    files: int = 190_000,
    folders: int = 2_000,
    batches: int = 1_000,
    outputs: int = 1200,
    seed: int = 0,
) -> None:
    """Run all parts with each of the pipelines; prints the sums."""
    tried = 0
    for name in names:
        together(name, outputs)
        tried += pipelines(name, batches, seed)["Docs"]
    tried += models(folders, seed)["folders"]
    tried += formats(files, seed)["files"]
    print(f"damaged files, damaged folders and Docs: {tried:,}")


def _reported(of: str, counts: Counter[str]) -> Counter[str]:
    for name, count in counts.items():
        print(f"{of}{name}: {count:,}")
    print(f"CPU seconds until here: {time.process_time():,.0f}", flush=True)
    return counts


if __name__ == "__main__":
    app()
