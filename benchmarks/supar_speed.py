"""Speed of supar's CRF constituency parser (Zhang et al. 2020), training and predicting.

    python benchmarks/supar_speed.py --train train.pid --test test.pid [--size default | reduced]
        [--features char | tag | none] [--lstm-layers N] [--lstm-hidden N] [--span-mlp N] ...
        [--batch-words 1200 5000] [--train-words 60000] [--predict-tokens 5000] [--lean]
        [--threads 1] [--repeats 3] [--json FILE]

It runs in an environment of its own and imports nothing of this package (spaCy isn't needed):

    python3.11 -m venv .supar-env
    .supar-env/bin/pip install torch==2.13.0 dill nltk numpy tqdm
    .supar-env/bin/pip install --no-deps supar==1.1.4

Nothing of supar 1.1.4 is patched: what it calls that later torch deprecates still works in 2.13.

The data are bracketed trees, one a line, under a root of their own. supar reads only the first
child of that root into its chart, which costs accuracy where there are several, not time.

What is timed is supar's own inner loops on its own batches: `_train` (padding of the batch, scores,
loss, backward pass, clipping, Adam) and `_predict` (padding, scores, marginals, minimum Bayes risk
decoding, trees). Reading files and looking words up come before; `from_words` in the JSON is
prediction with looking up and batching, from lists of words. Its batches are of sentences of
similar length; of an epoch, every k-th is taken, about `--train-words` in all. `--batch-words` are
words as such and what supar aims at; as every bucket has batches of its own, the mean, which the
table has, is smaller. `--predict-tokens` is in supar's unit, which counts a start and a stop with
every sentence; the default is its own.

Weights are random at first and trained during the warm-up and the timed steps alone; the parser
that predicts has seen those of the first of `--batch-words`. Scores decide no step of the dynamic
programs, only which nodes a tree has; the labelled F1 is printed to say how far training came, not
to compare accuracy. There are no pretrained word vectors, which would be one look-up and one sum
more.

supar computes marginals in every training step although the loss doesn't need them, which its
`train` does by default; `--lean` measures training without them, too (`mbr=False`).

`--size reduced` is a small model of words alone: two layers of 160, narrow perceptrons. Each
measurement is a process of its own; its CPU seconds include all threads, its peak memory includes
interpreter, libraries and the file it reads.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import dill
import torch
from measure import headline, machine, options, parsed, peak_mb, speed, timed, write
from supar import CRFConstituencyParser
from supar.models import CRFConstituencyModel
from supar.utils import Dataset
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR
from torch.utils.data import DataLoader

SIZES: dict[str, dict[str, Any]] = {
    "default": {
        "features": "char",
        "embed": 100,
        "feat_embed": 100,
        "char_embed": 50,
        "char_hidden": 100,
        "lstm_layers": 3,
        "lstm_hidden": 400,
        "span_mlp": 500,
        "label_mlp": 100,
    },
    "reduced": {
        "features": "none",
        "embed": 100,
        "feat_embed": 100,
        "char_embed": 50,
        "char_hidden": 100,
        "lstm_layers": 2,
        "lstm_hidden": 160,
        "span_mlp": 100,
        "label_mlp": 64,
    },
}

# as published for the parser with LSTMs; no setting changes the time of a step
ADAM = {"lr": 2e-3, "betas": (0.9, 0.9), "eps": 1e-12}
DECAY = 0.75 ** (1 / 5000)
CLIP = 5.0

TRAIN_BUCKETS = 32
PREDICT_BUCKETS = 8


class WordsModel(CRFConstituencyModel):
    """Without features: supar joins those of a list, which may not be empty."""

    def embed(self, words: torch.Tensor, feats: list[torch.Tensor]) -> torch.Tensor:
        (embedded,) = self.embed_dropout(self.word_embed(words))
        return embedded


class WordsParser(CRFConstituencyParser):
    MODEL = WordsModel


def build(train: Path, size: dict[str, Any]) -> dict[str, Any]:
    """Arguments and fields of a parser, with the vocabularies of the training data."""
    features = size["features"]
    widths = {f"n_{name}": value for name, value in size.items() if name != "features"}
    parser = kind_of(size).build(
        path="",
        build=True,
        train=str(train),
        encoder="lstm",
        feat=[] if features == "none" else [features],
        embed=None,
        n_pretrained=widths["n_embed"],  # another width would be added to the input
        **widths,
    )
    parser.args.update({"update_steps": 1, "clip": CLIP, "mbr": True, "prob": False})
    return {"parts": dill.dumps((parser.args, parser.transform))}


def kind_of(size: dict[str, Any]) -> type[CRFConstituencyParser]:
    return WordsParser if size["features"] == "none" else CRFConstituencyParser


def assemble(size: dict[str, Any], parts: bytes) -> CRFConstituencyParser:
    """The parser whose arguments and fields these are, with random weights."""
    kind = kind_of(size)
    args, transform = dill.loads(parts)
    return kind(args, kind.MODEL(**args), transform)


# What trainings for a given time share: supar_accuracy.py, supar_ud.py


def training_options(doc: str | None, data: str) -> Any:
    """A parser of the arguments of a training for a given time. data: what the files are."""
    parser = options(doc)
    for name in ("train", "dev", "test"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=data)
    parser.add_argument("--minutes", type=float, required=True, help="of processor time, to train")
    parser.add_argument("--batch-words", type=int, default=1200)
    parser.add_argument("--seed", type=int, default=1)
    return parser


def prepare(seed: int) -> None:
    """Before supar is made: no GPU, no warnings of deprecated calls in it, and the seed."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # supar takes a GPU where there is one
    warnings.filterwarnings("ignore", module="supar")
    torch.manual_seed(seed)


# What is measured, each in a process of its own


def measure_training(
    parser: CRFConstituencyParser,
    train: Path,
    batch_words: int,
    sample_words: int,
    marginals: bool,
    repeats: int,
    weights: Path | None,
) -> dict[str, Any]:
    """Steps on the same batches `repeats` times; the weights go to a file, if one is named."""
    parser.transform.train()
    dataset = Dataset(parser.transform, str(train))
    lengths = [len(words) for words in dataset.words]
    counted = (sum(lengths) + 2 * len(lengths)) / sum(lengths)
    dataset.build(round(batch_words * counted), TRAIN_BUCKETS, True)
    epoch = list(dataset.loader.batch_sampler)
    every = max(1, round(sum(lengths) / sample_words)) if sample_words else 1
    chosen = epoch[::every]
    loader, warm_up = (
        DataLoader(dataset, batch_sampler=rows, collate_fn=dataset.loader.collate_fn)
        for rows in (chosen, chosen[::5])
    )
    parser.args.mbr = marginals
    parser.optimizer = Adam(parser.model.parameters(), **ADAM)
    parser.scheduler = ExponentialLR(parser.optimizer, DECAY)

    before = peak_mb()
    parser._train(warm_up)
    batching = timed(lambda: sum(1 for _ in loader))
    runs = [timed(lambda: parser._train(loader)) for _ in range(repeats)]
    after = peak_mb()
    if weights is not None:
        torch.save(parser.model.state_dict(), weights)
    words = sum(lengths[k] for rows in chosen for k in rows)
    return {
        "what": "train",
        "batch_words": words / len(chosen),
        "marginals": marginals,
        "batches": len(chosen),
        "sentences": sum(map(len, chosen)),
        "batching_cpu_seconds": batching["cpu_seconds"],
        **speed(words, runs),
        "loaded_mb": before,
        "peak_mb": after,
    }


def measure_prediction(
    parser: CRFConstituencyParser,
    test: Path,
    batch_tokens: int,
    repeats: int,
    weights: Path,
) -> dict[str, Any]:
    parser.model.load_state_dict(torch.load(weights, weights_only=True))
    parser.transform.eval()
    dataset = Dataset(parser.transform, str(test))
    lengths = [len(words) for words in dataset.words]
    dataset.build(batch_tokens, PREDICT_BUCKETS)

    before = peak_mb()
    trees = parser._predict(dataset.loader)["trees"]
    if sorted(len(tree.leaves()) for tree in trees) != sorted(lengths):
        raise AssertionError("a sentence came back without its tree")
    batching = timed(lambda: sum(1 for _ in dataset.loader))
    runs = [timed(lambda: parser._predict(dataset.loader)) for _ in range(repeats)]
    after = peak_mb()
    sentences = [list(words) for words in dataset.words]

    def from_words() -> None:
        fresh = Dataset(parser.transform, sentences)
        fresh.build(batch_tokens, PREDICT_BUCKETS)
        parser._predict(fresh.loader)

    whole = [timed(from_words) for _ in range(repeats)]
    _, metric = parser.evaluate(str(test), verbose=False)
    return {
        "what": "predict",
        "from_words": speed(sum(lengths), whole),
        "batch_words": sum(lengths) / len(dataset.loader),
        "batches": len(dataset.loader),
        "sentences": len(lengths),
        "batching_cpu_seconds": batching["cpu_seconds"],
        **speed(sum(lengths), runs),
        "loaded_mb": before,
        "peak_mb": after,
        "labelled_f1": 100 * metric.lf,
    }


def apart(function: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    """Its answer, from a process that begins as a copy of this one."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)

    def work(answers: Connection) -> None:
        answers.send(function(*arguments))

    process = context.Process(target=work, args=(there,))
    process.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        raise SystemExit(f"{function.__name__} failed") from None
    finally:
        process.join()


# The report


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("--train", type=Path, required=True, help="bracketed trees, one a line")
    parser.add_argument("--test", type=Path, required=True, help="bracketed trees, one a line")
    parser.add_argument("--size", choices=SIZES, default="default")
    parser.add_argument("--features", choices=("char", "tag", "none"), help="beside words")
    for name in SIZES["default"]:
        if name != "features":
            parser.add_argument(f"--{name.replace('_', '-')}", type=int, help="instead of --size's")
    parser.add_argument("--batch-words", type=int, nargs="+", default=[1200, 5000])
    parser.add_argument("--train-words", type=int, default=60_000, help="0: the whole epoch")
    parser.add_argument("--predict-tokens", type=int, nargs="+", default=[5000], help="in a batch")
    parser.add_argument("--lean", action="store_true", help="also training without marginals")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parsed(parser)
    prepare(arguments.seed)

    size = {**SIZES[arguments.size]}
    for name in size:
        chosen = getattr(arguments, name)
        size[name] = size[name] if chosen is None else chosen
    supar = assemble(size, apart(build, arguments.train, size)["parts"])
    parameters = {name: p.numel() for name, p in supar.model.named_parameters()}
    report: dict[str, Any] = {
        **machine(arguments, "supar", "torch", "nltk", "numpy", "dill"),
        "dtype": str(next(supar.model.parameters()).dtype).removeprefix("torch."),
        "size": arguments.size,
        "settings": size,
        "words": supar.model.word_embed.num_embeddings,
        "labels": supar.args.n_labels,
        "parameters": sum(parameters.values()),
        "parameters_of_words": parameters["word_embed.weight"],
        "rows": [],
    }
    print(headline(report))
    print(f"{report['size']}: " + ", ".join(f"{name} {value}" for name, value in size.items()))
    print(
        f"{report['parameters']:,} parameters, {report['parameters_of_words']:,} of them of "
        f"{report['words']:,} words; {report['labels']} labels of spans"
    )
    print(
        f"\n{'':8}{'':16}{'words/batch':>12}{'words':>9}{'words/CPU-s':>13}{'(range)':>18}"
        f"{'words/s':>9}{'peak MB':>9}"
    )
    with tempfile.TemporaryDirectory() as folder:
        weights = Path(folder, "weights.pt")
        for words in arguments.batch_words:
            for marginals in (True, False) if arguments.lean else (True,):
                keep = weights if marginals and words == arguments.batch_words[0] else None
                row = apart(
                    measure_training,
                    supar,
                    arguments.train,
                    words,
                    arguments.train_words,
                    marginals,
                    arguments.repeats,
                    keep,
                )
                report["rows"].append(row)
                show(row)
        for tokens in arguments.predict_tokens:
            row = apart(
                measure_prediction, supar, arguments.test, tokens, arguments.repeats, weights
            )
            report["rows"].append(row)
            show(row)
    print(f"\nlabelled F1 of the parser that predicted: {row['labelled_f1']:.1f}")
    write(arguments.json, report)


def show(row: dict[str, Any]) -> None:
    how = "" if row.get("marginals", True) else "no marginals"
    spread = f"({row['words_per_cpu_second_min']:,.0f}-{row['words_per_cpu_second_max']:,.0f})"
    print(
        f"{row['what']:8}{how:16}{row['batch_words']:12,.0f}{row['words']:9,}"
        f"{row['words_per_cpu_second']:13,.0f}{spread:>18}{row['words_per_second']:9,.0f}"
        f"{row['peak_mb']:9,.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
