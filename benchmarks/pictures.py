"""Draw the pictures of docs/training from the table of results, and the README's tree: `python
benchmarks/pictures.py`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import results
import spacy
import typer
from plots import Points, calibration_svg, curves_svg
from results import TABLE

from spacy_lal.drawing.charts import layer_attention_svg
from spacy_lal.visualize import render

TREE = TABLE.parents[1] / "pictures/tree.svg"
SENTENCE = "They never told us why the old bridge had been closed."


def pictures(table: Path = TABLE) -> dict[str, str]:
    """All pictures by the names of their files."""
    runs = results.read(table)

    def curve(run: str, key: str, times: float = 1.0, **having: int) -> Points:
        points = [p for p in runs[run]["curve"] if all(p[k] == v for k, v in having.items())]
        return [(point["step"], times * point[key]) for point in points]

    def of_rows(group: str) -> dict[str, list[Points]]:
        found: dict[str, list[Points]] = {}
        for name in sorted(run for run in runs if run.startswith(f"{group}/")):
            found.setdefault(runs[name]["row"], []).append(curve(name, "const_evalb_f", 100.0))
        return found

    legs = {
        "constituents, leg 1 (MAP)": [curve("ewt_leg1", "evalb_f")],
        "constituents, leg 2": [curve("ewt_leg2", "evalb_f")],
        "joint with heads": [curve("ewt_joint", "evalb_f")],
        "two-stage CRF, silver trees": [curve("ewt_crf", "evalb_f")],
    }
    roles = {f"leg {k}": [curve("ewt_srl", "srl_f", leg=k)] for k in (1, 2)}

    def honest(run: str) -> Points:
        (table,) = (table for table in runs[run]["tables"] if table["what"] == "constituents")
        bins = [row for row in table["bins"] if row["count"]]
        return [(row["mean_probability"], row["right"]) for row in bins]

    parsers = {"en_lal_sm 0.2.0": "calibration", "two-stage CRF": "calibration_crf"}
    sure = {name: honest(run) for name, run in parsers.items()}
    on_dev = "F1 on the development set"
    return {
        "ewt.svg": curves_svg(legs, title=f"Constituents: {on_dev}", lowest=76),
        "ewt_srl.svg": curves_svg(roles, title=f"Semantic roles: {on_dev}", lowest=56),
        "ablation.svg": curves_svg(of_rows("ablation"), title=f"Ablations: {on_dev}", lowest=66),
        "crf.svg": curves_svg(of_rows("crf"), title=f"Two-stage parsers: {on_dev}", lowest=66),
        "calibration.svg": calibration_svg(sure, title="Constituents: how often they are right"),
        "layers.svg": layer_attention_svg(runs["ged/layers"]["all"]),
        "layers-md.svg": layer_attention_svg(
            runs["ged/md-layers"]["all"], names=[*(f"layer {k}" for k in range(1, 7)), "words"]
        ),
    }


def main(
    folder: Annotated[Path, typer.Argument(help="Where to write them.")] = TABLE.parent,
    table: Annotated[Path, typer.Option(help="The table of results.", exists=True)] = TABLE,
    tree: Annotated[Path, typer.Option(help="The README's picture.")] = TREE,
) -> None:
    """Draw all pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, picture in pictures(table).items():
        (folder / name).write_text(picture, encoding="utf8")
    tree.parent.mkdir(parents=True, exist_ok=True)
    tree.write_text(render(spacy.load("en_lal_sm")(SENTENCE), style="tree"), encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
