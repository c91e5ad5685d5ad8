"""Checkpoints are read as data: a hostile pickle is refused, and nothing of it runs."""

import builtins
import os
import pickle
import shutil
import zipfile
from collections import OrderedDict, defaultdict

import pytest
import torch

from spacy_lal.published.restricted import Absent, Inert, read_checkpoint


class Vocabulary:
    """Stands for a class of somebody else."""

    def __init__(self, values):
        self.values = values
        self.counts = defaultdict(int, {value: 2 for value in values})


NAME = f"{__name__}.Vocabulary"


class Touch:
    """A pickle of it makes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


class Evaluate(Touch):
    def __reduce__(self):
        return builtins.eval, (f"__import__('os').mkdir({str(self.path)!r})",)


class Method(Touch):
    """Through `getattr`, which finds everything in anything."""

    def __reduce__(self):
        return os.mkdir.__call__, (str(self.path),)


@pytest.fixture(scope="module")
def content():
    shared = torch.arange(12.0).view(3, 4)
    return {
        "state_dict": OrderedDict(
            a=shared, b=shared[:, 1:3], half=torch.ones(2).half(), none=torch.zeros(0, 3)
        ),
        "parameter": torch.nn.Parameter(torch.tensor([1, 2]).float()),
        "numbers": torch.tensor([[2**40, -1]]),
        "plain": [1, 2.5, "ä", None, True, (1,), {3}, b"\xff", torch.Size([2])],
        "vocabulary": Vocabulary(["x", "y"]),
    }


@pytest.mark.parametrize("zipped", [True, False])
def test_what_torch_saves(content, zipped, tmp_path):
    path = tmp_path / "model.pt"
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    found = read_checkpoint(path, [NAME])
    for name, tensor in content["state_dict"].items():
        assert torch.equal(found["state_dict"][name], tensor)
        assert found["state_dict"][name].dtype == tensor.dtype
    assert torch.equal(found["parameter"], content["parameter"])
    assert torch.equal(found["numbers"], content["numbers"])
    assert found["plain"] == content["plain"]
    vocabulary = found["vocabulary"]
    assert isinstance(vocabulary, Inert)
    assert not isinstance(vocabulary, Vocabulary)
    assert vocabulary.values == ["x", "y"]
    assert vocabulary.counts == {"x": 2, "y": 2}


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("kind", [Touch, Evaluate, Method])
def test_a_hostile_pickle_never_runs(kind, zipped, tmp_path):
    planted = tmp_path / "planted"
    path = tmp_path / "model.pt"
    state = {"spec": Vocabulary([kind(planted)]), "state_dict": {"a": torch.ones(1)}}
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(ValueError, match=r"model\.pt: it holds '\S+'") as error:
        read_checkpoint(path, [NAME], ["builtins.getattr"] if kind is Method else [])
    assert "\n" not in str(error.value)
    assert not planted.exists()
    # it would have
    pickle.loads(pickle.dumps(kind(planted)))
    assert planted.exists()


def test_a_class_that_is_not_listed_is_refused_by_name(content, tmp_path):
    torch.save(content, tmp_path / "model.pt")
    with pytest.raises(ValueError, match="Vocabulary"):
        read_checkpoint(tmp_path / "model.pt", ["vocabulary.Vocabulary"])


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_takes_the_place_of_a_function(zipped, tmp_path):
    path = tmp_path / "model.pt"
    vocabulary = Vocabulary([shutil.rmtree, os.path.join])
    torch.save(vocabulary, path, _use_new_zipfile_serialization=zipped)
    found = read_checkpoint(path, [NAME], ["shutil.rmtree", "posixpath."])
    assert all(isinstance(value, Absent) for value in found.values)
    assert isinstance(found.values[0]("x"), Absent)


@pytest.mark.parametrize("zipped", [True, False])
def test_a_truncated_file_is_named(content, zipped, tmp_path):
    whole = tmp_path / "whole.pt"
    torch.save(content, whole, _use_new_zipfile_serialization=zipped)
    data = whole.read_bytes()
    path = tmp_path / "model.pt"
    for size in {0, 1, 10, len(data) // 3, len(data) // 2, len(data) - 1}:
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"model\.pt: truncated, damaged") as error:
            read_checkpoint(path, [NAME])
        assert "\n" not in str(error.value)


def test_a_missing_file_and_another_kind(tmp_path):
    with pytest.raises(ValueError, match=r"nothing\.pt: no such file"):
        read_checkpoint(tmp_path / "nothing.pt")
    (tmp_path / "text.pt").write_text("Not a checkpoint.\n")
    with pytest.raises(ValueError, match=r"text\.pt: truncated, damaged"):
        read_checkpoint(tmp_path / "text.pt")


def test_tensors_stay_within_their_storage(tmp_path):
    """Sizes that lie are refused: more values than the file has, or bytes that are not there."""
    path, forged = tmp_path / "model.pt", tmp_path / "forged.pt"
    torch.save({"a": torch.arange(8.0)}, path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(forged, "w") as changed:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("data.pkl"):
                data = data.replace(b"K\x08", b"K\x7f")
            changed.writestr(name, data)
    with pytest.raises(ValueError, match=r"forged\.pt: truncated, damaged"):
        read_checkpoint(forged)


def test_functions_of_ours_stay_as_they_are(tmp_path):
    """A pickle sets attributes of what it names; none of what is named outlives it."""

    def attempt(name):
        module, _, attribute = name.rpartition(".")
        code = f"c{module}\n{attribute}\n}}Vx\nK\x01sb.".encode()  # BUILD with {"x": 1}
        archive = tmp_path / "model.pt"
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("model/data.pkl", code)
        return archive

    for name in ("torch._utils._rebuild_tensor_v2", "collections.OrderedDict", NAME):
        with pytest.raises(ValueError, match="damaged"):
            read_checkpoint(attempt(name), [NAME])
    assert not hasattr(OrderedDict, "x")
    assert not hasattr(Inert, "x")
