"""benepar 0.2.0 beside this package: speed, memory and equal results.

    python benchmarks/peer_benepar.py build DATA FOLDER
    python benchmarks/peer_benepar.py train SOURCE ENCODER FOLDER --train TRAIN --dev DEV
    python benchmarks/peer_benepar.py equal FOLDER FILE.spacy…
    python benchmarks/peer_benepar.py speed FOLDER DATA [--pipeline en_lal_sm]

One environment holds benepar with torch-struct, transformers 4 and this package (README.md). FOLDER
is a release of benepar's. `build` makes one in its published English arrangement (two
self-attention layers of 1024, tags) around an encoder of BERT-base's size, with random weights and
a vocabulary of DATA's words, so that nearly every word is one piece. `train` makes one with
benepar's own trainer.

`equal` compares trees and tags of an imported release with those of benepar's own code, and the
label scores of every tenth sentence. `speed` compares benepar's component with the pipeline that
`lal import` makes of the release, or with --pipeline: gold tokens and sentence starts, each system
in a process of its own, in turn after one warm-up, CPU seconds of all threads and children.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import measure
import spacy
import torch
import typer
from spacy.tokens import Doc, DocBin

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.structure.binarise import collapse_unaries
from spacy_lal.trees.tree import ConstituentTree

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
VOCABULARY = 30_522
HPARAMS = {
    **{"use_pretrained": True, "use_chars_lstm": False, "use_encoder": True, "num_layers": 2},
    **{"d_model": 1024, "num_heads": 8, "d_kv": 64, "d_ff": 2048, "encoder_max_len": 512},
    **{"morpho_emb_dropout": 0.2, "attention_dropout": 0.2, "relu_dropout": 0.1},
    **{"residual_dropout": 0.2, "d_label_hidden": 256, "d_tag_hidden": 256},
    **{"predict_tags": True, "tag_loss_scale": 5.0, "force_root_constituent": False},
}


def read_docs(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


def sentences(docs: list[Doc], vocab: Any, per_doc: int = 1, words: int = 0) -> Iterator[Doc]:
    """Yield Docs of so many sentences without annotations; benepar also reads whitespace tokens.
    words: number of words, from every k-th sentence; 0 for all."""
    found = [s for doc in docs for s in doc.sents if not any(token.is_space for token in s)]
    found = found[:: max(1, sum(map(len, found)) // words)] if words else found
    for first in range(0, len(found), per_doc):
        tokens = [token for sentence in found[first : first + per_doc] for token in sentence]
        yield Doc(
            vocab,
            [token.text for token in tokens],
            [bool(token.whitespace_) for token in tokens],
            sent_starts=[token.i == token.sent.start for token in tokens],
        )


@app.command()
def build(data: Path, folder: Path, width: int = 768, layers: int = 12) -> None:
    """Write a release with random weights and the labels, tags and words of DATA.
    width, layers: of the encoder; by default BERT-base's."""
    from benepar.nkutil import HParams
    from benepar.parse_chart import ChartParser
    from transformers import BertConfig, BertTokenizerFast

    labels, tags, forms = {""}, set[str](), set[str]()
    for doc in read_docs(data):
        labels.update(label for *_, label in collapse_unaries(get_constituents(doc)))
        tags.update(token.tag_ for token in doc)
        forms.update(token.text.lower() for token in doc)
    # BERT's tokenizer splits at punctuation before it looks pieces up
    pieces = {piece for form in forms for piece in re.findall(r"\w+|[^\w\s]", form)}
    characters = sorted({c for form in forms for c in form})
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary += [*characters, *(f"##{c}" for c in characters)]
    vocabulary += sorted(pieces - set(characters))[: VOCABULARY - len(vocabulary)]
    vocabulary += [f"[unused{k}]" for k in range(VOCABULARY - len(vocabulary))]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf8")
    tokenizer = BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), model_max_length=512)
    tokenizer.save_pretrained(folder)
    hparams = HParams(**HPARAMS)
    parts = {
        "tag_vocab": {tag: k for k, tag in enumerate(["UNK", *sorted(tags - {""})])},
        "label_vocab": {label: k for k, label in enumerate(sorted(labels))},
        "char_vocab": {},
    }
    size = {"hidden_size": width, "intermediate_size": 4 * width, "num_hidden_layers": layers}
    encoder = BertConfig(vocab_size=VOCABULARY, **size)
    encoder.benepar = {**parts, "hparams": hparams.to_dict()}
    encoder.save_pretrained(folder)
    torch.manual_seed(0)
    parser = ChartParser(**parts, hparams=hparams, pretrained_model_path=str(folder))
    # otherwise all spans of a sentence have the same score
    for name, parameter in parser.named_parameters():
        if name.startswith("f_label."):
            parameter.data += 0.1 * torch.randn_like(parameter)
    torch.save(parser.state_dict(), folder / "benepar_model.bin")


class Trees:
    """A replacement of nltk's reader, which now reads only its own folders."""

    def __init__(self, root: str, names: list[str]) -> None:
        self.paths = [Path(root, name) for name in names]

    def parsed_sents(self) -> list[Any]:
        import nltk

        lines = [line for path in self.paths for line in path.read_text("utf-8").splitlines()]
        return list(map(nltk.Tree.fromstring, lines))


class Enough(Exception):
    """Raised when the trainer has saved its weights."""


def write_trees(docs: list[Doc], stem: Path) -> list[str]:
    """Write one tree a line, and the original words. Returns the trainer's options for both."""
    trees, text = stem.with_suffix(".trees"), stem.with_suffix(".text")
    with trees.open("w", encoding="utf8") as of_trees, text.open("w", encoding="utf8") as of_text:
        for doc in docs:
            words, tags = [t.text for t in doc], [t.tag_ for t in doc]
            of_trees.write(f"{ConstituentTree.from_spans(words, tags, get_constituents(doc))}\n")
            for token in doc:
                space = "_" if token.whitespace_ else "SpaceAfter=No"
                of_text.write(f"{token.i + 1}\t{token.text}\t{space}\n")
            of_text.write("\n")
    return [f"--{stem.name}-path", str(trees), f"--{stem.name}-path-text", str(text)]


@app.command("train")
def train_release(
    source: Path,
    encoder: Path,
    folder: Path,
    train: Path,
    dev: Path,
    every: int = 3,
    dev_sentences: int = 300,
    batch_size: int = 16,
    learning_rate: float = 2e-4,
    warmup: int = 50,
) -> None:
    """Train with SOURCE, a copy of benepar's repository with EVALB compiled in it.

    Every `every`th training sentence is seen once; then the trainer evaluates and saves, and is
    stopped. Replaced are the module `tokenizations`, which only text with multi-word tokens needs,
    a removed option of PyTorch's scheduler, and nltk's reader of trees.
    """
    torch.set_num_threads(1)
    source, encoder, folder = source.absolute(), encoder.absolute(), folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    options = write_trees(read_docs(train)[::every], folder / "train")
    options += write_trees(read_docs(dev)[:dev_sentences], folder / "dev")
    sys.path.insert(0, str(source / "src"))
    sys.modules["tokenizations"] = types.ModuleType("tokenizations")
    plateau: Any = torch.optim.lr_scheduler.ReduceLROnPlateau

    class Quiet(plateau):  # type: ignore[misc,valid-type]
        def __init__(self, *args: Any, verbose: bool, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    torch.optim.lr_scheduler.ReduceLROnPlateau = Quiet  # type: ignore[misc]
    import export  # type: ignore[import-not-found]
    import learning_rates  # type: ignore[import-not-found]
    import main as trainer  # type: ignore[import-not-found]
    import treebanks  # type: ignore[import-not-found]

    treebanks.BracketParseCorpusReader = Trees
    step = learning_rates.WarmupThenReduceLROnPlateau.step

    def once(self: Any, metrics: float | None = None) -> None:
        if metrics is not None:
            raise Enough
        step(self)

    learning_rates.WarmupThenReduceLROnPlateau.step = once
    sys.argv = [
        *("main.py", "train", "--model-path-base", str(folder / "trained"), *options),
        *("--evalb-dir", str(source / "EVALB"), "--numpy-seed", "1", "--use-pretrained"),
        *("--pretrained-model", str(encoder), "--use-encoder", "--num-layers", "2"),
        *("--predict-tags", "--checks-per-epoch", "1", "--batch-size", str(batch_size)),
        *("--learning-rate", str(learning_rate), "--learning-rate-warmup-steps", str(warmup)),
    ]
    with contextlib.suppress(Enough):
        trainer.main()
    saved = max(folder.glob("trained_dev=*.pt"), key=lambda path: path.stat().st_mtime)
    (folder / "release").mkdir(exist_ok=True)
    out = str(folder / "release")
    sys.argv = ["export.py", "export", "--model-path", str(saved), "--output-dir", out]
    export.main()


@app.command()
def equal(folder: Path, files: list[Path], every: int = 1) -> None:
    """Compare trees, tags and scores. A sentence at which benepar fails counts as refused."""
    from benepar.integrations.spacy_plugin import BeneparComponent, SentenceWrapper

    from spacy_lal.published.benepar_checkpoints import read_benepar
    from spacy_lal.structure.chart import unpack

    torch.set_num_threads(1)
    theirs = BeneparComponent(str(folder))._parser
    nlp = read_benepar(folder)
    names = {k: label for label, k in theirs.config["label_vocab"].items()}
    tags = {k: tag for tag, k in theirs.config["tag_vocab"].items()}
    docs, wanted, scores, refused = [], [], [], 0
    for doc in (d for path in files for d in sentences(read_docs(path)[::every], nlp.vocab)):
        wrapped = [SentenceWrapper(doc[:])]
        try:
            (found,) = theirs.parse(wrapped, return_compressed=True)
            with_scores = len(docs) % 10 == 0
            chart = theirs.parse(wrapped, return_scores=True)[0] if with_scores else None
        except Exception:  # each kind of text has its own error
            refused += 1
            continue
        spans = zip(found.starts.tolist(), found.ends.tolist(), found.labels.tolist(), strict=True)
        tree = [(s, e, label) for s, e, k in spans if k for label in names[k].split("::")]
        docs.append(doc)
        scores.append(chart)
        wanted.append((tree, [tags[k] for k in found.tags.tolist()]))
    worst = 0.0
    with torch.no_grad():
        for batch in nlp.get_pipe("lal_constituency").model.predict(docs).batches:
            charts = unpack(batch.scores.labels, batch.scores.tags.shape[1])
            for chart, member in zip(charts, batch.members, strict=True):
                if scores[member] is not None:
                    expected = torch.from_numpy(scores[member])
                    n = len(expected)
                    spans = torch.ones(n, n, dtype=torch.bool).triu()
                    off = (chart[:n, 1 : n + 1] - expected).abs()[spans].max().item()
                    worst = max(worst, off)
    parsed = list(nlp.pipe(docs))
    trees = sum(get_constituents(d) != tree for d, (tree, _) in zip(parsed, wanted, strict=True))
    tagged = sum([t.tag_ for t in d] != own for d, (_, own) in zip(parsed, wanted, strict=True))
    compared = sum(chart is not None for chart in scores)
    print(f"{len(docs)} sentences, {refused} refused; other trees {trees}, other tags {tagged}")
    print(f"scores of {compared} sentences differ by at most {worst:.1e}")


@app.command("speed")
def compare_speed(
    folder: Path,
    data: Path,
    pipeline: str | None = None,
    words: int = 4000,
    doc_sentences: int = 32,
    threads: int = 1,
    repeats: int = 3,
) -> None:
    """Time both systems on every k-th sentence of DATA, about WORDS words; 0 for all."""
    if pipeline is None:
        pipeline = f"{folder}_imported"
        if not Path(pipeline).exists():
            command = [sys.executable, "-m", "spacy", "lal", "import", "benepar"]
            subprocess.run([*command, str(folder), pipeline], check=True)
    systems = {}
    for name, model in (("benepar", str(folder)), (Path(pipeline).name, pipeline)):
        settings = json.dumps([name, model, str(data), words, doc_sentences, threads])
        systems[name] = subprocess.Popen(
            [sys.executable, __file__, "work", settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ, OMP_NUM_THREADS=str(threads), TOKENIZERS_PARALLELISM="false"),
            text=True,
        )
    rows = {name: json.loads(process.stdout.readline()) for name, process in systems.items()}  # type: ignore[union-attr]
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
    for _ in range(1 + repeats):  # the first warms up
        for name, process in systems.items():
            print("run", file=process.stdin, flush=True)
            runs[name].append(json.loads(process.stdout.readline()))  # type: ignore[union-attr]
    for name, process in systems.items():
        process.communicate()
        rows[name] |= measure.speed(rows[name]["words"], runs[name][1:])
        rows[name]["peak_mb"] = runs[name][-1]["peak_mb"]
    theirs, ours = (found[0]["trees"] for found in runs.values())
    other = sum(a != b for a, b in zip(theirs, ours, strict=True))
    print(measure.versions("torch", "spacy", "benepar", "transformers"), measure.processor())
    print(measure.table([{"system": name} | row for name, row in rows.items()]))
    print(f"{len(ours)} sentences, {other} with another tree")


@app.command(hidden=True)
def work(settings: str) -> None:
    """Load a system, then parse once for every line of the input."""
    name, model, data, words, doc_sentences, threads = json.loads(settings)
    torch.set_num_threads(threads)
    start = time.process_time()
    if name == "benepar":
        import benepar  # noqa: F401

        nlp = spacy.blank("en")
        nlp.add_pipe("benepar", config={"model": model})
    else:
        nlp = spacy.load(model, exclude=["lisa_srl"])  # benepar has no roles
    loaded = time.process_time() - start
    docs = list(sentences(read_docs(Path(data)), nlp.vocab, doc_sentences, words))
    print(json.dumps({"load_seconds": loaded, "words": sum(map(len, docs))}), flush=True)
    for _ in sys.stdin:
        fresh = [doc.copy() for doc in docs]
        found: list[Doc] = []
        run = measure.timed(lambda docs=fresh, out=found: out.extend(nlp.pipe(docs)))
        trees = [brackets(name, sentence) for doc in found for sentence in doc.sents]
        print(json.dumps({**run, "peak_mb": measure.peak_mb(), "trees": trees}), flush=True)


def brackets(system: str, sentence: Any) -> list[Any]:
    """Return the labelled spans of a sentence, in order."""
    if system == "benepar":
        spans = sentence._.constituents
        return sorted([s.start, s.end, label] for s in spans for label in s._.labels)
    spans = sentence.doc.spans["constituents"]
    inside = [s for s in spans if sentence.start <= s.start and s.end <= sentence.end]
    return sorted([s.start, s.end, s.label_] for s in inside)


if __name__ == "__main__":
    app()
