"""Speed of the two-stage CRF parsers, training and predicting, beside supar.

    python benchmarks/crf_speed.py [--train projects/ewt/corpus/train.spacy]
        [--test projects/ewt/corpus/test.spacy]
        [--size reduced default] [--variant crf heads spanformer] [--batch-words 1131 3483]
        [--train-words 20000] [--repeats 3] [--threads 1] [--json FILE]
        [--supar PYTHON TRAIN TEST [--check]]

The parsers of crf_rows.json in supar's two sizes (see supar_speed.py): "crf", a BiLSTM and
biaffine spans; "heads", the same with 64 label attention heads; "spanformer", the same with a
transformer layer over spans. Their layers are as wide and as many as supar's, labels have full
matrices, products are float32, dropout is supar's. In "reduced", whose supar reads 100 features of
words alone, `WordAffixEmbed` has 36 of the word and 8 of each affix, 100 in all. What supar doesn't
do: they predict tags, too, after the first layer, and read them in the next one.

Timed in training is `nlp.update` (copies of the Docs, gold trees, padding, scores, loss, backward
pass, clipping, Adam with moving averages); Examples are made before, as spaCy keeps them between
epochs. Batches are sentences of similar length, `--batch-words` words each, the mean of supar's own
batches when it aims at 1,200 and 5,000; of an epoch, every k-th is taken, about `--train-words` in
all. Timed in prediction is `nlp.pipe` (tags and trees on Docs included) over the test set's words,
one sentence a Doc, made before, all in one batch, since supar, too, sorts its whole file by length.
Weights are random at first and have seen the timed batches when they predict. CPU seconds are those
of this process and all its threads; one warm-up each, variants in turn, medians.

With `--supar`, supar_speed.py runs in the environment of that interpreter, on the same treebank as
bracketed trees, between two rounds of these measurements (A B A). Its batches aim at 1,200 and
5,000 words, whatever `--batch-words` says. `--check` exits with 1 unless "crf" trains and predicts
1.5 times as many words a CPU-second.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import spacy
from measure import bare, headline, machine, options, parsed, read_examples, speed, timed, write
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import fix_random_seed
from spacy.vocab import Vocab
from thinc.api import Adam

RATIO_BAR = 1.5
SUPAR_BATCHES = (1200, 5000)
DROPOUT = 0.33
LEARN_RATE = 2e-3

ROWS = {"@misc": "spacy-lal.BiLSTMRows.v1", "tag_depth": 1, "tag_width": 8}
NO_HEADS = {"@misc": "spacy-lal.LabelAttentionEncoder.v1", "heads": 0}

SIZES: dict[str, dict[str, Any]] = {
    "reduced": {
        "tok2vec": {
            "@architectures": "spacy-lal.WordAffixEmbed.v1",
            "word_width": 36,
            "affix_width": 8,
        },
        "input_encoder": {**ROWS, "hidden_width": 160, "depth": 2},
        "spans": {"span_width": 100, "label_width": 64},
    },
    "default": {
        "tok2vec": {
            "@architectures": "spacy-lal.WordCharEmbed.v1",
            "word_width": 100,
            "char_width": 50,
            "char_hidden_width": 50,
        },
        "input_encoder": {**ROWS, "hidden_width": 400, "depth": 3},
        "spans": {"span_width": 500, "label_width": 100},
    },
}

VARIANTS = ("crf", "heads", "spanformer")


def model_config(size: str, variant: str) -> dict[str, Any]:
    parts = copy.deepcopy(SIZES[size])
    rows, encoder = parts["input_encoder"], NO_HEADS
    spans = {"@misc": "spacy-lal.BiaffineSpans.v1", **parts["spans"], "label_rank": None}
    if variant == "heads":
        rows = {
            "@misc": "spacy-lal.BranchRows.v1",
            "width": 128,
            "content": "tag",
            "bilstm": rows,
        }
        encoder = {
            "@misc": "spacy-lal.LabelAttentionEncoder.v1",
            "heads": 64,
            "key_width": 32,
            "value_width": 32,
            "projection_width": 8,
            "self_attention_layers": 1,
            "self_attention_heads": 4,
            "self_attention_key_width": 32,
            "feed_forward_width": 256,
            "label_feed_forward": False,
            "arrangement": "stack",
        }
    elif variant == "spanformer":
        spans["@misc"] = "spacy-lal.TransformerSpans.v1"  # whose defaults are the paper's
    return {
        "@architectures": "spacy-lal.TwoStageParser.v1",
        "tok2vec": parts["tok2vec"],
        "input_encoder": rows,
        "encoder": encoder,
        "spans": spans,
    }


def pipeline(size: str, variant: str, vocab: Vocab, examples: list[Example]) -> Language:
    """A parser with random weights, its vocabulary and labels those of the examples."""
    fix_random_seed(0)
    nlp = spacy.blank("en", vocab=vocab)
    factory = "spanformer" if variant == "spanformer" else "lal_constituency"
    nlp.add_pipe(factory, name="parser", config={"model": model_config(size, variant)})
    nlp.initialize(lambda: examples)
    return nlp


def batches_of(examples: list[Example], batch_words: int, sample_words: int) -> list[list[Example]]:
    """Sentences of similar length in batches; every k-th, about `sample_words` words in all."""
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
    every = max(1, round(total / sample_words)) if sample_words else 1
    return batches[every // 2 :: every]


# What is measured


class Measured:
    """One parser, its batches and what they took."""

    def __init__(
        self,
        size: str,
        variant: str,
        examples: list[Example],
        batches: dict[int, list[list[Example]]],
        test: list[Doc],
    ) -> None:
        self.size, self.variant = size, variant
        self.nlp = pipeline(size, variant, test[0].vocab, examples)
        self.sgd = Adam(LEARN_RATE, beta1=0.9, beta2=0.9, eps=1e-12, L2=0.0, grad_clip=5.0)
        self.batches, self.test = batches, test
        self.runs: dict[tuple[str, int], list[dict[str, float]]] = {}

    def train(self, batches: list[list[Example]]) -> None:
        for batch in batches:
            self.nlp.update(batch, drop=DROPOUT, sgd=self.sgd)

    def predict(self, docs: list[Doc]) -> None:
        for doc in self.nlp.pipe(docs, batch_size=len(docs)):
            if "constituents" not in doc.spans:
                raise AssertionError("a Doc came back without a parse")

    def warm_up(self) -> None:
        for batches in self.batches.values():
            self.train(batches[::5])
        self.predict(bare(self.test))

    def run(self) -> None:
        for words, batches in self.batches.items():
            self._note("train", words, timed(lambda batches=batches: self.train(batches)))
        docs = bare(self.test)
        self._note("predict", 0, timed(lambda: self.predict(docs)))
        self._note("from words", 0, timed(lambda: self.predict(bare(self.test))))

    def _note(self, what: str, words: int, run: dict[str, float]) -> None:
        self.runs.setdefault((what, words), []).append(run)

    def rows(self) -> list[dict[str, Any]]:
        parser = self.nlp.get_pipe("parser")
        modules = [shim.module for node in parser.model.walk() for shim in node.shims]
        parameters = sum(p.numel() for module in modules for p in module.parameters())
        rows = []
        for (what, words), runs in self.runs.items():
            batches = self.batches.get(words, [])
            docs = [eg.reference for batch in batches for eg in batch] or self.test
            total = sum(map(len, docs))
            row = {
                "size": self.size,
                "variant": self.variant,
                "what": what,
                "batch_words": total / len(batches) if batches else None,
                "parameters": parameters,
                "sentences": len(docs),
                **speed(total, runs),
            }
            of_words = row["words_per_cpu_second"]
            rows.append(row | {"sentences_per_cpu_second": of_words * len(docs) / total})
        return rows


def supar(size: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """The report of supar_speed.py."""
    python, train, test = arguments.supar
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "supar.json")
        subprocess.run(
            [
                *(python, str(Path(__file__).with_name("supar_speed.py")), "--lean"),
                *("--train", train, "--test", test, "--size", size, "--json", str(report)),
                *("--batch-words", *map(str, SUPAR_BATCHES)),
                *("--train-words", str(arguments.train_words)),
                *("--repeats", str(arguments.repeats), "--threads", str(arguments.threads)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        answer: dict[str, Any] = json.loads(report.read_text(encoding="utf8"))
    return answer


# The report


def beside_supar(rows: list[dict[str, Any]], peer: dict[str, Any]) -> list[dict[str, Any]]:
    """Ratios of words per CPU-second to supar's, with and without its marginals in training."""
    ratios = []
    trained = [row for row in peer["rows"] if row["what"] == "train"]
    for marginals in (True, False):
        theirs = [row for row in trained if row["marginals"] == marginals]
        for variant in dict.fromkeys(row["variant"] for row in rows):
            own = [row for row in rows if row["variant"] == variant]
            ours = [row for row in own if row["what"] == "train"]
            pairs = list(zip(ours, theirs, strict=False))
            if marginals:
                predicted = [row for row in peer["rows"] if row["what"] == "predict"]
                whole = [row | row["from_words"] | {"what": "from words"} for row in predicted]
                pairs += [(a, b) for a in own for b in predicted + whole if a["what"] == b["what"]]
            ratios += [
                {
                    "size": mine["size"],
                    "variant": variant,
                    "what": mine["what"],
                    "batch_words": mine["batch_words"],
                    "supar_batch_words": other["batch_words"],
                    "supar_marginals": marginals,
                    "supar_words_per_cpu_second": other["words_per_cpu_second"],
                    "ratio": mine["words_per_cpu_second"] / other["words_per_cpu_second"],
                }
                for mine, other in pairs
            ]
    return ratios


def beside_crf(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Speed relative to the plain CRF's."""
    plain = {(r["what"], r["batch_words"]): r for r in rows if r["variant"] == "crf"}
    return [
        {
            **{name: row[name] for name in ("size", "variant", "what", "batch_words")},
            "of_crf": row["words_per_cpu_second"] / base["words_per_cpu_second"],
        }
        for row in rows
        if row["variant"] != "crf"
        and (base := plain.get((row["what"], row["batch_words"]))) is not None
    ]


def show(rows: list[dict[str, Any]]) -> None:
    print(
        f"\n{'':9}{'':12}{'':9}{'words/batch':>12}{'words':>9}{'words/CPU-s':>13}{'(range)':>18}"
        f"{'sentences/CPU-s':>17}"
    )
    for row in rows:
        spread = f"({row['words_per_cpu_second_min']:,.0f}-{row['words_per_cpu_second_max']:,.0f})"
        batch = f"{row['batch_words']:,.0f}" if row["batch_words"] else ""
        print(
            f"{row['size']:9}{row['variant']:12}{row['what']:9}{batch:>12}{row['words']:9,}"
            f"{row['words_per_cpu_second']:13,.0f}{spread:>18}"
            f"{row['sentences_per_cpu_second']:17,.0f}",
            flush=True,
        )


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("--train", type=Path, default=Path("projects/ewt/corpus/train.spacy"))
    parser.add_argument("--test", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--size", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--variant", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--batch-words", type=int, nargs="+", default=[1131, 3483])
    parser.add_argument("--train-words", type=int, default=20_000, help="0: the whole epoch")
    parser.add_argument("--supar", nargs=3, metavar=("PYTHON", "TRAIN", "TEST"))
    parser.add_argument("--check", action="store_true", help="exit with 1 if the bar is missed")
    arguments = parsed(parser)
    if arguments.check and not (arguments.supar and "crf" in arguments.variant):
        raise SystemExit("--check needs --supar and the variant crf")
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # of supar's process

    report: dict[str, Any] = {
        **machine(arguments, "spacy", "thinc", "torch", "numpy", "spacy-lal"),
        "rows": [],
        "supar": {},
        "beside_supar": [],
        "beside_crf": [],
    }
    print(headline(report))
    nlp = spacy.blank("en")
    examples = read_examples(arguments.train, nlp)
    test = [example.reference for example in read_examples(arguments.test, nlp)]
    batches = {w: batches_of(examples, w, arguments.train_words) for w in arguments.batch_words}
    for size in arguments.size:
        measured = [Measured(size, v, examples, batches, test) for v in arguments.variant]
        for each in measured:
            each.warm_up()
        for second in (False, True) if arguments.supar else (True,):
            for _ in range(arguments.repeats):
                for each in measured:
                    each.run()
            if not second:
                report["supar"][size] = supar(size, arguments)
        rows = [row for each in measured for row in each.rows()]
        show(rows)
        report["rows"] += rows
        report["beside_crf"] += beside_crf(rows)
        if arguments.supar:
            report["beside_supar"] += beside_supar(rows, report["supar"][size])
    print()
    for entry in report["beside_supar"]:
        how = "" if entry["supar_marginals"] else " without marginals"
        print(
            f"{describe(entry)}: {entry['ratio']:.2f} times supar's "
            f"{entry['supar_words_per_cpu_second']:,.0f} words per CPU-second{how}"
        )
    for entry in report["beside_crf"]:
        print(f"{describe(entry)}: {100 * entry['of_crf']:.0f} % of crf's speed")
    write(arguments.json, report)
    missed = [
        entry
        for entry in report["beside_supar"]
        if entry["variant"] == "crf" and entry["supar_marginals"] and entry["ratio"] < RATIO_BAR
    ]
    for entry in missed:
        print(f"MISSED: {describe(entry)}, {entry['ratio']:.2f} (at least {RATIO_BAR:g})")
    if arguments.check and missed:
        raise SystemExit(1)


def describe(entry: dict[str, Any]) -> str:
    batch = f", {entry['batch_words']:,.0f} words a batch" if entry["batch_words"] else ""
    return f"{entry['size']}, {entry['variant']}, {entry['what']}{batch}"


if __name__ == "__main__":
    main()
