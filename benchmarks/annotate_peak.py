"""Peak memory of annotating what is long: a text, a sentence, a list of short texts (Linux).

python benchmarks/annotate_peak.py MODEL [--size 1.0] [--threads 1]

A text of 2,000,000 characters in paragraphs; a sentence of 10,000 words without punctuation;
100,000 texts of 3 words. Words are letters drawn at random. `--size 0.1` makes a tenth of texts
and paragraphs. Records are dropped as soon as they are found, as a writer to a pipe would.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import typer
from annotate_memory import resident, words

from spacy_lal.annotate.annotating import load, through_pipeline
from spacy_lal.annotate.records import doc_record
from spacy_lal.annotate.texts import Record, pieces


def main(model: str, size: float = 1.0, threads: int = 1) -> None:
    nlp = load(model, threads)
    draw = random.Random(0)
    print("                 records     words  MB before  MB peak  CPU s")
    for name, texts in (
        ("one sentence", [" ".join(words(draw, 10_000))]),
        ("short texts", (" ".join(words(draw, 3)) for _ in range(int(100_000 * size)))),
        ("one text", [paragraphs(draw, int(2_000_000 * size))]),
    ):
        begun, before = time.process_time(), resident()
        reset_peak()
        records = (piece for text in texts for piece in pieces({"text": text}))
        found = through_pipeline(nlp, records, lambda record, doc: _size(doc_record(record, doc)))
        sizes = [one.value for one in found]
        count = sum(one or 0 for one in sizes)
        print(
            f"{name:15}  {len(sizes):7,}  {count:8,}  {before:9.0f}  {peak():7.0f}  "
            f"{time.process_time() - begun:5.0f}",
            flush=True,
        )


def _size(record: Record) -> int:
    return len(record["words"])


def paragraphs(draw: random.Random, chars: int) -> str:
    """Of five sentences of 5 to 25 words each."""
    parts: list[str] = []
    length = 0
    while length < chars:
        sentences = (f"{' '.join(words(draw, draw.randint(5, 25)))}." for _ in range(5))
        parts.append(" ".join(sentence.capitalize() for sentence in sentences))
        length += len(parts[-1]) + 2
    return "\n\n".join(parts)[:chars]


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> float:
    """MB that this process had at most since `reset_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    typer.run(main)
