"""`heads`: which label attention heads contribute to which constituents, and to which errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import srsly
import typer
from wasabi import msg

from ..formats.whole_files import whole_file
from .checks import check_outputs, clear_errors

if TYPE_CHECKING:
    from ..interpret import ErrorAnalysis, TopHeads
    from ..interpret.contributions import Normalisation

Rows = list[list[str]]


def heads(
    model: Annotated[str, typer.Argument(help="A pipeline: a package's name or a folder.")],
    data: Annotated[Path, typer.Argument(help="A .spacy file or a folder of them.", exists=True)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for JSON, TSV and SVG files.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="normalised (paper) or softmax (released code).")
    ] = "normalised",
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=0, help="Read at most this many Docs; 0 for all.")
    ] = 0,
    top: Annotated[int, typer.Option("--top", "-k", min=1, help="Heads to show per category.")] = 5,
    errors: Annotated[
        bool, typer.Option("--errors", help="Also analyse wrong constituents by their heads.")
    ] = False,
) -> None:
    """Which label attention heads contribute most to which categories of constituents.

    Averages are over the constituents that MODEL predicts for the words of DATA. Only --errors
    reads the trees of DATA. Heads count from 0. Writes heads.json, heads.tsv and heads.svg, and
    with --errors errors.json and errors.tsv.
    """
    from ..interpret import error_analysis, top_heads
    from ..pipeline.loading import load_pipeline
    from ..training.corpus import Corpus

    names = [
        "heads.json",
        "heads.tsv",
        "heads.svg",
        *(["errors.json", "errors.tsv"] if errors else []),
    ]
    with clear_errors("heads"):
        check_outputs(
            [output / name for name in names] if output else [],
            data.rglob("*.spacy") if data.is_dir() else [data],
        )
        nlp = load_pipeline(model)
        examples = list(Corpus(data, limit=limit)(nlp))
        how = cast("Normalisation", method)
        found = top_heads(nlp, (example.predicted for example in examples), method=how)
        analysis = error_analysis(nlp, examples, k=top, method=how) if errors else None
        if analysis is not None and not analysis.docs:
            raise ValueError(f"--errors: none of the {len(examples)} Docs in {data} has a tree")
    rows = _category_rows(found, top)
    msg.table(rows, header=_CATEGORY_HEADER, divider=True, max_col=90, aligns=list("lrll"))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        _write(output / "heads.json", srsly.json_dumps(found.to_dict(top), indent=2))
        _write(output / "heads.tsv", _tsv(_heads_tsv(found)))
        _write(output / "heads.svg", found.svg())
    if analysis is not None:
        _print_errors(analysis)
        if output is not None:
            _write(output / "errors.json", srsly.json_dumps(analysis.to_dict(), indent=2))
            _write(output / "errors.tsv", _tsv(_errors_tsv(analysis)))


_CATEGORY_HEADER = ["category", "spans", "top heads: contribution", "most often first"]
_ALL = "all"


def _category_rows(found: TopHeads, k: int) -> Rows:
    """Of all spans, then of each category: its count, its top heads, the head most often first."""

    def row(name: str, spans: int, top: list[Any], firsts: Any) -> list[str]:
        head = int(firsts.argmax())
        shares = "  ".join(f"{share.head}: {share.contribution:.4f}" for share in top)
        return [name, f"{spans:,}", shares, f"{head}: {firsts[head] / spans:.1%}"]

    if not found.categories:
        return []
    total = int(found.counts.sum())
    rows = [row(_ALL, total, found.top_overall(k), found.firsts.sum(0))]
    for c, category in enumerate(found.categories):
        rows.append(row(category, int(found.counts[c]), found.top(category, k), found.firsts[c]))
    return rows


def _heads_tsv(found: TopHeads) -> Rows:
    """A row for each category and head."""
    rows = [["category", "spans", "head", "contribution", "first"]]
    for c, category in enumerate(found.categories):
        for head in range(found.n_heads):
            rows.append(
                [
                    category,
                    str(found.counts[c]),
                    str(head),
                    f"{found.contributions[c, head]:.6f}",
                    str(found.firsts[c, head]),
                ]
            )
    return rows


def _print_errors(analysis: ErrorAnalysis, most: int = 15) -> None:
    from ..interpret.head_analysis import attended_words

    msg.divider("Errors")
    print(
        f"{analysis.docs:,} Docs with trees. Predicted constituents: {analysis.correct:,} correct, "
        f"{len(analysis.wrong_labels):,} with the wrong label, {len(analysis.wrong_spans):,} that "
        f"are none; {analysis.missed:,} missed."
    )
    agreement = analysis.agreement()
    if agreement["predicted"] is not None:
        print(
            f"Wrong labels whose first head is one of the top {analysis.k} of correct constituents "
            f"with the predicted label: {agreement['predicted']:.1%}, with the gold label: "
            f"{agreement['gold']:.1%}."
        )
    rows = []
    for predicted, gold, errors in analysis.confusions()[:most]:
        first = analysis.first_heads(errors)
        rows.append(
            [
                predicted,
                gold or "(none)",
                str(len(errors)),
                "  ".join(f"{head}: {count}" for head, count in first[:3]),
                "  ".join(word for word, _ in attended_words(errors).most_common(3)),
            ]
        )
    header = ["predicted", "gold", "errors", "first heads", "which attend most to"]
    msg.table(rows, header=header, divider=True, max_col=60, aligns=list("llrll"))


def _errors_tsv(analysis: ErrorAnalysis) -> Rows:
    """A row for each error and head."""
    rows = [
        ["doc", "start", "end", "text", "predicted", "gold", "head", "contribution", "attends to"]
    ]
    for error in analysis.errors:
        for head in error.heads:
            rows.append(
                [
                    str(error.doc),
                    *map(str, error.tokens),
                    error.text,
                    error.predicted,
                    error.gold or "",
                    str(head.head),
                    f"{head.contribution:.6f}",
                    " ".join(f"{word}:{weight:.3f}" for word, weight in head.words),
                ]
            )
    return rows


def _tsv(rows: Rows) -> str:
    return "".join("\t".join(" ".join(cell.split()) for cell in row) + "\n" for row in rows)


def _write(path: Path, content: str) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text(content, encoding="utf8")
