"""How fast `lisa_srl` is, and what one more predicate costs.

    python benchmarks/srl_speed.py en_lal_sm --data corpus/ewt/test.spacy --threads 2 --check

Words a second of the component alone on sentences as they come, and the time of the same sentences
with 0, 1, 2, 4, 8 of their words given as predicates: a sentence is encoded once for all of them.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import torch
import typer
from spacy.tokens import Doc

from spacy_lal.annotations import FrameSpans, set_frames
from spacy_lal.pipeline.lisa_srl import LisaSRL
from spacy_lal.training.corpus import Corpus

LEAST_WORDS_PER_SECOND = 2_500
PREDICATES = (0, 1, 2, 4, 8)


def main(
    model: Annotated[str, typer.Argument(help="A pipeline with `lisa_srl`.")],
    data: Annotated[Path, typer.Option(help="A .spacy file of sentences.", exists=True)],
    threads: Annotated[int, typer.Option(help="Threads of torch.")] = 2,
    repeats: Annotated[int, typer.Option(help="The best of so many runs counts.")] = 3,
    json: Annotated[Path | None, typer.Option(help="Write the numbers here.")] = None,
    check: Annotated[bool, typer.Option(help="Exit with 1 below the promised speed.")] = False,
) -> None:
    """Print both tables."""
    torch.set_num_threads(threads)
    nlp = spacy.load(model)
    pipe = next((p for _, p in nlp.pipeline if isinstance(p, LisaSRL)), None)
    if pipe is None:
        typer.echo(f"srl_speed: {model} has no component lisa_srl", err=True)
        raise typer.Exit(1)
    docs = [example.predicted for example in Corpus(data)(nlp)]
    words = sum(map(len, docs))
    best = min(_seconds(pipe, docs, None, nlp.batch_size) for _ in range(repeats))
    typer.echo(f"{words} words, {threads} threads: {words / best:,.0f} words a second")
    # the same sentences, long enough for the most predicates
    long = [doc for doc in docs if max(PREDICATES) <= len(doc) <= 40]
    times: dict[int, float] = {}
    for count in PREDICATES:
        times[count] = min(_seconds(pipe, long, count, nlp.batch_size) for _ in range(repeats))
        micro = 1e6 * times[count] / len(long)
        typer.echo(f"{count} predicates: {micro:8.1f} microseconds a sentence")
    result: dict[str, Any] = {
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
        "words": words,
        "threads": threads,
        "words_per_second": round(words / best),
        "sentences": len(long),
        "words_per_sentence": round(sum(map(len, long)) / len(long), 1),
        "microseconds_per_sentence": {k: round(1e6 * t / len(long), 1) for k, t in times.items()},
    }
    if json is not None:
        srsly.write_json(json, result)
    if check and result["words_per_second"] < LEAST_WORDS_PER_SECOND:
        typer.echo(f"srl_speed: below {LEAST_WORDS_PER_SECOND:,} words a second", err=True)
        raise typer.Exit(1)


def _seconds(pipe: LisaSRL, docs: list[Doc], predicates: int | None, batch_size: int) -> float:
    """Of the component alone, on fresh copies whose first words are the predicates."""
    pipe.predicate_source = "model" if predicates is None else "doc"
    copies = [_copy(doc) for doc in docs]
    if predicates is not None:
        for doc in copies:
            set_frames(doc, [FrameSpans(i, "", [(i, i + 1, "V")]) for i in range(predicates)])
    start = time.perf_counter()
    for _ in pipe.pipe(iter(copies), batch_size=batch_size):
        pass
    return time.perf_counter() - start


def _copy(doc: Doc) -> Doc:
    starts = [token.i == 0 for token in doc]
    return Doc(doc.vocab, words=[token.text for token in doc], sent_starts=starts)


if __name__ == "__main__":
    typer.run(main)
