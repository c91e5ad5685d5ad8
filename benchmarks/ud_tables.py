"""Tables of docs/results.md of what benchmarks/ud.py found, from the table of results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import results
from results import TABLE, Result
from tables import MISSING, markdown, spread

SYSTEMS = {
    "lal": "`lal_dependency`",
    "lal-without": "the same without label attention",
    "spacy": "spaCy's parser",
    "spacy-constant": "spaCy's parser, constant rate",
    "spacy-large": "spaCy's parser, `--optimize accuracy`",
}
DECODERS = {"nonprojective": "best tree", "projective": "best projective tree", "greedy": "greedy"}


def _name(run: Result) -> str:
    return str(run["treebank"]).removeprefix("UD_")


def _row(run: Result, decoder: str = "") -> dict[str, Any]:
    """The scores of a decoder, or else those of what a pipeline does by default."""
    wanted = decoder or ("nonprojective" if run["system"].startswith("lal") else "transitions")
    (row,) = (row for row in run["results"] if row["decoder"] == wanted)
    return dict(row)


def data(group: str = "ud", table: Path = TABLE) -> str:
    """A row for every treebank: how large it is, and how many of its trees have crossing arcs."""
    rows = {}
    for run in results.read(table, f"{group}/").values():
        parts = run["data"].values()
        rows[_name(run)] = [
            _name(run),
            *(f"{part['sentences']:,}" for part in parts),
            f"{run['data']['train']['words']:,}",
            *(
                f"{100 * part['nonprojective'] / part['sentences']:.1f} %"
                for part in (run["data"]["train"], run["data"]["test"])
            ),
        ]
    header = ["treebank", "training sentences", "development", "test", "training words"]
    header += ["non-projective, training", "test"]
    return markdown(header, list(rows.values()))


def systems(group: str = "ud", table: Path = TABLE) -> str:
    """A row for every run: its scores on the test set. supar_ud.py's are `supar-GROUP/NAME`."""
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
    """A row for every treebank: LAS and predicted non-projective trees with each decoder."""
    rows = []
    for run in sorted(results.read(table, f"{group}/").values(), key=_name):
        if run["system"] != "lal":
            continue
        cells = [_name(run)]
        for decoder in DECODERS:
            row = _row(run, decoder)
            share = 100 * row["nonprojective_predicted"] / row["sentences"]
            cells += [f"{100 * row['conll18_las']:.2f}", f"{share:.1f} %"]
        rows.append(cells)
    header = ["treebank"]
    for title in DECODERS.values():
        header += [f"{title}: LAS", "non-projective"]
    return markdown(header, rows)


def label_attention(group: str = "ud-heads", table: Path = TABLE) -> str:
    """A row with and one without label attention: means over seeds."""
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
