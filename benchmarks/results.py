"""The table of results, docs/training/results.jsonl: one line of JSON for every evaluation.

A run's first line has its name, `run`, settings, seed and versions. Every other line is an
evaluation: a step of a curve ("part": "curve"), a decoder of "results", and so on. In Python a run
is a dict with a list of such lines for each part.

`python benchmarks/results.py NAME FILE.json` adds the output of a benchmark, of `lal evaluate`
(--json) or of spaCy's console logger (FILE.jsonl, the curve of a training).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer

TABLE = Path(__file__).parents[1] / "docs/training/results.jsonl"
Result = dict[str, Any]


def in_percent(result: Result) -> Result:
    """Return a row with fractions in percent, as in the table for roles and errors."""
    return {
        key: in_percent(value)
        if isinstance(value, dict)
        else round(100 * value, 2)
        if isinstance(value, float) and value <= 1
        else value
        for key, value in result.items()
    }


def lines_of(run: str, result: Result) -> list[Result]:
    """Return the lines of a run. Raises ValueError for a reserved key."""
    parts = {key: value for key, value in result.items() if _is_part(value)}
    about = {key: value for key, value in result.items() if key not in parts}
    lines = [({"run": run}, about)]
    lines += [({"run": run, "part": part}, line) for part, of in parts.items() for line in of]
    if any({"run", "part"} & line.keys() for _, line in lines):
        raise ValueError(f"{run}: a result can't have the keys run and part")
    return [own | line for own, line in lines]


def _is_part(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)


def read(table: Path = TABLE, prefix: str = "") -> dict[str, Result]:
    """Return results by run, in the table's order; none without the file. prefix: beginning of
    names, which is removed. Raises ValueError for a malformed line."""
    results: dict[str, Result] = {}
    if not table.exists():
        return results
    # not splitlines, which also cuts at separators within JSON strings
    found = table.read_text("utf8").removesuffix("\n")
    for number, text in enumerate(found.split("\n") if found else (), start=1):
        try:
            line = srsly.json_loads(text)
            run, part = line.pop("run"), line.pop("part", None)
        except (AttributeError, KeyError, TypeError, ValueError):
            raise ValueError(f"{table}, line {number}: no line of results") from None
        if not run.startswith(prefix):
            continue
        result = results.setdefault(run.removeprefix(prefix), {})
        if part is None:
            result.update(line)
        else:
            result.setdefault(part, []).append(line)
    return results


def add(run: str, result: Result, table: Path = TABLE) -> None:
    """Append a run. Raises ValueError if the table has one of that name."""
    if run in read(table):
        raise ValueError(f"{table} has a run {run} already")
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines_of(run, result))
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("a", encoding="utf8") as file:
        file.write(text)


def main(
    run: Annotated[str, typer.Argument(help="Name of the run, as ged/fce-4.")],
    file: Annotated[Path, typer.Argument(help="Its result: .json, or a .jsonl log.", exists=True)],
    table: Annotated[Path, typer.Option(help="The table.")] = TABLE,
) -> None:
    """Add a run to the table of results."""
    try:
        if file.suffix == ".jsonl":
            lines = file.read_text("utf8").split("\n")
            result = {"curve": [json.loads(line) for line in lines if line]}
        else:
            result = json.loads(file.read_text("utf8"))
        add(run, result, table)
    except ValueError as error:
        typer.echo(f"results: {error}", err=True)
        raise typer.Exit(1) from None


if __name__ == "__main__":
    typer.run(main)
