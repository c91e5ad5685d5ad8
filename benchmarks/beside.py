"""How many times as fast a pipeline is as in another environment, such as that of an older version.

    python benchmarks/beside.py PIPELINE PYTHON --data FILE [--pairs 11] [--their-name NAME]
        [--without COMPONENT…] [--words 1000000] [--threads 1] [--json FILE]

PYTHON is the other environment's interpreter. FILE is a .spacy file of sentences, which every
process reads whole, one a Doc, with gold words and boundaries; or open text, plain or .xz, of whose
first --words words each pair reads another part, a line a Doc. The two processes of a pair follow
each other, the other environment's first; printed are medians of words a CPU-second and of the
pairs' ratios.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure

WARM_UP = 200
"""Docs that are read before the clock starts."""


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("pipeline", metavar="PIPELINE", help="a name or folder")
    parser.add_argument("python", metavar="PYTHON", help="the other environment's interpreter")
    parser.add_argument("--data", type=Path, required=True, help="a .spacy file, or text")
    parser.add_argument("--pairs", type=int, default=11, help="of processes")
    parser.add_argument("--their-name", help="the other environment's pipeline, if not PIPELINE")
    parser.add_argument("--without", nargs="*", default=[], help="components that are left out")
    parser.add_argument("--words", type=int, default=1_000_000, help="of text, in all pairs")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    arguments = measure.parsed(parser)
    if arguments.part is not None:
        print(json.dumps(one(arguments)))
        return
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    runs: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for part in range(arguments.pairs):
        theirs = in_a_process(
            arguments.python, arguments.their_name or arguments.pipeline, part, arguments
        )
        runs.append((theirs, in_a_process(sys.executable, arguments.pipeline, part, arguments)))
    ratios = [new["words_per_cpu_second"] / old["words_per_cpu_second"] for old, new in runs]
    row = {"pipeline": arguments.pipeline, "without": " ".join(arguments.without)}
    for name, of in zip(("theirs", "ours"), zip(*runs, strict=True), strict=True):
        row[name] = statistics.median(run["words_per_cpu_second"] for run in of)
    words = [new["words"] for _, new in runs]
    row["words"] = words[0] if arguments.data.suffix == ".spacy" else sum(words)
    row |= {"ratio": statistics.median(ratios), "least": min(ratios), "most": max(ratios)}
    print(measure.table([row]))
    measure.write(arguments.json, report | {"results": [row]})


def in_a_process(
    python: str, pipeline: str, part: int, arguments: argparse.Namespace
) -> dict[str, Any]:
    python, pipeline = placed(python), placed(pipeline)
    command = [python, __file__, pipeline, python, "--part", str(part)]
    command += ["--data", str(arguments.data.absolute()), "--without", *arguments.without]
    for name in ("pairs", "words", "threads"):
        command += [f"--{name}", str(getattr(arguments, name))]
    threads = {"OMP_NUM_THREADS": str(arguments.threads)}
    # elsewhere, or this folder's package may hide theirs
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=dict(os.environ) | threads, cwd="/"
    )
    return json.loads(done.stdout.splitlines()[-1])


def placed(name: str) -> str:
    """Return a path as it is from elsewhere; a name stays one."""
    return str(Path(name).absolute()) if Path(name).exists() else name


def one(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the words of a part of the data, and how many a CPU-second this process reads."""
    measure.hide_entry_points("spacy_transformers", "spacy_curated_transformers")
    nlp = measure.load(arguments.pipeline, exclude=arguments.without)
    if arguments.data.suffix == ".spacy":
        texts = list(sentences(arguments.data, nlp))
        warm = list(sentences(arguments.data, nlp))[:WARM_UP]
    else:
        each = arguments.words // arguments.pairs
        texts = list(lines(arguments.data, arguments.part * each, each))
        warm = texts[: WARM_UP // 10]
    list(nlp.pipe(warm))
    docs: list[Any] = []
    run = measure.timed(lambda: docs.extend(nlp.pipe(texts)))
    words = sum(map(len, docs))
    return {"words": words, "words_per_cpu_second": words / run["cpu_seconds"]}


def sentences(path: Path, nlp: Any) -> Iterator[Any]:
    """Yield the Docs of a file without annotations, by spaCy alone: versions of ours differ."""
    from spacy.tokens import Doc, DocBin

    for doc in DocBin().from_disk(path).get_docs(nlp.vocab):
        words, spaces = zip(*((t.text, bool(t.whitespace_)) for t in doc), strict=True)
        starts = [i == 0 for i in range(len(doc))]
        yield Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)


def lines(path: Path, before: int, words: int) -> Iterator[str]:
    """Yield lines of some `words` words in all, behind `before` words."""
    seen = 0
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf8") as file:
        for line in file:
            if seen >= before + words:
                return
            if seen >= before and line.strip():
                yield line.strip()
            seen += len(line.split())


if __name__ == "__main__":
    main()
