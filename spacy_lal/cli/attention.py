"""`attention`: contributions of label attention heads to constituents and to errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import srsly
import typer
from wasabi import msg

from ..formats.files import write_whole
from .checks import GpuOption, ModelArgument, check_outputs, clear_errors

if TYPE_CHECKING:
    from ..interpret import ErrorAnalysis, TopHeads


def attention(
    model: ModelArgument,
    data: Annotated[Path, typer.Argument(help="A .spacy file or a folder of them.", exists=True)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for JSON and SVG files.")
    ] = None,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Heads to show per category.")] = 5,
    errors: Annotated[
        bool, typer.Option("--errors", help="Also analyse wrong constituents by their heads.")
    ] = False,
    gpu_id: GpuOption = -1,
) -> None:
    """Show which label attention heads contribute most to which categories of constituents.

    Averages are over the constituents that MODEL predicts for the words of DATA. Only --errors
    reads the trees of DATA. Heads count from 0. Writes heads.json and heads.svg, and with --errors
    errors.json.
    """
    from ..annotate.annotating import load
    from ..interpret import error_analysis, top_heads
    from ..training.corpus import Corpus

    names = ["heads.json", "heads.svg", *(["errors.json"] if errors else [])]
    with clear_errors("attention"):
        check_outputs(
            [output / name for name in names] if output else [],
            data.rglob("*.spacy") if data.is_dir() else [data],
        )
        nlp = load(model, gpu=gpu_id)
        examples = list(Corpus(data)(nlp))
        found = top_heads(nlp, (example.predicted for example in examples))
        analysis = error_analysis(nlp, examples, k=top) if errors else None
        if analysis is not None and not analysis.docs:
            raise ValueError(f"--errors: none of the {len(examples)} Docs in {data} has a tree")
    contents = [srsly.json_dumps(found.to_dict(top), indent=2), found.svg()]
    _print_heads(found, top)
    if analysis is not None:
        contents.append(srsly.json_dumps(analysis.to_dict(), indent=2))
        _print_errors(analysis)
    if output is not None:
        for name, content in zip(names, contents, strict=True):
            write_whole(output / name, content)


def _print_heads(found: TopHeads, k: int) -> None:
    """Print count, top heads and most frequent first head of all spans and each category."""

    def row(name: str, spans: int, top: list[Any], firsts: Any) -> list[str]:
        head = int(firsts.argmax())
        shares = "  ".join(f"{share.head}: {share.contribution:.4f}" for share in top)
        return [name, f"{spans:,}", shares, f"{head}: {firsts[head] / spans:.1%}"]

    rows = []
    if found.categories:
        rows.append(row("all", int(found.counts.sum()), found.top(None, k), found.firsts.sum(0)))
    for c, category in enumerate(found.categories):
        rows.append(row(category, int(found.counts[c]), found.top(category, k), found.firsts[c]))
    header = ["category", "spans", "top heads: contribution", "most often first"]
    msg.table(rows, header=header, divider=True, max_col=90, aligns=list("lrll"))
    rows = []
    for share in found.top(None, k, by_first=True) if found.categories else ():
        led = found.led_by(share.head)
        shown = "  ".join(f"{category}: {of:.1%}" for category, _, of in led[:k])
        rows.append([str(share.head), f"{sum(count for _, count, _ in led):,}", shown])
    msg.table(rows, header=["head", "first in", "categories"], divider=True, aligns=list("rrl"))


def _print_errors(analysis: ErrorAnalysis, most: int = 15) -> None:
    msg.divider("Errors")
    print(
        f"{analysis.docs:,} Docs with trees. Predicted constituents: {analysis.correct:,} correct, "
        f"{len(analysis.wrong_labels):,} with the wrong label, {len(analysis.wrong_spans):,} that "
        f"are none; {len(analysis.missed_spans):,} missed."
    )
    rows = []
    for predicted, gold, errors in analysis.confusions()[:most]:
        heads = "  ".join(f"{head}: {count}" for head, count in analysis.first_heads(errors)[:3])
        attended = Counter(error.heads[0].words[0][0] for error in errors)
        words = "  ".join(word for word, _ in attended.most_common(3))
        rows.append([predicted, gold or "(none)", str(len(errors)), heads, words])
    header = ["predicted", "gold", "errors", "first heads", "which attend most to"]
    msg.table(rows, header=header, divider=True, max_col=60, aligns=list("llrll"))
    rows = []
    for of in analysis.by_gold()[:most]:
        led = [f"{of[f'{kind} led']} of {of[kind]}" for kind in ("wrong", "missed")]
        at = f"{of['at head word']} of {of['known']}"
        rows.append([of["category"], " ".join(map(str, of["top"])), *led, at])
    header = ["gold", "top heads", "first in wrong labels", "in missed spans", "at the head word"]
    msg.table(rows, header=header, divider=True, aligns=list("llrrr"))
    looked, known = analysis.at_head_word
    print(f"The first head attends most to the head word in {looked:,} of {known:,} correct spans.")
