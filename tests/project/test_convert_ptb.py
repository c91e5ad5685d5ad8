"""Conversion of the Penn Treebank, with heads and tags of CoNLL-X."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer

from spacy_lal.cli.convert import command
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.penn_treebanks import (
    PennTreebank,
    Take,
    WsjSplit,
    merge,
    numbers,
    wsj_files,
    wsj_numbers,
)
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.trees.brackets import ptb_unescape
from spacy_lal.trees.head_rules import HeadRules

from .running import ROOT, read_docs


def test_sections() -> None:
    assert numbers("02-21") == list(range(2, 22))
    assert numbers("00, 24") == [0, 24]
    with pytest.raises(ValueError, match="'2-x'"):
        numbers("2-x")
    with pytest.raises(ValueError, match="sections '21-02,00': write"):
        numbers("21-02,00")


def test_sections_have_two_digits_and_files_four() -> None:
    assert wsj_numbers("2-4, 0203") == ["02", "03", "04", "0203"]
    assert wsj_numbers("0099-0101") == ["0099", "0100", "0101"]
    with pytest.raises(ValueError, match="sections or files '0002-x'"):
        wsj_numbers("02,0002-x")


def test_section_files_of_both_editions(tmp_path: Path) -> None:
    for name in ("22/WSJ_2201.MRG", "23/wsj_2301.tree", "23/wsj_2300.tree", "23/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = wsj_files(tmp_path)
    found = [path.name for section in ("22", "23") for path in files[section]]
    assert found == ["WSJ_2201.MRG", "wsj_2300.tree", "wsj_2301.tree"]
    assert [path.name for path in files["2300"]] == ["wsj_2300.tree"]
    assert "24" not in files


def test_sections_of_a_flat_folder(tmp_path: Path) -> None:
    for name in ("wsj_2301.mrg", "WSJ_0203.MRG", "wsj_2300.mrg", "README"):
        (tmp_path / name).touch()
    files = wsj_files(tmp_path)
    assert [path.name for path in files["23"]] == ["wsj_2300.mrg", "wsj_2301.mrg"]
    assert [path.name for path in files["02"]] == ["WSJ_0203.MRG"]
    (tmp_path / "again").mkdir()
    (tmp_path / "again/wsj_2301.mrg").touch()
    with pytest.raises(ValueError, match=r"again/wsj_2301.mrg and .* have the same number"):
        wsj_files(tmp_path)


def test_split_of_a_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = tmp_path / "treebank/combined"
    sample.mkdir(parents=True)
    for number in (1, 159, 160, 179, 180, 199, 200):
        tree = f"( (S (NP-SBJ (NN File)) (VP (VBZ is) (NP-PRD (CD {number}) (-NONE- *T*-1)))) )"
        (sample / f"wsj_{number:04}.mrg").write_text(tree, "utf8")
    for folder in (sample, sample.parent):
        command(PennTreebank)(folder, tmp_path, split=WsjSplit.nltk)
        numbers = [
            [int(doc[-1].text) for doc in read_docs(tmp_path / f"{part}.spacy")]
            for part in ("train", "dev", "test")
        ]
        assert numbers == [[1, 159], [160, 179], [180, 199]]
    assert "dev: no trees in files 0161, 0162," in capsys.readouterr().out
    with pytest.raises(typer.Exit):
        command(PennTreebank)(sample, tmp_path)
    error = " ".join(capsys.readouterr().err.split())
    assert error == f"convert: no trees of 22 in {sample}, which has 00, 01, 02"


def test_conllx_words_may_be_plain_or_escaped(tmp_path: Path) -> None:
    sentences = list(PennTreebank().read(ROOT / "assets/toy/ptb/wsj/23/wsj_2302.mrg", Losses()))
    rows = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8").split("\n\n")[2]
    path = tmp_path / "test.conllx"
    for text in (rows, rows.replace("-LRB-", "(").replace("-RRB-", ")")):
        path.write_text(text, "utf8")
        losses = Losses()
        (merged,) = merge(sentences, path, Take.heads, losses, ptb_unescape)
        assert not losses.left_out["without heads"]
        assert merged.tags == sentences[0].tags
        assert merged.heads[6] == 6
        assert merged.deps[1] == "nsubj"


def test_conllx_that_does_not_fit_says_where(tmp_path: Path) -> None:
    sentences = list(PennTreebank().read(ROOT / "assets/toy/ptb/wsj/23/wsj_2301.mrg", Losses()))
    text = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8")
    path = tmp_path / "test.conllx"
    path.write_text(text, "utf8")
    with pytest.raises(ValueError, match="3 sentences, the treebank has 2"):
        merge(sentences, path, Take.both, Losses(), ptb_unescape)
    path.write_text(text.split("\n\n")[0] + "\n", "utf8")
    with pytest.raises(ValueError, match="1 sentences, the treebank has 2"):
        merge(sentences, path, Take.both, Losses(), ptb_unescape)
    path.write_text(text.replace("Costs", "Prices"), "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:11: sentence 2 is .`` Prices will"):
        merge(sentences, path, Take.both, Losses(), ptb_unescape)


def test_head_rules_only_where_conllx_gives_no_heads(tmp_path: Path) -> None:
    toy, conllx = ROOT / "assets/toy/ptb/wsj", str(ROOT / "assets/toy/ptb/conllx")
    relations = {}
    for name, options in {
        "neither": {},
        "rules": {"heads": HeadRules.semantic},
        "tags": {"heads": HeadRules.semantic, "conllx": conllx, "take": Take.tags},
        "heads": {"heads": HeadRules.semantic, "conllx": conllx},
    }.items():
        command(PennTreebank)(toy, tmp_path, **options)
        (doc, *_) = read_docs(tmp_path / "test.spacy")
        relations[name] = doc[0].dep_, doc[-1].tag_
    assert relations == {
        "neither": ("", "."),
        "rules": ("dep", "."),
        "tags": ("dep", "."),
        "heads": ("nn", "."),
    }
