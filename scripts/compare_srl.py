"""The central comparison of Strubell et al. 2018: self-attention without and with syntax, and with
better parses handed to the trained model.

For each seed, trains CONFIG without the parser's head and paths that go by it (SA) and as it is
(LISA), and scores LISA on the same data with its own parses, with another pipeline's, and with gold
ones.
A seed's result is a JSON file in OUTPUT; one that is there is not trained again.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from evaluate_srl import evaluate
from report import markers, split, spread, write
from wasabi import msg

MODEL = "--components.lisa_srl.model"
ARMS = {
    "sa": [f"{MODEL}.syntax_layer", "null", f"{MODEL}.role_paths", "false"],
    "lisa": [],
}
PART = "srl"


def main(
    config: Annotated[Path, typer.Argument(help="The config of both arms.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder of the results.")],
    train: Annotated[Path, typer.Option(help="Training data.", exists=True)],
    dev: Annotated[Path, typer.Option(help="Development data.", exists=True)],
    test: Annotated[Path, typer.Option(help="Test data.", exists=True)],
    parser: Annotated[str, typer.Option(help="A pipeline that finds heads.")] = "en_lal_sm",
    seeds: Annotated[str, typer.Option(help="Seeds, separated by commas.")] = "1,2,3",
    options: Annotated[str, typer.Option(help="More options of `spacy train`.")] = "",
    page: Annotated[Path | None, typer.Option(help="Write the table between its markers.")] = None,
) -> None:
    """Train and score both arms with every seed that has no result yet; write the table."""
    if page is not None and not page.exists():
        page.parent.mkdir(parents=True, exist_ok=True)
        start, end = markers(PART)
        page.write_text(f"# Semantic roles\n\n{start}\n{end}\n", encoding="utf8")
    if page is not None:
        try:
            split(page, PART)
        except ValueError as error:
            typer.echo(f"compare_srl: {error}", err=True)
            raise typer.Exit(1) from None
    output.mkdir(parents=True, exist_ok=True)
    for seed in seeds.split(","):
        for arm, settings in ARMS.items():
            path = output / f"{arm}-{seed}.json"
            if path.exists():
                msg.info(f"{path} is there")
                continue
            msg.info(f"{arm}, seed {seed}")
            with tempfile.TemporaryDirectory() as scratch:
                command = [sys.executable, "-m", "spacy", "train", str(config)]
                command += ["--output", scratch, "--system.seed", seed]
                command += ["--paths.train", str(train), "--paths.dev", str(dev)]
                start = time.perf_counter()
                subprocess.run([*command, *settings, *shlex.split(options)], check=True)
                seconds = time.perf_counter() - start
                parses = ["model", parser, "gold"] if arm == "lisa" else ["model"]
                decoders = ["probabilities", "viterbi", "valid", "greedy"]
                best = f"{scratch}/model-best"
                result = evaluate(best, test, parses, ["model", "gold"], decoders)
            srsly.write_json(path, {"arm": arm, "seed": int(seed), "seconds": seconds} | result)
    if page is not None:
        tables = [
            table(rows_of(output)),
            f"F1 by words of the sentence:\n\n{breakdown(rows_of(output), 'by_length')}",
            "F1 of arguments by words between them and the predicate:\n\n"
            + breakdown(rows_of(output), "by_distance"),
        ]
        write(page, PART, "\n".join(tables))


NAMES = {
    ("sa", "model"): "SA (no syntax)",
    ("lisa", "model"): "LISA, its own parses",
    ("lisa", "gold"): "LISA, gold parses",
}
Rows = dict[tuple[str, str, str], list[dict[str, Any]]]
"""Results by arm, parses and decoder, one a seed and kind of predicates."""


def rows_of(folder: Path) -> Rows:
    rows: Rows = {}
    for path in sorted(folder.glob("*.json")):
        file = srsly.read_json(path)
        for result in file["results"]:
            key = (file["arm"], result["parses"], result["decoder"])
            rows.setdefault(key, []).append(result)
    order = ["sa", "lisa"]
    return dict(sorted(rows.items(), key=lambda row: (order.index(row[0][0]), row[0][1] == "gold")))


def _name(arm: str, parses: str) -> str:
    return NAMES.get((arm, parses), f"LISA, parses of {parses}")


def breakdown(rows: Rows, key: str) -> str:
    """F1 in each bin, of the best valid sequences, with the model's own predicates."""
    shown = {
        _name(arm, parses): [r[key] for r in results if r["predicates"] == "model"]
        for (arm, parses, decoder), results in rows.items()
        if decoder == "valid"
    }
    bins = list(next(iter(shown.values()))[0])
    lines = [f"| | {' | '.join(bins)} |", f"|---|{'---|' * len(bins)}"]
    for name, of_seeds in shown.items():
        cells = [spread([of_seed[b]["f"] for of_seed in of_seeds]) for b in bins]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table(rows: Rows) -> str:
    """Rows of arms, columns of scores, the mean of all seeds and its standard deviation."""
    lines = [
        "| model | decoding | seeds | F1 | F1, gold predicates | F1 without auxiliaries "
        "| predicates | UAS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (arm, parses, decoder), results in rows.items():
        own = [r for r in results if r["predicates"] == "model"]
        given = [r for r in results if r["predicates"] == "gold"]
        cells = [
            _name(arm, parses),
            decoder,
            str(len(own)),
            spread([r["srl_f"] for r in own]),
            spread([r["srl_f"] for r in given]),
            spread([r["srl_f without auxiliaries"] for r in own]),
            spread([r["srl_pred_f"] for r in own]),
            "–" if parses == "gold" else spread([r["uas"] for r in own if "uas" in r]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    typer.run(main)
