"""An imported model of benepar beside benepar itself: speed, memory, time to load, equal trees.

    python benchmarks/benepar_speed.py CHECKPOINT --data test.spacy [--words 4000]
        [--doc-sentences 32] [--threads 1] [--repeats 3] [--json FILE]

CHECKPOINT is a folder that both read; `scripts/benepar_fixtures.py` shows how one is made. One
environment holds benepar 0.2.0 with torch-struct, transformers 4 and this package. Each system is a
process of its own, and they read the same Docs in turn: gold tokens and sentence starts, of
sentences without whitespace tokens. `encoder_share` is the pretrained encoder's part of our CPU
seconds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from measure import headline, machine, options, parsed, peak_mb, read_examples, speed, timed, write

SYSTEMS = ("benepar", "spacy-lal")


def docs_of(nlp: Any, data: Path, words: int, per_doc: int) -> list[Any]:
    """Docs of `per_doc` sentences, about `words` in all, without annotations."""
    from spacy.tokens import Doc

    examples = read_examples(data, nlp)
    sentences = [
        sentence
        for example in examples
        for sentence in example.reference.sents
        if not any(token.is_space for token in sentence)
    ]
    total = sum(map(len, sentences))
    sentences = sentences[:: max(1, total // words)] if words else sentences
    docs = []
    for k in range(0, len(sentences), per_doc):
        tokens = [token for sentence in sentences[k : k + per_doc] for token in sentence]
        docs.append(
            Doc(
                nlp.vocab,
                [token.text for token in tokens],
                [bool(token.whitespace_) for token in tokens],
                sent_starts=[token.i == token.sent.start for token in tokens],
            )
        )
    return docs


def worker(system: str, settings: dict[str, Any]) -> None:
    """Load a system, then parse once for every line of the input."""
    import spacy
    import torch

    torch.set_num_threads(settings["threads"])
    nlp = spacy.blank("en")
    start = time.process_time()
    encoder = [0.0]
    if system == "benepar":
        import benepar  # noqa: F401

        nlp.add_pipe("benepar", config={"model": settings["checkpoint"]})
    else:
        nlp.add_pipe("lal_constituency", source=spacy.load(settings["imported"]))
        content = nlp.get_pipe("lal_constituency").model.shims[0].module.content
        begin: list[float] = []
        content.register_forward_pre_hook(lambda *_: begin.append(time.process_time()))
        content.register_forward_hook(lambda *_: encoder.append(time.process_time() - begin[-1]))
    loaded = time.process_time() - start
    docs = docs_of(nlp, Path(settings["data"]), settings["words"], settings["doc_sentences"])
    print(json.dumps({"load_cpu_seconds": loaded, "words": sum(map(len, docs))}), flush=True)
    for _ in sys.stdin:
        fresh = [doc.copy() for doc in docs]
        encoder[:] = [0.0]
        parsed_docs: list[Any] = []
        run = timed(lambda fresh=fresh, out=parsed_docs: out.extend(nlp.pipe(fresh)))
        share = sum(encoder) / run["cpu_seconds"]
        trees = [brackets(system, sentence) for doc in parsed_docs for sentence in doc.sents]
        answer = {**run, "encoder_share": share, "peak_mb": peak_mb(), "trees": trees}
        print(json.dumps(answer), flush=True)


def brackets(system: str, sentence: Any) -> list[Any]:
    """The labelled spans of a sentence, in order."""
    if system == "benepar":
        return sorted(
            [span.start, span.end, label]
            for span in sentence._.constituents
            for label in span._.labels
        )
    spans = sentence.doc.spans["constituents"]
    inside = [s for s in spans if sentence.start <= s.start and s.end <= sentence.end]
    return sorted([s.start, s.end, s.label_] for s in inside)


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, required=True, help="a .spacy file of sentences")
    parser.add_argument("--words", type=int, default=4000, help="0: all sentences")
    parser.add_argument("--doc-sentences", type=int, default=32, help="sentences to a Doc")
    parser.add_argument("--imported", type=Path, help="where the imported pipeline is, or goes")
    arguments = parsed(parser)
    imported = arguments.imported or Path(f"{arguments.checkpoint}_imported")
    if not imported.exists():
        command = [sys.executable, "-m", "spacy", "lal", "import", "benepar"]
        subprocess.run([*command, str(arguments.checkpoint), str(imported)], check=True)
    settings = {
        **{key: str(getattr(arguments, key)) for key in ("checkpoint", "data")},
        **{key: getattr(arguments, key) for key in ("words", "doc_sentences", "threads")},
        "imported": str(imported),
    }
    processes = {system: start_worker(system, settings) for system in SYSTEMS}
    loaded = {system: json.loads(p.stdout.readline()) for system, p in processes.items()}
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in SYSTEMS}
    for _ in range(1 + arguments.repeats):
        for system, process in processes.items():
            process.stdin.write("run\n")
            process.stdin.flush()
            runs[system].append(json.loads(process.stdout.readline()))
    for process in processes.values():
        process.stdin.close()
        process.wait()
    theirs, ours = (runs[system][0].pop("trees") for system in SYSTEMS)
    report = machine(arguments, "torch", "spacy", "benepar", "transformers") | {
        "sentences": len(ours),
        "other_trees": sum(a != b for a, b in zip(theirs, ours, strict=True)),
        "systems": {
            # the first run warms up
            system: speed(loaded[system]["words"], runs[system][1:])
            | {"load_cpu_seconds": loaded[system]["load_cpu_seconds"]}
            | {key: max(r[key] for r in runs[system]) for key in ("encoder_share", "peak_mb")}
            for system in SYSTEMS
        },
    }
    print(headline(report))
    print(f"{report['sentences']} sentences, {report['other_trees']} with another tree")
    for system, row in report["systems"].items():
        print(
            f"{system:10} {row['words_per_cpu_second']:8.1f} words a CPU-second, "
            f"{row['peak_mb']:6.0f} MB, loaded in {row['load_cpu_seconds']:.1f} CPU-seconds, "
            f"encoder {row['encoder_share']:.0%}"
        )
    write(arguments.json, report)


def start_worker(system: str, settings: dict[str, Any]) -> Any:
    threads = str(settings["threads"])
    return subprocess.Popen(
        [sys.executable, __file__, "--worker", system, json.dumps(settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": threads, "TOKENIZERS_PARALLELISM": "false"},
        text=True,
        encoding="utf8",
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], json.loads(sys.argv[3]))
    else:
        main()
