"""`silver`: plain text with a pipeline's sure annotation as training data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from .checks import ModelArgument, ThreadsOption, check_folder, clear_errors

Least = Annotated[
    float | None,
    typer.Option(min=0, max=1, help="How sure MODEL must be of this layer; else left out."),
]


def silver(
    model: ModelArgument,
    text: Annotated[
        Path,
        typer.Argument(
            help="Text, one paragraph per line: plain, .xz, .gz, .bz2.", exists=True, dir_okay=False
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Folder for the .spacy files.")],
    tags: Least = None,
    trees: Least = None,
    heads: Least = None,
    roles: Least = None,
    lengths: Annotated[str, typer.Option(help="Least and most words of a sentence.")] = "3,60",
    parts: Annotated[
        int, typer.Option(min=1, help="How many files the text makes, each an even sample.")
    ] = 100,
    words: Annotated[
        int, typer.Option(min=0, help="Stop when this many words are kept; 0 reads all.")
    ] = 0,
    threads: ThreadsOption = 0,
) -> None:
    """Annotate TEXT with MODEL and write the sentences, with the layers that MODEL is sure of.

    Other layers are written as missing, and sentences with only tags are left out. `evaluate
    --calibrate` shows the accuracy above each threshold. If the run is stopped, the same command
    continues it after the last complete file.
    """
    with clear_errors("silver"):
        from ..annotate.annotating import load
        from ..silver.sure_sentences import SilverSettings, write_shards

        named = {"tags": tags, "trees": trees, "heads": heads, "roles": roles}
        least = {layer: value for layer, value in named.items() if value is not None}
        shortest, comma, longest = lengths.partition(",")
        if not (comma and shortest.isdecimal() and longest.isdecimal()):
            raise ValueError(f"--lengths takes two numbers, as 3,60, not {lengths!r}")
        settings = SilverSettings(least, int(shortest), int(longest), parts)
        check_folder(output, [text])
        total = 0
        for counts in write_shards(load(model, threads), text, output, settings, words=words):
            total += counts["kept_words"]
            name, there = counts.pop("file"), counts.pop("there", False)
            told = ", ".join(f"{key.replace('_', ' ')} {n:,}" for key, n in counts.items())
            typer.echo(f"{name}{' is there' if there else ''}: {told}")
        msg.good(f"{total:,} words in {output}")
