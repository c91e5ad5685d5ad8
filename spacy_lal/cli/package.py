"""`package`: an installable folder of a trained pipeline.

As `spacy package` makes it, but without a version in the folder's name, with licence, sources
and measured scores in its meta.json, and with scores by label in its README.md.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from packaging.version import InvalidVersion, Version
from spacy.cli.package import package as spacy_package
from thinc.api import Config, Model
from wasabi import msg

from ..training.folders import replace_folder
from .card import write_card
from .checks import check_folder, clear_errors
from .strings import forget_words

READS_VECTORS = "static_vectors"
"""The layer of spaCy that reads the vocabulary's vectors."""


def package(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.", exists=True)],
    output: Annotated[
        Path, typer.Argument(help="Where to put the folder LANG_NAME; a package there is replaced.")
    ],
    name: Annotated[str, typer.Option("--name", help="Name, without the language.")],
    version: Annotated[str, typer.Option("--version", help="Version.")] = "0.1.0",
    meta: Annotated[
        Path | None,
        typer.Option(
            "--meta", help="JSON with description, author, license, sources.", exists=True
        ),
    ] = None,
    metrics: Annotated[
        list[Path] | None,
        typer.Option(
            "--metrics",
            help="Scores that evaluate, evaluate-srl, evaluate-ged or ged-pairs wrote.",
            exists=True,
        ),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store weights as 16-bit numbers.")] = False,
    bytes_of: Annotated[
        list[str] | None,
        typer.Option(
            "--bytes-of",
            help="A component whose matrices are stored as 8-bit numbers, row by row; "
            "tok2vec too, if it holds a pretrained encoder.",
        ),
    ] = None,
    no_vectors: Annotated[
        bool,
        typer.Option(
            "--no-vectors",
            help="Leave out the vocabulary's word vectors, if the components have their own.",
        ),
    ] = False,
) -> None:
    """Package MODEL as OUTPUT/LANG_NAME, to be installed with `pip install OUTPUT/LANG_NAME`.

    Absolute paths in the config's [paths] are shortened to their last part. A language model that a
    detector learned beside errors is left out: only training reads it. So are the words of the
    training data.
    """
    from ..bridge.compact import has_weights, store_bytes, store_half

    with clear_errors("package"):
        contents: dict[str, Any] = {}
        measured: list[dict[str, Any]] = []
        for path in (model / "meta.json", *([meta] if meta is not None else [])):
            values = srsly.read_json(path)
            if not isinstance(values, dict):
                raise ValueError(f"{path} holds no JSON object")
            contents |= values
        if metrics:
            contents["performance"] = {}
            for path in metrics:
                try:
                    measured.append(srsly.read_json(path))
                    contents["performance"] |= performance(measured[-1])
                except (AttributeError, LookupError, TypeError, ValueError):
                    raise ValueError(f"{path} has no scores of a pipeline") from None
        if not isinstance(contents.get("lang"), str):
            raise ValueError(f"{model / 'meta.json'} has no lang, the language of the pipeline")
        try:
            Version(version)
        except InvalidVersion:
            raise ValueError(f"--version {version!r} is no version, such as 0.1.0") from None
        contents |= {"name": name, "version": version}
        target = output / f"{contents['lang']}_{name}"
        check_folder(target, [model, *([meta] if meta else []), *(metrics or ())])
        _check_replaced(target)
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "model"
            shutil.copytree(model, source)
            if no_vectors:
                contents["vectors"] = _drop_vectors(source)
            _drop_language_models(source)
            forget_words(source)
            srsly.write_json(source / "meta.json", contents)
            for component in bytes_of or ():
                if not has_weights(source / component):
                    raise ValueError(f"{model} has no component {component!r} of this package")
                store_bytes(source / component)
            if half:
                for folder in sorted(source.iterdir()):
                    if has_weights(folder):
                        store_half(folder)
            _forget_places(source)
            made = _packaged(source, Path(scratch), target.name, contents)
            write_card(made, srsly.read_json(made / "meta.json"), measured)
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_folder(target.resolve(), lambda new: shutil.move(made, new))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    msg.good(f"{target}: {size / 1e6:.1f} MB")


def _drop_vectors(source: Path) -> dict[str, Any]:
    """Write the vocabulary without vectors; what meta.json says of them then."""
    from spacy.vectors import Vectors

    from ..pipeline.loading import load_pipeline

    nlp = load_pipeline(source)
    for name, pipe in nlp.pipeline:
        network = getattr(pipe, "model", None)
        nodes = network.walk() if isinstance(network, Model) else ()
        if any(node.name == READS_VECTORS for node in nodes):
            raise ValueError(
                f"{name} reads the vocabulary's vectors: give it its own, with "
                "spacy-lal.WithOwnVectors.v1, or package without --no-vectors"
            )
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings)
    nlp.vocab.to_disk(source / "vocab")
    vectors: dict[str, Any] = nlp.meta["vectors"]
    return vectors


def _drop_language_models(source: Path) -> None:
    """Write detectors that learned a language model beside errors without it."""
    from ..ged.bilstm_layers import drop_language_models
    from ..pipeline.loading import load_pipeline

    config = Config().from_disk(source / "config.cfg", interpolate=False)
    for name, component in config.get("components", {}).items():
        encoders = list(_having("language_weight", component))
        if encoders:
            pipe: Any = load_pipeline(source).get_pipe(name)
            drop_language_models(pipe.model)
            pipe.to_disk(source / name, exclude=["vocab"])
        for encoder in encoders:
            encoder["language_weight"] = 0.0
    config.to_disk(source / "config.cfg")


def _having(name: str, section: Any) -> Iterator[dict[str, Any]]:
    """The sections of a config in which a value of this name is set to something."""
    if isinstance(section, dict):
        if section.get(name):
            yield section
        for below in section.values():
            yield from _having(name, below)


def _forget_places(source: Path) -> None:
    """Shorten absolute paths: they are of another machine, and a trained pipeline reads none."""
    config = Config().from_disk(source / "config.cfg", interpolate=False)
    for name, value in config.get("paths", {}).items():
        config["paths"][name] = _last_part(value)
    # that of an encoder is no variable in a component that was taken from another pipeline
    for section in _having("path", config.get("components", {})):
        section["path"] = _last_part(section["path"])
    config.to_disk(source / "config.cfg")
    # Thinc keeps a model's attributes, and a pretrained encoder's path is one
    for path in source.glob("*/model"):
        if path.is_dir():
            continue
        model = srsly.read_msgpack(path)
        attributes = [found for found in model["attrs"] if "path" in found]
        for found in attributes:
            found["path"] = srsly.msgpack_dumps(_last_part(srsly.msgpack_loads(found["path"])))
        if attributes:
            srsly.write_msgpack(path, model)


def _last_part(value: Any) -> Any:
    """Of an absolute path; anything else as it is."""
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value


def _packaged(source: Path, scratch: Path, folder: str, contents: dict[str, Any]) -> Path:
    """What spaCy makes of the pipeline."""
    name, version = contents["name"], contents["version"]
    spacy_package(source, scratch, name=name, version=version, create_sdist=False, silent=False)
    made = scratch / f"{folder}-{version}"
    # Its setup.py makes these copies at every installation; that shouldn't change any file.
    shutil.copy(made / "meta.json", made / folder)
    shutil.copy(made / "meta.json", made / folder / made.name)
    return made


def _check_replaced(target: Path) -> None:
    """Raise FileExistsError for something there that is no package."""
    if target.exists() and not all((target / name).is_file() for name in ("meta.json", "setup.py")):
        raise FileExistsError(f"{target} is there already, and no package: nothing replaces it")


def performance(metrics: dict[str, Any]) -> dict[str, Any]:
    """Of what `evaluate` measured the scores, and words per second of processor time as spaCy's
    "speed"; of the results of `evaluate-srl` and `evaluate-ged` the first one's scores, of 1 as
    spaCy's are; of `ged-pairs` none. The package's README shows every number but "speed" as a
    percentage."""
    if "kinds" in metrics:
        return {}
    if "results" in metrics:
        first = metrics["results"][0]
        if "f05" in first:
            return {f"ged_{name}": round(first[name] / 100, 6) for name in ("p", "r", "f05")}
        names = [f"srl_{part}{key}" for part in ("", "pred_") for key in "prf"]
        per_type = {
            label: {key: round(of[key] / 100, 6) for key in "prf"}
            for label, of in first["by_label"]["roles"].items()
        }
        scores = {name: round(first[name] / 100, 6) for name in names}
        return scores | {"srl_per_type": per_type}
    kinds = ("const_", "spans_", "tag_", "dep_", "ptb_", "conll18_")
    scores = {k: v for k, v in metrics.items() if k.startswith(kinds) and v is not None}
    return scores | {"speed": metrics["words_per_cpu_second"]}
