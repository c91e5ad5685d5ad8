"""supar 1.1.4 for comparison: speed of its CRF parser, and its parsers' scores after a given time.

    python benchmarks/peer_supar.py speed --train train.pid --test test.pid [--size reduced]
    python benchmarks/peer_supar.py trees --train … --dev … --test … --predicted FILE --minutes 30
    python benchmarks/peer_supar.py heads --train … --dev … --test … --minutes 5

It runs in an environment without this package (README.md). `speed` and `trees` read bracketed
trees, one a line, under a root with one child; `heads` reads CoNLL-U files. supar is not patched.

`speed` times supar's own inner loops on its own batches, from sentences in memory: `_train`
(padding, scores, loss, backward pass, clipping, Adam; supar computes unneeded marginals in every
step) and `_predict` (padding, scores, marginals, minimum Bayes risk decoding, trees). Batches aim
at `--batch-words`; every k-th of an epoch is taken, about `--train-words` in all.

`trees` trains the CRF parser (Zhang et al. 2020), `heads` the biaffine parser (Dozat and Manning
2017), each in supar's default size with its published optimizer, on words and characters, no tags.
Training stops after the first epoch at whose end `--minutes` of processor time were spent on
training steps. The best weights on the development set read the test set. `lal score trees` scores
the predicted trees; heads are scored as in CoNLL 2018: all words, relations without subtypes.
"""

from __future__ import annotations

import argparse
import copy
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from measure import machine, options, parsed, peak_mb, speed, table, timed, write
from supar import BiaffineDependencyParser, CRFConstituencyParser
from supar.models import CRFConstituencyModel
from supar.utils import Dataset
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR
from torch.utils.data import DataLoader

SIZES = {
    "default": {"n_lstm_layers": 3, "n_lstm_hidden": 400, "n_span_mlp": 500, "n_label_mlp": 100},
    # words alone, with narrow perceptrons
    "reduced": {"n_lstm_layers": 2, "n_lstm_hidden": 160, "n_span_mlp": 100, "n_label_mlp": 64},
}
# as published for parsers with LSTMs
ADAM = {"lr": 2e-3, "betas": (0.9, 0.9), "eps": 1e-12}
DECAY = 0.75 ** (1 / 5000)
CLIP = 5.0
TRAIN_BUCKETS, TEST_BUCKETS, TEST_WORDS = 32, 8, 5000
PACKAGES = ("supar", "torch", "nltk", "numpy", "dill")


class WordsModel(CRFConstituencyModel):
    """A model without features; supar joins a list of them, which may not be empty."""

    def embed(self, words: torch.Tensor, feats: list[torch.Tensor]) -> torch.Tensor:
        (embedded,) = self.embed_dropout(self.word_embed(words))
        return embedded


class WordsParser(CRFConstituencyParser):
    MODEL = WordsModel


def build(kind: type, train: Any, features: list[str], **settings: Any) -> Any:
    """Return a parser with the training data's vocabularies and supar's optimizer."""
    parser = kind.build(
        path="", build=True, train=str(train), encoder="lstm", feat=features, embed=None, **settings
    )
    of_training = {"update_steps": 1, "clip": CLIP, "mbr": True, "prob": False, "partial": False}
    # the metric ignores only roots; treebanks ignore various other labels
    of_scores = {"delete": {"TOP", ""}, "equal": {}, "punct": True, "tree": True, "proj": False}
    parser.args.update(of_training | of_scores)
    parser.transform.train()
    parser.optimizer = Adam(parser.model.parameters(), **ADAM)
    parser.scheduler = ExponentialLR(parser.optimizer, DECAY)
    return parser


def read(parser: Any, path: Any, words: int = TEST_WORDS, training: bool = False) -> Dataset:
    data = Dataset(parser.transform, str(path))
    data.build(words, TRAIN_BUCKETS if training else TEST_BUCKETS, training)
    return data


def measured_speed(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return rows of training and prediction."""
    reduced = arguments.size == "reduced"
    kind, features = (WordsParser, []) if reduced else (CRFConstituencyParser, ["char"])
    widths = {"n_embed": 100, "n_pretrained": 100, "n_feat_embed": 100, "n_char_hidden": 100}
    parser = build(kind, arguments.train, features, **widths, **SIZES[arguments.size])
    rows = []
    for words in arguments.batch_words:
        plain = Dataset(parser.transform, str(arguments.train))
        lengths = [len(sentence) for sentence in plain.words]
        # supar counts a start and a stop with every sentence
        counted = (sum(lengths) + 2 * len(lengths)) / sum(lengths)
        data = read(parser, arguments.train, round(words * counted), training=True)
        epoch = list(data.loader.batch_sampler)
        chosen = epoch[:: max(1, round(sum(lengths) / arguments.train_words))]
        collate = data.loader.collate_fn
        loader = DataLoader(data, batch_sampler=chosen, collate_fn=collate)
        parser._train(DataLoader(data, batch_sampler=chosen[::5], collate_fn=collate))
        runs = [timed(partial(parser._train, loader)) for _ in range(arguments.repeats)]
        total = sum(lengths[k] for batch in chosen for k in batch)
        rows.append({"what": "train", "words_per_batch": total / len(chosen), **speed(total, runs)})
    parser.transform.eval()
    data = read(parser, arguments.test)
    total = sum(len(sentence) for sentence in data.words)
    parser._predict(data.loader)
    runs = [timed(lambda: parser._predict(data.loader)) for _ in range(arguments.repeats)]
    rows.append({"what": "predict", **speed(total, runs), "peak_mb": peak_mb()})
    return rows


def trained(parser: Any, arguments: argparse.Namespace, score: Callable[[Dataset], float]) -> Any:
    """Train for the given time, restore the best weights, and return a report."""
    train = read(parser, arguments.train, arguments.batch_words[0], training=True)
    dev = read(parser, arguments.dev)
    epochs: list[dict[str, float]] = []
    spent, best, weights = 0.0, -1.0, {}
    while spent < 60 * arguments.minutes:
        begun = time.process_time()
        parser._train(train.loader)
        spent += time.process_time() - begun
        epochs.append({"cpu_seconds": spent, "dev": score(dev)})
        print(f"epoch {len(epochs)}  {spent:7.0f} s  {epochs[-1]['dev']:.2f}", flush=True)
        if epochs[-1]["dev"] > best:
            best, weights = epochs[-1]["dev"], copy.deepcopy(parser.model.state_dict())
    parser.model.load_state_dict(weights)
    return {"epochs": epochs, "training_cpu_seconds": spent, "best_dev": best}


def train_trees(arguments: argparse.Namespace) -> dict[str, Any]:
    parser = build(CRFConstituencyParser, arguments.train, ["char"])
    report = trained(parser, arguments, lambda data: 100 * parser._evaluate(data.loader)[1].lf)
    # other options come from supar's files
    parser.predict(str(arguments.test), pred=str(arguments.predicted), verbose=False)
    return report


def train_heads(arguments: argparse.Namespace) -> dict[str, Any]:
    parser = build(BiaffineDependencyParser, arguments.train, ["char"])
    report = trained(parser, arguments, lambda data: attachment(parser, data)["las"])
    return report | attachment(parser, read(parser, arguments.test))


def attachment(parser: Any, data: Dataset) -> dict[str, float]:
    """Return UAS and LAS in percent."""
    gold = [(s.arcs, s.rels) for batch in data.loader for s in batch.sentences]
    found = parser._predict(data.loader)
    words = heads = both = 0
    for (arcs, rels), own_arcs, own_rels in zip(gold, found["arcs"], found["rels"], strict=True):
        for arc, rel, own, label in zip(arcs, rels, own_arcs, own_rels, strict=True):
            words += 1
            heads += int(arc) == own
            both += int(arc) == own and rel.split(":")[0] == label.split(":")[0]
    return {"uas": 100 * heads / words, "las": 100 * both / words}


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("what", choices=("speed", "trees", "heads"))
    for name in ("train", "dev", "test"):
        parser.add_argument(f"--{name}", required=name != "dev", help="a file")
    parser.add_argument("--predicted", help="file of trees to write")
    parser.add_argument("--minutes", type=float, help="of processor time, to train")
    parser.add_argument("--size", choices=SIZES, default="default")
    parser.add_argument("--batch-words", type=int, nargs="+", default=[1200])
    parser.add_argument("--train-words", type=int, default=60_000, help="of the timed steps")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parsed(parser)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # supar uses any GPU
    warnings.filterwarnings("ignore", module="supar")
    torch.manual_seed(arguments.seed)
    report = machine(arguments, *PACKAGES)
    if arguments.what == "speed":
        report["rows"] = measured_speed(arguments)
        print(table(report["rows"]))
    else:
        report |= (train_trees if arguments.what == "trees" else train_heads)(arguments)
        print({key: value for key, value in report.items() if isinstance(value, float)})
    write(arguments.json, report)


if __name__ == "__main__":
    main()
