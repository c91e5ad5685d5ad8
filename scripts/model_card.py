"""Write the README.md of a package anew, without a change to its weights.

    python scripts/model_card.py packages/en_lal_sm configs/en_lal_sm.meta.json METRICS…

It is what `spacy lal package` would write: from the package's meta.json, with the texts of META,
and with the scores by label of METRICS (what evaluate, evaluate-srl, evaluate-ged and ged-pairs
wrote).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import srsly
import typer

from spacy_lal.cli.card import write_card


def main(
    package: Annotated[Path, typer.Argument(help="A folder of packages.", exists=True)],
    meta: Annotated[Path, typer.Argument(help="A *.meta.json of configs.", exists=True)],
    metrics: Annotated[list[Path], typer.Argument(help="JSON of measurements.", exists=True)],
) -> None:
    """Write it."""
    contents = srsly.read_json(package / "meta.json") | srsly.read_json(meta)
    write_card(package, contents, [srsly.read_json(path) for path in metrics])


if __name__ == "__main__":
    typer.run(main)
