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
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import convert_vectors
from spacy.vectors import Vectors

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


def test_compounds_of_a_treebank(tmp_path: Path) -> None:
    """They are found in text from the left, the longest first, whatever their capitals."""
    vocab = spacy.blank("xx").vocab
    words = ["Thành_phố", "thành_phố_Hồ_Chí_Minh", "_", "phố_Hồ", "."]
    for name, some in (("a", words[:3]), ("b", words[3:])):
        DocBin(docs=[Doc(vocab, some)]).to_disk(tmp_path / f"{name}.spacy")
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts/vectors.py")))
    known = script.Compounds([tmp_path / "a.spacy", tmp_path / "b.spacy"])
    text = "Ở thành phố Hồ Chí Minh , thành phố Hồ và phố Hồ . Thành"
    joined = "Ở thành_phố_Hồ_Chí_Minh , thành_phố Hồ và phố_Hồ . Thành"
    assert known.joined(text.split()) == joined.split()


def test_narrower_vectors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of vectors in a plane, two numbers keep every angle; words beyond the first have none."""
    numbers = numpy.random.default_rng(0)
    plane = numbers.normal(size=(2, 5))
    data = (numbers.normal(size=(4, 2)) @ plane).astype("float32")
    nlp = spacy.blank("fr")
    nlp.vocab.vectors = Vectors(strings=nlp.vocab.strings, data=data)
    rows = {"le": 2, "Le": 2, "chat": 0, "chien": 3, "rare": 1}
    for word, row in rows.items():
        nlp.vocab.vectors.add(nlp.vocab.strings.add(word), row=row)
    nlp.to_disk(tmp_path / "wide")
    script = SimpleNamespace(**runpy.run_path(str(ROOT / "scripts/vectors.py")))
    script.reduce(str(tmp_path / "wide"), tmp_path / "narrow", width=2, keys=4)
    assert "4 words, 3 rows of 2 numbers, 100.0 %" in capsys.readouterr().out
    found = spacy.load(tmp_path / "narrow")
    assert found.lang == "fr"
    assert found.vocab.vectors.shape == (3, 2)
    assert not found.vocab["rare"].has_vector
    for one in list(rows)[:4]:
        assert found.vocab[one].vector_norm == pytest.approx(0.3 * 2**0.5)
        for other in list(rows)[:4]:
            a, b = data[rows[one]], data[rows[other]]
            cosine = a @ b / numpy.linalg.norm(a) / numpy.linalg.norm(b)
            assert found.vocab[one].similarity(found.vocab[other]) == pytest.approx(
                cosine, abs=1e-5
            )
    for wrong, width in ((str(tmp_path / "wide"), 6), (str(tmp_path / "nowhere"), 2)):
        with pytest.raises(typer.Exit):
            script.reduce(wrong, tmp_path / "other", width=width)
    assert "has 5 numbers a vector" in capsys.readouterr().err
