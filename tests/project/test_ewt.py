"""Workflows on trees and heads of the English Web Treebank."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from .running import ATTACHMENT, FEW_STEPS, read_docs, scores_of
from .sizes import LABEL_ATTENTION, sizes
from .toy_treebanks import toy_ewt


def test_train_const_and_joint(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    here = project / "projects/ewt"
    variables = toy_ewt(tmp_path) | {"train_options": FEW_STEPS}
    logged = run_here("train-joint", "projects/ewt", **variables)
    assert "parameters begin as those of training/annealed/model-best" in logged
    metrics = scores_of(here / "metrics/joint.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    assert set(metrics) > ATTACHMENT
    assert "Skipping 'anneal'" in run_here("train-const", "projects/ewt", **variables)
    assert not set(scores_of(here / "metrics/parser.json")) & ATTACHMENT


def test_train_crf_and_spanformer(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    variables = toy_ewt(tmp_path)
    small = sizes("lal_constituency", input_encoder__hidden_width=16, **LABEL_ATTENTION)
    options = {"warm_start": "null", "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-crf", "projects/ewt", **variables, **options)
    assert "parameters begin" not in logged
    metrics = scores_of(project / "projects/ewt/metrics/crf.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    small = sizes("lal_constituency", input_encoder__hidden_width=16)
    source = "training/crf/model-best"
    options = {"warm_start": source, "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-spanformer", "projects/ewt", **variables, **options)
    taken = re.search(rf"(\d+) of (\d+) parameters begin as those of {source}", logged)
    assert taken is not None
    assert 0 < int(taken[1]) / int(taken[2]) < 1
    assert scores_of(project / "projects/ewt/metrics/spanformer.json")["sentences"] == 10


def test_self_train_crf(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Silver trees are those of sentences that the parser is sure of, mixed with gold ones."""
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. Tom gave her a map.\n" * 2, encoding="utf8")
    small = sizes("lal_constituency", input_encoder__hidden_width=16, **LABEL_ATTENTION)
    given = toy_ewt(tmp_path) | {"train_options": f"{FEW_STEPS} {small}", "warm_start": "null"}
    teacher = "training/crf/model-best"
    if not (project / "projects/ewt" / teacher).exists():  # as the test above leaves it
        run_here("train-crf", "projects/ewt", **given)
    run_here(
        "self-train-crf",
        "projects/ewt",
        **given,
        silver_text=str(text),
        silver_parser=teacher,
        silver_options=" --trees 0 --tags 0 --parts 1",
        epoch_words="600",
    )
    docs = read_docs(project / "projects/ewt/corpus/silver/part-00000.spacy")
    assert {doc.text.strip() for doc in docs} == {"The cat sat on the mat.", "Tom gave her a map."}
    assert all("constituents" in doc.spans for doc in docs)
    assert scores_of(project / "projects/ewt/metrics/crf.json")["sentences"] == 10
