"""What label attention adds to a trained parser: F1 with it, with its output zeroed, without it.

    python benchmarks/label_attention_gain.py [en_lal_sm] --without training/ewt-bare/model-best
        --data projects/ewt/corpus/test.spacy [--limit N] [--json FILE]

`--without` is a pipeline trained at equal budget with `encoder.heads = 0`; where the configs of
the two differ is printed, so that the budget can be judged. Without it two rows are measured.
Zeroing is done with a forward hook on the Label Attention Layer of the shipped parser: what is
left has been trained to rely on it, so the difference says how much the parser leans on label
attention, not how much better it is for having it.

F1 is EVALB's with nk.prm on gold tokens, one sentence a Doc, everything predicted; the scored
trees carry the gold tags, the accuracy of the predicted ones stands apart.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from measure import load, machine, options, parsed, read_examples, write
from spacy.language import Language
from spacy.training import Example
from torch import Tensor, nn

from spacy_lal.parsing.network import ParserNetwork
from spacy_lal.parsing.scorer import score_constituency

FACTORY = "lal_constituency"
PRM = "nk"
SCORES = ("const_evalb_f", "const_evalb_p", "const_evalb_r", "const_complete", "tag_acc")
# Settings that name places, not what is trained
PLACES = ("paths.", "corpora.", "system.gpu", "training.gpu", "training.logger", "initialize.")


def network(nlp: Language) -> ParserNetwork:
    """The parser's torch module."""
    names = [name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory == FACTORY]
    if len(names) != 1:
        raise SystemExit(f"expected one {FACTORY} in {nlp.pipe_names}, found {len(names)}")
    module: ParserNetwork = nlp.get_pipe(names[0]).model.shims[0].module  # type: ignore[attr-defined]
    return module


@contextlib.contextmanager
def zeroed(layer: nn.Module) -> Iterator[None]:
    """Let `layer` put out zeros."""

    def hook(_: nn.Module, __: tuple[Any, ...], output: Tensor) -> Tensor:
        return torch.zeros_like(output)

    handle = layer.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def evaluate(nlp: Language, data: Path, limit: int) -> dict[str, Any]:
    """Scores of freshly made Docs with gold tokens and sentence starts."""
    gold = read_examples(data, nlp, limit)
    predicted = nlp.pipe(example.predicted for example in gold)
    examples = [
        Example(doc, example.reference) for doc, example in zip(predicted, gold, strict=True)
    ]
    scores = score_constituency(examples, prm=PRM)
    words = sum(len(example.reference) for example in examples)
    return {
        **{key: scores.get(key) for key in SCORES},
        "sentences": len(examples),
        "words": words,
    }


def describe(name: str, nlp: Language) -> dict[str, Any]:
    """What a reader wants to know of a parser beside its scores."""
    parser = network(nlp)
    layer = parser.encoder.label_attention
    return {
        "pipeline": name,
        "version": nlp.meta.get("version"),
        "heads": 0 if layer is None else layer.n_heads,
        "parameters": sum(p.numel() for p in parser.parameters()),
        "meta_f": (nlp.meta.get("performance") or {}).get("const_evalb_f"),
    }


def flattened(config: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested config as one of dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, dict):
            flat.update(flattened(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def differences(first: Language, second: Language) -> dict[str, list[Any]]:
    """Where the configs differ: key -> [value, other value]."""
    a, b = flattened(first.config.interpolate()), flattened(second.config.interpolate())
    return {
        key: [a.get(key), b.get(key)]
        for key in sorted(a.keys() | b.keys())
        if a.get(key) != b.get(key) and not key.startswith(PLACES)
    }


def percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.2f}"


def show(rows: list[dict[str, Any]]) -> None:
    print(
        f"{'label attention':18}{'heads':>6}{'parser, M':>11}{'F1':>8}{'P':>8}{'R':>8}"
        f"{'complete':>10}{'tags':>8}{'meta F1':>8}"
    )
    for row in rows:
        cells = [row["const_evalb_f"], row["const_evalb_p"], row["const_evalb_r"]]
        print(
            f"{row['name']:18}{row['heads']:6}{row['parameters'] / 1e6:11.2f}"
            + "".join(f"{percent(cell):>8}" for cell in cells)
            + f"{percent(row['const_complete']):>10}{percent(row['tag_acc']):>8}"
            + f"{percent(row['meta_f']):>8}"
        )
    shipped = rows[0]["const_evalb_f"]
    for row in rows[1:]:
        if shipped is not None and row["const_evalb_f"] is not None:
            gain = 100 * (shipped - row["const_evalb_f"])
            print(f"with label attention rather than {row['name']}: {gain:+.2f} F1")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("pipeline", nargs="?", default="en_lal_sm", help="a package or a folder")
    parser.add_argument("--without", help="the pipeline trained without label attention")
    parser.add_argument("--data", type=Path, default=Path("projects/ewt/corpus/test.spacy"))
    parser.add_argument("--limit", type=int, default=0, help="read only the first N sentences")
    arguments = parsed(parser)
    report = machine(arguments, "spacy", "torch", "spacy-lal")

    shipped = load(arguments.pipeline)
    layer = network(shipped).encoder.label_attention
    if layer is None:
        raise SystemExit(f"the parser of {arguments.pipeline} has no Label Attention Layer")
    about = describe(arguments.pipeline, shipped)
    rows = [{"name": "shipped", **about, **evaluate(shipped, arguments.data, arguments.limit)}]
    with zeroed(layer):
        scores = evaluate(shipped, arguments.data, arguments.limit)
        rows.append({"name": "output zeroed", **about, "meta_f": None, **scores})
    differ: dict[str, list[Any]] = {}
    if arguments.without:
        bare = load(arguments.without)
        about = describe(arguments.without, bare)
        if about["heads"]:
            raise SystemExit(f"{arguments.without} has {about['heads']} label attention heads")
        rows.append({"name": "none", **about, **evaluate(bare, arguments.data, arguments.limit)})
        differ = differences(shipped, bare)

    print(
        f"{arguments.data}: {rows[0]['sentences']} sentences, {rows[0]['words']:,} words; "
        f"EVALB {PRM}.prm, gold tags at terminals; "
        + ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    )
    show(rows)
    if differ:
        print("\nsettings that differ, shipped -> none:")
        for key, (first, second) in differ.items():
            print(f"  {key}: {first!r} -> {second!r}")
    write(arguments.json, report | {"prm": PRM, "rows": rows, "different_settings": differ})


if __name__ == "__main__":
    main()
