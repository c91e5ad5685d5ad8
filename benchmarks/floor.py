"""What a pipeline computes for a word, part by part, and how long the processor would need at best.

    python benchmarks/floor.py en_lal_sm projects/ewt/corpus/test.spacy [--json FILE]

For each part of each component: multiplications of matrix products a word, by the numbers' type;
bytes that operations read and write a word, as if nothing stayed in a cache; the least time on
paper; and measured processor time. The least time is that of the products at the rate of large
products alone (best of ten, one thread), of each type. Memory isn't added: most of the bytes stay
in caches. What is outside all parts - word vectors, search for trees, heads and frames, writing on
the Doc - has products only where the search has.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import torch
from measure import load, machine, options, parsed, table, write
from spacy.tokens import Doc, DocBin
from torch import Tensor, nn
from torch.nn.modules import module as hooks
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from spacy_lal.encoders.network import PretrainedNetwork
from spacy_lal.layers.bilstm import BiLSTM
from spacy_lal.layers.dependency_scorer import DependencyScorer
from spacy_lal.layers.encoder import LabelAttentionEncoder
from spacy_lal.layers.layer_attention import LayerAttention
from spacy_lal.layers.lisa_encoder import LisaEncoder
from spacy_lal.layers.role_scorer import RoleScorer
from spacy_lal.layers.span_scorer import SpanScorer

PARTS = {
    PretrainedNetwork: "pretrained encoder",
    BiLSTM: "BiLSTM",
    LabelAttentionEncoder: "label attention",
    SpanScorer: "spans",
    DependencyScorer: "heads",
    LisaEncoder: "self-attention",
    RoleScorer: "roles",
    LayerAttention: "layer attention",
}
REST = "rest"
TYPES = {torch.int8: "int8", torch.float32: "float32", torch.float64: "float64"}
SIZE = 1024


class Watch:
    """Counts and seconds of the part that runs, an inner part's apart from an outer one's."""

    def __init__(self) -> None:
        self.seconds: Counter[tuple[str, str]] = Counter()
        self.counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.component, self.parts, self.since = "", [REST], time.process_time()

    @property
    def part(self) -> tuple[str, str]:
        return self.component, self.parts[-1]

    def lap(self) -> None:
        now = time.process_time()
        self.seconds[self.part] += now - self.since
        self.since = now

    def enter(self, module: nn.Module, *_: Any) -> None:
        if name := PARTS.get(type(module)):
            self.lap()
            self.parts.append(name)

    def leave(self, module: nn.Module, *_: Any) -> None:
        if type(module) in PARTS:
            self.lap()
            self.parts.pop()


class Counting(TorchDispatchMode):
    """Counts multiplications and bytes of all operations on tensors."""

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        out = func(*args, **(kwargs or {}))
        counts, tensors = self.watch.counts[self.watch.part], [*_tensors(args)]
        if products := _multiplications(func, args, kwargs or {}, out):
            counts[TYPES.get(tensors[0].dtype, "float32")] += products
        if not func.is_view:
            counts["bytes"] += sum(t.nbytes for t in (*tensors, *_tensors([out])))
        return out


def _tensors(values: Iterable[Any]) -> Iterable[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)


def _multiplications(func: Any, args: tuple[Any, ...], kwargs: Any, out: Any) -> int:
    packet = func._overloadpacket
    if packet is torch.ops.aten._int_mm:
        return cast(int, args[0].numel() * args[1].shape[1])
    if packet is torch.ops.aten.linear:
        return cast(int, args[0].numel() * args[1].shape[0])
    if packet not in flop_registry:
        return 0
    kwargs = {k: v for k, v in kwargs.items() if k != "out"}
    return cast(int, flop_registry[packet](*args, **kwargs, out_val=out)) // 2


def run(nlp: Any, docs: list[Doc], watch: Watch) -> None:
    """Annotates Docs, 256 at a time, a component after the other."""
    for name, pipe in nlp.pipeline:
        watch.component, watch.since = name, time.process_time()
        for start in range(0, len(docs), 256):
            some = docs[start : start + 256]
            if hasattr(pipe, "pipe"):
                list(pipe.pipe(some, batch_size=256))
            else:
                [pipe(doc) for doc in some]
        watch.lap()


def rates() -> dict[str, float]:
    """Return multiplications a second in large products, by type."""
    ones = torch.ones(SIZE, SIZE, dtype=torch.int8)
    found = {}
    for of_type, name in TYPES.items():
        a, b = ones.to(of_type), ones.to(of_type).T
        multiply = torch._int_mm if of_type == torch.int8 else torch.mm
        seconds = []
        for _ in range(10):
            start = time.perf_counter()
            multiply(a, b)
            seconds.append(time.perf_counter() - start)
        found[name] = SIZE**3 / min(seconds)
    return found


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("pipeline")
    parser.add_argument("data", type=Path)
    arguments = parsed(parser)
    report = machine(arguments, "torch", "spacy")
    nlp = load(arguments.pipeline)
    gold = list(DocBin().from_disk(arguments.data).get_docs(nlp.vocab))

    def docs() -> list[Doc]:
        return [
            Doc(nlp.vocab, [t.text for t in doc], sent_starts=[t.is_sent_start for t in doc])
            for doc in gold
        ]

    words, rate = sum(map(len, gold)), rates()
    run(nlp, docs(), Watch())
    counted = Watch()
    watch = counted
    handles = [
        hooks.register_module_forward_pre_hook(lambda *of: watch.enter(*of)),
        hooks.register_module_forward_hook(lambda *of: watch.leave(*of)),
    ]
    with Counting(counted):
        run(nlp, docs(), counted)
    timed = []
    for _ in range(3):
        watch = Watch()
        run(nlp, docs(), watch)
        timed.append(watch.seconds)
    for handle in handles:
        handle.remove()
    rows: list[dict[str, Any]] = []
    for part in timed[0]:
        counts, component = counted.counts[part], part[0]
        least = sum(counts[name] / rate[name] for name in TYPES.values())
        row: dict[str, Any] = {"component": component, "part": part[1]}
        row |= {f"{name}, million": counts[name] / words / 1e6 for name in TYPES.values()}
        row["kB"] = counts["bytes"] / words / 1e3
        row["least µs"] = 1e6 * least / words
        row["µs"] = 1e6 * min(seconds[part] for seconds in timed) / words
        if row["µs"] >= 1:
            rows.append(row)
    total: dict[str, Any] = {"component": "all", "part": ""}
    rows.append(total | {key: sum(row[key] for row in rows) for key in [*rows[0]][2:]})
    print("  ".join(f"{name}: {of / 1e9:.0f} G multiplications/s" for name, of in rate.items()))
    print(table(rows))
    write(arguments.json, {**report, "rates": rate, "rows": rows})


if __name__ == "__main__":
    main()
