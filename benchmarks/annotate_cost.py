"""CPU time a word of `lal annotate`, from little text to much, and where it goes.

python benchmarks/annotate_cost.py MODEL [--words 1000,10000,100000] [--threads 1] [--json FILE]

One process, JSON lines. read: from the file to shards, their digests included. tokens: spaCy's
tokenizer. pipeline: the components. record: from the Doc to a line of JSON. other: all else, the
writing too. Sentences are made of a few words by a small grammar, a predicate in every seven words.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import measure
from spacy.language import Language

from spacy_lal.annotate import shards as work
from spacy_lal.annotate.annotating import load
from spacy_lal.annotate.texts import Texts

NOUNS = [
    "cat",
    "dog",
    "bridge",
    "letter",
    "teacher",
    "engine",
    "garden",
    "question",
    "river",
    "house",
    "student",
    "answer",
]
ADJECTIVES = ["old", "small", "green", "careful", "empty", "long"]
VERBS = [
    "saw",
    "closed",
    "wrote",
    "found",
    "left",
    "carried",
    "painted",
    "asked",
    "bought",
    "moved",
]
PREPOSITIONS = ["in", "near", "with", "under", "behind"]
JOINS = ("and", "because", "while", "although", ", but")
STAGES = ("read", "tokens", "pipeline", "record", "other")


def sentences(words: int, seed: int = 0) -> Iterator[str]:
    """So many words and what the last sentence has more; a sentence has some 14."""
    draw = random.Random(seed)

    def noun() -> str:
        adjective = f"{draw.choice(ADJECTIVES)} " if draw.random() < 0.4 else ""
        return f"the {adjective}{draw.choice(NOUNS)}"

    def clause() -> str:
        place = f" {draw.choice(PREPOSITIONS)} {noun()}" if draw.random() < 0.5 else ""
        return f"{noun()} {draw.choice(VERBS)} {noun()}{place}"

    while words > 0:
        sentence = clause()
        while draw.random() < 0.4:
            sentence += f" {draw.choice(JOINS)} {clause()}"
        sentence = f"{sentence.capitalize()}.".replace(" ,", ",")
        words -= sentence.count(" ") + 2
        yield sentence


def main() -> None:
    parser = measure.options(__doc__)
    parser.add_argument("model", help="a pipeline")
    parser.add_argument("--words", default="1000,10000,100000", help="how many, commas between")
    arguments = measure.parsed(parser)
    report = measured(arguments)
    measure.write(arguments.json, report)


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    nlp = load(arguments.model, arguments.threads)
    spent = dict.fromkeys(STAGES, 0.0)
    clocked(nlp, spent)
    report = measure.machine(arguments, "spacy", "torch", "spacy-lal") | {"rows": []}
    print("    words  μs a word   " + "".join(f"{stage:>10}" for stage in STAGES) + "   MB read/s")
    with tempfile.TemporaryDirectory() as folder:
        for count in [500, *map(int, arguments.words.split(","))]:  # the first to warm up
            spent.update(dict.fromkeys(STAGES, 0.0))
            text = Path(folder) / f"{count}.txt"
            text.write_text("\n".join(sentences(count)) + "\n")
            begun = time.process_time()
            words = annotate(nlp, text, Path(folder), spent)
            whole = time.process_time() - begun
            spent["other"] = whole - sum(spent.values())
            if count == 500:
                continue
            row = {"words": words, **{k: v / words * 1e6 for k, v in spent.items()}}
            row |= {
                "all": whole / words * 1e6,
                "read_mb": text.stat().st_size / spent["read"] / 1e6,
            }
            report["rows"].append(row)
            shown = "".join(f"{row[stage]:10.1f}" for stage in STAGES)
            print(f"{words:9,}  {row['all']:9.1f}   {shown}   {row['read_mb']:9.1f}", flush=True)
    return report


def annotate(nlp: Language, text: Path, output: Path, spent: dict[str, float]) -> int:
    """All shards, in this process. Returns the words."""
    settings = work.AnnotateSettings()
    words = 0
    shards = work.cut_shards(Texts(str(text)), settings)
    while True:
        begun = time.process_time()
        shard = next(shards, None)
        spent["read"] += time.process_time() - begun
        if shard is None:
            return words
        words += work.make_shard(nlp, shard, output, settings)["words"]


def clocked(nlp: Language, spent: dict[str, float]) -> None:
    """Let the stages add their time to `spent`."""

    def clock(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                spent[stage] += time.process_time() - begun

        return call

    pipe = nlp.pipe
    nlp.make_doc = clock("tokens", nlp.make_doc)  # type: ignore[method-assign]
    nlp.pipe = clock("pipeline", lambda *a, **n: list(pipe(*a, **n)))  # type: ignore
    lines: Any = work.TextWriter
    lines.add = clock("record", lines.add)


if __name__ == "__main__":
    main()
