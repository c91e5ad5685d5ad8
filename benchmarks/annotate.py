"""Cost of `lal annotate` in time and memory, by engine, and its recovery when killed.

    python benchmarks/annotate.py cost MODEL [--words 1000,10000,100000]
    python benchmarks/annotate.py engines MODEL [--sentences 1000,10000] [--workers 1,2]
        [--engines processes,ray]
    python benchmarks/annotate.py kills MODEL TEXTS [--kills 20]
    python benchmarks/annotate.py memory MODEL [--sentences 20000] [--size 1.0]

cost: CPU time a word of one process that writes JSON lines: reading with the shards' digests,
tokenizer, pipeline, and records from Doc to line. Sentences come from a small grammar, with a
predicate in every seven words.

engines: each row is a command with one thread a worker. start: seconds of the same with one
sentence a worker. formula: start + sentences / (workers x the best rate of one process). gain: over
one process, without the start. The machine needs as many idle cores as workers. All results must be
equal.

kills: one run is left alone. Others are killed (`kill -9`) at random moments within its duration,
and restarted in the same folder until one finishes. Files are compared after every kill, and the
whole folder at the end.

memory (Linux): peak memory of a sentence of 10,000 words, of 100,000 texts of 3 words and of a text
of 2,000,000 characters; then memory kept after many sentences of new words.
"""

from __future__ import annotations

import gc
import json
import random
import shutil
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import measure
import typer
from spacy.language import Language

from spacy_lal.annotate import shards as work
from spacy_lal.annotate.annotating import load, through_pipeline
from spacy_lal.annotate.records import doc_record
from spacy_lal.annotate.texts import Texts, pieces

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
NOUNS = [
    *("cat", "dog", "bridge", "letter", "teacher", "engine", "garden", "question"),
    *("river", "house", "student", "answer"),
]
ADJECTIVES = ["old", "small", "green", "careful", "empty", "long"]
VERBS = [
    *("saw", "closed", "wrote", "found", "left", "carried", "painted", "asked"),
    *("bought", "moved"),
]
PREPOSITIONS = ["in", "near", "with", "under", "behind"]
JOINS = ("and", "because", "while", "although", ", but")
STAGES = ("reading", "tokenizer", "pipeline", "record")
ANNOTATE = [sys.executable, "-m", "spacy", "lal", "annotate"]


def sentences() -> Iterator[str]:
    """Yield endless sentences of some 14 words."""
    draw = random.Random(0)

    def noun() -> str:
        adjective = f"{draw.choice(ADJECTIVES)} " if draw.random() < 0.4 else ""
        return f"the {adjective}{draw.choice(NOUNS)}"

    def clause() -> str:
        place = f" {draw.choice(PREPOSITIONS)} {noun()}" if draw.random() < 0.5 else ""
        return f"{noun()} {draw.choice(VERBS)} {noun()}{place}"

    while True:
        sentence = clause()
        while draw.random() < 0.4:
            sentence += f" {draw.choice(JOINS)} {clause()}"
        yield f"{sentence.capitalize()}.".replace(" ,", ",")


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


@app.command()
def cost(model: str, words: str = "1000,10000,100000", threads: int = 1) -> None:
    """Print microseconds of CPU a word, by stage."""
    nlp = load(model, threads)
    spent = dict.fromkeys(STAGES, 0.0)
    clocked(nlp, spent)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in [500, *numbers(words)]:  # the first warms up
            spent.update(dict.fromkeys(STAGES, 0.0))
            text = Path(folder) / f"{count}.txt"
            text.write_text("".join(f"{s}\n" for s in islice(sentences(), count // 14)))
            begun = time.process_time()
            found = annotate(nlp, text, Path(folder), spent)
            whole = time.process_time() - begun
            per_word = {stage: 1e6 * seconds / found for stage, seconds in spent.items()}
            other = {"other": 1e6 * (whole - sum(spent.values())) / found}
            rows.append({"words": found, "all": 1e6 * whole / found, **per_word, **other})
    print(measure.table(rows[1:]))


def annotate(nlp: Language, text: Path, output: Path, spent: dict[str, float]) -> int:
    """Annotate all shards in this process. Returns the number of words."""
    settings = work.AnnotateSettings()
    words = 0
    shards = work.cut_shards(Texts(str(text)), settings)
    while True:
        begun = time.process_time()
        shard = next(shards, None)
        spent["reading"] += time.process_time() - begun
        if shard is None:
            return words
        words += work.make_shard(nlp, shard, output, settings)["words"]


def clocked(nlp: Language, spent: dict[str, float]) -> None:
    """Make the stages add their time to `spent`."""

    def clock(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            begun = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                spent[stage] += time.process_time() - begun

        return call

    pipe = nlp.pipe
    nlp.make_doc = clock("tokenizer", nlp.make_doc)  # type: ignore[method-assign]
    nlp.pipe = clock("pipeline", lambda *a, **n: list(pipe(*a, **n)))  # type: ignore
    work.FORMATS["jsonl"] = work.OutputFormat(clock("record", work.json_line))


@app.command()
def engines(
    model: str,
    sentences: str = "1000,10000,100000",
    workers: str = "1,2",
    engines: str = "processes,ray",
) -> None:
    """Print wall seconds by engine and workers, beside the formula's."""
    counts = sorted(numbers(sentences))
    alone: dict[int, float] = {}
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for engine in engines.split(","):
            for number in numbers(workers):
                run = f"{engine}-{number}"
                start = run_once(model, engine, number, number, Path(place, "start"))
                for count in counts:
                    output = Path(place, f"{run}-{count}")
                    seconds = run_once(model, engine, number, count, output)
                    first = Path(place, f"processes-1-{count}")
                    if output != first and found_in(output) != found_in(first):
                        raise ValueError(f"{run} finds something else")
                    alone.setdefault(count, seconds - start)
                    row = {"engine": engine, "workers": number, "sentences": count}
                    row |= {"start": start, "seconds": seconds}
                    rows.append(row | {"gain": alone[count] / (seconds - start)})
    for row in rows:
        share = row["sentences"] / counts[-1] / row["workers"]
        row["formula"] = row["start"] + alone[counts[-1]] * share
    print(measure.table(rows))


def run_once(model: str, engine: str, workers: int, count: int, output: Path) -> float:
    """Return wall seconds of the command on so many sentences, in four shards a worker."""
    text = output.with_suffix(".txt")
    text.write_text("\n".join(islice(sentences(), count)) + "\n")
    shutil.rmtree(output, ignore_errors=True)
    chars = min(500_000, max(1, text.stat().st_size // (4 * workers)))
    options = ["--n-process", str(workers), "--engine", engine, "--threads", "1"]
    command = [*ANNOTATE, model, str(text), str(output), *options, "--shard-chars", str(chars)]
    begun = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begun


def found_in(output: Path) -> list[Any]:
    """Return the records of all shards, without scores, which differ in the last digits."""
    lines = [
        line for path in sorted(output.glob("part-*.jsonl")) for line in path.open(encoding="utf8")
    ]
    return [json.loads(line, object_hook=unscored) for line in lines]


def unscored(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if "score" not in name}


@app.command()
def kills(
    model: str,
    texts: Path,
    kills: int = 20,
    n_process: int = 2,
    engine: str = "processes",
    shard_chars: int = 2_000,
) -> None:
    """Check that the files are the same in the end."""
    command = [*ANNOTATE, model, str(texts)]
    options = ["--n-process", str(n_process), "--engine", engine, "--threads", "1"]
    options += ["--shard-chars", str(shard_chars)]
    draw = random.Random(0)
    with tempfile.TemporaryDirectory() as place:
        begun = time.perf_counter()
        subprocess.run([*command, f"{place}/whole", *options], check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        whole = files(Path(place, "whole"))
        killed = ended = there = 0
        while killed < kills or Path(place, str(ended)).exists():
            output = Path(place, str(ended))
            process = subprocess.Popen([*command, str(output), *options], stderr=subprocess.DEVNULL)
            try:
                # after the last kill, a run is left alone
                process.wait(draw.uniform(0, seconds) if killed < kills else None)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                parts = {n: b for n, b in files(output).items() if n.startswith("part-")}
                there += len(parts)
                assert parts == {name: whole[name] for name in parts}, output
                continue
            assert process.returncode == 0, f"exit status {process.returncode}"
            assert files(output) == whole, output
            ended += 1
        print(f"{len(whole)} files; {killed} kills, {there} files then, {ended} ends, the same")


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".unfinished")
    }


@app.command()
def memory(model: str, sentences: int = 20_000, size: float = 1.0, threads: int = 1) -> None:
    """Print peak memory of long inputs, and memory kept after many words."""
    nlp = load(model, threads)
    draw = random.Random(0)
    rows = []
    for name, texts in (
        ("one sentence", [words(draw, 10_000)]),
        ("short texts", (words(draw, 3) for _ in range(int(100_000 * size)))),
        ("one text", [paragraphs(draw, int(2_000_000 * size))]),
    ):
        before = status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        records = (piece for text in texts for piece in pieces({"text": text}))
        found = through_pipeline(
            nlp, records, lambda record, doc: len(doc_record(record, doc)["words"])
        )
        sizes = [one.value or 0 for one in found]
        row = {"text": name, "records": len(sizes), "words": sum(sizes)}
        rows.append(row | {"MB before": before, "MB at most": status("VmHWM")})
    print(measure.table(rows))
    texts = (f"{words(draw, draw.randint(3, 12)).capitalize()}." for _ in range(sentences))
    found = through_pipeline(nlp, ({"text": text} for text in texts), doc_record)
    rows = []
    for number in range(1, 21):
        for one in islice(found, sentences // 20):
            assert one.value is not None, one.error
        gc.collect()
        row = {"sentences": number * (sentences // 20), "strings": len(nlp.vocab.strings)}
        rows.append(row | {"MB": status("VmRSS"), "Python blocks": sys.getallocatedblocks()})
    print(measure.table(rows))


def words(draw: random.Random, count: int) -> str:
    """Return words of random letters."""
    return " ".join(
        "".join(draw.choices(string.ascii_lowercase, k=draw.randint(2, 9))) for _ in range(count)
    )


def paragraphs(draw: random.Random, chars: int) -> str:
    """Return paragraphs of five sentences of 5 to 25 words each."""
    parts: list[str] = []
    while sum(map(len, parts)) < chars:
        five = (f"{words(draw, draw.randint(5, 25)).capitalize()}." for _ in range(5))
        parts.append(" ".join(five))
    return "\n\n".join(parts)[:chars]


def status(name: str) -> float:
    """Return memory of this process in MB: VmRSS, resident; VmHWM, peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    app()
