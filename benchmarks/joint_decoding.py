"""Time of joint decoding, beside the paper's O(n^5) algorithm in C, and of long sentences.

    python benchmarks/joint_decoding.py lengths [--data projects/ewt/corpus/test.spacy]
    python benchmarks/joint_decoding.py long [en_lal_sm] --usual DEV.spacy [--sentences FILE …]
        [--joined FILE …] [--over 100]

lengths: one sentence at a time, random scores. The algorithm of Zhou & Zhao (2019, joint span),
compiled with `cc -O3 -march=native`, computes the score alone, without a tree; both scores must be
equal. Then batches of random sentences as long as those of --data.

long: the search among probable spans, used for sentences of more than 100 words, beside the search
among all trees, in turn on the same sentences. --usual: sentences for the usual time of a word.
--sentences: files whose longer sentences are parsed. --joined: files whose sentences become
sequences of up to 256 words without punctuation and boundaries. All are .spacy files.
"""

from __future__ import annotations

import ctypes
import math
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import spacy
import torch
from measure import in_turn, machine, options, parsed, table, write
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from torch import Tensor

from spacy_lal.structure import pruned
from spacy_lal.structure.chart import chart_size, unpack
from spacy_lal.structure.lexicalised import best_joint_tree

LENGTHS = (30, 60, 80, 100, 120)
MOST_WORDS = 256
ALL = 10**9


def compiled(folder: str) -> Callable[[Tensor, Tensor, Tensor], float] | None:
    """Return the paper's algorithm on one sentence's packed charts and arcs, if it compiles."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    source, library = Path(__file__).with_suffix(".c"), Path(folder, "joint.so")
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


def lengths(arguments: Any) -> list[dict[str, Any]]:
    """Return a row for each length, and one of batches."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        plain = compiled(folder)
    for n in LENGTHS:
        inputs = scores(n)
        runs: dict[str, Callable[[], Any]] = {
            "ms": partial(best_joint_tree, *inputs, torch.tensor([n]))
        }
        if plain is not None:
            runs["ms of O(n^5) in C"] = partial(plain, *inputs)
            found, expected = float(runs["ms"]().score), plain(*inputs)
            if not math.isclose(found, expected, rel_tol=1e-5):
                raise AssertionError(f"{n} words: {found} is not {expected}")
        times = in_turn(runs, arguments.repeats)
        rows.append({"words": n} | {name: 1e3 * seconds for name, seconds in times.items()})
    if arguments.data is not None:
        docs = DocBin().from_disk(arguments.data).get_docs(Vocab())
        of_data = [len(sentence) for doc in docs for sentence in doc.sents]
        draw, per_word = random.Random(1), []
        for _ in range(10):
            chosen = torch.tensor(draw.choices(of_data, k=64))
            inputs = scores(int(chosen.max()), 64)
            run = {"": partial(best_joint_tree, *inputs, chosen)}
            per_word.append(in_turn(run, arguments.repeats)[""] / int(chosen.sum()))
        rows.append({"words": "a word of 64 sentences", "ms": 1e3 * statistics.median(per_word)})
    return rows


def read_words(path: Path, punctuation: bool = True) -> list[list[str]]:
    """Return the words of every sentence of a .spacy file."""
    docs = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
    kept = (
        [token.text for token in sentence if punctuation or token.pos_ != "PUNCT"]
        for doc in docs
        for sentence in doc.sents
    )
    return [words for words in kept if words]


def joined(path: Path) -> list[list[str]]:
    words = [word for sentence in read_words(path, punctuation=False) for word in sentence]
    return [words[first : first + MOST_WORDS] for first in range(0, len(words), MOST_WORDS)]


def parse(nlp: Language, sentences: list[list[str]], exact_words: int) -> tuple[list[Doc], float]:
    """Return Docs, and CPU milliseconds a word. exact_words: see `structure/pruned.py`."""
    pruned.EXACT_WORDS = exact_words
    docs = [
        Doc(nlp.vocab, words=words, sent_starts=[k == 0 for k in range(len(words))])
        for words in sentences
    ]
    start = time.process_time()
    parsed = list(nlp.pipe(docs))
    return parsed, 1e3 * (time.process_time() - start) / sum(map(len, docs))


def agreement(found: list[Doc], exact: list[Doc]) -> dict[str, Any]:
    common = brackets = heads = words = changed = 0
    for one, other in zip(found, exact, strict=True):
        left, right = (
            {(span.start, span.end, span.label_) for span in doc.spans["constituents"]}
            for doc in (one, other)
        )
        common += len(left & right)
        brackets += len(left) + len(right)
        heads += sum(a.head.i == b.head.i for a, b in zip(one, other, strict=True))
        words += len(one)
        changed += left != right
    return {
        "sentences": len(found),
        "words": words,
        "bracket_f1": 200 * common / max(1, brackets),
        "heads": 100 * heads / max(1, words),
        "other_trees": changed,
    }


def long(arguments: Any) -> list[dict[str, Any]]:
    """Return a row for each file: agreement of both searches, and milliseconds a word."""
    nlp = spacy.load(arguments.pipeline, exclude=["lisa_srl"])
    usual = read_words(arguments.usual)
    sets = {path.name: read_words(path) for path in arguments.sentences}
    sets |= {f"{path.name}, joined": joined(path) for path in arguments.joined}
    parse(nlp, usual[:100], arguments.over)
    rows = []
    for name, sentences in sets.items():
        chosen = [words for words in sentences if len(words) > arguments.over]
        if not chosen:
            continue
        times: list[tuple[float, float, float]] = []
        for _ in range(arguments.repeats):
            of_usual = parse(nlp, usual, ALL)[1]
            found, of_found = parse(nlp, chosen, arguments.over)
            exact, of_exact = parse(nlp, chosen, ALL)
            times.append((of_usual, of_found, of_exact))
        medians = map(statistics.median, zip(*times, strict=True))
        columns = ("usual ms", "probable spans, ms", "all trees, ms")
        row = {"set": name, **agreement(found, exact)}
        rows.append(row | dict(zip(columns, medians, strict=True)))
    return rows


def main() -> None:
    parser = options(__doc__, repeats=3)
    parser.add_argument("what", choices=("lengths", "long"))
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm")
    parser.add_argument("--data", type=Path, help="a .spacy file with sentence boundaries")
    parser.add_argument("--usual", type=Path)
    parser.add_argument("--sentences", type=Path, nargs="*", default=[])
    parser.add_argument("--joined", type=Path, nargs="*", default=[])
    parser.add_argument("--over", type=int, default=pruned.EXACT_WORDS)
    arguments = parsed(parser)
    report = machine(arguments, "torch")
    report["rows"] = (lengths if arguments.what == "lengths" else long)(arguments)
    print(table(report["rows"]))
    write(arguments.json, report)


if __name__ == "__main__":
    main()
