"""Every file of a pipeline's folder damaged, or a pickle in its place.

A short form of `python benchmarks/robustness.py models`; `tests/pipeline/test_damaged.py` goes
further with the files of each component.
"""

from __future__ import annotations

import ast
import json
import pickle
from pathlib import Path

import pytest
import srsly
import torch
from spacy.tokens import DocBin
from spacy.vocab import Vocab

import spacy_lal
from spacy_lal.artificial_errors.error_model import ErrorModel
from spacy_lal.formats.docbins import read_spacy

from . import model_files


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files")
    model_files.save(path)
    return path


def names(folder: Path) -> list[str]:
    sound = folder / "sound"
    return sorted(str(path.relative_to(sound)) for path in sound.rglob("*") if path.is_file())


class Planted:
    """What pickle would run."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_pickles_do_not_run(folder: Path, tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    for planted in (pickle.dumps(Planted(mark)), _torch_file(Planted(mark), tmp_path / "x.pt")):
        for name in names(folder):
            said = model_files.attempt(folder, name, planted)
            assert name in said or name in OTHERWISE
        path = tmp_path / "a.spacy"
        path.write_bytes(planted)
        with pytest.raises(ValueError, match=r"a\.spacy"):
            list(read_spacy(path, Vocab()))
        with pytest.raises(ValueError, match=r"a\.spacy"):
            ErrorModel.load(path)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Planted(mark)))
    assert mark.exists()


OTHERWISE = {"vocab/lookups.bin", "vocab/vectors", "vocab/key2row", "tokenizer"}
"""Files of spaCy's that it may leave unread, or whose place it doesn't say."""


def _torch_file(planted: Planted, path: Path) -> bytes:
    torch.save(planted, path)
    return path.read_bytes()


def test_half_of_every_file(folder: Path) -> None:
    for name in names(folder):
        data = (folder / "sound" / name).read_bytes()
        if len(data) > 1:
            said = model_files.attempt(folder, name, data[: len(data) // 2])
            # what is left of a config may be whole, and not fit the weights
            assert name in said or (name == "config.cfg" and "/model: " in said), name


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("meta.json", None, "meta.json"),
        ("meta.json", b"[]", ""),
        ("meta.json", b"{" * 100_000, "meta.json"),
        ("config.cfg", None, "config.cfg"),
        ("config.cfg", b"[nlp\n", "config.cfg"),
        ("config.cfg", b"[nlp]\nlang = 7\n", ""),
        ("vocab/strings.json", b'["a", 7', "vocab/strings.json"),
    ],
)
def test_spacys_own_files(folder: Path, name: str, contents: bytes | None, said: str) -> None:
    told = model_files.attempt(folder, name, contents)
    assert told
    assert said in told


def test_labels_that_are_too_many_of_one_of_several(folder: Path) -> None:
    """The component and its file are named."""
    name = "lisa_srl/cfg"
    cfg = srsly.read_json(folder / "sound" / name)
    cfg["roles"] = [*cfg["roles"], "B-MORE"]
    assert name in model_files.attempt(folder, name, json.dumps(cfg).encode())


FORBIDDEN = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "jsonpickle",
}
LOADERS = {"torch.load", "srsly.pickle_loads", "pickle.loads", "pickle.load", "eval", "exec"}
ALLOWED = {
    "published/restricted.py": "an unpickler that calls nothing",
    "published/benepar_checkpoints.py": "torch.load of tensors alone, to import",
}


def test_nothing_that_is_loaded_is_pickled() -> None:
    root = Path(spacy_lal.__file__).parent
    found = set()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf8"))):
            imported: list[str] = []
            if isinstance(node, ast.Import):
                imported = [alias.name.split(".")[0] for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [(node.module or "").split(".")[0]]
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                options = {option.arg: ast.unparse(option.value) for option in node.keywords}
                if called in LOADERS or called.endswith((".extractall", ".extract")):
                    found.add(name)
                    assert called != "torch.load" or options["weights_only"] == "True", name
                assert options.get("allow_pickle", "False") == "False", name
                assert options.get("trust_remote_code", "False") == "False", name
            if not FORBIDDEN.isdisjoint(imported):
                found.add(name)
    assert found <= ALLOWED.keys()


def test_docbins_have_nothing_that_runs(tmp_path: Path) -> None:
    """User data is msgpack, arrays have no objects in them."""
    mark = tmp_path / "it ran"
    objects = {b"nd": True, b"type": "|O", b"kind": b"O", b"shape": [1]}
    planted = {**objects, b"data": pickle.dumps(Planted(mark))}
    data = srsly.msgpack_dumps({"tokens": planted, "lengths": planted, "attrs": [], "strings": []})
    with pytest.raises(Exception):  # noqa: B017, PT011  numpy's, of whatever kind
        DocBin().from_bytes(__import__("zlib").compress(data))
    assert not mark.exists()
