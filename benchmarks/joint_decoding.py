"""Speed of the joint decoder, beside the O(n^5) algorithm of the paper in C.

    python benchmarks/joint_decoding.py [--data projects/ewt/corpus/dev.spacy] [--threads 1]
        [--json FILE]

First one sentence at a time, random scores, with the exponent by which time grows from one length
to the next. The algorithm of the paper (Zhou & Zhao 2019, joint span) is compiled with `cc -O3
-march=native` and runs in one thread; it computes the score alone, no tree, and both scores must be
equal. Without a C compiler that column is left out. Then batches of sentences as long as those of
--data, or of lengths drawn like those of web text.
"""

from __future__ import annotations

import ctypes
import math
import random
import shutil
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from measure import headline, machine, options, parsed, seconds, write
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from torch import Tensor

from spacy_lal.structure.chart import chart_size, unpack
from spacy_lal.structure.lexicalised import best_joint_tree

LENGTHS = (30, 60, 80, 100, 120)

# comp of every span and head, from both children's heads. `one` and `multi` are the values of a
# span that must be a constituent and of one that may be empty: [n+1, n+1, n+1] by start, end, head.
SOURCE = r"""
#include <math.h>

float best(int n, const float *constituent, const float *empty, const float *arcs,
           float *one, float *multi)
{
    const int m = n + 1;
    for (int width = 1; width <= n; width++)
        for (int i = 0; i + width <= n; i++) {
            const int j = i + width;
            float *one_ij = one + (i * m + j) * m, *multi_ij = multi + (i * m + j) * m;
            for (int h = i + 1; h <= j; h++)
                one_ij[h] = width == 1 ? 0 : -INFINITY;
            for (int k = i + 1; k < j; k++) {
                const float *one_l = one + (i * m + k) * m, *multi_l = multi + (i * m + k) * m;
                const float *one_r = one + (k * m + j) * m, *multi_r = multi + (k * m + j) * m;
                for (int l = i + 1; l <= k; l++)
                    for (int r = k + 1; r <= j; r++) {
                        const float by_l = multi_l[l] + one_r[r] + arcs[(r - 1) * m + l];
                        const float by_r = one_l[l] + multi_r[r] + arcs[(l - 1) * m + r];
                        one_ij[l] = by_l > one_ij[l] ? by_l : one_ij[l];
                        one_ij[r] = by_r > one_ij[r] ? by_r : one_ij[r];
                    }
            }
            const float full = constituent[i * m + j], none = empty[i * m + j];
            for (int h = i + 1; h <= j; h++) {
                multi_ij[h] = one_ij[h] + (full > none || width == n ? full : none);
                one_ij[h] = width == 1 ? multi_ij[h] : one_ij[h] + full;
            }
        }
    float top = -INFINITY;
    for (int h = 1; h <= n; h++)
        top = fmaxf(top, one[n * m + h] + arcs[(h - 1) * m]);
    return top;
}
"""


def compiled(folder: str) -> Callable[[Tensor, Tensor, Tensor], float] | None:
    """The algorithm of the paper on one sentence's packed charts and arcs, if it compiles."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = Path(folder, "joint.c"), Path(folder, "joint.so")
    source.write_text(SOURCE, encoding="utf8")
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library), "-lm"], check=True)
    best = ctypes.CDLL(str(library)).best
    best.restype = ctypes.c_float

    def run(constituent: Tensor, empty: Tensor, arcs: Tensor) -> float:
        n = arcs.shape[1]
        squares = [unpack(chart, n).contiguous() for chart in (constituent, empty)]
        work = torch.empty(2, (n + 1) ** 3)
        arrays = [*squares, arcs.contiguous(), *work]
        return float(best(n, *(ctypes.c_void_p(array.data_ptr()) for array in arrays)))

    return run


def scores(n: int, size: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(n)
    shapes = (chart_size(n),), (chart_size(n),), (n, n + 1)
    constituent, empty, arcs = (torch.randn(size, *s, generator=generator) for s in shapes)
    return constituent, empty, arcs


def single_sentences(repeats: int, folder: str) -> list[dict[str, float]]:
    plain = compiled(folder)
    rows: list[dict[str, float]] = []
    for n in LENGTHS:
        inputs, lengths = scores(n), torch.tensor([n])
        decode = partial(best_joint_tree, *inputs, lengths)
        row = {"words": n, "ms": 1e3 * seconds(decode, repeats)}
        if plain is not None:
            found, expected = float(decode().score), plain(*inputs)
            if not math.isclose(found, expected, rel_tol=1e-5):
                raise AssertionError(f"{n} words: {found} is not {expected}")
            row["plain_ms"] = 1e3 * seconds(partial(plain, *inputs), max(2, repeats // 3))
        for name in ("ms", "plain_ms"):
            if rows and name in row:
                growth = math.log(row[name] / rows[-1][name])
                row[f"{name}_exponent"] = growth / math.log(n / rows[-1]["words"])
        rows.append(row)
    return rows


def sentence_lengths(data: Path | None) -> list[int]:
    if data is not None:
        docs = DocBin().from_disk(data).get_docs(Vocab())
        return [len(sentence) for doc in docs for sentence in doc.sents]
    draw = random.Random(0)
    return [min(80, 1 + int(draw.gammavariate(1.2, 10))) for _ in range(2000)]


def batches(lengths: list[int], size: int, count: int, repeats: int) -> dict[str, float]:
    """Sentences in random order: each batch has short and long ones."""
    draw = random.Random(1)
    per_word, words = [], []
    for _ in range(count):
        chosen = torch.tensor(draw.choices(lengths, k=size))
        inputs = scores(int(chosen.max()), size)
        spent = seconds(partial(best_joint_tree, *inputs, chosen), repeats)
        per_word.append(1e6 * spent / int(chosen.sum()))
        words.append(int(chosen.sum()))
    return {
        "sentences": size,
        "batches": count,
        "words": statistics.mean(words),
        "us_per_word": statistics.median(per_word),
        "us_per_word_min": min(per_word),
        "us_per_word_max": max(per_word),
    }


def main() -> None:
    parser = options(__doc__, repeats=9)
    parser.add_argument("--data", type=Path, help="a .spacy file with sentence boundaries")
    parser.add_argument("--sentences", type=int, default=64, help="in a batch")
    parser.add_argument("--batches", type=int, default=10)
    arguments = parsed(parser)
    report = machine(arguments, "torch")

    with tempfile.TemporaryDirectory() as folder:
        rows = single_sentences(arguments.repeats, folder)
    print(f"{headline(report)}; in brackets the growth exponent since the row above")
    print(f"{'words':>5}{'decoder':>20}{'O(n^5) in C':>20}{'times':>8}")
    for row in rows:
        print(f"{row['words']:5}", end="")
        for name in ("ms", "plain_ms"):
            if name in row:
                growth = row.get(f"{name}_exponent")
                exponent = f"({growth:.1f})" if growth else ""
                print(f"{row[name]:11.1f} ms {exponent:5}", end="")
        print(f"{row['plain_ms'] / row['ms']:8.1f}" if "plain_ms" in row else "")
    lengths = sentence_lengths(arguments.data)
    batch = batches(lengths, arguments.sentences, arguments.batches, max(2, arguments.repeats // 3))
    print(
        f"{batch['batches']} batches of {batch['sentences']} sentences of "
        f"{statistics.mean(lengths):.1f} words on average (at most {max(lengths)}): "
        f"{batch['us_per_word']:.0f} us a word "
        f"({batch['us_per_word_min']:.0f} to {batch['us_per_word_max']:.0f})"
    )
    data = str(arguments.data) if arguments.data else None
    write(arguments.json, report | {"data": data, "rows": rows, "batch": batch})


if __name__ == "__main__":
    main()
