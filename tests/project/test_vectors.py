"""Word vectors as they are stored here."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import safetensors.torch
import spacy
import torch
import typer.main
from spacy.training.initialize import convert_vectors

from .running import ROOT


def test_vectors_are_those_that_spacy_reads(tmp_path: Path) -> None:
    """A table as floret writes it, through our file of 16 bits and through spaCy's own reader."""
    rows = numpy.random.default_rng(0).normal(size=(20, 4)).round(2)
    lines = [f"{k} " + " ".join(map(str, row)) + " " for k, row in enumerate(rows.tolist())]
    header = "20 4 3 5 2 2166136261 < >"
    (tmp_path / "table.floret").write_text("\n".join([header, *lines]) + "\n", "utf8")
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts/vectors.py")))
    script.save(tmp_path / "table.floret", tmp_path / "stored.safetensors")
    script.build(tmp_path / "stored.safetensors", tmp_path / "pipeline")
    ours, theirs = spacy.load(tmp_path / "pipeline"), spacy.blank("en")
    convert_vectors(theirs, tmp_path / "table.floret", truncate=0, prune=-1, mode="floret")
    for word in ("ship", "harbours", "x", "don't"):
        assert ours.vocab[word].vector == pytest.approx(theirs.vocab[word].vector, abs=2e-3)
    found = " ".join(script.tokens("I don't, cannot: it's 3% e.g. Mr. Li’s up-to-date."))
    assert found == "I do n't , can not : it 's 3 % e.g. Mr. Li 's up - to - date ."
    (tmp_path / "other.safetensors").write_bytes(safetensors.torch.save({"a": torch.ones(1)}))
    with pytest.raises(typer.Exit):
        script.build(tmp_path / "other.safetensors", tmp_path / "pipeline")
