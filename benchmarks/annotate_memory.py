"""Memory of a process that annotates sentences of ever new words.

python benchmarks/annotate_memory.py MODEL [--sentences 20000] [--no-zone]

strings: of the vocabulary. MB resident: of the process. MB malloc: of these, what is in use rather
than kept for later (Linux with glibc). Python blocks: what Python has allocated, in thousands.
"""

from __future__ import annotations

import ctypes
import gc
import random
import string
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import typer
from spacy.language import Language

from spacy_lal.annotate.annotating import load, through_pipeline
from spacy_lal.annotate.records import doc_record

ROWS = 20


def main(model: str, sentences: int = 20_000, zone: bool = True, longest: int = 12) -> None:
    nlp = load(model, threads=1)
    if not zone:
        nlp.memory_zone = nullcontext  # type: ignore[method-assign, assignment]
    records = ({"id": str(k), "text": text} for k, text in enumerate(texts(sentences, longest)))
    found = through_pipeline(nlp, records, doc_record)
    print("sentences  strings  MB resident  MB malloc  Python blocks  CPU s")
    print(row(0, nlp))
    for k in range(1, ROWS + 1):
        for one in islice(found, sentences // ROWS):
            assert one.value is not None, one.error
        print(row(k * (sentences // ROWS), nlp), flush=True)


def row(sentences: int, nlp: Language) -> str:
    gc.collect()
    return (
        f"{sentences:9,}  {len(nlp.vocab.strings):7,}  {resident():11.1f}  {in_use():9.1f}  "
        f"{sys.getallocatedblocks() / 1000:13.1f}  {time.process_time():5.0f}"
    )


def texts(sentences: int, longest: int) -> Iterator[str]:
    """Sentences of 3 to `longest` words."""
    draw = random.Random(0)
    for _ in range(sentences):
        yield f"{' '.join(words(draw, draw.randint(3, longest))).capitalize()}."


def words(draw: random.Random, count: int) -> list[str]:
    """Of letters drawn at random."""
    return [
        "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9))) for _ in range(count)
    ]


def resident() -> float:
    """MB of memory that this process has now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


class _Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks"),
            *("uordblks", "fordblks", "keepcost"),
        )
    ]


def in_use() -> float:
    """MB that glibc has given out and not got back."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = _Mallinfo
    info = mallinfo()
    return (info.uordblks + info.hblkhd) / 1e6


if __name__ == "__main__":
    typer.run(main)
