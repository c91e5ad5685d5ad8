"""`python -m spacy lal attention`."""

import json
import xml.etree.ElementTree as ElementTree

import pytest
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_lal.cli import app

from ..pipeline.toy import TREES, gold_doc, tiny_pipeline


@pytest.fixture(scope="module")
def files(nlp, tmp_path_factory):
    folder = tmp_path_factory.mktemp("heads")
    nlp.to_disk(folder / "model")
    DocBin(docs=[gold_doc(nlp, tree) for tree in TREES]).to_disk(folder / "data.spacy")
    return folder


def run(*arguments):
    return CliRunner().invoke(app, ["attention", *map(str, arguments)])


def test_files(files):
    out = files / "out"
    arguments = (files / "model", files / "data.spacy", "--output", out, "--top", 2, "--errors")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    (line,) = [line for line in lines if line.startswith("NP ")]
    found = json.loads((out / "heads.json").read_text())
    top = found["categories"]["NP"]["top"]
    assert len(top) == 2
    for share in top:
        assert f"{share['head']}: {share['contribution']:.4f}" in line
    assert found["heads"] == 4
    ElementTree.parse(out / "heads.svg")
    errors = json.loads((out / "errors.json").read_text())
    assert errors["docs"] == len(TREES)
    assert f"{errors['correct']} correct" in result.stdout
    # the same again is the same to the byte
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert run(*arguments).exit_code == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_clear_errors(files, tmp_path):
    result = run(tmp_path / "nothing", files / "data.spacy")
    assert result.exit_code == 1
    assert "nothing" in result.stderr
    (tmp_path / "empty").mkdir()
    with pytest.warns(UserWarning, match="W090"):
        result = run(files / "model", tmp_path / "empty")
    assert result.exit_code == 1
    assert f"no .spacy files in {tmp_path / 'empty'}" in result.stderr
    nlp = tiny_pipeline()
    DocBin(docs=[nlp.make_doc("No tree")]).to_disk(tmp_path / "bare.spacy")
    assert run(files / "model", tmp_path / "bare.spacy").exit_code == 0
    result = run(files / "model", tmp_path / "bare.spacy", "--errors")
    assert result.exit_code == 1
    assert "none of the 1 Docs" in result.stderr
    nlp.to_disk(tmp_path / "untrained")
    result = run(tmp_path / "untrained", files / "data.spacy")
    assert result.exit_code == 1
    assert result.stderr.startswith("attention: ")
