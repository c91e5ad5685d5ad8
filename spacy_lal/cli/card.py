"""The README of a package: what spaCy makes of meta.json, then tables of scores by label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

LEAST = 20
"""How often gold data must have a label: scores of fewer say little."""


def write_card(
    package: Path, meta: Mapping[str, Any], metrics: Iterable[Mapping[str, Any]]
) -> None:
    """Write the README.md of a package, and its copy beside the pipeline."""
    text = model_card(meta, metrics)
    for path in (package / "README.md", *package.glob("*/*/README.md")):
        path.write_text(text, encoding="utf8")


def model_card(meta: Mapping[str, Any], metrics: Iterable[Mapping[str, Any]]) -> str:
    """Markdown. metrics: what evaluate, evaluate-srl, evaluate-ged and ged-pairs wrote."""
    from spacy.cli.package import generate_readme

    tables = [table for of_command in metrics for table in _tables(of_command)]
    return "\n\n".join([generate_readme(dict(meta)).strip(), *tables]) + "\n"


def _tables(metrics: Mapping[str, Any]) -> Iterator[str]:
    by_label: dict[str, Any] = dict(metrics.get("by_label") or {})
    for result in metrics.get("results", ())[:1]:
        by_label |= result.get("by_label") or {}
    for kind, labels in by_label.items():
        rows: list[tuple[str, ...]] = [
            (f"`{label}`", f"{of['gold']:,}", *(f"{of[key]:.1f}" for key in "prf"))
            for label, of in sorted(labels.items(), key=lambda item: -item[1]["gold"])
            if of["gold"] >= LEAST
        ]
        if rows:
            title = f"### {kind.capitalize()} by label"
            which = f"Labels that the gold data has at least {LEAST} times."
            names = ("label", "gold", "precision", "recall", "F1")
            yield f"{title}\n\n{which}\n\n{_table(names, rows)}"
    if "kinds" in metrics:
        kinds = metrics["kinds"] | {"all": metrics["all"]}
        rows = [
            (kind, str(of["pairs"]), f"{of['found']:.1f} %", f"{of['right_marked']:.1f} %")
            for kind, of in kinds.items()
        ]
        header = ("kind", "sentences", "errors found", "corrections with a mark")
        yield f"### Errors by kind, in a textbook's sentences\n\n{_table(header, rows)}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
