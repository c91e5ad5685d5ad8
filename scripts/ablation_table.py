"""Write what scripts/ablate.py found as tables: means and standard deviations over seeds, next to
the figures of the paper."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import srsly
import typer
from report import markers, spread, write

ROOT = Path(__file__).parents[1]
INTRODUCTION = "# Ablations\n\nWritten by `scripts/ablation_table.py`.\n"
COLUMNS = {
    "dev F1": ("dev", "const_evalb_f"),
    "test F1": ("test", "const_evalb_f"),
    "UAS": ("test", "conll18_uas"),
    "LAS": ("test", "conll18_las"),
}
PAPER = ("f1", "uas", "las")

Result = dict[str, Any]


def read_results(folder: Path) -> dict[str, list[Result]]:
    """Results by row. Raises ValueError if there are none, or they are not of one size."""
    rows: dict[str, list[Result]] = defaultdict(list)
    sizes = set()
    for path in sorted(folder.glob("*.json")):
        result = srsly.read_json(path)
        rows[result["row"]].append(result)
        sizes.add(srsly.json_dumps([result[k] for k in ("config", "options", "evalb_parameters")]))
    if len(sizes) != 1:
        found = "no results" if not sizes else f"results of {len(sizes)} sizes: {', '.join(sizes)}"
        raise ValueError(f"{folder}: {found}")
    return dict(rows)


def lines_of(
    table: dict[str, Any], results: dict[str, list[Result]], published: dict[str, Any] | None
) -> list[str]:
    """A table in Markdown, with the paper's figures if it has such a table; empty unless two of
    its rows have been run."""
    rows = [(name, cells) for name, cells in table["rows"].items() if name in results]
    if len(rows) < 2:  # nothing to compare
        return []
    every = [run for name, _ in rows for run in results[name]]
    columns = {
        title: (part, key)
        for title, (part, key) in COLUMNS.items()
        if any(key in run[part] for run in every)
    }
    header = [*table["columns"], *columns, "words/s", "runs"]
    of_paper = [key for key in PAPER if any(key in row for row in (published or {}).values())]
    header += [f"paper {key.upper()}" for key in of_paper]
    lines = [f"### {table['title']}", "", f"| {' | '.join(header)} |", "|---" * len(header) + "|"]
    for name, cells in rows:
        runs = results[name]
        scores = [
            spread([100 * run[part][key] for run in runs if key in run[part]])
            for part, key in columns.values()
        ]
        speed = f"{mean(run['training_words_per_cpu_second'] for run in runs):,.0f}"
        cells = [*cells, *scores, speed, str(len(runs))]
        if published is not None:
            figures = published.get(name, {})
            cells += [f"{figures[key]:.2f}" if key in figures else "–" for key in of_paper]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def page(results: dict[str, list[Result]], tables: dict[str, Any], paper: Any) -> str:
    """All tables, and what one needs to know to read them."""
    runs = [run for of_row in results.values() for run in of_row]
    first = runs[0]
    options = " ".join(f"--{key} {value}" for key, value in first["options"].items())
    minutes = mean(run["seconds"] for run in runs) / 60
    steps = sorted({run["steps"] for run in runs})
    versions = ", ".join(f"{name} {number}" for name, number in first["versions"].items())
    lines = [
        "",
        f"{len(runs)} runs of `{first['config']}`{f' with `{options}`' if options else ''}, "
        f"{' or '.join(f'{n:,}' for n in steps)} steps, {minutes:.1f} minutes each on "
        f"{first['threads']} thread(s) of {first['device']}: the model that was best on the "
        f"development set, scored once on the test set. F1 is EVALB's with "
        f"{first['evalb_parameters']}.prm, UAS and LAS are CoNLL 2018's, all words counted. "
        "± is the standard deviation over seeds, estimated from these runs. "
        "words/s: words a second of processor time in training. "
        f"{versions}.",
        "",
        f"The paper: {paper['citation']}. {paper['scores']}. {paper['missing']}",
        "",
    ]
    for name, table in tables.items():
        published = paper["rows"] if name in paper["tables"] else None
        lines += lines_of(table, results, published)
    return "\n".join(lines)


def main(
    results: Annotated[Path, typer.Argument(help="Folder of the results.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Markdown file; written between its markers.")],
    rows: Annotated[Path, typer.Option(help="Rows and tables.")] = ROOT
    / "configs/ablation_rows.json",
    paper: Annotated[Path, typer.Option(help="Figures of the paper.")] = ROOT
    / "docs/training/ablation_paper.json",
    marker: Annotated[
        str, typer.Option(help="Name in the markers that the tables stand between.")
    ] = "ablation",
) -> None:
    """Write the tables to OUTPUT: instead of what stands between its markers, or as a new file."""
    try:
        tables = srsly.read_json(rows)["tables"]
        written = page(read_results(results), tables, srsly.read_json(paper))
        if not output.exists():
            output.parent.mkdir(parents=True, exist_ok=True)
            start, end = markers(marker)
            output.write_text(f"{INTRODUCTION}\n{start}{end}\n", "utf8")
        write(output, marker, written)
    except (OSError, ValueError) as error:
        typer.echo(f"ablation_table: {error}", err=True)
        raise typer.Exit(1) from None
    typer.echo(f"{output}: tables of {results}")


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
