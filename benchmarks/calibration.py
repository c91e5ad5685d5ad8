"""Whether a parser's probabilities are those of being right.

    python benchmarks/calibration.py PIPELINE [--data projects/ewt/corpus/test.spacy] [--limit N]
        [--all-spans] [--markdown] [--json FILE]

The pipeline parses the words of a treebank, one sentence a Doc, gold tokens and sentence starts.
Every constituent it finds has a score, and is right if the gold tree has one of the same words and
label. Those of a unary chain count one by one, all with the chain's probability; as both trees may
have a label twice over the same words, the first so many are right as gold has. The root TOP is
none. A tree is right if all its constituents are, and gold has no others; its probability is
exp(log_prob).

Probabilities are put into ten bins of equal width. ECE is the mean over all constituents of the
distance between their bin's mean probability and its share of right ones (Guo et al. 2017), the
Brier score the mean of (probability - right)^2. Both say of a probability whether it is honest, the
Brier score also whether it is sharp.

A decoder that leaves improbable constituents out leaves the lowest bins empty. `--all-spans` adds
every span of every sentence, whether chosen or not, by its marginal probability under the
unlabelled CRF of a two-stage parser, but single words and whole sentences, which are in all trees.
Its trees are binary: gold is the left binarisation, as in training.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy
import torch
from measure import component, load, machine, options, parsed, read_examples, write
from spacy.tokens import Doc
from spacy_lal.parsing.gold_charts import gold_nodes

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.batching.sentences import in_words
from spacy_lal.parsing.constituency import ConstituencyPipe
from spacy_lal.parsing.network import OneStageScores
from spacy_lal.structure.chart import packed_spans, span_position, spans_within
from spacy_lal.structure.distributions import BinaryTrees

BINS = 10


@dataclass
class Sample:
    """Probabilities, and whether what they are of is right."""

    probabilities: list[float] = field(default_factory=list)
    right: list[bool] = field(default_factory=list)

    def add(self, probability: float, right: bool) -> None:
        self.probabilities.append(probability)
        self.right.append(right)

    def table(self, what: str) -> dict[str, Any]:
        p = numpy.asarray(self.probabilities, dtype=float)
        right = numpy.asarray(self.right, dtype=float)
        bins = numpy.minimum((p * BINS).astype(int), BINS - 1)
        rows = []
        for k in range(BINS):
            here = bins == k
            count = int(here.sum())
            rows.append(
                {
                    "from": k / BINS,
                    "to": (k + 1) / BINS,
                    "count": count,
                    "mean_probability": float(p[here].mean()) if count else None,
                    "right": float(right[here].mean()) if count else None,
                }
            )
        gaps = [
            row["count"] * abs(row["mean_probability"] - row["right"])
            for row in rows
            if row["count"]
        ]
        count = max(1, len(p))
        return {
            "what": what,
            "count": len(p),
            "mean_probability": float(p.sum()) / count,
            "right": float(right.sum()) / count,
            "ece": sum(gaps) / count,
            "brier": float(((p - right) ** 2).sum()) / count,
            "bins": rows,
        }


def constituents(docs: list[Doc], golds: list[Doc], key: str) -> Sample:
    sample = Sample()
    for doc, gold in zip(docs, golds, strict=True):
        left = Counter(get_constituents(gold, key))
        for span, score in zip(doc.spans[key], doc.spans[key].attrs["scores"], strict=True):
            if score is None:
                raise SystemExit("this parser's scores are no probabilities")
            found = (span.start, span.end, span.label_)
            sample.add(score, left[found] > 0)
            left[found] -= 1
    return sample


def trees(docs: list[Doc], golds: list[Doc], key: str) -> Sample:
    sample = Sample()
    for doc, gold in zip(docs, golds, strict=True):
        if doc.spans[key].attrs.get("unparsed"):
            continue  # nobody said how probable it is
        right = get_constituents(doc, key) == get_constituents(gold, key)
        # of a sentence that was parsed in pieces, theirs
        pieces = doc.spans[key].attrs.get("log_probs", ())
        sample.add(math.exp(sum(value for *_, value in pieces)), right)
    return sample


def all_spans(pipe: ConstituencyPipe, docs: list[Doc], golds: list[Doc]) -> Sample:
    """Every span by its marginal, but those that all trees have: words and whole sentences."""
    sample = Sample()
    with torch.no_grad():
        scores = pipe.model.predict(docs)
        for batch in scores.batches:
            if isinstance(batch.scores, OneStageScores):
                raise SystemExit("--all-spans needs a two-stage parser")
            sentences = [scores.sentences[k] for k in batch.members]
            gold = gold_nodes(
                [in_words(get_constituents(golds[s.doc], pipe.spans_key), s) for s in sentences],
                batch.lengths.tolist(),
                {},
            )
            marginals = BinaryTrees(batch.scores.spans, batch.lengths).marginals.cpu()
            n = batch.scores.tags.shape[1]
            nodes = torch.zeros(marginals.shape, dtype=torch.bool)
            nodes[gold.sentences, span_position(n, gold.starts, gold.ends)] = True
            lengths = batch.lengths.cpu()
            starts, ends = packed_spans(n)
            chosen = spans_within(n, lengths) & (ends - starts > 1)
            chosen &= ends - starts < lengths.unsqueeze(1)
            sample.probabilities += marginals[chosen].tolist()
            sample.right += nodes[chosen].tolist()
    return sample


# The report


def text(table: dict[str, Any]) -> str:
    lines = [f"{table['what']}: {summary(table)}"]
    lines.append(f"{'probability':12}{'count':>9}{'mean':>8}{'right':>8}")
    for row in table["bins"]:
        lines.append(
            f"{row['from']:.1f} to {row['to']:.1f}  {row['count']:9,}"
            + "".join(f"{percent(row[name]):>8}" for name in ("mean_probability", "right"))
        )
    return "\n".join(lines)


def markdown(table: dict[str, Any]) -> str:
    lines = [f"{table['what']}: {summary(table)}", ""]
    lines.append("| probability | count | mean probability, % | right, % |")
    lines.append("|---|--:|--:|--:|")
    for row in table["bins"]:
        lines.append(
            f"| {row['from']:.1f}-{row['to']:.1f} | {row['count']:,} "
            f"| {percent(row['mean_probability'])} | {percent(row['right'])} |"
        )
    return "\n".join(lines)


def summary(table: dict[str, Any]) -> str:
    return (
        f"{table['count']:,}, {percent(table['right'])} % right, mean probability "
        f"{percent(table['mean_probability'])} %, ECE {percent(table['ece'], 2)} %, "
        f"Brier score {table['brier']:.4f}"
    )


def percent(share: float | None, digits: int = 1) -> str:
    return "" if share is None else f"{100 * share:.{digits}f}"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("pipeline", help="a package or a folder")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--limit", type=int, default=0, help="sentences to read, 0 for all")
    parser.add_argument("--all-spans", action="store_true", help="also those not chosen")
    parser.add_argument("--markdown", action="store_true", help="print markdown tables")
    arguments = parsed(parser)
    nlp = load(arguments.pipeline)
    pipe = component(nlp, ConstituencyPipe)
    # a Doc that wasn't annotated with trees is no tree of words alone
    examples = [
        example
        for example in read_examples(arguments.data, nlp, arguments.limit)
        if pipe.spans_key in example.reference.spans
    ]
    golds = [example.reference for example in examples]
    docs = list(nlp.pipe(example.predicted for example in examples))
    tables = [
        constituents(docs, golds, pipe.spans_key).table("constituents"),
        trees(docs, golds, pipe.spans_key).table("whole trees"),
    ]
    if arguments.all_spans:
        tables.append(all_spans(pipe, docs, golds).table("all spans, unlabelled"))
    print("\n\n".join((markdown if arguments.markdown else text)(table) for table in tables))
    report = {
        "pipeline": Path(arguments.pipeline).name,
        "data": arguments.data.name,
        "decoder": repr(pipe.decoder),
        **machine(arguments, "spacy", "torch", "numpy", "spacy-lal"),
        "sentences": len(docs),
        "tables": tables,
    }
    write(arguments.json, report)


if __name__ == "__main__":
    main()
