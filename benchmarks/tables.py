"""Tables of the docs, and pictures of trainings, from the table of results (results.py).

Pages call these functions in cog's marks; `cog -I benchmarks -r docs/*.md` updates the tables.
`python benchmarks/tables.py ablation …` writes a separate page.
"""

from __future__ import annotations

from collections import defaultdict
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
    "MBR 0.20": "MBR, threshold 0.20",
    "MBR 0.30": "MBR, threshold 0.30",
    "MBR 0.40": "MBR, 0.40",
    "MBR 0.45": "MBR, 0.45",
    "MBR 0.50": "MBR, 0.50",
    "arcs x 0.25": "MBR, 0.45, arcs x 0.25",
    "arcs x 0.5": "MBR, 0.45, arcs x 0.5",
    "arcs x 2.0": "MBR, 0.45, arcs x 2",
    "constituents alone": "constituents alone",
    "heads alone": "heads alone (projective)",
}
OF_HEADS = {"nonprojective": "best tree", "projective": "best projective tree"}
SYSTEMS = {
    "lal": "`lal_dependency`",
    "lal-without": "the same without label attention",
    "spacy": "spaCy's parser",
}
ROLES = {
    ("sa", "model"): "SA (no syntax)",
    ("lisa", "model"): "LISA, its own parses",
    ("lisa", "gold"): "LISA, gold parses",
}
POOLINGS = {
    "attention": "attention over layers (MHMLA)",
    "last": "last layer alone",
    "average": "mean of the layers (AvgL)",
}
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


def ablation(group: str, rows: Path, table: Path = TABLE) -> str:
    """Return all tables of a group of runs, with their explanation.

    rows: the file of rows and tables, with the paper's figures. Raises ValueError without runs, or
    for runs of different sizes.
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
    versions = ", ".join(f"{name} {number}" for name, number in first["versions"].items())
    introduction = (
        f"{len(runs)} runs of the base `{first['base']}` of `{first['config']}`"
        f"{f' with `{options}`' if options else ''}, "
        f"{steps} steps, {minutes:.1f} minutes each on "
        f"{first['threads']} thread(s) of {first['device']}: {how}. {scores}. "
        "± is the standard deviation over seeds, estimated from these runs. "
        "words/s: words a second of processor time in training. "
        f"{versions}."
    )
    parts = [introduction, f"The paper: {known['paper']}"]
    texts = (_ablation(of, of_rows, columns, first["base"]) for of in known["tables"].values())
    parts += filter(None, texts)
    return "\n" + "\n\n".join(part.strip() for part in parts) + "\n"


def _ablation(
    table: dict[str, Any],
    of_rows: dict[str, list[Result]],
    scores: dict[str, tuple[str, str]],
    base: str,
) -> str:
    """Return one table; empty unless two of its rows have been run. scores: part and key of each
    column. base: whose figures of the paper are shown, if the table has several."""
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
    return f"### {table['title']}\n\n{markdown(header, lines)}"


# one setting of the detector: ged_rows.json


def detectors(name: str, setting: str, values: list[str], table: Path = TABLE) -> str:
    """Return a row for every value: the mean over seeds and its standard deviation."""
    lines = []
    for value in values:
        runs = results.read(table, f"ged/{name}/{setting}-{value}-").values()
        found = [run["results"][0] for run in runs]
        scores = [spread([r[key] for r in found]) for key in ("f05", "p", "r", "best_f05")]
        lines.append([POOLINGS.get(value, value), str(len(found)), *scores])
    header = [setting, "seeds", "F0.5", "precision", "recall", "F0.5 at its best threshold"]
    return markdown(header, lines)


# self-attention with and without syntax: srl_rows.json


def roles(table: Path = TABLE, group: str = "srl") -> str:
    """Return scores of both arms, and F1 by length of the sentence and by distance."""
    of: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
    for run in results.read(table, f"{group}/").values():
        for result in run["results"]:
            of[run["row"], result["parses"], result["decoder"]].append(result)
    arms = ["sa", "lisa"]
    order = sorted(of, key=lambda row: (arms.index(row[0]), row[1] == "gold"))
    lines = []
    for arm, parses, decoder in order:
        every = of[arm, parses, decoder]
        own = [r for r in every if r["predicates"] == "model"]
        given = [r for r in every if r["predicates"] == "gold"]
        uas = [r["uas"] for r in own if "uas" in r]
        lines.append(
            [
                *(_arm(arm, parses), decoder, str(len(own))),
                spread([r["srl_f"] for r in own]),
                spread([r["srl_f"] for r in given]),
                spread([r["srl_f without auxiliaries"] for r in own]),
                spread([r["srl_pred_f"] for r in own]),
                MISSING if parses == "gold" else spread(uas),
            ]
        )
    header = ["model", "decoding", "seeds", "F1", "F1, gold predicates"]
    header += ["F1 without auxiliaries", "predicates", "UAS"]
    parts = [markdown(header, lines)]
    for key, title in (
        ("by_length", "F1 by words of the sentence:"),
        ("by_distance", "F1 of arguments by words between them and the predicate:"),
    ):
        rows = {
            _arm(arm, parses): [
                r[key] for r in of[arm, parses, decoder] if r["predicates"] == "model"
            ]
            for arm, parses, decoder in order
            if decoder == "valid"
        }
        if not rows:
            raise ValueError(f"{table} has no runs {group}/ with scores of the decoder valid")
        bins = list(next(iter(rows.values()))[0])
        cells = [
            [name, *(spread([of_seed[b]["f"] for of_seed in seeds]) for b in bins)]
            for name, seeds in rows.items()
        ]
        parts.append(f"{title}\n\n{markdown(['', *bins], cells)}")
    return "\n".join(parts)


def _arm(arm: str, parses: str) -> str:
    return ROLES.get((arm, parses), f"LISA, parses of {parses}")


# decoders of one parser: benchmarks/decoding.py


def decoding() -> str:
    """Return the table of benchmarks/decoding.py."""
    rows = []
    for row in results.read()["decoding_dev"]["rows"]:
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
    """Return a row of test scores for every run; peer_supar.py's are `supar-GROUP/NAME`."""
    rows = []
    for run in sorted(results.read(table, f"{group}/").values(), key=_name):
        if not run["results"]:
            continue
        row = _row(run)
        scores = [f"{100 * row[key]:.2f}" for key in ("conll18_las", "conll18_uas", "tag_acc")]
        words = f"{run['training_words'] / run['data']['train']['words']:.1f}"
        rows.append([_name(run), SYSTEMS[run["system"]], *scores, words])
    for name, run in results.read(table, f"supar-{group}/").items():
        scores = [f"{run['las']:.2f}", f"{run['uas']:.2f}", MISSING]
        rows.append([name, "supar's biaffine parser", *scores, f"{len(run['epochs'])}.0"])
    rows.sort(key=lambda row: row[0])
    return markdown(["treebank", "parser", "LAS", "UAS", "UPOS", "epochs"], rows)


def decoders(group: str = "ud", table: Path = TABLE) -> str:
    """Return LAS and predicted non-projective trees with each decoder, for every treebank."""
    rows = []
    for run in sorted(results.read(table, f"{group}/").values(), key=_name):
        if run["system"] != "lal":
            continue
        cells = [_name(run)]
        for decoder in OF_HEADS:
            row = _row(run, decoder)
            share = 100 * row["nonprojective_predicted"] / row["sentences"]
            cells += [f"{100 * row['conll18_las']:.2f}", f"{share:.1f} %"]
        rows.append(cells)
    header = ["treebank"]
    for title in OF_HEADS.values():
        header += [f"{title}: LAS", "non-projective"]
    return markdown(header, rows)


def label_attention(group: str = "ud-heads", table: Path = TABLE) -> str:
    """Return a row with and one without label attention: means over seeds."""
    found = results.read(table, f"{group}/").values()
    rows = []
    for system in ("lal", "lal-without"):
        runs = [run for run in found if run["system"] == system]
        scores = [
            spread([100 * _row(run)[key] for run in runs]) if runs else MISSING
            for key in ("conll18_las", "conll18_uas", "tag_acc")
        ]
        rows.append([SYSTEMS[system], str(len(runs)), *scores])
    return markdown(["parser", "seeds", "LAS", "UAS", "UPOS"], rows)


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
