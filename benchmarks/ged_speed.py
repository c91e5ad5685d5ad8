"""How fast `gec_detector` is.

    python benchmarks/ged_speed.py en_lal_ged_sm --data corpus/ewt/test.spacy --threads 2 --check

Words a second of the component alone, on sentences as they come, annotations on the Doc included.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import spacy
import srsly
import torch
import typer
from spacy.tokens import Doc

from spacy_lal.pipeline.gec_detector import ErrorDetector
from spacy_lal.training.corpus import Corpus

LEAST_WORDS_PER_SECOND = 5_000


def main(
    model: Annotated[str, typer.Argument(help="A pipeline with `gec_detector`.")],
    data: Annotated[Path, typer.Option(help="A .spacy file of sentences.", exists=True)],
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 2,
    repeats: Annotated[int, typer.Option(help="The best of so many runs counts.")] = 3,
    json: Annotated[Path | None, typer.Option(help="Write the numbers here.")] = None,
    check: Annotated[bool, typer.Option(help="Exit with 1 below the promised speed.")] = False,
) -> None:
    """Print words a second."""
    torch.set_num_threads(threads)
    nlp = spacy.load(model)
    pipe = next((p for _, p in nlp.pipeline if isinstance(p, ErrorDetector)), None)
    if pipe is None:
        typer.echo(f"ged_speed: {model} has no component gec_detector", err=True)
        raise typer.Exit(1)
    docs = [example.predicted for example in Corpus(data)(nlp)]
    words = sum(map(len, docs))
    speed = words / min(_seconds(pipe, docs, nlp.batch_size) for _ in range(repeats))
    typer.echo(f"{words} words, {threads} threads: {speed:,.0f} words a second")
    if json is not None:
        name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
        result = {"model": name, "words": words, "threads": threads}
        srsly.write_json(json, result | {"words_per_second": round(speed)})
    if check and speed < LEAST_WORDS_PER_SECOND:
        typer.echo(f"ged_speed: below {LEAST_WORDS_PER_SECOND:,} words a second", err=True)
        raise typer.Exit(1)


def _seconds(pipe: ErrorDetector, docs: list[Doc], batch_size: int) -> float:
    """Of the component alone, on fresh copies."""
    copies = [Doc(doc.vocab, words=[token.text for token in doc]) for doc in docs]
    start = time.perf_counter()
    for _ in pipe.pipe(iter(copies), batch_size=batch_size):
        pass
    return time.perf_counter() - start


if __name__ == "__main__":
    typer.run(main)
