"""`annotate`: a pipeline over files of text."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from wasabi import msg

from ..annotate.shards import WRITERS, AnnotateSettings, Workers
from .checks import ModelArgument, ThreadsOption, check_apart, check_folder, clear_errors

if TYPE_CHECKING:
    from ..annotate.run import Done

SOME_FAILED = 3
"""The exit status if some texts could not be annotated."""


def annotate(
    model: ModelArgument,
    texts: Annotated[
        str,
        typer.Argument(
            metavar="INPUT",
            help="A .txt (one text per line), .jsonl or .parquet file, the first two plain or "
            "compressed; a folder of them; or - for stdin.",
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Folder for the files.")],
    format: Annotated[str, typer.Option(help=f"Output: {', '.join(WRITERS)}.")] = "jsonl",
    keep: Annotated[str, typer.Option(help="Input fields to copy, comma-separated.")] = "",
    text_field: Annotated[str, typer.Option(help="The field that has the text.")] = "text",
    input_format: Annotated[
        str, typer.Option(help="txt, jsonl or parquet, if file names don't show it.")
    ] = "",
    engine: Annotated[
        str, typer.Option(help="What annotates: processes of this machine, or ray.")
    ] = "processes",
    n_process: Annotated[
        int, typer.Option(min=1, help="Number of processes, or of Ray's actors.")
    ] = 1,
    threads: ThreadsOption = 0,
    gpu_id: Annotated[
        int, typer.Option(min=-1, help="GPU, -1 for none; on ray, 0 gives each actor one.")
    ] = -1,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Texts of more characters are annotated in pieces.")
    ] = 100_000,
    shard_chars: Annotated[
        int, typer.Option(min=1, help="Characters of text per output file.")
    ] = 500_000,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per batch.")] = 10_000,
) -> None:
    """Annotate the texts of INPUT with MODEL, and write files of about equal size.

    If the run is stopped, the same command continues it. Texts that fail are written to
    OUTPUT/failed, as JSON lines with their errors, and the exit status is 3.
    """
    with clear_errors("annotate"):
        from ..annotate.run import annotate_texts
        from ..annotate.texts import STDIN, Texts

        kept = tuple(name.strip() for name in keep.split(",") if name.strip())
        source = Texts(texts, input_format or None, text_field, kept)
        if texts != STDIN:
            check_apart(output, Path(texts))
        check_folder(output, [] if texts == STDIN else [Path(texts)])
        settings = AnnotateSettings(format, kept, max_chars, shard_chars, batch_tokens)
        workers = Workers(n_process, threads, gpu_id, engine)
        failed = _summarise(
            _shown(annotate_texts(model, source, output, settings, workers), source), output
        )
    if failed:
        raise typer.Exit(SOME_FAILED)


def _shown(run: Iterable[Done], source: Any) -> Iterator[Done]:
    """Yield the same, with a progress bar in bytes on terminals."""
    from tqdm import tqdm

    words = 0
    begun = time.perf_counter()
    with tqdm(total=source.size, unit="B", unit_scale=True, smoothing=0, disable=None) as bar:
        for done in run:
            forward = max(0, done.position - bar.n)
            if not bar.disable and done.there:
                bar.initial += forward  # outside of this run's rate
            elif not bar.disable:
                words += done.counts["words"]
                rate = words / (time.perf_counter() - begun)
                bar.set_postfix_str(f"{rate:,.0f} words/s", refresh=False)
            bar.update(forward)
            yield done


def _summarise(run: Iterable[Done], output: Path) -> int:
    begun = time.perf_counter()
    texts = words = new_words = failed = files = there = 0
    for done in run:
        files += 1
        there += done.there
        texts += done.counts["texts"]
        failed += done.counts["failed"]
        words += done.counts["words"]
        new_words += 0 if done.there else done.counts["words"]
    seconds = time.perf_counter() - begun
    before = f", {there:,} of them there before" if there else ""
    said = f"{texts:,} texts, {words:,} words in {files:,} files in {output}{before}"
    if new_words:
        said += f"; {new_words / seconds:,.0f} words a second"
    msg.good(said)
    if failed:
        msg.warn(f"{failed:,} texts failed, see {output / 'failed'}")
    return failed
