"""Draw the pictures of docs/training and docs/pictures: `python benchmarks/pictures.py`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path
from typing import Annotated, Any

import results
import spacy
import typer
from results import TABLE

from spacy_lal.drawing.charts import layer_attention_svg
from spacy_lal.drawing.palette import FAINT, GRID
from spacy_lal.drawing.svg import line, n, svg, text
from spacy_lal.trees.tree import ConstituentTree
from spacy_lal.visualize import render

FOLDER = TABLE.parents[1] / "pictures"
SENTENCE = "They never told us why the old bridge have been closed."
RIGHT = "They never told us why the old bridge had been closed."
AMBIGUOUS = "I saw the man with the telescope."
ESSAY = "He go to school every day, because he want to learning English."
READ_OTHERWISE = (
    "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN man)) (PP (IN with) (NP (DT the)"
    " (NN telescope)))) (. .)))"
)
"""A gold tree of the ambiguous sentence."""
CLAUSES = "The city closed the old bridge, which nobody used."
FRENCH = "Le ministre a annoncé son départ au mois de juin."
SLOPPY = "call me at 7:30PM!!! we still need the car :)"
ODD = "😀 ok... see https://a.example/b?c=1 before 31/12"
DRAWN: dict[str, tuple[str, str, dict[str, Any]]] = {
    "all": (SENTENCE, "all", {"helping": False}),
    "tree": (RIGHT, "tree", {}),
    "tree-turned": (RIGHT, "tree", {"turned": True}),
    "heads": (RIGHT, "heads", {}),
    "roles": (RIGHT, "srl_lanes", {"helping": False}),
    "clauses": (CLAUSES, "all", {"helping": False}),
    "sloppy": (SLOPPY, "all", {"helping": False}),
    "odd": (ODD, "all", {"helping": False}),
    "probabilities": (AMBIGUOUS, "probabilities", {}),
    "contributions": (AMBIGUOUS, "contributions", {}),
    "label_attention": (AMBIGUOUS, "label_attention", {}),
}
"""Sentence, style and options of each picture of what en_lal_md finds."""
COLOURS = (
    *("#08306b", "#d95f02", "#1b9e77", "#7570b3", "#e7298a"),
    *("#66a61e", "#e6ab02", "#a6761d", "#666666"),
)
"""Colours of curves, in turn."""
WIDTH, HEIGHT, LEFT, TOP = 460.0, 260.0, 56.0, 44.0
"""The size of a plot's area, and the margins at its left and above it, in pixels."""
THICK = "stroke-width='1.5'"
"""The width of a curve, as an attribute of SVG."""
Points = Sequence[tuple[float, float]]
"""Points from left to right: horizontal and vertical place."""


def curves_svg(curves: Mapping[str, Sequence[Points]], *, title: str, lowest: float = 0.0) -> str:
    """Return curves of scores in percent by training steps, a colour a name and a curve a seed.
    lowest: the scale's lower end; points below are left out. Raises ValueError if none is left."""
    shown = {
        name: [[point for point in points if point[1] >= lowest] for points in seeds]
        for name, seeds in curves.items()
    }
    every = [point for seeds in shown.values() for points in seeds for point in points]
    if not every:
        raise ValueError(f"no curve has a score of {lowest:g} or more")
    last, highest = max(1, *(step for step, _ in every)), max(score for _, score in every)
    tick = next(size for size in (0.5, 1, 2, 5, 10, 20) if (highest - lowest) / size <= 8)
    top = lowest + tick
    while top < highest:
        top += tick

    def place(step: float, score: float) -> tuple[float, float]:
        return LEFT + WIDTH * step / last, TOP + HEIGHT * (top - score) / (top - lowest)

    parts = [text(16, 22, title, size=15, weight="bold")]
    for k in range(round((top - lowest) / tick) + 1):
        _, y = place(0, lowest + k * tick)
        parts.append(line(LEFT, y, LEFT + WIDTH, y, GRID))
        mark = f"{lowest + k * tick:g}"
        parts.append(text(LEFT - 6, y + 4, mark, size=10, anchor="end", fill=FAINT))
    for k in range(5):
        x, y = place(last * k / 4, lowest)
        mark = f"{last * k / 4:,.0f}"
        parts.append(text(x, y + 16, mark, size=10, anchor="middle", fill=FAINT))
    parts.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, "steps", size=11, anchor="middle"))
    for k, (name, seeds) in enumerate(shown.items()):
        colour = COLOURS[k % len(COLOURS)]
        for points in seeds:
            way = " ".join(",".join(map(n, place(*point))) for point in points)
            parts.append(f"<polyline points='{way}' fill='none' stroke='{colour}' {THICK}/>")
        x, y = LEFT + WIDTH + 16, TOP + 10 + 18 * k
        parts += [line(x, y - 4, x + 18, y - 4, colour), text(x + 24, y, name, size=11)]
    width = LEFT + WIDTH + 60 + 6.2 * max(map(len, shown))
    return svg(width, TOP + HEIGHT + 44, title, parts)


def pictures(table: Path = TABLE) -> dict[str, str]:
    """Return all pictures by file name."""
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

    on_dev = "F1 on the development set"
    return {
        "ewt.svg": curves_svg(legs, title=f"Constituents: {on_dev}", lowest=76),
        "ewt_srl.svg": curves_svg(roles, title=f"Semantic roles: {on_dev}", lowest=56),
        "ablation.svg": curves_svg(of_rows("ablation"), title=f"Ablations: {on_dev}", lowest=66),
        "crf.svg": curves_svg(of_rows("crf"), title=f"Two-stage parsers: {on_dev}", lowest=66),
        "layers-md.svg": layer_attention_svg(
            runs["ged/md-layers"]["all"], names=[*(f"layer {k}" for k in range(1, 7)), "words"]
        ),
    }


def drawn() -> dict[str, str]:
    """Return the pictures of sentences by name, as our pipelines annotate them."""
    nlp, detector = spacy.load("en_lal_md"), spacy.load("en_lal_ged_md")
    found = {}
    for name, (words, style, options) in DRAWN.items():
        doc = nlp(words)
        if words == SENTENCE:
            doc = detector(doc)
        if style in ("probabilities", "contributions", "label_attention"):
            options = {**options, "nlp": nlp}
        found[name] = render(doc, style=style, options=options, jupyter=False)
    essay = detector(ESSAY)
    found["errors"] = render(essay, style="all", jupyter=False)
    found["layers"] = render(essay, style="layers", options={"nlp": detector}, jupyter=False)
    found["french"] = render(spacy.load("fr_lal_md")(FRENCH), style="all", jupyter=False)
    tree = nlp(AMBIGUOUS)._.trees[0]
    found["diff"] = render(
        [(ConstituentTree.from_string(READ_OTHERWISE), tree)], style="diff", jupyter=False
    )
    return found


def speed_svg(figures: Mapping[str, Mapping[str, float]]) -> str:
    """Return a picture of F1 by words a second, two points a pipeline, on a logarithmic scale."""
    fastest, slowest, low, high = 6000, 200, 87.0, 90.5

    def place(speed: float, score: float) -> tuple[float, float]:
        across = log(speed / slowest) / log(fastest / slowest)
        return LEFT + WIDTH * across, TOP + HEIGHT * (high - score) / (high - low)

    title = "F1 of constituents by speed"
    parts = [text(16, 22, title, size=15, weight="bold")]
    for score in (87, 88, 89, 90):
        _, y = place(slowest, score)
        parts.append(line(LEFT, y, LEFT + WIDTH, y, GRID))
        parts.append(text(LEFT - 6, y + 4, str(score), size=10, anchor="end", fill=FAINT))
    for speed in (250, 500, 1000, 2000, 4000):
        x, y = place(speed, low)
        parts.append(text(x, y + 16, f"{speed:,}", size=10, anchor="middle", fill=FAINT))
    below = "words a second of one CPU core"
    parts.append(text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, below, size=11, anchor="middle"))
    kinds = {"all": "with roles", "parser": "trees and heads"}
    for k, (colour, (key, said)) in enumerate(zip(COLOURS[1:], kinds.items(), strict=False)):
        points = [place(of[key], of["f1"]) for of in figures.values()]
        way = " ".join(",".join(map(n, point)) for point in points)
        parts.append(f"<polyline points='{way}' fill='none' stroke='{colour}' {THICK}/>")
        parts += [f"<circle cx='{n(x)}' cy='{n(y)}' r='5' fill='{colour}'/>" for x, y in points]
        y = TOP + HEIGHT - 30 + 18 * k
        parts.append(f"<circle cx='{n(LEFT + 14)}' cy='{n(y - 4)}' r='5' fill='{colour}'/>")
        parts.append(text(LEFT + 26, y, said, size=11))
    for name, of in figures.items():
        x, y = place(of["parser"], of["f1"])
        parts.append(text(x + 10, y - 6, name, size=12, weight="bold"))
    return svg(LEFT + WIDTH + 60, TOP + HEIGHT + 44, title, parts)


def main(
    folder: Annotated[
        Path, typer.Argument(help="Where to write pictures of results.")
    ] = TABLE.parent,
    table: Annotated[Path, typer.Option(help="The table of results.", exists=True)] = TABLE,
    sentences: Annotated[Path, typer.Option(help="Where to write the other pictures.")] = FOLDER,
) -> None:
    """Draw all pictures."""
    figures = tomllib.loads((FOLDER / "speed.toml").read_text("utf8"))
    others = {f"{name}.svg": picture for name, picture in drawn().items()}
    others["speed.svg"] = speed_svg(figures)
    for place, made in ((folder, pictures(table)), (sentences, others)):
        place.mkdir(parents=True, exist_ok=True)
        for name, picture in made.items():
            (place / name).write_text(picture, encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
