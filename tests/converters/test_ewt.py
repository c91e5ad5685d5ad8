"""The join of words with skeletons: what is kept, what is dropped and why."""

import json
import lzma
import tarfile

import ewt
import pytest
from propbank import PropbankSentence

from spacy_lal.annotations import get_frames, sentence_trees
from spacy_lal.formats.conllu import ConlluSentence
from spacy_lal.formats.files import FormatError

from .running import read, run


def words(tags, document="email-a", id=""):
    """A sentence with these tags, one letter each; its words are the tags in small letters."""
    n = len(tags)
    return ConlluSentence(
        source="ud",
        line=1,
        id=id or tags.lower(),
        document=document,
        words=list(tags.lower()),
        lemmas=list(tags.lower()),
        upos=["X"] * n,
        xpos=list(tags),
        feats=[""] * n,
        heads=list(range(n)),
        deprels=["dep"] * n,
        spaces=[True] * n,
    )


def skeletons(*sentences, name=("email", "a")):
    read = [
        PropbankSentence("a", "0", 1, [], list(tags), [(0, len(tags), "S")], [])
        for tags in sentences
    ]
    return {name: lambda: read}


def kept(result):
    return ["".join(sentence.words) for sentence in result.sentences]


def dropped(result):
    return result.losses.left_out["dropped"]


def unused(result):
    return result.losses.counts["skeleton sentences without words"]


def test_sentences_pair_by_order_whatever_their_tags():
    result = ewt.join([words("ABC"), words("DEF")], skeletons("XYZ", "DEX"))
    assert kept(result) == ["abc", "def"]
    assert [sentence.tags for sentence in result.sentences] == [list("XYZ"), list("DEX")]
    assert result.sentences[1].constituents == [(0, 3, "S")]
    assert result.sentences[1].heads == [0, 0, 1]
    assert result.sentences[1].frames == []
    assert dict(result.losses.counts) == {
        "skeleton sentences without words": 0,
        "tags that agree": 2,
    }
    assert dropped(result) == []


def test_drops():
    shifted = "ABCDEFGH"
    result = ewt.join(
        [words("AB"), words("ABC"), words(shifted), words("AB", "email-b-c", "lost")],
        skeletons("AB", "ABCD", "AXXXXXGH"),
    )
    assert kept(result) == ["ab"]
    assert dropped(result) == [
        ("abc", "number of tokens differs"),
        ("abcdefgh", "tags are shifted: tokens are split differently"),
        ("lost", "document has no skeleton"),
    ]
    assert unused(result) == 2


def test_runs_below_the_limit_are_retagging():
    result = ewt.join([words("ABCDEFGHI")], skeletons("XXXXEXXXX"))
    assert kept(result) == ["abcdefghi"]


def test_the_first_hyphen_ends_the_genre():
    result = ewt.join([words("AB", "weblog-x-y_1")], skeletons("AB", name=("weblog", "x-y_1")))
    assert kept(result) == ["ab"]


def test_documents_split_differently_are_aligned():
    """The words have "CD" in one sentence, the skeleton in two; "GH" has no words."""
    result = ewt.join(
        [words("ABC"), words("CD"), words("EFE")], skeletons("ABC", "C", "D", "EFE", "GH")
    )
    assert kept(result) == ["abc", "efe"]
    assert dropped(result) == [("cd", "no partner: sentences are split differently")]
    assert unused(result) == 3


def test_align():
    assert ewt.align(["AB", "CD"], ["AB", "XX", "CD"]) == [0, 2]
    assert ewt.align(["AB", "CD"], ["CD"]) == [None, 0]
    assert ewt.align(["ABC"], ["AXX"]) == [None]  # one tag in three
    assert ewt.align(["AB"], ["AX"]) == [0]
    assert ewt.align(["AB", "CDEF"], ["CDEF", "AB"]) == [None, 0]  # monotone: the heavier one
    assert ewt.align([], ["A"]) == []


def test_longest_disagreement():
    assert ewt.longest_disagreement("ABCDE", "AXXDX") == 2
    assert ewt.longest_disagreement("AB", "AB") == 0
    assert ewt.longest_disagreement("", "") == 0


def test_heads_that_are_no_tree_are_counted():
    sentence = words("AB")
    sentence.heads = [0, 0]
    result = ewt.join([sentence], skeletons("AB"))
    assert result.sentences[0].heads is None
    assert result.losses.left_out["without heads"] == [("ab", "2 roots in the dependency tree")]


def test_words_outside_any_document():
    with pytest.raises(FormatError, match="ud:1: no '# newdoc id"):
        ewt.join([words("AB", "")], skeletons("AB"))


# On disk

ROW = "1\tTea\ttea\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"
SKELETON = "x 0 0 [WORD] NN (TOP(NP*)) - -\n"


def test_splits_on_disk(tmp_path):
    (tmp_path / "en_ewt-ud-dev.conllu").write_text(f"# newdoc id = email-a\n{ROW}")
    (tmp_path / "en_ewt-ud-test.conllu.xz").write_bytes(
        lzma.compress(f"# newdoc id = email-b\n{ROW}{ROW}".encode())
    )
    (tmp_path / "en_ewt-ud-test.txt").write_text("not this one")
    assert [s.document for s in ewt.read_ud_split(tmp_path, "dev")] == ["email-a"]
    assert [s.document for s in ewt.read_ud_split(tmp_path, "test")] == ["email-b"] * 2
    with pytest.raises(FileNotFoundError, match=r"ud-train.conllu\[.xz\] nor .*files.train"):
        ewt.read_ud_split(tmp_path, "train")


def test_a_checkout_without_the_train_file(tmp_path):
    sources = tmp_path / "not-to-release" / "sources" / "email"
    sources.mkdir(parents=True)
    for name in "ab":
        (sources / f"{name}.xml.conllu").write_text(f"# newdoc id = email-{name}\n{ROW}")
    (tmp_path / "file-lists").mkdir()
    (tmp_path / "file-lists" / "files.train").write_text(
        "email/b.xml.conllu\nemail/a.xml.conllu\n\n"
    )
    assert [s.document for s in ewt.read_ud_split(tmp_path, "train")] == ["email-b", "email-a"]


def test_skeletons_in_folders_and_archives(tmp_path):
    folder = tmp_path / "google" / "ewt" / "email" / "00"
    folder.mkdir(parents=True)
    (folder / "a.xml.gold_skel").write_text(SKELETON)
    archive = tmp_path / "skeletons.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(tmp_path / "google", "google")
    for place in (tmp_path, archive):
        found = ewt.find_skeletons(place)
        assert list(found) == [("email", "a")]
        (sentence,) = found["email", "a"]()
        assert sentence.spans == [(0, 1, "NP")]
    (folder / "a.xml.gold_skel").unlink()
    with pytest.raises(FileNotFoundError, match=r"no .gold_skel files in"):
        ewt.find_skeletons(tmp_path)


# The command

UD = """# newdoc id = email-{split}
# sent_id = {split}-1
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = {split}-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""
TWO_SKELETONS = """x 0 0 [WORD] NN  (TOP(S(NP*)  -    -       (ARG1*)
x 0 1 [WORD] NNS (VP*)             cool cool.01 (V*)
x 0 2 [WORD] .   *))               -    -       *

x 1 0 [WORD] UH (TOP* - -
x 1 1 [WORD] .  *)    - -
"""


@pytest.fixture
def treebank(tmp_path):
    folder = tmp_path / "propbank" / "email" / "00"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (tmp_path / f"en_ewt-ud-{split}.conllu").write_text(UD.format(split=split))
        (folder / f"{split}.xml.gold_skel").write_text(TWO_SKELETONS)
    return tmp_path


def convert(treebank):
    out, report = treebank / "out", treebank / "reports" / "ewt.json"
    options = ("--propbank", treebank / "propbank", "--report", report)
    return run(ewt.EnglishWebTreebank, treebank, out, *options), out, report


def test_ewt(treebank):
    result, out, report = convert(treebank)
    assert result.exit_code == 0
    for split in ("train", "dev", "test"):
        (doc,) = read(out / f"{split}.spacy")
        assert doc.text == "Tea cools. "
        assert [token.tag_ for token in doc] == ["NN", "NNS", "."]  # the skeleton's
        assert [token.head.i for token in doc] == [1, 1, 1]
        assert list(map(str, sentence_trees(doc))) == [
            "(TOP (S (NP (NN Tea)) (VP (NNS cools)) (. .)))"
        ]
        (frame,) = get_frames(doc)
        assert (frame.predicate.text, frame.roleset) == ("cools", "cool.01")
    counts = json.loads(report.read_text())["dev"]
    assert counts == {
        "sentences": 1,
        "words": 3,
        "constituents": 3,
        "predicates": 1,
        "dropped": [["dev-2", "number of tokens differs"]],
        "without heads": [],
        "frames left out": [],
        "skeleton sentences without words": 1,
        "tags that agree": 2,
    }
    table = [line.split() for line in result.output.splitlines()]
    assert ["train", "dev", "test"] in table
    assert ["words", "3", "3", "3"] in table
    assert ["dropped:", "number", "of", "tokens", "differs", "1", "1", "1"] in table


def test_bad_input_is_one_line_that_names_the_place(treebank):
    path = treebank / "en_ewt-ud-dev.conllu"
    path.write_text(path.read_text().replace("2\tcools", "7\tcools"))
    result, *_ = convert(treebank)
    assert result.exit_code == 1
    assert f"{path}:4: expected word 2, found '7'" in result.output
    path.unlink()
    result, *_ = convert(treebank)
    assert result.exit_code == 1
    assert "neither *-ud-dev.conllu[.xz]" in result.output


def test_some_splits(treebank):
    options = ("--propbank", treebank / "propbank")
    out = treebank / "out"
    assert run(ewt.EnglishWebTreebank, treebank, out, *options, "--splits", "dev").exit_code == 0
    assert [path.name for path in out.iterdir()] == ["dev.spacy"]
    result = run(ewt.EnglishWebTreebank, treebank, out, *options, "--splits", "de")
    assert "'de', which is none of train" in result.stderr
