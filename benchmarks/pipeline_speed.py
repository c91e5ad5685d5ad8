"""Speed, load time and memory of a whole pipeline, beside benepar's spaCy plugin.

    python benchmarks/pipeline_speed.py [en_lal_sm] --data projects/ewt/corpus/test.spacy
        [--python PATH] [--peer-python PATH | --no-peer] [--threads 1] [--repeats 3]
        [--peer-words 4000] [--doc-sentences 1 32] [--check] [--json FILE]

Both systems read the same sentences with gold tokens and sentence starts through `nlp.pipe`, each
in a process of its own, one warm-up and then taking turns; the numbers are medians. CPU seconds
are those of all threads and child processes, peak memory is that of the whole process.

The peer is benepar 0.2.0 in its published English arrangement (a BERT, two self-attention layers
of 1024, tags predicted) with a BERT-base-sized encoder: 12 layers, 768 wide. It is built here
with random weights, which cost what trained ones do, and a vocabulary made from the test words,
so that nearly every word is one piece and the encoder has the least to do. It is slow, so it reads
every k-th sentence, as many as hold about `--peer-words` words, and the ratio is taken there.

`--python` and `--peer-python` are the interpreters of the environments that hold the pipeline
and benepar, this one unless said otherwise (see README.md for making them); what this file
imports for one of them is not needed in the other.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import machine, options, parsed, peak_mb, timed, versions, write

RATIO_BAR = 20.0
LOAD_BAR_SECONDS = 2.0
MEMORY_BAR_MB = 1000.0

# spaCy imports every installed plug-in when it loads a pipeline: this one takes 2 s, any pipeline
SLOW = ("spacy-transformers",)
PACKAGES = ("spacy", "thinc", "torch", "numpy", "spacy-lal", "benepar", "transformers", *SLOW)

PEER_VOCABULARY = 30_522
PEER_HPARAMS = {
    "use_pretrained": True,
    "use_chars_lstm": False,
    "use_encoder": True,
    "num_layers": 2,
    "d_model": 1024,
    "num_heads": 8,
    "d_kv": 64,
    "d_ff": 2048,
    "encoder_max_len": 512,
    "morpho_emb_dropout": 0.2,
    "attention_dropout": 0.2,
    "relu_dropout": 0.1,
    "residual_dropout": 0.2,
    "d_label_hidden": 256,
    "d_tag_hidden": 256,
    "predict_tags": True,
    "tag_loss_scale": 5.0,
    "force_root_constituent": False,
}

Words = list[tuple[str, bool]]
"""A sentence: its words, and whether a space follows each."""


# The process that is measured


def work(settings: dict[str, Any]) -> None:
    """Load one system, then answer every request on stdin with a line of JSON on stdout."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf8")
    os.dup2(2, 1)  # what libraries print stays out of the answers
    answer: dict[str, Any]
    try:
        if settings["kind"] == "build":
            answer = build_peer(Path(settings["folder"]), settings["data"])
            print(json.dumps(answer), file=answers, flush=True)
            return
        import spacy
        import torch

        torch.set_num_threads(settings["threads"])
        if settings["kind"] == "peer":
            import benepar  # noqa: F401 (registers the component)
        imports_mb = peak_mb()
        start = time.perf_counter()
        if settings["kind"] == "peer":
            nlp = spacy.blank("en")
            nlp.add_pipe("benepar", config={"model": settings["folder"]})
        else:
            # the peer finds no roles
            nlp = spacy.load(settings["name"], exclude=["lisa_srl"])
        load_seconds = time.perf_counter() - start
    except ImportError as err:
        print(json.dumps({"error": f"{err} (with {sys.executable})"}), file=answers, flush=True)
        return
    answer = {
        "load_seconds": load_seconds,
        "imports_mb": imports_mb,
        "versions": versions(*PACKAGES),
        "pipes": list(nlp.pipe_names),
        "version": nlp.meta.get("version"),
        "disk_mb": folder_mb(nlp.path) if nlp.path else None,
    }
    print(json.dumps(answer), file=answers, flush=True)
    sentences: list[Words] = []
    for line in sys.stdin:
        request = json.loads(line)
        sentences = sentences or read_sentences(settings["data"])
        chosen = evenly(sentences, request["words"])
        answer = measure(nlp, chosen, request["doc_sentences"])
        print(json.dumps(answer), file=answers, flush=True)


def measure(nlp: Any, sentences: list[Words], doc_sentences: int) -> dict[str, Any]:
    """One pass over the sentences, `doc_sentences` to a Doc."""
    docs = make_docs(nlp.vocab, sentences, doc_sentences)
    results: list[Any] = []
    run = timed(lambda: results.extend(nlp.pipe(docs)))
    if not all(is_parsed(doc) for doc in results):
        raise AssertionError("a Doc came back without a parse")
    text = " ".join(word for sentence in sentences for word, _ in sentence)
    return {
        "sentences": len(sentences),
        "words": sum(map(len, sentences)),
        "checksum": zlib.crc32(text.encode("utf8")),
        **run,
        "peak_mb": peak_mb(),
    }


def is_parsed(doc: Any) -> bool:
    if doc.has_extension("_constituent_data"):
        return hasattr(doc._._constituent_data, "starts")
    return "constituents" in doc.spans and doc.has_annotation("TAG")


def folder_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def read_docs(path: str) -> Iterator[Any]:
    import spacy
    from spacy.tokens import DocBin

    return DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)


def read_sentences(path: str) -> list[Words]:
    """Words of every sentence; a Doc without boundaries is one."""
    sentences = []
    for doc in read_docs(path):
        spans = doc.sents if doc.has_annotation("SENT_START") else [doc]
        sentences += [[(t.text, bool(t.whitespace_)) for t in span] for span in spans]
    return sentences


def evenly(sentences: list[Words], n_words: int) -> list[Words]:
    """Every k-th sentence, about `n_words` words in all; all sentences if it is 0."""
    total = sum(map(len, sentences))
    return sentences[:: max(1, round(total / n_words))] if n_words else sentences


def make_docs(vocab: Any, sentences: list[Words], doc_sentences: int) -> list[Any]:
    from spacy.tokens import Doc

    docs = []
    for first in range(0, len(sentences), doc_sentences):
        group = sentences[first : first + doc_sentences]
        docs.append(
            Doc(
                vocab,
                words=[word for sentence in group for word, _ in sentence],
                spaces=[space for sentence in group for _, space in sentence],
                sent_starts=[k == 0 for sentence in group for k in range(len(sentence))],
            )
        )
    return docs


# The peer


def build_peer(folder: Path, data: str) -> dict[str, Any]:
    """Write a released model as benepar loads it, but with random weights, to `folder`."""
    import torch
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser
    from transformers import BertConfig, BertTokenizerFast

    labels: set[str] = {""}
    tags: set[str] = set()
    forms: set[str] = set()
    for doc in read_docs(data):
        chains: dict[tuple[int, int], str] = {}
        for span in doc.spans.get("constituents", ()):
            at = (span.start, span.end)
            chains[at] = f"{chains[at]}::{span.label_}" if at in chains else span.label_
        labels.update(chains.values())
        tags.update(token.tag_ for token in doc)
        forms.update(token.text.lower() for token in doc)
    # BERT's tokenizer cuts at punctuation before it looks pieces up
    pieces = {piece for form in forms for piece in re.findall(r"\w+|[^\w\s]", form)}
    characters = sorted({c for form in forms for c in form})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary += [*characters, *(f"##{c}" for c in characters)]
    vocabulary += sorted(pieces - set(characters))[: PEER_VOCABULARY - len(vocabulary)]
    vocabulary += [f"[unused{k}]" for k in range(PEER_VOCABULARY - len(vocabulary))]
    listing = folder / "vocab.txt"
    listing.write_text("\n".join(vocabulary) + "\n", encoding="utf8")
    tokenizer = BertTokenizerFast(vocab_file=str(listing), model_max_length=512)
    tokenizer.save_pretrained(folder)

    hparams = HParams(**PEER_HPARAMS)
    parts = {
        "tag_vocab": {tag: k for k, tag in enumerate(["UNK", *sorted(tags - {""})])},
        "label_vocab": {label: k for k, label in enumerate(sorted(labels))},
        "char_vocab": {},
    }
    encoder = BertConfig(vocab_size=PEER_VOCABULARY)  # its defaults are BERT-base
    encoder.benepar = {**parts, "hparams": hparams.to_dict()}
    encoder.save_pretrained(folder)
    torch.manual_seed(0)
    parser = ChartParser(**parts, hparams=hparams, pretrained_model_path=str(folder))
    torch.save(parser.state_dict(), folder / "benepar_model.bin")
    n_pieces = sum(len(tokenizer.tokenize(form)) for form in forms)
    return {
        "layers": encoder.num_hidden_layers,
        "width": encoder.hidden_size,
        "parameters": sum(p.numel() for p in parser.parameters()),
        "labels": len(labels),
        "pieces_per_word_type": n_pieces / max(1, len(forms)),
    }


# The process that measures


class Worker:
    """A process of its own that loads one system and measures it on request."""

    def __init__(self, python: str, threads: int, **settings: Any) -> None:
        count = str(threads)
        environment = {
            **os.environ,
            **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), count),
            "OMP_WAIT_POLICY": "PASSIVE",
            "TOKENIZERS_PARALLELISM": "false",
            "HF_HUB_OFFLINE": "1",
            "CUDA_VISIBLE_DEVICES": "",
            "PYTHONWARNINGS": "ignore",
        }
        self._python = python
        self._process = subprocess.Popen(
            [python, __file__, "--worker", json.dumps({**settings, "threads": threads})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf8",
        )
        self.loaded = self._answer()

    def run(self, words: int, doc_sentences: int) -> dict[str, Any]:
        assert self._process.stdin is not None
        request = {"words": words, "doc_sentences": doc_sentences}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit(f"{self._python} failed, see above")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise SystemExit(f"{answer['error']}; benchmarks/README.md says what is needed")
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def summary(name: str, doc_sentences: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of the table: medians of the runs."""
    cpu = statistics.median(run["cpu_seconds"] for run in runs)
    wall = statistics.median(run["wall_seconds"] for run in runs)
    words = runs[0]["words"]
    return {
        "system": name,
        "doc_sentences": doc_sentences,
        "sentences": runs[0]["sentences"],
        "words": words,
        "words_per_cpu_second": words / cpu,
        "words_per_second": words / wall,
        "peak_mb": max(run["peak_mb"] for run in runs),
        "cpu_seconds": [round(run["cpu_seconds"], 3) for run in runs],
        "wall_seconds": [round(run["wall_seconds"], 3) for run in runs],
    }


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm", help="a package or a folder")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--python", default=sys.executable, help="interpreter for the pipeline")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter with benepar")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--peer-words", type=int, default=4000, help="0: all sentences")
    parser.add_argument(
        "--doc-sentences", type=int, nargs="+", default=[1], help="sentences to a Doc"
    )
    parser.add_argument("--check", action="store_true", help="exit with 1 if a bar is missed")
    arguments = parsed(parser)
    name = Path(arguments.pipeline).name
    here = {"kind": "pipeline", "name": arguments.pipeline, "data": str(arguments.data)}

    # processes that only load come first, so that the files are in memory for all of them alike
    loads = []
    for _ in range(max(1, arguments.repeats)):
        worker = Worker(arguments.python, arguments.threads, **here)
        loads.append(worker.loaded["load_seconds"])
        worker.close()

    built: dict[str, Any] = {}
    with contextlib.ExitStack() as stack:
        workers = {name: Worker(arguments.python, arguments.threads, **here)}
        if not arguments.no_peer:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="benepar-"))
            there = {"kind": "peer", "folder": folder, "data": str(arguments.data)}
            builder = Worker(arguments.peer_python, arguments.threads, **{**there, "kind": "build"})
            built = builder.loaded
            builder.close()
            workers["benepar"] = Worker(arguments.peer_python, arguments.threads, **there)
        for worker in workers.values():
            stack.callback(worker.close)
        loaded = {system: worker.loaded for system, worker in workers.items()}
        loads.append(loaded[name]["load_seconds"])
        rows = run_all(workers, name, arguments, lambda text: print(text, file=sys.stderr))

    report: dict[str, Any] = {
        "pipeline": name,
        **machine(arguments),
        "rows": rows,
        "ratios": ratios(rows, name),
        "load_seconds": loads,
        "loaded": loaded,
        "peer": built,
    }
    bars = {
        "spacy.load, seconds": (statistics.median(loads), LOAD_BAR_SECONDS, "at most"),
        "peak memory, MB": (
            max(row["peak_mb"] for row in rows if row["system"] == name),
            MEMORY_BAR_MB,
            "at most",
        ),
    }
    if report["ratios"]:
        bars["words per CPU-second, times benepar's"] = (
            report["ratios"][0]["cpu"],
            RATIO_BAR,
            "at least",
        )
    report["bars"] = {
        what: {
            "value": value,
            "bar": bar,
            "met": value <= bar if how == "at most" else value >= bar,
        }
        for what, (value, bar, how) in bars.items()
    }
    show(report, bars)
    write(arguments.json, report)
    if arguments.check and not all(bar["met"] for bar in report["bars"].values()):
        raise SystemExit(1)


def run_all(
    workers: dict[str, Worker],
    name: str,
    arguments: argparse.Namespace,
    progress: Callable[[str], None],
) -> list[dict[str, Any]]:
    """Warm-up, then the systems in turn; the pipeline reads all sentences, too."""
    sample = 0 if arguments.no_peer else arguments.peer_words
    turns = [(name, 0)] if sample else []
    turns += [(system, sample) for system in workers]
    rows = []
    for doc_sentences in arguments.doc_sentences:
        runs: dict[tuple[str, int], list[dict[str, Any]]] = {turn: [] for turn in turns}
        for repeat in range(-1, arguments.repeats):
            for system, words in turns:
                run = workers[system].run(words, doc_sentences)
                progress(
                    f"{'warm-up' if repeat < 0 else f'run {repeat + 1}'}, {doc_sentences} to a Doc,"
                    f" {system}: {run['words']} words in {run['cpu_seconds']:.2f} CPU-seconds"
                )
                if repeat >= 0:
                    runs[system, words].append(run)
        if len({of[0]["checksum"] for (_, words), of in runs.items() if words == sample}) > 1:
            raise AssertionError("the systems did not read the same sentences")
        rows += [summary(system, doc_sentences, of) for (system, _), of in runs.items()]
    return rows


def ratios(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """The pipeline's speed over the peer's on the same sentences."""
    found = []
    for peer in rows:
        for row in rows:
            same = all(row[key] == peer[key] for key in ("doc_sentences", "sentences"))
            if peer["system"] != name and row["system"] == name and same:
                found.append(
                    {
                        "doc_sentences": row["doc_sentences"],
                        "cpu": row["words_per_cpu_second"] / peer["words_per_cpu_second"],
                        "wall": row["words_per_second"] / peer["words_per_second"],
                    }
                )
    return found


def show(report: dict[str, Any], bars: dict[str, tuple[float, float, str]]) -> None:
    print(f"{report['processor']}, {report['threads']} thread(s), medians of {report['repeats']}")
    for system, loaded in report["loaded"].items():
        names = ", ".join(f"{key} {value}" for key, value in loaded["versions"].items())
        disk = f", {loaded['disk_mb']:.1f} MB on disk" if loaded["disk_mb"] else ""
        print(f"{system} ({', '.join(loaded['pipes'])}{disk}): {names}")
    if report["peer"]:
        peer = report["peer"]
        print(
            f"benepar's encoder: {peer['layers']} layers x {peer['width']}, random; "
            f"{peer['parameters'] / 1e6:.0f} M parameters in all; {peer['labels']} labels"
        )
    print()
    print(
        f"{'':24}{'to a Doc':>9}{'sentences':>11}{'words':>9}{'words/CPU-s':>13}"
        f"{'words/s':>10}{'peak MB':>9}"
    )
    for row in report["rows"]:
        print(
            f"{row['system'][:23]:24}{row['doc_sentences']:9}{row['sentences']:11}"
            f"{row['words']:9,}{row['words_per_cpu_second']:13,.0f}"
            f"{row['words_per_second']:10,.0f}{row['peak_mb']:9,.0f}"
        )
    for ratio in report["ratios"]:
        print(
            f"on the same sentences, {ratio['doc_sentences']} to a Doc: {ratio['cpu']:.1f} times "
            f"the words per CPU-second, {ratio['wall']:.1f} times the words per second"
        )
    print()
    if any(name in SLOW for name in report["loaded"][report["pipeline"]]["versions"]):
        print(f"loading and memory include {', '.join(SLOW)}, which spaCy imports as it is there:")
    for what, (value, bar, how) in bars.items():
        met = "met" if report["bars"][what]["met"] else "MISSED"
        print(f"{what}: {value:.2f} ({how} {bar:g}: {met})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        work(json.loads(sys.argv[2]))
    else:
        main()
