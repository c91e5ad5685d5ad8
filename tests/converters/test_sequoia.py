"""Sequoia's trees and UD's heads of the same sentences, in other words."""

from __future__ import annotations

from pathlib import Path

import pytest
from french import Sequoia
from ud_join import in_tokens, surface, with_heads, written

from spacy_lal.formats.conllu import ConlluSentence, parse_conllu
from spacy_lal.formats.treebank_format import PARTS, Part
from spacy_lal.formats.treebank_sentence import TreebankSentence

# Sentences made by hand. A compound of three words with a contraction, a contraction alone, a word
# in two parts, a space that is missing.
UD = """# sent_id = a
1	Au	_	ADP	_	_	5	case	_	_
2	lieu	lieu	NOUN	_	_	1	fixed	_	_
3	d'	de	ADP	_	_	1	fixed	_	SpaceAfter=No
4	un	un	DET	_	_	5	det	_	_
5	ex-maire	ex-maire	NOUN	_	_	6	obl	_	SpaceAfter=No
6	parle	parler	VERB	_	_	0	root	_	_
7-8	au	_	_	_	_	_	_	_	_
7	à	à	ADP	_	_	9	case	_	_
8	le	le	DET	_	_	9	det	_	_
9	chat	chat	NOUN	_	_	6	obl:arg	_	SpaceAfter=No
10	.	.	PUNCT	_	_	6	punct	_	_

"""
TREE = (
    "( (SENT (PP-MOD (P Au_lieu_d') (NP (DET un) (PREF ex-) (NC maire))) (VN (V parle)) "
    "(PP-A_OBJ (P+D au) (NP (NC chat))) (PONCT .)))"
)


def ud() -> ConlluSentence:
    return next(parse_conllu(UD))


def tree() -> TreebankSentence:
    return TreebankSentence(
        words=["Au_lieu_d'", "un", "ex-", "maire", "parle", "au", "chat", "."],
        tags=["P", "DET", "PREF", "NC", "V", "P+D", "NC", "PONCT"],
        constituents=[(0, 8, "SENT"), (0, 4, "PP"), (1, 4, "NP"), (4, 5, "VN"), (5, 7, "PP")],
    )


def test_heads_of_the_treebanks_words() -> None:
    joined, fault = with_heads(tree(), ud())
    assert not fault
    # by hand: `au` takes the head of `à`, `ex-` hangs on the rest of its token
    assert joined.heads == [3, 3, 3, 4, 4, 6, 4, 4]
    assert joined.deps == ["case", "det", "dep", "obl", "root", "case", "obl:arg", "punct"]
    assert joined.spaces == [False, True, False, False, True, True, False, True]
    assert joined.pos == ["ADP", "DET", "NOUN", "NOUN", "VERB", "ADP", "NOUN", "PUNCT"]
    assert (joined.words, joined.constituents) == (tree().words, tree().constituents)


def test_tokens_as_they_are_written() -> None:
    found = in_tokens(tree(), ud())
    assert found is not None
    assert found.words == ["Au", "lieu", "d'", "un", "ex-maire", "parle", "au", "chat", "."]
    assert found.tags == ["", "", "", "DET", "NC", "V", "P+D", "NC", "PONCT"]
    assert found.heads == [4, 0, 0, 4, 5, 5, 7, 5, 5]
    assert found.constituents == [
        (0, 9, "SENT"),
        (0, 5, "PP"),
        (0, 3, "P+"),
        (3, 5, "NP"),
        (5, 6, "VN"),
        (6, 8, "PP"),
    ]


def test_contractions_of_other_treebanks() -> None:
    sentence, fault = written(ud())
    assert not fault
    assert sentence.words == [token.text for token in surface(ud())]
    assert sentence.heads == [4, 0, 0, 4, 5, 5, 7, 5, 5]
    assert sentence.deps is not None
    assert sentence.deps[6] == "case"
    assert sentence.tags is None


def test_the_root_in_a_contraction() -> None:
    """It is the contraction's head, though the other word has one outside, too."""
    rows = ["1-2 ab", "1 a a X X _ 3 x", "2 b b X X _ 0 root", "3 c c X X _ 2 y"]
    text = "".join("\t".join(row.split() + ["_"] * (10 - len(row.split()))) + "\n" for row in rows)
    (found,) = parse_conllu(text)
    sentence, fault = written(found)
    assert (sentence.words, sentence.heads, fault) == (["ab", "c"], [0, 0], "")


@pytest.mark.parametrize(
    "words",
    [["Au", "lieu_d'un", "ex-maire", "parle", "au", "chat", "!"], ["Au_lieu", "d'une", "x"]],
)
def test_other_words_are_not_joined(words: list[str]) -> None:
    sentence = TreebankSentence(words=words, tags=["X"] * len(words), constituents=[])
    joined, fault = with_heads(sentence, ud())
    assert "words" in fault
    assert joined == sentence
    assert in_tokens(sentence, ud()) is None


def test_a_word_with_a_part_of_a_token_and_more() -> None:
    words = ["Au_lieu_d'un", "ex", "-maireparle", "au", "chat", "."]
    sentence = TreebankSentence(words=words, tags=["X"] * 6, constituents=[])
    assert with_heads(sentence, ud())[1] == "words of UD go across words of the tree"


def dropped(parts: dict[str, Part]) -> list[tuple[str, str]]:
    return parts["all"].losses.left_out["dropped"]


def write_ud(folder: Path) -> Path:
    folder.mkdir()
    for part, number in (("train", "1"), ("dev", "2"), ("test", "3")):
        text = UD.replace("chat", f"chat{number}")
        (folder / f"fr_sequoia-ud-{part}.conllu").write_text(text, encoding="utf8")
    return folder


def join(trees: Path, ud: Path) -> dict[str, Part]:
    return Sequoia(ud=ud).read_parts([trees])


def trees(numbers: str) -> str:
    return "".join(TREE.replace("chat", f"chat{number}") + "\n" for number in numbers)


def test_one_file_is_split_as_ud_is(tmp_path: Path) -> None:
    file = tmp_path / "sequoia.mrg"
    file.write_text("id_7\t" + trees("3124"), encoding="utf8")
    parts = join(file, write_ud(tmp_path / "ud"))
    assert {part: parts[part].sentences[0].words[6] for part in PARTS} == {
        "train": "chat1",
        "dev": "chat2",
        "test": "chat3",
    }
    assert [place.rpartition(" ")[2] for place, _ in dropped(parts)] == ["4"]
    assert len(parts["train-tokens"].sentences) == 1


def test_what_ud_lacks_stays_in_its_split(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    for part, numbers in (("train", "19"), ("dev", "2"), ("test", "3")):
        (tmp_path / "trees" / f"{part}.brackets").write_text(trees(numbers), encoding="utf8")
    parts = join(tmp_path / "trees", write_ud(tmp_path / "ud"))
    train = parts["train"]
    assert [sentence.heads is None for sentence in train.sentences] == [False, True]
    assert train.losses.left_out["without heads"] == [
        (f"{tmp_path / 'trees/train.brackets'}: tree 2", "UD has no such sentence")
    ]
    assert not dropped(parts)


def test_missing_files_and_lines_without_a_tree(tmp_path: Path) -> None:
    file = tmp_path / "sequoia.mrg"
    file.write_text(trees("123") + "no tree\n", encoding="utf8")
    with pytest.raises(ValueError, match=r"sequoia\.mrg.*4.*without a tree"):
        join(file, write_ud(tmp_path / "ud"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no file train\.\*"):
        join(tmp_path / "empty", tmp_path / "ud")
    (tmp_path / "ud" / "fr_sequoia-ud-dev.conllu").unlink()
    with pytest.raises(FileNotFoundError, match=r"\*-ud-dev\.conllu in .*ud, found 0"):
        join(file, tmp_path / "ud")
