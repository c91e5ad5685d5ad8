"""Conversion of the Penn Treebank, with heads and tags of CoNLL-X."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_lal.cli.convert import command
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.head_rules import HeadRules
from spacy_lal.formats.penn_treebanks import PennTreebank, Take, merge, numbers, section_files
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.trees.brackets import ptb_unescape

from .running import ROOT, read_docs


def test_sections() -> None:
    assert numbers("02-21") == list(range(2, 22))
    assert numbers("00, 24") == [0, 24]
    with pytest.raises(ValueError, match="'2-x'"):
        numbers("2-x")
    with pytest.raises(ValueError, match="sections '21-02,00': write"):
        numbers("21-02,00")


def test_section_files_of_both_editions(tmp_path: Path) -> None:
    for name in ("22/WSJ_2201.MRG", "23/wsj_2301.tree", "23/wsj_2300.tree", "23/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files = [path.name for section in (22, 23) for path in section_files(tmp_path, section)]
    assert files == ["WSJ_2201.MRG", "wsj_2300.tree", "wsj_2301.tree"]
    assert section_files(tmp_path, 24) == []


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
