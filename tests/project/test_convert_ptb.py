"""Conversion of the Penn Treebank, with heads and tags of CoNLL-X."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from spacy_lal.treebanks.files import FormatError
from spacy_lal.trees import ptb_unescape

from .running import ROOT, load_script, read_docs


@pytest.fixture(scope="module")
def convert_ptb() -> ModuleType:
    return load_script("convert_ptb")


def test_sections(convert_ptb: ModuleType) -> None:
    assert convert_ptb.sections("02-21") == [f"{i:02}" for i in range(2, 22)]
    assert convert_ptb.sections("00, 24") == ["00", "24"]
    with pytest.raises(ValueError, match="'2-x'"):
        convert_ptb.sections("2-x")


def test_section_files_of_both_editions(convert_ptb: ModuleType, tmp_path: Path) -> None:
    for name in ("22/WSJ_2201.MRG", "23/wsj_2301.tree", "23/wsj_2300.tree", "23/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files, empty = convert_ptb.section_files(tmp_path, ["22", "23", "24"])
    assert [path.name for path in files] == ["WSJ_2201.MRG", "wsj_2300.tree", "wsj_2301.tree"]
    assert empty == ["24"]


def test_conllx_words_may_be_plain_or_escaped(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2302.mrg"))
    rows = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8").split("\n\n")[2]
    path = tmp_path / "test.conllx"
    for text in (rows, rows.replace("-LRB-", "(").replace("-RRB-", ")")):
        path.write_text(text, "utf8")
        (merged,), faults = convert_ptb.splits.merge(
            sentences, path, convert_ptb.Take.heads, ptb_unescape
        )
        assert faults == 0
        assert merged.tags == sentences[0].tags
        assert merged.heads[6] == 6
        assert merged.deps[1] == "nsubj"


def test_conllx_that_does_not_fit_says_where(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2301.mrg"))
    text = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8")
    path = tmp_path / "test.conllx"
    path.write_text(text, "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:21: more than the treebank's 2 sentences"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)
    path.write_text(text.split("\n\n")[0] + "\n", "utf8")
    with pytest.raises(ValueError, match="1 sentences, the treebank has 2"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)
    path.write_text(text.replace("Costs", "Prices"), "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:11: sentence 2 is .`` Prices will"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)


def test_head_rules_only_where_conllx_gives_no_heads(
    convert_ptb: ModuleType, tmp_path: Path
) -> None:
    toy, conllx = ROOT / "assets/toy/ptb/wsj", str(ROOT / "assets/toy/ptb/conllx")
    rules, take = convert_ptb.HeadRules, convert_ptb.Take
    relations = {}
    for name, options in {
        "neither": {},
        "rules": {"heads": rules.semantic},
        "tags": {"heads": rules.semantic, "conllx": conllx, "take": take.tags},
        "heads": {"heads": rules.semantic, "conllx": conllx},
    }.items():
        convert_ptb.main(toy, tmp_path, **options)
        (doc, *_) = read_docs(tmp_path / "test.spacy")
        relations[name] = doc[0].dep_, doc[-1].tag_
    assert relations == {
        "neither": ("", "."),
        "rules": ("dep", "."),
        "tags": ("dep", "."),
        "heads": ("nn", "."),
    }
