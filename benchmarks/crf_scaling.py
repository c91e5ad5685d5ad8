"""Time and memory of the tree CRF by sentence length, and decoding's share of a pipeline.

    python benchmarks/crf_scaling.py [--lengths 50 100 200 400] [--threads 1] [--repeats 5]
        [--pipeline PIPELINE --data projects/ewt/corpus/test.spacy [--sentences 64] [--batches 10]
        [--check]]
        [--json FILE]

What is asked of a `BinaryTrees` over random scores, in float32: log Z, marginals, the most
probable tree (MAP), the minimum Bayes risk tree (MBR, marginals included), entropy, the five best
trees. One sentence of each length, and as many as have about the spans of one of the longest. Each
question is asked of a new distribution, so the inside pass is part of all but MAP and k best. In
brackets the exponent by which time grows from one length to the next.

Memory is the most that torch holds at once while it makes the scores and answers the question,
counted from its profiler's record of every allocation: unlike a process's resident memory it has
neither libraries nor an allocator's reserves in it, and is the same every time.

Then one SpanFormer layer, 48 wide with 3 heads: nanoseconds a span, which don't depend on length
(until a sentence's spans are more than the processor's caches hold).

With `--pipeline`, a two-stage parser: random sentences of `--data`, `--sentences` at a time,
decoded from the network's scores (marginals, trees, labels, log-probabilities of trees) as one
padded batch and as the pipeline pads them, beside `nlp.pipe` over the same sentences, in
microseconds a word. All times are CPU time, medians. `--check` exits with 1 if decoding takes more
than a tenth of the pipeline's time, padded as there.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import torch
from measure import (
    bare,
    component,
    headline,
    load,
    machine,
    options,
    parsed,
    read_examples,
    seconds,
    tensors_mb,
    timed,
    write,
)
from spacy.language import Language
from spacy.tokens import Doc
from spacy_lal.parsing.decoding import decode_trees
from thinc.api import Model
from torch import Tensor

from spacy_lal.batching.batches import ParserScores, SentenceBatch, read_docs
from spacy_lal.bridge.shim import torch_shim
from spacy_lal.layers.span_attention import SpanTransformerLayer
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.decoders import MaximumAPosteriori, MinimumBayesRisk
from spacy_lal.structure.chart import chart_size
from spacy_lal.structure.distributions import BinaryTrees

SHARE_BAR = 0.1
TREES = 5
PACKAGES = ("spacy", "thinc", "torch", "numpy", "spacy-lal")
LAYER = {"d": 48, "n_heads": 3, "d_ff": 96}

QUESTIONS: dict[str, Callable[[BinaryTrees], object]] = {
    "log Z": lambda trees: trees.log_partition,
    "marginals": lambda trees: trees.marginals,
    "MAP": BinaryTrees.argmax,
    "MBR": BinaryTrees.mbr,
    "entropy": lambda trees: trees.entropy,
    f"{TREES} best": lambda trees: trees.kmax(TREES),
}


def ask(question: str, n: int, size: int, scores: Tensor | None = None) -> None:
    if scores is None:
        scores = random_scores(n, size)
    QUESTIONS[question](BinaryTrees(scores, torch.full((size,), n)))


def random_scores(n: int, size: int) -> Tensor:
    generator = torch.Generator().manual_seed(n)
    return torch.randn(size, chart_size(n), generator=generator)


# The distribution, and a layer over spans


def distribution(lengths: list[int], repeats: int) -> list[dict[str, Any]]:
    for question in QUESTIONS:
        ask(question, 10, 1)  # warms up
    whole = chart_size(max(lengths))
    sizes = {n: sorted({1, round(whole / chart_size(n))}) for n in lengths}
    asked = [(question, n, size) for question in QUESTIONS for n in lengths for size in sizes[n]]
    rows: list[dict[str, Any]] = []
    for question, n, size in asked:
        answer = partial(ask, question, n, size, random_scores(n, size))
        spent = seconds(answer, repeats, process_time)
        rows.append(
            {
                "question": question,
                "words": n,
                "sentences": size,
                "ms": 1e3 * spent,
                "ns_per_span": 1e9 * spent / (size * chart_size(n)),
                "peak_mb": tensors_mb(partial(ask, question, n, size)),
            }
        )
    for row, exponent in zip(rows, exponents(rows), strict=True):
        row["exponent"] = exponent
    return rows


def exponents(rows: list[dict[str, Any]]) -> list[float | None]:
    """Of single sentences, how time grows from the length before."""
    found: list[float | None] = []
    before: dict[str, dict[str, Any]] = {}
    for row in rows:
        last = before.get(row["question"])
        if row["sentences"] > 1 or last is None:
            found.append(None)
        else:
            growth = math.log(row["ms"] / last["ms"])
            found.append(growth / math.log(row["words"] / last["words"]))
        if row["sentences"] == 1:
            before[row["question"]] = row
    return found


def span_layer(lengths: list[int], repeats: int) -> list[dict[str, float]]:
    torch.manual_seed(0)
    layer = SpanTransformerLayer(**LAYER)
    rows = []
    for n in lengths:
        spans = chart_size(n)
        x = torch.randn(1, spans, LAYER["d"])
        mask = torch.ones(1, spans, dtype=torch.bool)

        def forward(x: Tensor = x, mask: Tensor = mask) -> Tensor:
            with torch.no_grad():
                out: Tensor = layer(x, mask)
            return out

        def both(x: Tensor = x, mask: Tensor = mask) -> None:
            layer(x, mask).sum().backward()

        rows.append(
            {
                "words": n,
                "spans": spans,
                "forward_ns_per_span": 1e9 * seconds(forward, repeats, process_time) / spans,
                "forward_backward_ns_per_span": 1e9 * seconds(both, repeats, process_time) / spans,
            }
        )
    return rows


# Decoding


def in_one_batch(model: Model[list[Doc], ParserScores], docs: list[Doc]) -> ParserScores:
    """Scores of Docs of one sentence each, all of them padded to the longest."""
    sentences, flat, _ = read_docs(model, docs, False)
    vectors = torch.nn.utils.rnn.pad_sequence(
        list(flat.split([len(doc) for doc in docs])), batch_first=True
    )
    lengths = torch.tensor([len(doc) for doc in docs], device=flat.device)
    scores = torch_shim(model).predict(vectors, lengths)
    return ParserScores(sentences, [SentenceBatch(list(range(len(docs))), lengths, scores)])


def decoding(
    nlp: Language, data: Path, size: int, count: int, repeats: int
) -> list[dict[str, float | str]]:
    """Microseconds a word of decoding and of the whole pipeline, medians over batches."""
    pipe = component(nlp, ConstituencyPipe)
    if pipe.model.attrs["settings"].spans is None:
        raise SystemExit(f"expected a two-stage parser in {nlp.pipe_names}")
    golds = [example.reference for example in read_examples(data, nlp)]
    draw = random.Random(1)
    batches = [draw.sample(golds, size) for _ in range(count)]
    configured = pipe.decoder
    rows: list[dict[str, float | str]] = []
    for name, decoder in (("MBR", MinimumBayesRisk()), ("MAP", MaximumAPosteriori())):
        pipe.decoder = decoder
        found: dict[str, list[float]] = {"one_batch": [], "padded": [], "pipeline": []}
        for golds_of_batch in batches:
            words = sum(map(len, golds_of_batch))
            docs = bare(golds_of_batch)
            padded = pipe.model.predict(docs)
            padded = ParserScores(padded.sentences, list(padded.batches))
            one = in_one_batch(pipe.model, docs)
            for key, scores in (("one_batch", one), ("padded", padded)):
                spent = seconds(partial(decode_trees, scores, decoder), repeats, process_time)
                found[key].append(1e6 * spent / words)
            copies = iter([bare(golds_of_batch) for _ in range(repeats + 1)])
            list(nlp.pipe(next(copies)))
            runs = [timed(lambda docs=fresh: list(nlp.pipe(docs))) for fresh in copies]
            spent = statistics.median(run["cpu_seconds"] for run in runs)
            found["pipeline"].append(1e6 * spent / words)
        medians = {key: statistics.median(values) for key, values in found.items()}
        rows.append(
            {
                "decoder": name,
                "sentences": size,
                "batches": count,
                "words": statistics.mean(sum(map(len, batch)) for batch in batches),
                "one_batch_us_per_word": medians["one_batch"],
                "padded_us_per_word": medians["padded"],
                "pipeline_us_per_word": medians["pipeline"],
                "share": medians["padded"] / medians["pipeline"],
            }
        )
    pipe.decoder = configured
    return rows


# The report


def main() -> None:
    parser = options(__doc__, repeats=5)
    parser.add_argument("--lengths", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--pipeline", help="a package or a folder")
    parser.add_argument("--data", type=Path, help="needed with --pipeline")
    parser.add_argument("--sentences", type=int, default=64, help="in a batch")
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the bar is missed")
    arguments = parsed(parser)
    if arguments.check and not arguments.pipeline:
        raise SystemExit("--check needs --pipeline")
    if arguments.pipeline and not arguments.data:
        raise SystemExit("--pipeline needs --data")
    lengths = sorted(arguments.lengths)

    report: dict[str, Any] = {
        **machine(arguments, *PACKAGES),
        "distribution": distribution(lengths, arguments.repeats),
        "span_layer": span_layer(lengths, arguments.repeats),
        "decoding": [],
    }
    print(f"{headline(report)}, float32\n")
    print(f"{'':12}{'words':>6}{'sentences':>11}{'ms':>18}{'ns/span':>9}{'peak MB':>9}")
    for row in report["distribution"]:
        exponent = f"({row['exponent']:.1f})" if row["exponent"] is not None else ""
        print(
            f"{row['question']:12}{row['words']:6}{row['sentences']:11}{row['ms']:12.2f}"
            f"{exponent:>6}{row['ns_per_span']:9,.0f}{row['peak_mb']:9.2f}"
        )
    print(
        f"\nSpanFormer layer, ns a span{'words':>11}{'spans':>9}{'forward':>10}{'and backward':>14}"
    )
    for row in report["span_layer"]:
        print(
            f"{row['words']:38}{row['spans']:9,}{row['forward_ns_per_span']:10,.0f}"
            f"{row['forward_backward_ns_per_span']:14,.0f}"
        )
    if arguments.pipeline:
        nlp = load(arguments.pipeline)
        report["pipeline"] = Path(arguments.pipeline).name
        report["decoding"] = decoding(
            nlp, arguments.data, arguments.sentences, arguments.batches, arguments.repeats
        )
    for row in report["decoding"]:
        print(
            f"\n{row['decoder']}, {row['batches']} batches of {row['sentences']} sentences, "
            f"{row['words']:,.0f} words: {row['one_batch_us_per_word']:.1f} us a word as one "
            f"padded batch, {row['padded_us_per_word']:.1f} as the pipeline pads, "
            f"{100 * row['share']:.1f} % of the pipeline's {row['pipeline_us_per_word']:.1f}",
            end="",
        )
    print()
    write(arguments.json, report)
    missed = [row for row in report["decoding"] if row["share"] > SHARE_BAR]
    for row in missed:
        print(f"MISSED: {row['decoder']}, {100 * row['share']:.1f} % (at most 10 %)")
    if arguments.check and missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
