"""`package`: an installable folder of a trained pipeline.

Unlike `spacy package`, it leaves the version out of the folder's name, and writes licence, sources
and scores to meta.json, scores by label to README.md, and licence and sources to LICENSE.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from packaging.version import Version
from spacy.cli.package import generate_readme
from spacy.cli.package import package as spacy_package
from thinc.api import Config, Model
from wasabi import msg

from ..formats.files import replace_folder
from ..pipeline.pipes import load_pipeline
from .checks import check_folder, clear_errors

STRINGS_IN_THEIR_FILES = {
    *("gec_detector", "lal_constituency", "lal_dependency", "lal_empty_tensor", "lisa_srl"),
    *("lal_list_items", "lal_tok2vec", "senter", "sentencizer", "spanformer", "tok2vec"),
}
"""Factories of components whose own files have all strings that they look up by hash."""
LEAST = 20
"""The least gold occurrences of a label with a row in the README."""
LICENCES = {
    "CC BY 4.0": "https://creativecommons.org/licenses/by/4.0/legalcode",
    "CC BY-SA 4.0": "https://creativecommons.org/licenses/by-sa/4.0/legalcode",
    "LGPL-LR": "https://spdx.org/licenses/LGPLLR.html",
}
"""Addresses of the texts of data's licences."""
SCORES = ("const_", "spans_", "tag_", "dep_", "ptb_", "conll18_", "srl_", "ged_")
"""Prefixes of the scores in meta.json."""

MARKDOWN = (
    "long_description=readme,",
    'long_description=readme,\n        long_description_content_type="text/markdown",',
)
"""A line of the setup.py that spaCy writes, and what stands in its place."""
OF_META = ("description", "author", "email", "url", "license", "sources", "notes", "requirements")
"""Fields taken from `--meta`; the rest of meta.json follows from the pipeline."""


def package(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.", exists=True)],
    output: Annotated[
        Path, typer.Argument(help="Where to put the folder LANG_NAME; a package there is replaced.")
    ],
    name: Annotated[str, typer.Option(help="Name, without the language.")],
    version: Annotated[str, typer.Option(help="Version.")] = "0.1.0",
    meta: Annotated[
        Path | None,
        typer.Option(
            help="Description, author, license, sources, notes, requirements.", exists=True
        ),
    ] = None,
    metrics: Annotated[
        list[Path] | None, typer.Option(help="Scores that `evaluate --json` wrote.", exists=True)
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store weights as 16-bit numbers.")] = False,
    bytes_of: Annotated[
        list[str] | None, typer.Option(help="A component whose matrices are stored in 8 bits.")
    ] = None,
    no_vectors: Annotated[
        bool, typer.Option("--no-vectors", help="Leave out the vocabulary's word vectors.")
    ] = False,
) -> None:
    """Package MODEL as OUTPUT/LANG_NAME, to be installed with `pip install OUTPUT/LANG_NAME`.

    Absolute paths in the config's [paths] are shortened to their last part. Parts that only
    training reads are left out: a language model that a detector learned beside errors, and the
    words of the training data. 8-bit numbers have a scale for each row; tok2vec is stored so, too,
    if it holds a pretrained encoder. Vectors can only be left out if no component reads the
    vocabulary's vectors."""
    from ..bridge.weights import has_weights, store_as, to_float16, to_int8

    with clear_errors("package"):
        contents = _read(model / "meta.json")
        if meta is not None:
            contents |= {key: value for key, value in _read(meta).items() if key in OF_META}
        needs = {*contents.get("requirements", ())} | _needs(model)
        contents["requirements"] = [
            need for need in sorted(needs) if not need.startswith("spacy-lal")
        ]
        measured = [_read(path) for path in metrics or ()]
        if metrics:
            contents["performance"] = {}
        for path, report in zip(metrics or (), measured, strict=True):
            try:
                contents["performance"] |= performance(report)
            except (AttributeError, LookupError, TypeError, ValueError):
                raise ValueError(f"{path} has no scores of a pipeline") from None
        if not isinstance(contents.get("lang"), str):
            raise ValueError(f"{model / 'meta.json'} has no lang, the language of the pipeline")
        Version(version)  # raises ValueError
        contents |= {"name": name, "version": version}
        target = output / f"{contents['lang']}_{name}"
        check_folder(target, [model, *(metrics or ())])
        packaged = all((target / name).is_file() for name in ("meta.json", "setup.py"))
        if target.exists() and not packaged:
            raise FileExistsError(f"{target} is there already, and no package: nothing replaces it")
        with tempfile.TemporaryDirectory() as scratch:
            source = Path(scratch) / "model"
            shutil.copytree(model, source)
            if no_vectors:
                contents["vectors"] = _drop_vectors(source)
            _forget_training(source)
            forget_words(source)
            srsly.write_json(source / "meta.json", contents)
            for component in bytes_of or ():
                if not has_weights(source / component):
                    raise ValueError(f"{model} has no component {component!r} of this package")
                store_as(source / component, to_int8)
            for folder in sorted(source.iterdir()) if half else ():
                if has_weights(folder):
                    store_as(folder, to_float16)
            options: dict[str, Any] = {"create_sdist": False, "silent": False}
            spacy_package(source, Path(scratch), name=name, version=version, **options)
            made = Path(scratch) / f"{target.name}-{version}"
            # setup.py makes these copies at every installation, which shouldn't change any file
            shutil.copy(made / "meta.json", made / target.name)
            shutil.copy(made / "meta.json", made / target.name / made.name)
            card = model_card(srsly.read_json(made / "meta.json"), measured)
            for path in (made / "README.md", *made.glob("*/*/README.md")):
                path.write_text(card, encoding="utf8")
            setup = (made / "setup.py").read_text("utf8")
            (made / "setup.py").write_text(setup.replace(*MARKDOWN), "utf8")
            if contents.get("license") and not (made / "LICENSE").exists():
                (made / "LICENSE").write_text(licence(contents), encoding="utf8")
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_folder(target.resolve(), lambda new: shutil.move(made, new))
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    msg.good(f"{target}: {size / 1e6:.1f} MB")


def _read(path: Path) -> dict[str, Any]:
    values = srsly.read_json(path)
    if not isinstance(values, dict):
        raise ValueError(f"{path} holds no JSON object")
    return values


def _needs(model: Path) -> set[str]:
    """What a pipeline needs that spaCy doesn't see: a pretrained encoder's tokenizers."""
    components = Config().from_disk(model / "config.cfg", interpolate=False).get("components", {})
    names = {section["@architectures"] for section in _having("@architectures", components)}
    return {"tokenizers>=0.21"} if "spacy-lal.PretrainedEncoder.v1" in names else set()


def _drop_vectors(source: Path) -> dict[str, Any]:
    """Write the vocabulary without vectors. Returns their description in meta.json."""
    from spacy.vectors import Vectors

    nlp = load_pipeline(source)
    for name, pipe in nlp.pipeline:
        network = getattr(pipe, "model", None)
        nodes = network.walk() if isinstance(network, Model) else ()
        if any(node.name == "static_vectors" for node in nodes):
            raise ValueError(
                f"{name} reads the vocabulary's vectors, see spacy-lal.WithOwnVectors.v1"
            )
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings)
    nlp.vocab.to_disk(source / "vocab")
    return nlp.meta["vectors"]


def _having(name: str, section: Any) -> Iterator[dict[str, Any]]:
    """Yield the sections of a config in which this name has a value."""
    if isinstance(section, dict):
        if section.get(name):
            yield section
        for below in section.values():
            yield from _having(name, below)


def _forget_training(source: Path) -> None:
    """Drop language models, and shorten absolute paths, neither of which a trained pipeline
    reads."""
    from ..ged.bilstm_layers import drop_language_models

    config = Config().from_disk(source / "config.cfg", interpolate=False)
    components = config.get("components", {})
    for name, component in components.items():
        encoders = list(_having("language_weight", component))
        if encoders:
            pipe: Any = load_pipeline(source).get_pipe(name)
            drop_language_models(pipe.model)
            pipe.to_disk(source / name, exclude=["vocab"])
        for encoder in encoders:
            encoder["language_weight"] = 0.0
    for name, value in config.get("paths", {}).items():
        config["paths"][name] = _last_part(value)
    # an encoder's path isn't a variable in components sourced from other pipelines
    for section in _having("path", components):
        section["path"] = _last_part(section["path"])
    config.to_disk(source / "config.cfg")
    # a pretrained encoder's path is an attribute of its Thinc model
    for path in source.glob("*/model"):
        model = {} if path.is_dir() else srsly.read_msgpack(path)
        attributes = [found for found in model.get("attrs", ()) if "path" in found]
        for found in attributes:
            found["path"] = srsly.msgpack_dumps(_last_part(srsly.msgpack_loads(found["path"])))
        if attributes:
            srsly.write_msgpack(path, model)


def _last_part(value: Any) -> Any:
    if isinstance(value, str) and Path(value).is_absolute():
        return Path(value).name
    return value


def forget_words(pipeline: Path) -> None:
    """Keep only the strings that loading the pipeline adds, and the keys of its word vectors.

    Words of the training data in the vocabulary take megabytes on disk and several times as much
    memory. A pipeline keeps all strings if a component may need them.
    """
    config = Config().from_disk(pipeline / "config.cfg", interpolate=False)
    components = config.get("components", {}).values()
    if not {component.get("factory") for component in components} <= STRINGS_IN_THEIR_FILES:
        return
    path = pipeline / "vocab" / "strings.json"
    words: list[str] = srsly.read_json(path)
    srsly.write_json(path, [])
    vocab = load_pipeline(pipeline).vocab
    for word in words:
        # an index by a string returns its hash
        if vocab.strings[word] in vocab.vectors.key2row:
            vocab.strings.add(word)
    vocab.strings.to_disk(path)


def performance(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scores of the first corpus in a report of `evaluate`; {} for a report of pairs.

    "speed" is in words per second of processor time, and the only number that isn't a fraction.
    """
    if "kinds" in report:
        return {}
    first = report["results"][0]
    scores = {k: v for k, v in first.items() if k.startswith(SCORES) and v is not None}
    if not scores:
        raise ValueError("no scores")
    if "words_per_cpu_second" in first:
        scores["speed"] = first["words_per_cpu_second"]
    return scores


def licence(meta: Mapping[str, Any]) -> str:
    """Return the text of a package's file LICENSE: the licence, and who made the training data."""
    addresses = [address for name, address in LICENCES.items() if name in meta["license"]]
    sources = [
        f"- {source['name']}\n  {source.get('author', '')}; {source.get('license', '')}\n"
        f"  {source.get('url', '')}"
        for source in meta.get("sources") or ()
    ]
    made_by = f"{meta['lang']}_{meta['name']}, by {meta.get('author') or 'its authors'}"
    parts = [f"{made_by}\nLicence: {meta['license']}", *addresses]
    return "\n\n".join([*parts, *(["Made with:", *sources] if sources else [])]) + "\n"


def model_card(meta: Mapping[str, Any], reports: Iterable[Mapping[str, Any]]) -> str:
    """Return spaCy's README of meta.json, with tables of scores by label or kind."""
    tables = [table for report in reports for table in _tables(report)]
    return "\n\n".join([generate_readme(dict(meta)).strip(), *tables]) + "\n"


def _tables(report: Mapping[str, Any]) -> Iterator[str]:
    for result in report.get("results", ())[:1]:
        for kind, labels in result["by_label"].items():
            rows: list[tuple[str, ...]] = [
                (f"`{label}`", f"{of['gold']:,}", *(f"{100 * of[key]:.1f}" for key in "prf"))
                for label, of in sorted(labels.items(), key=lambda item: -item[1]["gold"])
                if of["gold"] >= LEAST
            ]
            if rows:
                title = f"### {kind.capitalize()} by label"
                which = f"Labels that the gold data has at least {LEAST} times."
                names = ("label", "gold", "precision", "recall", "F1")
                yield f"{title}\n\n{which}\n\n{_table(names, rows)}"
    if "kinds" in report:
        rows = [
            (kind, str(of["pairs"]), f"{of['found'] or 0:.1%}", f"{of['right_marked']:.1%}")
            for kind, of in (report["kinds"] | {"all": report["all"]}).items()
        ]
        header = ("kind", "sentences", "errors found", "corrections with a mark")
        yield f"### Errors by kind, in a textbook's sentences\n\n{_table(header, rows)}"


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
