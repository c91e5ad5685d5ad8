"""A parser learns its toy treebank, is packaged, and parses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from spacy.tokens import Doc

from spacy_lal.cli.package import package

from .running import read_docs, run, scores_of, weight_types


def test_smoke_learns_its_training_data(project: Path, run_here: Callable[..., str]) -> None:
    printed = run_here("smoke")
    seen = scores_of(project / "metrics/smoke-train.json")
    unseen = scores_of(project / "metrics/smoke-dev.json")
    assert (seen["sentences"], seen["words"], unseen["sentences"]) == (32, 279, 10)
    assert seen["const_evalb_f"] > 0.97  # 1.0 where this was written
    assert seen["tag_acc"] > 0.97  # 1.0
    assert unseen["const_evalb_f"] > 0.75  # 0.94
    assert seen["words_per_cpu_second"] > 0
    meta = srsly.read_json(project / "training/smoke/packages/en_lal_smoke/meta.json")
    assert meta["version"] == "0.1.0"  # its own, not that of en_lal_sm
    assert any(name.startswith("spacy-lal") for name in meta["requirements"])
    assert meta["performance"]["const_evalb_f"] == pytest.approx(unseen["const_evalb_f"])
    assert "(TOP (S (NP (DT The) (NN captain))" in printed
    assert "(TOP (S (NP (DT The) (NN captain))" in run(project, "smoke-parse")
    check_half(project)


def check_half(project: Path) -> None:
    """A package with weights of half the size gives the same trees."""
    model = project / "training/smoke/model-best"
    package(model, project / "half", name="lal_smoke", half=True)
    (config,) = (project / "half").rglob("config.cfg")
    assert weight_types(model) == {torch.float32}
    assert weight_types(config.parent) == {torch.float16}
    assert trees_of(config.parent, project) == trees_of(model, project)


def trees_of(model: Path, project: Path) -> list[str]:
    """What a pipeline makes of the toy treebank's words."""
    nlp = spacy.load(model)
    golds = [
        gold
        for split in ("train", "dev")
        for gold in read_docs(project / f"corpus/smoke/{split}.spacy")
    ]
    docs = nlp.pipe(Doc(nlp.vocab, words=[token.text for token in gold]) for gold in golds)
    return [str(tree) for doc in docs for tree in doc._.trees]
