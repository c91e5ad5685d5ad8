"""Frames of sentences without any, by a trained pipeline: more to train on (self-training).

The sentences are those of a .spacy file, one a Doc, as scripts/silver.py writes them. Heads and
tags are PARSER's, frames those that MODEL finds by these heads. A sentence is kept if it has frames
and MODEL is sure enough of them on average. The result is a .spacy file of silver Docs alone or,
with --gold, of as many words of gold ones among them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated, cast

import spacy
import torch
import typer
from silver import mixed
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.annotations import get_frames
from spacy_lal.formats.docbins import read_spacy, write_spacy
from spacy_lal.srl.component import LisaSRL


def main(
    sentences: Annotated[Path, typer.Argument(help="A .spacy file.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .spacy file to write.")],
    model: Annotated[str, typer.Option(help="A pipeline with lisa_srl.")],
    parser: Annotated[str, typer.Option(help="A pipeline that finds heads.")],
    least: Annotated[float, typer.Option(help="Mean probability of V and arguments.")] = 0.9,
    gold: Annotated[
        Path | None, typer.Option(help="Gold frames to mix with, half and half.", exists=True)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of which silver Docs are mixed, and the order.")] = 1,
    threads: Annotated[int, typer.Option(help="Threads of torch, 0 for its own choice.")] = 0,
) -> None:
    """Find heads and frames of SENTENCES and write those that MODEL is sure of."""
    if threads:
        torch.set_num_threads(threads)
    heads, roles = spacy.load(parser, exclude=["lisa_srl"]), spacy.load(model)
    pipes = [pipe for _, pipe in roles.pipeline if isinstance(pipe, LisaSRL)]
    if not pipes:
        typer.echo(f"silver_frames: {model} has no component lisa_srl", err=True)
        raise typer.Exit(1)
    pipes[0].parse_source = "doc"
    read = read_spacy(sentences, roles.vocab)
    bare = (
        Doc(
            roles.vocab,
            words=[token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            sent_starts=[token.i == 0 for token in doc],
        )
        for doc in read
    )
    kept: list[Doc] = []
    count = 0
    for doc in pipes[0].pipe(heads.pipe(bare), batch_size=roles.batch_size):
        count += 1
        if certainty(doc) >= least:
            doc.spans.pop("constituents", None)
            kept.append(doc)
    msg.good(f"{len(kept):,} of {count:,} sentences, {sum(map(len, kept)):,} words")
    if gold is not None:
        kept = mixed(list(read_spacy(gold, roles.vocab)), kept, random.Random(seed))
        msg.good(f"{len(kept):,} sentences with gold ones, {sum(map(len, kept)):,} words")
    write_spacy(kept, output)


def certainty(doc: Doc) -> float:
    """The mean probability of all spans of a Doc's frames, 0 without any."""
    scores = [
        cast(float, score)
        for frame in get_frames(doc)
        for score in (frame.verb_score, *frame.scores)
        if score is not None
    ]
    return sum(scores) / len(scores) if scores else 0.0


if __name__ == "__main__":
    typer.run(main)
