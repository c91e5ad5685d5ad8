"""Tables of the docs, and pictures of trainings, from the table of results (results.py).

Pages call these functions in cog's marks; `cog -I benchmarks -r docs/*.md` updates the tables.
`python benchmarks/tables.py ablation …` writes a separate page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any

import results
import srsly
import typer
from results import TABLE, Result

ROOT = Path(__file__).parents[1]
MISSING = "–"
INTRODUCTION = "# Ablations\n\nWritten by `benchmarks/tables.py`.\n"
DECODERS = {
    "MAP": "highest-scoring tree with heads (MAP)",
    "MBR 0.30": "MBR, threshold 0.30",
    "MBR 0.45": "MBR, 0.45",
    "arcs x 0.5": "MBR, 0.45, arcs x 0.5",
    "constituents alone": "constituents alone",
    "heads alone": "heads alone (projective)",
}
"""Those that the page shows."""
SYSTEMS = {
    "lal": "`lal_dependency`",
    "lal-without": "the same without label attention",
    "lal-md": "`lal_dependency` on an encoder",
    "spacy": "spaCy's parser",
    "supar": "supar",
}
ATTACHED = {"LAS": "conll18_las", "UAS": "conll18_uas", "UPOS": "tag_acc"}
ROLES = {
    ("sa", "model"): "SA (no syntax)",
    ("lisa", "model"): "LISA, its own parses",
    ("lisa", "gold"): "LISA, gold parses",
}
OTHER_DECODERS = ("probabilities", "viterbi", "greedy")
SCORES = {
    "dev F1": ("dev", "const_evalb_f"),
    "test F1": ("test", "const_evalb_f"),
    "UAS": ("test", "conll18_uas"),
    "LAS": ("test", "conll18_las"),
}


def spread(values: list[float]) -> str:
    """Return the mean and, for several values, the standard deviation."""
    if len(values) < 2:
        return MISSING if not values else f"{values[0]:.2f}"
    return f"{mean(values):.2f} ± {stdev(values):.2f}"


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a Markdown table; an empty cell is one space."""
    lines = [
        "| " + "| ".join(f"{cell} ".lstrip() for cell in cells) + "|" for cells in (header, *rows)
    ]
    return "\n".join([lines[0], "|---" * len(header) + "|", *lines[1:]]) + "\n"


ATTACHMENT = {
    "conll18": "UAS and LAS are CoNLL 2018's, all words counted",
    "ptb": "UAS and LAS leave out punctuation",
}


# rows of a comparison: ablation_rows.json, crf_rows.json, ged_rows.json and others


def ablation(group: str, rows: Path, table: Path = TABLE, *, without: Collection[str] = ()) -> str:
    """Return all tables of a group of runs, with their explanation.

    rows: the file of rows and tables, with the paper's figures. without: tables and columns that
    are left out, and "paper", the explanation of the paper's figures. Raises ValueError without
    runs, or for runs of different sizes.
    """
    known = srsly.read_json(rows)
    of_rows: dict[str, list[Result]] = defaultdict(list)
    for _, run in sorted(results.read(table, f"{group}/").items()):
        of_rows[run["row"]].append(run)
    runs = [run for of_row in of_rows.values() for run in of_row]
    keys = ("config", "base", "options", "evalb_parameters")
    sizes = {srsly.json_dumps([run[key] for key in keys]) for run in runs}
    if len(sizes) != 1:
        found = f"results of {len(sizes)} sizes: {', '.join(sizes)}" if sizes else "no results"
        raise ValueError(f"{table}, {group}: {found}")
    first = runs[0]
    base = known["bases"][first["base"]]
    heads = base.get("attachment", "conll18")
    columns = {k: (part, key.replace("conll18", heads)) for k, (part, key) in SCORES.items()}
    how = "the model that was best on the development set, scored once on the test set"
    scores = f"F1 is EVALB's with {first['evalb_parameters']}.prm, {ATTACHMENT[heads]}"
    if "threshold" in first:
        corpora = {row["corpus"]: Path(row["corpus"]).stem for row in first["results"]}
        columns = {f"{name} F0.5": ("test", corpus) for corpus, name in corpora.items()}
        of = "the best on the development set" if first.get("tuned", True) else "the model's"
        how = f"the model after the last step; its threshold is {of}"
        scores = "F0.5 is of tokens"
        for run in runs:
            run["test"] = {row["corpus"]: row["f05"] / 100 for row in run["results"]}
    options = " ".join(f"--{key} {value}" for key, value in first["options"].items())
    minutes = mean(run["seconds"] for run in runs) / 60
    steps = " or ".join(f"{n:,}" for n in sorted({run["steps"] for run in runs}))
    introduction = (
        f"{len(runs)} runs of the base `{first['base']}` of `{first['config']}`"
        f"{f' with `{options}`' if options else ''}, "
        f"{steps} steps, {minutes:.1f} minutes each on "
        f"{first['threads']} thread(s) of {first['device']}: {how}. {scores}. "
        "± is the standard deviation over seeds."
    )
    if "words/s" not in without:
        introduction += " words/s: words a second of processor time in training."
    parts = [introduction]
    if "paper" not in without:
        parts.append(f"The paper: {known['paper']}")
    for name, of in known["tables"].items():
        if name not in without:
            parts.append(_ablation(of, of_rows, columns, first["base"], without))
    return "\n" + "\n\n".join(part.strip() for part in parts if part) + "\n"


def _ablation(
    table: dict[str, Any],
    of_rows: dict[str, list[Result]],
    scores: dict[str, tuple[str, str]],
    base: str,
    without: Collection[str],
) -> str:
    """Return one table; empty unless two of its rows have been run. scores: part and key of each
    column. base: whose figures of the paper are shown, if the table has several. without: columns
    that are left out."""
    rows = {name: cells for name, cells in table["rows"].items() if name in of_rows}
    if len(rows) < 2:
        return ""
    every = [run for name in rows for run in of_rows[name]]
    columns = {
        title: (part, key)
        for title, (part, key) in scores.items()
        if any(key in run[part] for run in every)
    }
    published = table.get("paper", {})
    published = published.get(base, published)
    of_paper = list(dict.fromkeys(key for figures in published.values() for key in figures))
    header = [*table["columns"], *columns, "words/s", "runs", *(f"paper {key}" for key in of_paper)]
    lines = []
    for name, cells in rows.items():
        runs, figures = of_rows[name], published.get(name, {})
        cells_of = [
            spread([100 * run[part][key] for run in runs if key in run[part]])
            for part, key in columns.values()
        ]
        speed = f"{mean(run['training_words_per_cpu_second'] for run in runs):,.0f}"
        paper = [f"{figures[key]:.2f}" if key in figures else MISSING for key in of_paper]
        lines.append([*cells, *cells_of, speed, str(len(runs)), *paper])
    shown = [k for k, title in enumerate(header) if title not in without]
    header, *lines = ([cells[k] for k in shown] for cells in (header, *lines))
    return f"### {table['title']}\n\n{markdown(header, lines)}"


# self-attention with and without syntax: srl_rows.json


def roles(table: Path = TABLE, group: str = "srl") -> str:
    """Return scores of both arms with each decoder. Raises ValueError without runs."""
    of: dict[tuple[str, str], dict[str, list[Result]]] = defaultdict(lambda: defaultdict(list))
    for run in results.read(table, f"{group}/").values():
        for result in run["results"]:
            key = f"{result['decoder']}, {result['predicates']}"
            of[run["row"], result["parses"]][key].append(result)
    if not all("valid, model" in found for found in of.values()) or not of:
        raise ValueError(f"{table} has no runs {group}/ with scores of the decoder valid")
    order = sorted(of, key=lambda row: (row[0] != "sa", row[1] == "gold"))
    others = [d for d in OTHER_DECODERS if all(f"{d}, model" in of[row] for row in order)]
    lines = []
    for row in order:
        own, given = of[row]["valid, model"], of[row]["valid, gold"]
        uas = [] if row[1] == "gold" else [r["uas"] for r in own if "uas" in r]
        f1 = [of[row][f"{decoder}, model"] for decoder in ("valid", *others)]
        cells = [spread([r["srl_f"] for r in found]) for found in (*f1, given)]
        cells += [spread([r["srl_pred_f"] for r in own]), spread(uas)]
        lines.append([_arm(*row), str(len(own)), *cells])
    header = ["model", "seeds", *(f"F1 ({decoder})" for decoder in ("valid", *others))]
    header += ["F1 (valid, gold predicates)", "predicates", "UAS"]
    return markdown(header, lines)


def _arm(arm: str, parses: str) -> str:
    return ROLES.get((arm, parses), f"LISA, parses of {parses}")


# decoders of one parser: benchmarks/decoding.py


def decoding() -> str:
    """Return the table of benchmarks/decoding.py."""
    rows = []
    for row in results.read()["decoding_dev"]["rows"]:
        if row["decoder"] not in DECODERS:
            continue
        of_spans = [f"{row[f'const_evalb_{key}']:.2f}" for key in "prf"]
        of_heads = [f"{row[f'conll18_{key}']:.2f}" for key in ("uas", "las")]
        if row["decoder"] == "heads alone":
            of_spans = [""] * 3
        if row["decoder"] == "constituents alone":
            of_heads = [""] * 2
        rows.append([DECODERS[row["decoder"]], *of_spans, *of_heads])
    return markdown(["decoder", "precision", "recall", "F1", "UAS", "LAS"], rows)


# heads on Universal Dependencies: benchmarks/ud.py


def _name(run: Result) -> str:
    return str(run["treebank"]).removeprefix("UD_")


def _row(run: Result, decoder: str = "") -> dict[str, Any]:
    wanted = decoder or ("nonprojective" if run["system"].startswith("lal") else "transitions")
    (row,) = (row for row in run["results"] if row["decoder"] == wanted)
    return dict(row)


def systems(group: str = "ud", table: Path = TABLE) -> str:
    """Return test scores of all parsers, a row a treebank; peer_supar.py's are
    `supar-GROUP/NAME`."""
    cells: dict[str, dict[tuple[str, str], str]] = defaultdict(dict)
    for run in results.read(table, f"{group}/").values():
        if run["results"]:
            row, system = _row(run), run["system"]
            found = {title: row[key] for title, key in ATTACHED.items()}
            if system.startswith("lal"):
                found["projective LAS"] = _row(run, "projective")["conll18_las"]
            cells[_name(run)] |= {(system, key): f"{100 * v:.2f}" for key, v in found.items()}
    for name, run in results.read(table, f"supar-{group}/").items():
        cells[name] |= {("supar", key): f"{run[key.lower()]:.2f}" for key in ("LAS", "UAS")}
    order = [*SYSTEMS]
    columns = {column for of in cells.values() for column in of}
    shown = sorted(columns, key=lambda column: (order.index(column[0]), column[1]))
    header = ["treebank", *(f"{SYSTEMS[system]}: {title}" for system, title in shown)]
    rows = [[name, *(of.get(k, MISSING) for k in shown)] for name, of in sorted(cells.items())]
    return markdown(header, rows)


def label_attention(group: str = "ud-heads", table: Path = TABLE) -> str:
    """Return a row with and one without label attention: means over seeds."""
    found = results.read(table, f"{group}/").values()
    rows = []
    for system in ("lal", "lal-without"):
        runs = [run for run in found if run["system"] == system]
        scores = [
            spread([100 * _row(run)[key] for run in runs]) if runs else MISSING
            for key in ATTACHED.values()
        ]
        rows.append([SYSTEMS[system], str(len(runs)), *scores])
    return markdown(["parser", "seeds", *ATTACHED], rows)


def main(
    group: Annotated[str, typer.Argument(help="Group of runs, as ablation.")],
    output: Annotated[Path, typer.Argument(help="Markdown file to write.")],
    table: Annotated[Path, typer.Option(help="The table of results.")] = TABLE,
    rows: Annotated[Path, typer.Option(help="Rows, tables, the paper's figures.")] = ROOT
    / "benchmarks/ablation_rows.json",
) -> None:
    """Write the tables of what benchmarks/ablate.py found as a page."""
    try:
        text = ablation(group, rows, table)
    except (OSError, ValueError) as error:
        typer.echo(f"tables: {error}", err=True)
        raise typer.Exit(1) from None
    if output.exists() and not output.read_text("utf8").startswith(INTRODUCTION):
        typer.echo(f"tables: {output} is no page that this script wrote", err=True)
        raise typer.Exit(1)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(INTRODUCTION + text, "utf8")
    typer.echo(f"{output}: {group} of {table}")


if __name__ == "__main__":
    typer.run(main)
