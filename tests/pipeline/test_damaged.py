"""Stored components that were damaged or put together wrongly: every factory refuses them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import spacy
import srsly
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from .contract import CASES
from .toy import headed_doc
from .toy_errors import agreement_examples
from .toy_frames import frames_examples


def _examples(nlp: Language) -> list[Example]:
    docs = [headed_doc(nlp, k) for k in range(3)]
    trees = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs]
    return [*trees, *frames_examples(nlp), *agreement_examples(nlp, 20)]


MODELS = {
    CASES[name].factory: CASES[name].config
    for name in ("joint", "dependency", "spanformer", "lisa", "detector")
}
KINDS = {
    "lal_constituency": ["labels", "tags", "relations"],
    "lal_dependency": ["relations", "tags"],
    "spanformer": ["labels", "tags"],
    "lisa_srl": ["roles", "joint", "tags", "relations"],
    "gec_detector": ["labels"],
}
OUTPUTS = [(factory, kind) for factory, kinds in KINDS.items() for kind in kinds]


@cache
def blank(factory: str) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=MODELS[factory])
    return nlp


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    found = {}
    for factory in MODELS:
        nlp = found[factory] = spacy.blank("en")
        nlp.add_pipe(factory, config=MODELS[factory])
        examples = _examples(nlp)
        nlp.initialize(lambda examples=examples: examples)
    return found


@pytest.fixture(params=list(MODELS))
def stored(request, pipelines: dict[str, Language], tmp_path: Path) -> Path:
    """The folder of the one component of a stored pipeline."""
    pipelines[request.param].to_disk(tmp_path)
    return tmp_path / request.param


def load(folder: Path) -> None:
    """As spacy.load does it, without the rest of the pipeline."""
    pipe = blank(folder.name).get_pipe(folder.name)
    pipe.from_disk(folder, exclude=["vocab"])


def refused(folder: Path, name: str, match: str = "") -> None:
    with pytest.raises(ValueError, match=rf"{folder.name}/{name}: .*{match}") as caught:
        load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("factory", "kind"), OUTPUTS)
@pytest.mark.parametrize(
    "change",
    [
        lambda names: [*names[1:], names[0]],
        lambda names: names[:-1],
        lambda names: [*names, "MORE"],
        lambda names: 7,
    ],
    ids=["another order", "fewer", "more", "no list"],
)
def test_names_that_the_weights_do_not_have(
    factory: str,
    kind: str,
    change: Callable,
    pipelines: dict[str, Language],
    tmp_path: Path,
) -> None:
    nlp = pipelines[factory]
    nlp.to_disk(tmp_path)
    path = tmp_path / factory / "cfg"
    cfg = srsly.read_json(path)
    if len(cfg[kind]) == 1 and change(cfg[kind]) == cfg[kind]:
        return
    cfg[kind] = change(cfg[kind])
    srsly.write_json(path, cfg)
    refused(path.parent, "cfg")
    pipe = nlp.get_pipe(factory)
    data = srsly.msgpack_loads(pipe.to_bytes(exclude=["vocab"]))
    data["cfg"] = srsly.json_dumps(cfg)
    with pytest.raises(ValueError, match=f"the bytes of '{factory}'"):
        blank(factory).get_pipe(factory).from_bytes(srsly.msgpack_dumps(data))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_weights_that_are_not_finite(stored: Path, value: float) -> None:
    tensors, headers = read(stored)
    name = next(name for name in tensors if name.startswith("0.") and tensors[name].dim() > 1)
    tensors[name][-1, -1] = value
    write(stored, tensors, headers)
    refused(stored, "model.safetensors", "has values that are not finite")


def test_large_finite_weights_load(pipelines: dict[str, Language], tmp_path: Path) -> None:
    """Though their sum isn't finite."""
    pipelines["lal_constituency"].to_disk(tmp_path)
    tensors, headers = read(tmp_path / "lal_constituency")
    tensors["0.input_encoder.start"][:] = 3e38
    write(tmp_path / "lal_constituency", tensors, headers)
    load(tmp_path / "lal_constituency")


def read(folder: Path) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    path = folder / "model.safetensors"
    with safetensors.safe_open(path, "pt") as file:
        headers = json.loads(file.metadata()["headers"])
    return safetensors.torch.load(path.read_bytes()), headers


def write(folder: Path, tensors: dict[str, torch.Tensor], headers: Any) -> None:
    text = headers if isinstance(headers, str) else json.dumps(headers)
    data = safetensors.torch.save(tensors, {"headers": text})
    (folder / "model.safetensors").write_bytes(data)


@pytest.mark.parametrize(
    "headers",
    [
        "[" * 100_000,
        "[" + '{"a":' * 90_000,
        "7",
        "[7]",
        "[null, null]",
        "{}",
        "nonsense",
        "[{}, {}]",
    ],
)
def test_headers_that_are_none(stored: Path, headers: str) -> None:
    tensors, _ = read(stored)
    write(stored, tensors, headers)
    refused(stored, "model.safetensors")


def test_headers_of_gigantic_modules(stored: Path) -> None:
    """Each number of the headers in turn: none may take memory, or time, for what isn't there."""
    tensors, headers = read(stored)
    for place, key in numbers(headers):
        before, place[key] = place[key], 10**9
        write(stored, tensors, headers)
        if key != "hash_seed":
            refused(stored, "model.safetensors")
        place[key] = before
    for value in (10**6, -1, "x"):
        headers[0]["n_layers" if "n_layers" in headers[0] else "d_in"] = value
        write(stored, tensors, headers)
        refused(stored, "model.safetensors")


def numbers(of: Any) -> list[tuple[Any, Any]]:
    """Where all integers in nested JSON are."""
    items = list(enumerate(of) if isinstance(of, list) else of.items())
    found = [(of, key) for key, value in items if type(value) is int]
    for _, value in items:
        if isinstance(value, (list, dict)):
            found += numbers(value)
    return found


@pytest.mark.parametrize("name", ["cfg", "model", "model.safetensors"])
@pytest.mark.parametrize("content", ["half", "", "[1, 2]", "\x93\x01\x02", "gone"])
def test_damaged_files(stored: Path, name: str, content: str) -> None:
    path = stored / name
    if content == "gone":
        path.unlink()
    elif content == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    else:
        path.write_bytes(content.encode("latin1"))
    refused(stored, name)


def test_tensors_of_no_module(stored: Path) -> None:
    tensors, headers = read(stored)
    write(stored, {**tensors, "9.more": torch.zeros(3)}, headers)
    refused(stored, "model.safetensors", "9.more")
    write(stored, tensors, [])
    refused(stored, "model.safetensors", "none of the model's 0 modules")


def test_a_damaged_vocabulary_of_its_own(pipelines: dict[str, Language], tmp_path: Path) -> None:
    for factory, nlp in pipelines.items():
        nlp.get_pipe(factory).to_disk(tmp_path / factory)
        (tmp_path / factory / "vocab" / "strings.json").write_text("{")
        with pytest.raises(ValueError, match=f"{factory}/vocab: "):
            blank(factory).get_pipe(factory).from_disk(tmp_path / factory)


@pytest.mark.parametrize("factory", MODELS)
def test_damaged_bytes(factory: str, pipelines: dict[str, Language]) -> None:
    data = pipelines[factory].get_pipe(factory).to_bytes(exclude=["vocab"])
    pipe = blank(factory).get_pipe(factory)
    for damaged in (b"", data[: len(data) // 2], b"\xc1", data.replace(b"safetensors", b"x")[:-1]):
        with pytest.raises(ValueError, match=f"the bytes of '{factory}'"):
            pipe.from_bytes(damaged)


def test_transitions_between_roles_that_are_none(
    pipelines: dict[str, Language], tmp_path: Path
) -> None:
    pipelines["lisa_srl"].to_disk(tmp_path)
    path = tmp_path / "lisa_srl" / "cfg"
    cfg = srsly.read_json(path)
    for entry in ([0, 10_000, 1], [-2, 0, 1], [0, 0, -1], [0, 0]):
        srsly.write_json(path, {**cfg, "transitions": [entry]})
        refused(path.parent, "cfg")


def test_a_threshold_that_is_none(pipelines: dict[str, Language], tmp_path: Path) -> None:
    pipelines["gec_detector"].to_disk(tmp_path)
    path = tmp_path / "gec_detector" / "cfg"
    srsly.write_json(path, {**srsly.read_json(path), "threshold": 2})
    refused(path.parent, "cfg", "threshold must be from 0 to 1")
