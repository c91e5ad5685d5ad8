"""Workflows on the Penn, Chinese, Vietnamese and French treebanks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
from spacy.cli._util import parse_config_overrides
from spacy.tokens import Doc
from spacy.util import load_config

from spacy_lal.annotations import get_constituents, sentence_trees
from spacy_lal.parsing.network import abilities

from ..tiny_transformers import write_bert, write_phobert, write_xlmr, write_xlnet
from .running import ATTACHMENT, FEW_STEPS, ROOT, read_docs, scores_of
from .sizes import LABEL_ATTENTION, OF_VECTORS, SELF_ATTENTION, SMALL, sizes
from .toy_treebanks import toy_words, write_vectors
from .two_steps import trained_two_steps


def test_train_ptb(project: Path, run_here: Callable[..., str]) -> None:
    printed = run_here(
        "train-ptb-bilstm",
        ptb_dir="assets/toy/ptb/wsj",
        ptb_conllx="assets/toy/ptb/conllx",
        ptb_take="both",
        train_options=FEW_STEPS,
    )
    assert "no trees in sections 03, 04," in printed
    docs = {split: read_docs(project / f"corpus/ptb/{split}.spacy") for split in PTB_TEXTS}
    assert {split: [doc.text for doc in docs[split]] for split in ("dev", "test")} == {
        split: PTB_TEXTS[split] for split in ("dev", "test")
    }
    assert [doc.text for doc in docs["train"]][:4] == PTB_TEXTS["train"]
    assert len(docs["train"]) == 12
    ship = docs["test"][0]
    assert [token.tag_ for token in ship][-3:] == ["IN", "MD", "."]  # the tagger's mistake
    assert [token.head.text for token in ship][:3] == ["Reed", "repaired", "repaired"]
    assert get_constituents(ship)[:2] == [(0, 9, "S"), (0, 2, "NP")]
    metrics = scores_of(project / "metrics/ptb.json")
    assert metrics["sentences"] == 3
    assert 0 <= metrics["const_evalb_f"] <= 1
    assert not set(metrics) & ATTACHMENT  # this config's parser finds no heads


def test_heads_of_ptb(project: Path, run_here: Callable[..., str]) -> None:
    """The workflow takes the feed-forward layer away, and gold heads tell the head words."""
    printed = run_here(
        "heads-ptb",
        ptb_dir="assets/toy/ptb/wsj",
        ptb_config="configs/lal_sm.cfg",
        train_options=FEW_STEPS,
    )
    assert "at the head word" in printed
    errors = srsly.read_json(project / "metrics/ptb-heads/errors.json")
    assert errors["docs"] == 3
    words = {error["text"]: error["head_word"] for error in errors["missed spans"]}
    assert words.get("a dealer", "dealer") == "dealer"
    assert any(words.values())


@pytest.mark.spacy_transformers
@pytest.mark.parametrize("treebank", ["ptb", "ctb"])
def test_train_on_a_transformer(
    project: Path, tmp_path: Path, run_here: Callable[..., str], treebank: str
) -> None:
    """The paper's configs with nothing changed but the transformer's name and sizes."""
    write_transformer = {"ptb": write_xlnet, "ctb": write_bert}[treebank]
    write_transformer(tmp_path, toy_words(treebank))
    data = str(ROOT / f"assets/toy/{treebank}")
    workflow, folder, variables, options = {
        "ptb": ("train-ptb", ".", {"ptb_dir": f"{data}/wsj", "encoder": str(tmp_path)}, ""),
        "ctb": (
            "all",
            "projects/ctb",
            {"data": data},
            f" --components.transformer.model.name {tmp_path}",
        ),
    }[treebank]
    printed = run_here(
        workflow,
        folder,
        **variables,
        train_options=f"{FEW_STEPS}{options} {SMALL}",
    )
    assert f"by rules: {'semantic' if treebank == 'ptb' else 'ctb'}" in printed
    of = {"ptb": "ptb", "ctb": ""}[treebank]
    name = of or "test"
    metrics = scores_of(project / folder / f"metrics/{name}.json")
    assert metrics["sentences"] == {"ptb": 3, "ctb": 2}[treebank]
    assert set(metrics) > {*ATTACHMENT, "const_evalb_f", "const_complete"}
    docs = read_docs(
        project / folder / "corpus" / of / "test.spacy", {"ptb": "en", "ctb": "zh"}[treebank]
    )
    assert [[token.text for token in doc if token.head == token] for doc in docs] == {
        "ptb": [["repaired"], ["fall"], ["plans"]],
        "ctb": [["关上"], ["回"]],
    }[treebank]


PTB_TEXTS = {
    "train": [
        "Harbor Mills sold two old ships in May .",
        "The ships were bought by a dealer who restores them .",
        "Prices will rise 3 1/2 % , the dealer said .",
        '" We do n\'t know why sales fell . "',
    ],
    "dev": [
        "The dealer sold two offices .",
        "The mill was bought by a bank .",
        "Analysts expect sales to rise .",
    ],
    "test": [
        "Ms. Reed repaired the old ship in May .",
        '" Costs will fall , " she said .',
        "The owner ( a dealer ) plans to buy the bank .",
    ],
}


@pytest.mark.spacy_transformers
def test_train_vtb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """A slow tokenizer aligns words of several syllables; what it doesn't know stops nothing."""
    write_phobert(tmp_path, toy_words("vtb"))
    own = {"input_encoder__width": 16, "encoder__partition_width": 8}
    small = sizes("lal_constituency", **own, **LABEL_ATTENTION, **SELF_ATTENTION)
    transformer = f"--components.transformer.model.name {tmp_path}"
    run_here(
        "all",
        "projects/vtb",
        data="../../assets/toy/vtb",
        train_options=f"{FEW_STEPS} {transformer} {small}",
    )
    docs = read_docs(project / "projects/vtb/corpus/test.spacy", "vi")
    assert [str(*sentence_trees(doc)) for doc in docs] == [
        "(TOP (S (NP (N Thuyền_trưởng) (Np Nam)) (VP (R đã) (V về) (NP (N bến_cảng))) (. .)))",
        "(TOP (S (NP (L Các) (N cô_giáo)) (VP (V mua) (NP (M ba) (Nc quyển) (N truyện))) (, ,)"
        " (VP (V hát)) (. .)))",
    ]
    assert scores_of(project / "projects/vtb/metrics/test.json")["sentences"] == 2
    nlp = spacy.load(project / "projects/vtb/training/model-best")
    doc = nlp("thuyền_trưởng  mở cửa_gà g .")
    assert [leaf for tree in doc._.trees for leaf in tree.leaves] == doc.text.split()
    assert pieces_of(doc) == {
        "thuyền_trưởng": ["thuyền_trưởng"],
        " ": [],
        "mở": ["m@@", "ở"],
        "cửa_gà": ["c@@", "ử@@", "a@@", "_@@", "à"],
        "g": [],
        ".": ["."],
    }
    # more pieces than PhoBERT has positions
    doc = nlp(f"mở {'cửa_' * 100} .")
    assert len(doc._.trees[0].leaves) == 3


@pytest.mark.slow
@pytest.mark.spacy_transformers
def test_baselines_of_vtb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """The paper's table 1, with nothing changed but PhoBERT and its parser's label attention."""
    write_phobert(tmp_path, toy_words("vtb"))
    own = {"input_encoder__width": 16, "encoder__partition_width": 8}
    small = sizes("lal_constituency", **own, **LABEL_ATTENTION, **SELF_ATTENTION)
    rows = ["crf-charlstm", "crf-large", "benepar-large", "heads-64", "no-label-attention"]
    run_here(
        "compare-paper",
        "projects/vtb",
        data="../../assets/toy/vtb",
        paper_rows=",".join(rows),
        seeds="1",
        train_options=f"{FEW_STEPS} --components.transformer.model.name {tmp_path} {small}",
    )
    folder = project / "projects/vtb"
    text = (folder / "metrics/paper.md").read_text("utf8")
    parsers = re.findall(r"^\| (CRF|Benepar|the paper's).*?\| (\S+) \|$", text, re.MULTILINE)
    assert parsers == [
        ("CRF", "76.88"),
        ("CRF", "84.03"),
        ("Benepar", "84.52"),
        ("the paper's", "85.97"),
        ("the paper's", "84.55"),
    ]
    found = {row: spacy.load(folder / f"training/paper/{row}-1") for row in rows}
    assert found.pop("crf-charlstm").pipe_names == ["lal_constituency"]
    for nlp in found.values():
        assert nlp.pipe_names == ["transformer", "lal_constituency"]
    abilities_of = {
        row: abilities(nlp.get_pipe("lal_constituency").model) for row, nlp in found.items()
    }
    assert {row for row, of in abilities_of.items() if not of.two_stages} == {"benepar-large"}
    without = {row for row, of in abilities_of.items() if not of.label_heads}
    assert without == {"benepar-large", "crf-large", "no-label-attention"}
    benepar = found["benepar-large"].config["components"]["lal_constituency"]
    assert benepar["objective"]["@misc"] == "spacy-lal.margin_objective.v2"


def pieces_of(doc: Doc) -> dict[str, list[str]]:
    """The word pieces that a transformer's vectors of each token are made of."""
    data = doc._.trf_data
    strings = [piece for row in data.wordpieces.strings for piece in row]
    indices = iter(data.align.dataXd.tolist())
    lengths = data.align.lengths.tolist()
    return {
        token.text: [strings[next(indices)] for _ in range(length)]
        for token, length in zip(doc, lengths, strict=True)
    }


@pytest.mark.slow
def test_train_ftb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_vectors(tmp_path / "vectors", "fr")
    small = sizes("spanformer", **OF_VECTORS)
    run_here(
        "all",
        "projects/ftb",
        data="../../assets/toy/ftb",
        vectors=str(tmp_path / "vectors"),
        train_options=f"{FEW_STEPS} {small}",
    )
    metrics = scores_of(project / "projects/ftb/metrics/test.json")
    assert (metrics["sentences"], metrics["words"]) == (2, 13)
    nlp = spacy.load(project / "projects/ftb/training/model-best")
    assert nlp.vocab.vectors.shape == (6, 4)
    assert nlp.get_pipe("spanformer").labels[0] == "AP"


@pytest.mark.spacy_transformers
def test_spanformer_on_xlmr(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_xlmr(tmp_path, toy_words("ftb"))
    run_here(
        "xlm-r",
        "projects/ftb",
        data="../../assets/toy/ftb",
        transformer=str(tmp_path),
        train_options=f"{FEW_STEPS} {sizes('spanformer')}",
    )
    nlp = spacy.load(project / "projects/ftb/training/model-best")
    assert nlp.pipe_names == ["transformer", "spanformer"]
    doc = nlp("La  dame vend un livre\n.")
    assert [leaf for tree in doc._.trees for leaf in tree.leaves] == doc.text.split()


def test_baseline_of_ftb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """With two seeds; on XLM-R it is as on BERT below."""
    write_vectors(tmp_path / "vectors", "fr")
    run_here(
        "compare",
        "projects/ftb",
        data="../../assets/toy/ftb",
        vectors=str(tmp_path / "vectors"),
        seeds="1,2",
        train_options=f"{FEW_STEPS} {sizes('spanformer', **OF_VECTORS)}",
    )
    text = (project / "projects/ftb/metrics/fasttext.md").read_text("utf8")
    rows = re.findall(r"^\| (CRF|Span).*? ± .*\| 2 \|.*\| (\S+) \|$", text, re.MULTILINE)
    assert rows == [("CRF", "84.26"), ("Span", "84.39")]


@pytest.mark.slow
@pytest.mark.spacy_transformers
def test_tables_of_ptb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """A row of Mrini et al.'s table 5 and one of Floquet et al.'s table 1."""
    write_xlnet(tmp_path, toy_words("ptb"))
    data = str(ROOT / "assets/toy/ptb/wsj")
    transformer = f"{FEW_STEPS} --components.transformer.model.name {tmp_path}"
    run_here(
        "compare-ptb",
        ptb_dir=data,
        ptb_base="xlnet-dropout",
        ptb_rows="layers-2,base",
        ptb_seeds="1",
        train_options=f"{transformer} {SMALL}",
    )
    text = (project / "metrics/xlnet-dropout.md").read_text("utf8")
    assert "UAS and LAS leave out punctuation" in text
    assert re.search(r"^\| 2 \|.*\| 96\.13 \| 97\.16 \| 96\.09 \|$", text, re.MULTILINE)
    trained = spacy.load(project / "training/compare-ptb/xlnet-dropout/layers-2-1")
    encoder = trained.config["components"]["lal_constituency"]["model"]["encoder"]
    assert (encoder["self_attention_layers"], encoder["residual_dropout"]) == (2, True)
    write_bert(tmp_path, toy_words("ptb"))
    run_here(
        "compare-ptb",
        ptb_dir=data,
        ptb_table="spanformer_rows",
        ptb_base="bert",
        ptb_rows="table 1",
        ptb_seeds="1",
        train_options=f"{transformer} {sizes('spanformer')}",
    )
    text = (project / "metrics/bert.md").read_text("utf8")
    assert re.findall(r"^\| \w+ .*\| (\S+) \|$", text, re.MULTILINE)[-2:] == ["95.78", "95.80"]


def test_config_trains(tmp_path: Path) -> None:
    write_vectors(tmp_path / "vectors", "en")
    options = f"{sizes('spanformer', **OF_VECTORS)} --paths.vectors {tmp_path / 'vectors'}"
    overrides = parse_config_overrides(options.split())
    nlp = trained_two_steps(load_config(ROOT / "configs/spanformer.cfg", overrides))
    doc = nlp("La  dame vend un livre\n.")
    assert [leaf for tree in doc._.trees for leaf in tree.leaves] == doc.text.split()
