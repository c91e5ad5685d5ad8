"""Train benepar with its own trainer, and export what it learned as its releases are.

    python benchmarks/benepar_training.py SOURCE ENCODER OUT --train train.spacy --dev dev.spacy
        [--every 3] [--dev-sentences 300] [--batch-size 16] [--learning-rate 2e-4] [--warmup 50]

SOURCE is a copy of benepar's repository, with EVALB compiled in SOURCE/EVALB; ENCODER a folder that
transformers reads. Of the training sentences every `--every`th is seen once; then the trainer
evaluates and saves, and is stopped. OUT gets the bracket files, the trainer's .pt file and the
folder `release`. The environment is that of `benepar_speed.py`. Sizes are those of benepar's
command for BERT: d_model 1024, two layers, tags.

Three things around benepar's code are replaced: the module `tokenizations`, which only text with
multi-word tokens needs, an option of PyTorch's scheduler that is gone, and nltk's reader of trees,
which by now reads nothing outside its own folders.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import types
from pathlib import Path
from typing import Any

import nltk
import spacy
import torch
from spacy.tokens import DocBin

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.trees.tree import ConstituentTree


class Trees:
    """In the place of nltk's reader: one tree a line."""

    def __init__(self, root: str, names: list[str]) -> None:
        self.paths = [Path(root, name) for name in names]

    def parsed_sents(self) -> list[nltk.Tree]:
        lines = [line for path in self.paths for line in path.read_text("utf-8").splitlines()]
        return list(map(nltk.Tree.fromstring, lines))


class Enough(Exception):
    """The trainer has saved what it learned."""


def write_trees(docs: list[Any], stem: Path) -> list[str]:
    """One tree a line, and the words as they were written; the trainer's options for both."""
    trees, text = stem.with_suffix(".trees"), stem.with_suffix(".text")
    with trees.open("w", encoding="utf8") as of_trees, text.open("w", encoding="utf8") as of_text:
        for doc in docs:
            words, tags = [t.text for t in doc], [t.tag_ for t in doc]
            of_trees.write(f"{ConstituentTree.from_spans(words, tags, get_constituents(doc))}\n")
            for token in doc:
                space = "_" if token.whitespace_ else "SpaceAfter=No"
                of_text.write(f"{token.i + 1}\t{token.text}\t{space}\n")
            of_text.write("\n")
    kind = stem.name
    return [f"--{kind}-path", str(trees), f"--{kind}-path-text", str(text)]


def read(path: Path, step: int = 1, most: int | None = None) -> list[Any]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))[::step][:most]


def train(arguments: argparse.Namespace, options: list[str]) -> Path:
    """The file that benepar's trainer saved."""
    sys.path.insert(0, str(arguments.source / "src"))
    sys.modules["tokenizations"] = types.ModuleType("tokenizations")
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau

    class Quiet(plateau):  # type: ignore[misc,valid-type]
        def __init__(self, *args: Any, verbose: bool, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    torch.optim.lr_scheduler.ReduceLROnPlateau = Quiet
    import learning_rates  # type: ignore[import-not-found]
    import main as benepar_main  # type: ignore[import-not-found]
    import treebanks  # type: ignore[import-not-found]

    treebanks.BracketParseCorpusReader = Trees

    step = learning_rates.WarmupThenReduceLROnPlateau.step

    def once(self: Any, metrics: float | None = None) -> None:
        if metrics is not None:
            raise Enough
        step(self)

    learning_rates.WarmupThenReduceLROnPlateau.step = once
    base = arguments.out / "trained"
    sys.argv = [
        *("main.py", "train", "--model-path-base", str(base), *options),
        *("--evalb-dir", str(arguments.source / "EVALB"), "--numpy-seed", "1"),
        *("--use-pretrained", "--pretrained-model", str(arguments.encoder)),
        *("--use-encoder", "--num-layers", "2", "--predict-tags", "--checks-per-epoch", "1"),
        *("--batch-size", str(arguments.batch_size), "--learning-rate"),
        *(str(arguments.learning_rate), "--learning-rate-warmup-steps", str(arguments.warmup)),
    ]
    with contextlib.suppress(Enough):
        benepar_main.main()
    return max(arguments.out.glob("trained_dev=*.pt"), key=lambda path: path.stat().st_mtime)


def export(checkpoint: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    import export as benepar_export  # type: ignore[import-not-found]

    sys.argv = ["export.py", "export", "--model-path", str(checkpoint), "--output-dir", str(folder)]
    benepar_export.main()


def absolute(name: str) -> Path:
    return Path(name).absolute()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name in ("source", "encoder", "out"):
        parser.add_argument(name, type=absolute)
    for name in ("--train", "--dev"):
        parser.add_argument(name, type=absolute, required=True, help="a .spacy file of sentences")
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--dev-sentences", type=int, default=300)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    parser.add_argument("--warmup", type=int, default=50)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    arguments.out.mkdir(parents=True, exist_ok=True)
    options = write_trees(read(arguments.train, arguments.every), arguments.out / "train")
    options += write_trees(read(arguments.dev, most=arguments.dev_sentences), arguments.out / "dev")
    export(train(arguments, options), arguments.out / "release")


if __name__ == "__main__":
    main()
