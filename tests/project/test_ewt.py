"""Workflows on trees and heads of the English Web Treebank."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import srsly
import torch

from .running import ATTACHMENT, FEW_STEPS, read_docs, scores_of, weight_types
from .sizes import LABEL_ATTENTION, sizes
from .toy_treebanks import toy_ewt


def test_train_const_and_joint(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    here = project / "projects/ewt"
    variables = toy_ewt(tmp_path) | {"train_options": FEW_STEPS}
    run_here("train-joint", "projects/ewt", **variables)
    check_package(project / "packages/en_lal_joint_sm", here / "metrics/joint.json")
    metrics = scores_of(here / "metrics/joint.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    assert set(metrics) > ATTACHMENT
    assert weight_types(project / "packages/en_lal_joint_sm") == {torch.float16}
    assert "Skipping 'anneal'" in run_here("train-const", "projects/ewt", **variables)
    check_package(project / "packages/en_lal_const_sm", here / "metrics/parser.json")
    assert weight_types(project / "packages/en_lal_const_sm") == {torch.float32}
    assert not set(scores_of(here / "metrics/parser.json")) & ATTACHMENT


def test_train_crf_and_spanformer(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    variables = toy_ewt(tmp_path)
    small = sizes("lal_constituency", rows__hidden_width=16, **LABEL_ATTENTION)
    options = {"warm_start": "null", "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-crf", "projects/ewt", **variables, **options)
    assert "parameters begin" not in logged
    metrics = scores_of(project / "projects/ewt/metrics/crf.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    small = sizes("spanformer", rows__hidden_width=16)
    source = "training/crf/model-best"
    options = {"warm_start": source, "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-spanformer", "projects/ewt", **variables, **options)
    taken = re.search(rf"(\d+) of (\d+) parameters begin as those of {source}", logged)
    assert taken is not None
    assert 0.5 < int(taken[1]) / int(taken[2]) < 1
    assert scores_of(project / "projects/ewt/metrics/spanformer.json")["sentences"] == 10


def test_self_train_crf(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Silver trees are those of sentences that both parse alike, as many words as of gold ones."""
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. Tom gave her a map.\n" * 100, encoding="utf8")
    small = sizes("lal_constituency", rows__hidden_width=16, **LABEL_ATTENTION)
    run_here(
        "self-train-crf",
        "projects/ewt",
        **toy_ewt(tmp_path),
        silver_text=str(text),
        silver_parser="training/crf-second/model-best",
        warm_start="training/crf-second/model-best",
        train_options=f"{FEW_STEPS} {small}",
    )
    gold = read_docs(project / "projects/ewt/corpus/train.spacy")
    docs = read_docs(project / "projects/ewt/corpus/silver/train.spacy")
    silver = [doc.text for doc in docs if "sat on the mat" in doc.text or "her a map" in doc.text]
    assert 0 < len(silver) < 200
    assert sorted(doc.text for doc in docs) == sorted([*(doc.text for doc in gold), *silver])
    words = sum(map(len, gold))
    assert 2 * words <= sum(map(len, docs)) < 2 * words + max(map(len, docs))
    assert [doc.text for doc in docs[: len(gold)]] != [doc.text for doc in gold]
    assert scores_of(project / "projects/ewt/metrics/crf.json")["sentences"] == 10


def check_package(path: Path, metrics: Path) -> None:
    """The package says whose data it was trained on and how well it does."""
    meta = srsly.read_json(path / "meta.json")
    assert meta["name"] == path.name.removeprefix("en_")
    assert meta["license"] == "CC BY-SA 4.0"
    assert [source["license"] for source in meta["sources"]][:2] == ["CC BY-SA 4.0"] * 2
    measured = {k: v for k, v in srsly.read_json(metrics).items() if k in {"tag_acc", *ATTACHMENT}}
    assert measured
    assert measured.items() <= meta["performance"].items()
    assert (path / "setup.py").exists()
