"""Pipelines made from published checkpoints, and their output."""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import spacy
from spacy.language import Language
from torch import Tensor

from ..bridge.shim import torch_shim
from ..formats.files import replace_folder
from ..parsing.component import ParserPipe
from ..parsing.network import NAMES as KINDS
from .input_encoder import NAME, PublishedInput
from .network import Format, ReleasedSettings
from .transformer import EncoderFolder

TOKENIZERS = "tokenizers>=0.21"
"""Further requirement of an imported pipeline's package."""
NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text("utf8"))
"""Published names of parameters, as regular expressions, and templates of names here."""
VECTORS = {
    "words": ("pretrained.weight", "words.weight"),
    "tags": ("tags.weight",),
    "characters": ("characters.embedding.weight",),
}
"""Names of the vectors of words, tags and characters, in order of preference."""


def character_table(values: list[str]) -> dict[str, Any]:
    """Return settings of benepar's and LAL's `Table` of characters; five values are special."""
    unknown, start, start_word, stop_word, stop = map(values.index, "\0\1\2\3\4")
    around = [start_word], [stop_word]
    ends = {"unknown": unknown, "start": start, "stop": stop}
    return {"values": values, "around": around, "boundary": 3, **ends}


def renamed(
    given: Mapping[str, Tensor], names: Mapping[str, str], unread: str = ".*"
) -> dict[str, Tensor]:
    """Return parameters by their names in this package's network. names: tried before `NAMES`,
    with the same form. unread: names to ignore. Raises KeyError for names that nothing matches."""
    found, every = {}, {**names, **NAMES}
    for name, tensor in given.items():
        matches = ((re.fullmatch(theirs, name), ours) for theirs, ours in every.items())
        ours = next((match.expand(ours) for match, ours in matches if match), None)
        if ours is not None:
            found[ours] = tensor
        elif not re.fullmatch(unread, name):
            raise KeyError(name)
    return found


def biaffine(ours: str, whole: Tensor) -> dict[str, Tensor]:
    """Return parameters of a `Biaffine` from W [O, d + 1, e + 1] of [x;1]^T W_o [y;1]."""
    return {
        f"{ours}.bilinear": whole[:, :-1, :-1],
        f"{ours}.left": whole[:, :-1, -1],
        f"{ours}.right": whole[:, -1, :-1],
        f"{ours}.bias": whole[:, -1, -1],
    }


@contextmanager
def converting(program: str, checkpoint: Path, encoder: Path | None) -> Iterator[None]:
    """Turn errors of a file's contents into ValueErrors that name the file."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        named = str(checkpoint), str(encoder or checkpoint)
        if isinstance(error, ValueError) and str(error).startswith(named):
            raise
        raise ValueError(f"{checkpoint}: not as {program} writes it: {error!r}") from error


def published_pipeline(
    source: Path,
    format: Format,
    state: dict[str, Tensor],
    reading: dict[str, Any],
    outputs: Mapping[str, list[str]],
    encoder: EncoderFolder | None,
    network: dict[str, Any],
    input_encoder: dict[str, Any],
    config: dict[str, Any],
    *,
    lang: str,
    escaped: bool = False,
) -> Language:
    """Return a blank pipeline with one component, of these parameters.

    state: parameters by names in `ReleasedNetwork`. reading: settings of a `SentenceReader`.
    outputs: names of labels, tags and relations. encoder: the transformer.
    network, input_encoder: settings of `ReleasedSettings` and `PublishedInput`. config: settings of
        the component.
    Raises ValueError, naming `source`, if parameters and settings don't fit.
    """
    for name, tables in VECTORS.items():
        values = reading[name]["values"] if name in reading else ()
        vectors = next((state[NAME + t] for t in tables if NAME + t in state), ())
        if len(values) != len(vectors):
            raise ValueError(f"{source}: {len(vectors)} vectors for {len(values)} {name}")
    shapes = {
        name.removeprefix(NAME): tuple(tensor.shape)
        for name, tensor in state.items()
        if name.startswith(NAME) and not name.startswith(f"{NAME}transformer.")
    }
    transformer = encoder.config if encoder else None
    rows = PublishedInput(shapes=shapes, transformer=transformer, **input_encoder)
    header = {
        **{name: outputs.get(name, []) for name in KINDS},
        "settings": ReleasedSettings(rows, format=format, **network).to_json(),
        "reading": reading,
        "tokenizer": encoder.tokenizer.to_str() if encoder else None,
    }
    nlp = spacy.blank(lang)
    nlp.meta["name"] = re.sub(r"\W+", "_", source.stem).strip("_").lower() or format
    nlp.meta["requirements"] = [TOKENIZERS]
    model = {"@architectures": "spacy-lal.ReleasedParser.v1", "format": format, "escaped": escaped}
    factory = "lal_dependency" if format == "supar-dependency" else "lal_constituency"
    pipe = cast(ParserPipe, nlp.add_pipe(factory, config={"model": model, **config}))
    try:
        torch_shim(pipe.model).load(header, {name: t.clone() for name, t in state.items()})
    except ValueError as error:
        raise ValueError(f"{source}: {error}".replace("\n", " ")) from error
    pipe.cfg |= {kind: list(outputs.get(kind, ())) for kind in pipe.kinds}
    return nlp


def write_imported(
    nlp: Language, kind: str, weights: Path, output: Path, licence: str | None = None
) -> None:
    """Write the pipeline to a new folder atomically.

    kind: the format's name in the command. weights: the imported file; in meta.json, `imported` has
        kind, name and SHA-256.
    licence: of the published weights, as the user states it, `license` in meta.json.
    Raises FileExistsError if the folder exists and isn't empty.
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise FileExistsError(f"{output} is there already, and not empty")
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    nlp.meta["license"] = licence or ""
    nlp.meta["imported"] = {"kind": kind, "source": weights.name, "sha256": digest}
    output.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(output, nlp.to_disk)
