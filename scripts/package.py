"""Make an installable folder of a trained pipeline: `spacy package`, without a version in the
folder's name and with licence, sources and measured scores in its meta.json."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

import safetensors
import safetensors.torch
import srsly
import torch
import typer
from spacy.cli.package import package
from wasabi import msg

from spacy_lal.models.bridge.weights import SCALE, eight_bits
from spacy_lal.pipeline.weights import WEIGHTS


def main(
    model: Annotated[Path, typer.Argument(help="Folder of a trained pipeline.", exists=True)],
    output: Annotated[Path, typer.Argument(help="Where to put the folder LANG_NAME.")],
    name: Annotated[str, typer.Option(help="Name, without the language.")],
    version: Annotated[str, typer.Option(help="Version.")] = "0.1.0",
    meta: Annotated[
        Path | None, typer.Option(help="JSON with description, author, license, sources.")
    ] = None,
    metrics: Annotated[
        list[Path] | None,
        typer.Option(help="Scores, of scripts/evaluate.py, evaluate_srl.py or evaluate_ged.py."),
    ] = None,
    half: Annotated[bool, typer.Option("--half", help="Store weights as 16-bit numbers.")] = False,
    bytes_of: Annotated[
        list[str] | None,
        typer.Option(help="A component whose matrices are stored as 8-bit numbers, row by row."),
    ] = None,
) -> None:
    """Package MODEL as OUTPUT/LANG_NAME, to be installed with `pip install OUTPUT/LANG_NAME`."""
    contents: dict[str, Any] = srsly.read_json(model / "meta.json")
    if meta is not None:
        contents |= srsly.read_json(meta)
    if metrics:
        contents["performance"] = {}
        for path in metrics:
            contents["performance"] |= performance(srsly.read_json(path))
    contents |= {"name": name, "version": version}
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "model"
        shutil.copytree(model, source)
        srsly.write_json(source / "meta.json", contents)
        for component in bytes_of or ():
            store_bytes(source / component / WEIGHTS)
        if half:
            for weights in sorted(source.rglob(WEIGHTS)):
                store_half(weights)
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


def store_half(path: Path) -> None:
    """Store the float tensors of a safetensors file as float16; loading makes them float32 again.

    Raises ValueError if a value is too large for that.
    """
    metadata, tensors = _read(path)
    for name, tensor in tensors.items():
        if tensor.is_floating_point() and not name.endswith(SCALE):
            tensors[name] = tensor.half()
            if not torch.isfinite(tensors[name]).all():
                raise ValueError(f"{path}: {name} has values that 16 bits don't hold")
    path.write_bytes(safetensors.torch.save(tensors, metadata))


def store_bytes(path: Path) -> None:
    """Store the matrices of a safetensors file as 8-bit numbers, with a scale for each row."""
    metadata, tensors = _read(path)
    for name, tensor in list(tensors.items()):
        # a scale is four bytes
        if tensor.is_floating_point() and tensor.dim() > 1 and tensor.shape[-1] >= 16:
            tensors[name], tensors[f"{name}{SCALE}"] = eight_bits(tensor)
    path.write_bytes(safetensors.torch.save(tensors, metadata))


def _read(path: Path) -> tuple[dict[str, str], dict[str, torch.Tensor]]:
    with safetensors.safe_open(path, "pt") as file:
        metadata = file.metadata()
    return metadata, safetensors.torch.load(path.read_bytes())


def performance(metrics: dict[str, Any]) -> dict[str, Any]:
    """Of what scripts/evaluate.py measured the scores, and words per second of processor time as
    spaCy's "speed"; of evaluate_srl.py's and evaluate_ged.py's results the first one's scores, of 1
    as spaCy's are. The package's README shows every other number as a percentage."""
    if "results" in metrics:
        first = metrics["results"][0]
        if "f05" in first:
            return {f"ged_{name}": round(first[name] / 100, 6) for name in ("p", "r", "f05")}
        names = [f"srl_{part}{key}" for part in ("", "pred_") for key in "prf"]
        return {name: round(first[name] / 100, 6) for name in names}
    kinds = ("const_", "spans_", "tag_", "dep_", "ptb_", "conll18_")
    scores = {k: v for k, v in metrics.items() if k.startswith(kinds) and v is not None}
    return scores | {"speed": metrics["words_per_cpu_second"]}


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
