"""Make an installable folder of a trained pipeline: `spacy package`, without a version in the
folder's name and with licence, sources and measured scores in its meta.json."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from spacy.cli.package import package
from wasabi import msg


def main(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to put the folder LANG_NAME.")],
    name: Annotated[str, typer.Option(help="Name, without the language.")],
    version: Annotated[str, typer.Option(help="Version.")] = "0.1.0",
    meta: Annotated[
        Path | None, typer.Option(help="JSON with description, author, license, sources.")
    ] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="JSON of scores, as scripts/evaluate.py writes it.")
    ] = None,
) -> None:
    """Package MODEL as OUTPUT/LANG_NAME, to be installed with `pip install OUTPUT/LANG_NAME`."""
    contents: dict[str, Any] = srsly.read_json(model / "meta.json")
    if meta is not None:
        contents |= srsly.read_json(meta)
    if metrics is not None:
        contents["performance"] = performance(srsly.read_json(metrics))
    contents |= {"name": name, "version": version}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "model"
        shutil.copytree(model, source)
        srsly.write_json(source / "meta.json", contents)
        package(source, Path(scratch), name=name, version=version, create_sdist=False, silent=False)
        folder = f"{contents['lang']}_{name}"
        made, target = Path(scratch) / f"{folder}-{version}", output / folder
        # Its setup.py makes these copies at every installation; that shouldn't change any file.
        shutil.copy(made / "meta.json", made / folder)
        shutil.copy(made / "meta.json", made / folder / f"{folder}-{version}")
        output.mkdir(parents=True, exist_ok=True)
        if target.exists():
            shutil.rmtree(target)
        shutil.move(made, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    msg.good(f"{target}: {size / 1e6:.1f} MB")


def performance(metrics: dict[str, Any]) -> dict[str, Any]:
    """Of what scripts/evaluate.py measured the scores, and words per second of processor time as
    spaCy's "speed"; the package's README shows every other number as a percentage."""
    scores = {
        key: value
        for key, value in metrics.items()
        if key.startswith(("const_", "spans_", "tag_")) and value is not None
    }
    return scores | {"speed": metrics["words_per_cpu_second"]}


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
