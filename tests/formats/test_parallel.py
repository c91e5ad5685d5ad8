"""Sentences beside their corrections: what it takes to make one the other."""

import gzip
import random
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_lal.formats.files import FormatError, read_text
from spacy_lal.formats.m2 import Edit
from spacy_lal.formats.parallel import (
    SWAP,
    WORD,
    ParallelSentences,
    edits_between,
    substitution,
)
from spacy_lal.formats.treebank_format import Losses

from .corrections import by, corrected, labels_of


def read_parallel(original, corrected):
    return ParallelSentences(corrected=corrected).edited(read_text(original), str(original))


def between(original, target):
    return edits_between(original.split(), target.split())


@pytest.mark.parametrize(
    ("original", "target", "edits"),
    [
        ("tea cools", "tea cools", []),
        ("", "", []),
        ("tea cool", "tea cools", [Edit(1, 2, "R", "cools")]),
        ("the tea cools", "tea cools", [Edit(0, 1, "U", "")]),
        ("tea cools", "the hot tea cools .", [Edit(0, 0, "M", "the hot"), Edit(2, 2, "M", ".")]),
        (
            "I likes cake",
            "I really like cake",
            [Edit(1, 1, "M", "really"), Edit(1, 2, "R", "like")],
        ),
        ("where it is ?", "where is it ?", [Edit(1, 3, "R:WO", "is it")]),
        ("Is he cold", "He is cold", [Edit(0, 2, "R:WO", "He is")]),
        ("tea", "", [Edit(0, 1, "U", "")]),
        ("", "tea cools", [Edit(0, 0, "M", "tea cools")]),
        ("mouses ran", "both mice ran", [Edit(0, 0, "M", "both"), Edit(0, 1, "R", "mice")]),
    ],
)
def test_edits(original, target, edits):
    assert between(original, target) == edits


def test_substitution():
    assert substitution("tea", "tea") == 0
    assert substitution("Tea", "tea") == 500
    assert substitution("tea", "teas") == 500 + 250
    assert substitution("cool", "scool") == 500 + 200
    assert substitution("go", "xyz") == 1500 < 2 * WORD
    assert substitution("aa", "aaa") == 500 + 333  # what they share isn't counted twice


def cost(words, edits):
    """Of edits as they are made here."""
    total = 0
    for edit in edits:
        target = edit.correction.split()
        if edit.type == "R":
            total += substitution(words[edit.start], *target)
        elif edit.type == "R:WO":
            total += SWAP
        else:
            total += WORD * (edit.end - edit.start + len(target))
    return total


def cheapest(words, target):
    """By trying all ways, from the front."""

    @cache
    def rest(i, j):
        found = []
        if i < len(words):
            found.append(rest(i + 1, j) + WORD)
        if j < len(target):
            found.append(rest(i, j + 1) + WORD)
        if i < len(words) and j < len(target):
            found.append(rest(i + 1, j + 1) + substitution(words[i], target[j]))
        pair = [word.lower() for word in words[i : i + 2]]
        other = [word.lower() for word in target[j : j + 2]]
        if len(pair) == 2 and pair == other[::-1]:
            found.append(rest(i + 2, j + 2) + SWAP)
        return min(found, default=0)

    return rest(0, 0)


def test_the_cheapest_of_all_ways():
    choose = random.Random(0)
    words = ["a", "an", "the", "The", "tea", "teas"]
    for _ in range(500):
        original = choose.choices(words, k=choose.randrange(7))
        target = choose.choices(words, k=choose.randrange(7))
        edits = edits_between(original, target)
        assert cost(original, edits) == cheapest(original, target), (original, target)


SENTENCES = st.lists(st.sampled_from(["a", "an", "A", "tea", "teas", "x"]), max_size=8)


@given(SENTENCES, SENTENCES)
def test_edits_make_one_the_other(original, target):
    edits = edits_between(original, target)
    assert corrected(original, edits) == target
    assert edits_between(original, original) == []
    # two insertions at one place are one edit, and edits are in order, apart from each other
    for one, other in pairwise(edits):
        assert one.end <= other.start
        assert (one.start, one.end) < (other.start, other.end)


@pytest.fixture
def files(tmp_path):
    def write(*texts):
        for i, text in enumerate(texts):
            (tmp_path / f"{i}.txt").write_text(text)
        return tmp_path / "0.txt", [tmp_path / f"{i}.txt" for i in range(1, len(texts))]

    return write


def test_references(files):
    original, references = files(
        "Tea cool .\n\nYes\n", "Teas cool .\n\nYes", "Tea really cools .\n.\nYes\n"
    )
    tea, empty, yes = read_parallel(original, references)
    assert tea.edits == [
        Edit(0, 1, "R", "Teas"),
        Edit(1, 1, "M", "really", 1),
        Edit(1, 2, "R", "cools", 1),
    ]
    assert labels_of(tea) == ["ERROR", "ERROR", ""]
    assert labels_of(by(tea, 0)) == ["ERROR", "", ""]
    assert labels_of(by(tea, 1), types="operations") == ["", "M", ""]
    for annotator, labels in ((None, ["ERROR", "ERROR", ""]), (0, ["ERROR", "", ""])):
        format = ParallelSentences(corrected=references, annotator=annotator)
        assert next(iter(format.read(original, Losses()))).errors == labels
    assert (empty.words, empty.line) == ([], 2)
    assert (yes.words, yes.edits) == (["Yes"], [])


def test_a_reference_twice(files):
    texts = "Tea cool .\nYes tea\n", "Teas cools !\ntea , yes\n"
    (once, twice) = files(*texts), files(*texts, texts[1])
    for one, two in zip(read_parallel(*once), read_parallel(*twice), strict=True):
        assert labels_of(one, types="full") == labels_of(two, types="full")


def test_compressed(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(b"Tea\r\nYes\r\n"))
    read = list(read_parallel(tmp_path / "a.gz", [tmp_path / "b.gz"]))
    assert [sentence.words for sentence in read] == [["Tea"], ["Yes"]]


def test_not_parallel(files):
    original, (reference,) = files("Tea\nYes\n", "Tea\n")
    with pytest.raises(FormatError, match=f"{reference}:2: 1 lines, but 2 in {original}"):
        list(read_parallel(original, [reference]))
