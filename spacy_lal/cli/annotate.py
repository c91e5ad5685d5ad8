"""`annotate` and `silver`: a pipeline over text, for its annotation and for training data."""

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from wasabi import msg

from ..annotate.annotating import load
from ..annotate.manifest import settings_of
from ..annotate.run import Done, Engine, Workers, annotate_texts
from ..annotate.shards import FORMATS, SHARD_CHARS, AnnotateSettings, default_chars
from ..annotate.texts import STDIN, Texts
from .checks import GpuOption, ModelArgument, ThreadsOption, check_folder, clear_errors, values


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
    format: Annotated[
        str, typer.Option(help=f"Output: {', '.join(FORMATS)}; several with commas between them.")
    ] = "jsonl",
    keep: Annotated[str, typer.Option(help="Input fields to copy, comma-separated.")] = "",
    text_field: Annotated[str, typer.Option(help="The field that has the text.")] = "text",
    input_format: Annotated[
        str, typer.Option(help="txt, jsonl or parquet, if file names don't show it.")
    ] = "",
    one_per_line: Annotated[
        bool, typer.Option("--one-per-line", help="Each text (in .txt, each line) is a sentence.")
    ] = False,
    upos: Annotated[
        bool, typer.Option("--upos", help="Universal tags from Penn tags, where there are none.")
    ] = False,
    engine: Annotated[
        Engine, typer.Option(help="What annotates: processes of this machine, or ray.")
    ] = Engine.processes,
    n_process: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    threads: ThreadsOption = 0,
    gpu_id: Annotated[
        int, typer.Option(min=-1, help="GPU, -1 for none; on ray, 0 gives each process one.")
    ] = -1,
    max_chars: Annotated[
        int, typer.Option(min=1, help="Texts of more characters are annotated in pieces.")
    ] = 100_000,
    shard_chars: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Characters of text per output file: {SHARD_CHARS:,}, or less for a small input "
            "and several processes.",
            show_default=False,
        ),
    ] = None,
    batch_tokens: Annotated[int, typer.Option(min=1, help="Tokens per batch.")] = 10_000,
) -> None:
    """Annotate the texts of INPUT with MODEL, and write files of about equal size.

    If the run is stopped, the same command continues it. Texts that fail are written to
    OUTPUT/failed, as JSON lines with their errors, and the exit status is 3.
    """
    with clear_errors("annotate"):
        kept = tuple(values(keep))
        source = Texts(texts, input_format or None, text_field, kept)
        check_folder(output, [] if texts == STDIN else [Path(texts)], apart=True)
        if shard_chars is None:  # a run that goes on keeps its size
            before = (settings_of(output) or {}).get("shard_chars")
            shard_chars = before or default_chars(source.size, n_process)
        settings = AnnotateSettings(
            format, kept, max_chars, shard_chars, batch_tokens, one_per_line, upos
        )
        workers = Workers(n_process, threads, gpu_id, engine)
        run = annotate_texts(model, source, output, settings, workers)
        failed = _follow(run, source, output)
    if failed:
        raise typer.Exit(3)


def _follow(run: Iterable[Done], source: Texts, output: Path) -> int:
    """Show a progress bar in bytes on terminals, and then the sums over all files. Returns the
    number of failed texts."""
    from tqdm import tqdm

    begun = time.perf_counter()
    sums, words = Counter[str](), 0
    rate = ""
    with tqdm(total=source.size, unit="B", unit_scale=True, smoothing=0, disable=None) as bar:
        for done in run:
            sums.update({name: done.counts[name] for name in ("texts", "words", "failed")})
            sums.update(files=1, there=done.there)
            if not done.there:
                words += done.counts["words"]
                rate = f"{words / (time.perf_counter() - begun):,.0f} words"
                bar.set_postfix_str(f"{rate}/s", refresh=False)
            bar.update(max(0, done.position - bar.n))
    before = f", {sums['there']:,} of them there before" if sums["there"] else ""
    numbers = f"{sums['texts']:,} texts, {sums['words']:,} words in {sums['files']:,} files"
    msg.good(f"{numbers} in {output}{before}{f'; {rate} a second' if words else ''}")
    if sums["failed"]:
        msg.warn(f"{sums['failed']:,} texts failed, see {output / 'failed'}")
    return sums["failed"]


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
    marginals: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Keep MODEL's marginal probabilities of sentences of whose trees it is so sure: "
            "parsers are trained on them.",
        ),
    ] = None,
    parts: Annotated[
        int, typer.Option(min=1, help="How many files the text makes, each an even sample.")
    ] = 100,
    words: Annotated[
        int, typer.Option(min=0, help="Stop when this many words are kept; 0 reads all.")
    ] = 0,
    threads: ThreadsOption = 0,
    gpu_id: GpuOption = -1,
) -> None:
    """Annotate TEXT with MODEL and write the sentences, with the layers that MODEL is sure of.

    Other layers are written as missing, and sentences with only tags are left out. `evaluate
    --calibrate` shows the accuracy at a threshold. If it is stopped, the same command continues
    after the last complete file.
    """
    with clear_errors("silver"):
        from ..silver.sure_sentences import SilverSettings, write_shards

        named = {"tags": tags, "trees": trees, "heads": heads, "roles": roles}
        least = {layer: value for layer, value in named.items() if value is not None}
        settings = SilverSettings(least, parts=parts, marginals=marginals)
        check_folder(output, [text])
        total = 0
        nlp = load(model, threads, gpu_id)
        for counts in write_shards(nlp, text, output, settings, words=words):
            total += counts["kept_words"]
            name, there = counts.pop("file"), counts.pop("there", False)
            told = ", ".join(f"{key.replace('_', ' ')} {n:,}" for key, n in counts.items())
            typer.echo(f"{name}{' is there' if there else ''}: {told}")
        msg.good(f"{total:,} words in {output}")
