"""CPU time of the page for one sentence of 20 words: `python benchmarks/page.py MODEL`."""

from __future__ import annotations

import time

import spacy
import torch
import typer

from spacy_lal.page.answers import Question, answer

SENTENCE = (
    "The committee promised to publish the long report before the end of the year, but nobody "
    "believed it then ."
)


def main(model: str, times: int = 40) -> None:
    """Without a picture, and with the tree and the heads' contributions; on one thread."""
    torch.set_num_threads(1)
    nlp = spacy.load(model)
    for view in ("", "tree"):
        taken = []
        for _ in range(times + 5):
            begun = time.process_time()
            answer(nlp, Question(SENTENCE, view))
            taken.append(1000 * (time.process_time() - begun))
        taken = sorted(taken[5:])  # the first ones set things up
        half, most = taken[len(taken) // 2], taken[int(0.95 * len(taken))]
        print(f"{view or 'no picture'}: p50 {half:.0f} ms, p95 {most:.0f} ms")


if __name__ == "__main__":
    typer.run(main)
