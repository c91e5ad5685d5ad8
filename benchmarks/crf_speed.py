"""Speed of the two-stage CRF parsers, training and predicting, in supar's sizes; training memory.

    python benchmarks/crf_speed.py [--train projects/ewt/corpus/train.spacy]
        [--test projects/ewt/corpus/test.spacy] [--batch-words 1131] [--train-words 20000]
        [--repeats 3]

The parsers are those of crf_rows.json in the sizes of peer_supar.py: "crf", a BiLSTM and biaffine
spans; "spanformer", the same with a transformer layer over spans. Widths, numbers of layers, full
matrices of labels, float32 and dropout are supar's. Unlike supar, they predict tags after the first
layer, and read them in the next.

Training time is that of `nlp.update` (copies of the Docs, gold trees, padding, scores, loss,
backward pass, clipping, Adam with moving averages) on batches of similar length of `--batch-words`
words each, the mean of supar's own when it aims at 1,200; every k-th batch of an epoch is taken,
about `--train-words` in all. Prediction time is that of `nlp.pipe` (tags and trees on Docs
included) over the test set in one batch, as supar, too, sorts its whole file by length. Weights are
hardly trained. Memory is the most, in MB, that tensors of these updates hold at once beside weights
and optimizer: Floquet et al., section 3.1, whose batches are `--batch-words 5000`. CPU seconds are
those of all threads; medians, variants in turn after one warm-up each.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
from measure import (
    bare,
    machine,
    options,
    parsed,
    read_examples,
    speed,
    table,
    tensors_mb,
    timed,
    write,
)
from spacy.language import Language
from spacy.training import Example
from spacy.util import fix_random_seed
from thinc.api import Adam

DROPOUT = 0.33
ROWS = {"@misc": "spacy-lal.BiLSTMRows.v1", "tag_depth": 1, "tag_width": 8}
SIZES: dict[str, dict[str, Any]] = {
    "reduced": {
        "tok2vec": {
            "@architectures": "spacy-lal.WordAffixEmbed.v1",
            # supar's 100 features of words: 36 of the word and 8 of each affix
            **{"word_width": 36, "affix_width": 8},
        },
        "input_encoder": {**ROWS, "hidden_width": 160, "depth": 2},
        "spans": {"span_width": 100, "label_width": 64},
    },
    "default": {
        "tok2vec": {
            "@architectures": "spacy-lal.WordCharEmbed.v1",
            **{"word_width": 100, "char_width": 50, "char_hidden_width": 50},
        },
        "input_encoder": {**ROWS, "hidden_width": 400, "depth": 3},
        "spans": {"span_width": 500, "label_width": 100},
    },
}
VARIANTS = ("crf", "spanformer")


def model_config(size: str, variant: str) -> dict[str, Any]:
    parts = SIZES[size]
    kind = "Transformer" if variant == "spanformer" else "Biaffine"
    return {
        "@architectures": "spacy-lal.TwoStageParser.v1",
        **parts,
        "encoder": {"@misc": "spacy-lal.LabelAttentionEncoder.v1", "heads": 0},
        "spans": {"@misc": f"spacy-lal.{kind}Spans.v1", **parts["spans"], "label_rank": None},
    }


def batches_of(examples: list[Example], batch_words: int, sample_words: int) -> list[list[Example]]:
    """Return batches of sentences of similar length, with about `sample_words` words in all."""
    batches: list[list[Example]] = [[]]
    words = 0
    for example in sorted(examples, key=lambda example: len(example.reference)):
        n = len(example.reference)
        if batches[-1] and words + n / 2 > batch_words:
            batches.append([])
            words = 0
        batches[-1].append(example)
        words += n
    total = sum(len(example.reference) for example in examples)
    every = max(1, round(total / sample_words))
    return batches[every // 2 :: every]


def pipeline(size: str, variant: str, vocab: Any, examples: list[Example]) -> Language:
    """Return a parser with random weights and the examples' vocabulary and labels."""
    fix_random_seed(0)
    nlp = spacy.blank("en", vocab=vocab)
    factory = "spanformer" if variant == "spanformer" else "lal_constituency"
    nlp.add_pipe(factory, config={"model": model_config(size, variant)})
    nlp.initialize(lambda: examples)
    return nlp


def steps(
    nlp: Language, batches: list[list[Example]], test: list[Any]
) -> dict[str, Callable[[], None]]:
    """Return the timed functions."""
    sgd = Adam(2e-3, beta1=0.9, beta2=0.9, eps=1e-12, L2=0.0, grad_clip=5.0)

    def train() -> None:
        for batch in batches:
            nlp.update(batch, drop=DROPOUT, sgd=sgd)

    def predict() -> None:
        for doc in nlp.pipe(bare(test), batch_size=len(test)):
            if "constituents" not in doc.spans:
                raise AssertionError("a Doc came back without a parse")

    return {"train": train, "predict": predict}


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("--train", type=Path, default=Path("projects/ewt/corpus/train.spacy"))
    parser.add_argument("--test", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--batch-words", type=int, default=1131)
    parser.add_argument("--train-words", type=int, default=20_000)
    arguments = parsed(parser)
    report = machine(arguments, "spacy", "thinc", "torch", "numpy", "spacy-lal")
    nlp = spacy.blank("en")
    examples = read_examples(arguments.train, nlp)
    test = [example.reference for example in read_examples(arguments.test, nlp)]
    batches = batches_of(examples, arguments.batch_words, arguments.train_words)
    words = {
        "train": sum(len(example.reference) for batch in batches for example in batch),
        "predict": sum(map(len, test)),
    }
    runs: dict[tuple[str, str, str], list[dict[str, float]]] = {}
    memory: list[dict[str, Any]] = []
    for size in SIZES:
        of = {v: steps(pipeline(size, v, nlp.vocab, examples), batches, test) for v in VARIANTS}
        for repeat in range(1 + arguments.repeats):  # the first warms up
            for variant, named in of.items():
                for what, step in named.items():
                    found = timed(step)
                    if repeat:
                        runs.setdefault((size, variant, what), []).append(found)
        memory += [
            {
                "size": size,
                "variant": variant,
                "what": "memory",
                "peak_mb": tensors_mb(step["train"]),
            }
            for variant, step in of.items()
        ]
    report["rows"] = [
        {"size": size, "variant": variant, "what": what, **speed(words[what], found)}
        for (size, variant, what), found in runs.items()
    ] + memory
    print(table(report["rows"]))
    write(arguments.json, report)


if __name__ == "__main__":
    main()
