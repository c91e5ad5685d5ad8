"""The join of words with skeletons: what is kept, what is dropped and why."""

import lzma
import tarfile

import pytest

from spacy_lal.formats import ewt
from spacy_lal.formats.conllu import ConlluSentence
from spacy_lal.formats.files import FormatError
from spacy_lal.formats.skeleton import SkeletonSentence


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
    read = [SkeletonSentence(1, list(tags), [(0, len(tags), "S")], []) for tags in sentences]
    return {name: lambda: read}


def kept(result):
    return ["".join(sentence.words) for sentence in result.sentences]


def test_sentences_pair_by_order_whatever_their_tags():
    result = ewt.join([words("ABC"), words("DEF")], skeletons("XYZ", "DEX"))
    assert kept(result) == ["abc", "def"]
    assert [sentence.tags for sentence in result.sentences] == [list("XYZ"), list("DEX")]
    assert result.sentences[1].constituents == [(0, 3, "S")]
    assert result.sentences[1].heads == [0, 0, 1]
    assert result.sentences[1].frames == []
    assert (result.tags_agree, result.unused, result.dropped) == (2, 0, [])


def test_drops():
    shifted = "ABCDEFGH"
    result = ewt.join(
        [words("AB"), words("ABC"), words(shifted), words("AB", "email-b-c", "lost")],
        skeletons("AB", "ABCD", "AXXXXXGH"),
    )
    assert kept(result) == ["ab"]
    assert result.dropped == [
        ("abc", ewt.TOKENISATION),
        ("abcdefgh", ewt.SHIFTED),
        ("lost", ewt.NO_DOCUMENT),
    ]
    assert result.unused == 2
    assert result.drops()[ewt.TOKENISATION] == 1


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
    assert result.dropped == [("cd", ewt.NO_PARTNER)]
    assert result.unused == 3


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
    assert result.headless == [("ab", "2 roots in the dependency tree")]


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
