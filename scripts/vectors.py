"""Train static word vectors for `spacy-lal.WithOwnVectors.v1`, and build pipelines with them.

`[initialize] vectors` can name such a pipeline. `build` and `words` need nothing but spaCy.
`train` needs floret (`pip install floret`).
"""

from __future__ import annotations

import json
import lzma
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy
import safetensors
import safetensors.numpy
import spacy
import typer
from spacy.language import Language
from spacy.vectors import Vectors

SETTINGS: dict[str, Any] = {
    "model": "skipgram",
    "mode": "floret",
    "dim": 128,
    "bucket": 50_000,
    "hashCount": 2,
    "minn": 3,
    "maxn": 5,
    "minCount": 5,
    "ws": 3,
    "neg": 5,
    "t": 1e-4,
    "lr": 0.05,
}

_ABBREVIATIONS = (
    "Mr Mrs Ms Dr Prof St Jr Sr vs etc Inc Ltd Co Corp No Gen Rep Sen Gov Lt Col Capt Sgt Rev "
    "Jan Feb Mar Apr Aug Sep Sept Oct Nov Dec Mt Ft Ave Blvd Messrs Hon"
)
# tokens as in English treebanks: do|n't, can|not, it|'s, 3|%, hyphens apart
_TOKEN = re.compile(
    rf"""
    (?:https?://|www\.)\S+[^\s.,;:!?)\]'"]
  | [\w.+-]+@[\w-]+\.[\w.-]*\w
  | (?:[A-Za-z]\.){{2,}}
  | (?:{_ABBREVIATIONS.replace(" ", "|")}|[A-Z])\.(?=\s)
  | (?:e\.g|i\.e|a\.m|p\.m)\.?
  | [Cc]an(?=not\b) | (?<=[Cc]an)not\b
  | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?\b
  | [^\W\d_]+?(?=n't\b)
  | n't\b
  | '(?:s|S|ll|LL|re|RE|ve|VE|d|D|m|M)\b
  | [^\W\d_]+(?:'(?!(?:s|ll|re|ve|d|m|S)\b)[^\W\d_]+)*\d*
  | \w+
  | \.{{2,}} | -{{2,}} | ([^\w\s])\1*
    """,
    re.X,
)

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def tokens(line: str) -> list[str]:
    """Return the words of a line of text."""
    return [m.group() for m in _TOKEN.finditer(line.replace("’", "'").replace("‘", "'"))]


def load(pipeline: str) -> Language:
    """Load a pipeline by its name or folder."""
    try:
        return spacy.load(pipeline)
    except (OSError, ValueError) as error:
        typer.echo(f"vectors: {pipeline}: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from None


def _lines(path: Path) -> Iterator[str]:
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", encoding="utf8") as file:
        yield from file


@app.command()
def train(
    text: Annotated[Path, typer.Argument(help="UTF-8 text, plain or .xz.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .safetensors file to write.")],
    threads: Annotated[int, typer.Option(help="Of floret; one for the same result again.")] = 1,
    epochs: Annotated[
        int, typer.Option(help="Passes over the text: more for less text.", min=1)
    ] = 2,
) -> None:
    """Train floret vectors (subwords hashed into few rows) and store them with 16 bits a number."""
    try:
        import floret
    except ImportError:
        typer.echo("vectors: training needs floret: pip install floret", err=True)
        raise typer.Exit(1) from None
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / "corpus.txt"
        with corpus.open("w", encoding="utf8") as file:
            file.writelines(" ".join(tokens(line)) + "\n" for line in _lines(text))
        model = floret.train_unsupervised(str(corpus), thread=threads, epoch=epochs, **SETTINGS)
        table = Path(scratch) / "table"
        model.save_floret_vectors(str(table))
        save(table, output)


def save(table: Path, output: Path) -> None:
    """Store floret's output, a header of settings and a row of numbers a bucket."""
    with table.open(encoding="utf8") as file:
        rows, width, minn, maxn, hash_count, seed, bow, eow = file.readline().split()
        data = numpy.zeros((int(rows), int(width)), dtype="float16")
        for line in file:
            row, *values = line.rstrip().split(" ")
            data[int(row)] = numpy.asarray(values, dtype="float32")
    settings = {
        "minn": int(minn),
        "maxn": int(maxn),
        "hash_count": int(hash_count),
        "hash_seed": int(seed),
        "bow": bow,
        "eow": eow,
    }
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_bytes(safetensors.numpy.save({"vectors": data}, {"floret": json.dumps(settings)}))
    typer.echo(f"{output}: {rows} rows of {width}")


@app.command()
def build(
    vectors: Annotated[Path, typer.Argument(help="What `train` wrote.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Folder of the pipeline.")],
    lang: Annotated[str, typer.Option(help="Its language.")] = "en",
) -> None:
    """Make a pipeline without components whose vocabulary has these vectors."""
    try:
        with safetensors.safe_open(vectors, "np") as file:
            settings = json.loads(file.metadata()["floret"])
            data = file.get_tensor("vectors").astype("float32")
    except (safetensors.SafetensorError, KeyError, TypeError, ValueError) as error:
        typer.echo(f"vectors: {vectors} has no vectors of `train`: {error}", err=True)
        raise typer.Exit(1) from None
    nlp = spacy.blank(lang)
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings, data=data, mode="floret", name=vectors.stem, **settings
    )
    output.parent.mkdir(parents=True, exist_ok=True)
    nlp.to_disk(output)
    typer.echo(f"{output}: {len(data)} rows of {data.shape[1]}")


@app.command()
def words(
    pipeline: Annotated[str, typer.Argument(help="Name or folder of a pipeline with vectors.")],
    output: Annotated[Path, typer.Argument(help="The .txt file to write, a word a line.")],
    most: Annotated[int, typer.Option(help="The number of words; 0 for all.", min=0)] = 0,
) -> None:
    """Write the words that a pipeline has vectors of, in their order there, which is mostly by
    frequency."""
    vocab = load(pipeline).vocab
    found = [vocab.strings[key] for key in vocab.vectors if key in vocab.strings]
    found = [word for word in found if word.strip()][: most or None]
    if not found:
        typer.echo(f"vectors: {pipeline} has no words with vectors", err=True)
        raise typer.Exit(1)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(f"{word}\n" for word in found), "utf8")
    typer.echo(f"{output}: {len(found)} words")


@app.command()
def frequent(
    lang: Annotated[str, typer.Argument(help="Language code of wordfreq.")],
    output: Annotated[Path, typer.Argument(help="The .txt file to write, a word a line.")],
) -> None:
    """Write the words of a language that wordfreq knows, small and with a capital."""
    try:
        import wordfreq
    except ImportError:
        typer.echo("vectors: this needs wordfreq: pip install wordfreq", err=True)
        raise typer.Exit(1) from None
    try:
        known = wordfreq.top_n_list(lang, 10**6)
    except LookupError as error:
        typer.echo(f"vectors: {error}", err=True)
        raise typer.Exit(1) from None
    capital = {"i": "İ"} if lang in ("tr", "az") else {}
    pairs = ((word, capital.get(word[0], word[0].upper()) + word[1:]) for word in known)
    written = [form for pair in pairs for form in dict.fromkeys(pair)]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(f"{word}\n" for word in written), "utf8")
    typer.echo(f"{output}: {len(known)} words")


if __name__ == "__main__":
    app()
