"""`evaluate-srl`: semantic roles of a pipeline, with its own or other parses and predicates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .measuring import MetricsOption, ThreadsOption, measuring


def evaluate_srl(
    model: Annotated[str, typer.Argument(help="A pipeline with `lisa_srl`: name or folder.")],
    corpus: Annotated[Path, typer.Argument(help="A .spacy file with frames.", exists=True)],
    parses: Annotated[
        str,
        typer.Option(
            "--parses",
            help="Parses to read, comma-separated: model, gold, or pipelines that find heads.",
        ),
    ] = "model",
    predicates: Annotated[
        str, typer.Option("--predicates", help="model, gold, or model,gold.")
    ] = "model,gold",
    decoders: Annotated[
        str | None,
        typer.Option(
            "--decoders", help="probabilities, viterbi, valid, greedy; default: the model's."
        ),
    ] = None,
    unique: Annotated[
        bool | None,
        typer.Option(
            "--unique-core-roles/--repeated-core-roles",
            help="Whether a frame may have a core role twice; default: the model's setting.",
            show_default=False,
        ),
    ] = None,
    output: MetricsOption = None,
    threads: ThreadsOption = 0,
) -> None:
    """Scores of MODEL on CORPUS for every combination of parses, predicates and decoders."""
    with measuring("evaluate-srl", output, [corpus], threads) as result:
        from ..evaluation import roles

        result |= roles.evaluate(
            model,
            corpus,
            _values(parses),
            _values(predicates),
            None if decoders is None else _values(decoders),
            unique,
        )


def _values(option: str) -> list[str]:
    return [value.strip() for value in option.split(",")]
