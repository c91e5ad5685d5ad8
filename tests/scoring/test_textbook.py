"""Texts with checks: each check against a Doc annotated by hand, and errors in files."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc

import spacy_lal
from spacy_lal.annotations.frames import FrameSpans
from spacy_lal.evaluation.textbook import holds, measure_textbook, read_textbook

TEXT = "It isn't known who saw what he saw."
HOLDING = """
    sentences 1
    root known
    head n't known advmod
    head n't known *
    head saw#2 saw ccomp
    tag saw#1 VBD
    phrase NP what
    phrase * what he saw
    no phrase NP saw
    no phrase * known who
    role saw ARG0 who
    role saw * what he saw
    role saw#2 ARG1 what
    no role saw#2 ARG1 he
    no role saw#2 * who
    predicate saw#2
    no predicate known
    start It
    no start who
"""
FAILING = """
    sentences 2
    root saw
    head n't known neg
    head he known nsubj
    tag saw#2 VB
    phrase WHNP what
    no phrase NP what
    phrase NP is
    role saw ARG1 who
    predicate known
    no predicate saw
    start who
"""


@pytest.fixture
def doc():
    doc = Doc(
        spacy.blank("en").vocab,
        words=["It", "is", "n't", "known", "who", "saw", "what", "he", "saw", "."],
        spaces=[True, False, True, True, True, True, True, True, False, False],
        heads=[3, 3, 3, 3, 5, 3, 8, 8, 5, 3],
        deps=["expl", "aux", "advmod", "ROOT", "nsubj", "csubj", "obj", "nsubj", "ccomp", "punct"],
        tags=["PRP", "VBZ", "RB", "VBN", "WP", "VBD", "WP", "PRP", "VBD", "."],
        sent_starts=[True] + [False] * 9,
    )
    spacy_lal.set_constituents(doc, [(0, 10, "S"), (6, 9, "SBAR"), (6, 7, "NP"), (7, 9, "S")])
    frames = [
        FrameSpans(5, "see.01", [(5, 6, "V"), (4, 5, "ARG0"), (6, 9, "ARG1")]),
        FrameSpans(8, "see.01", [(8, 9, "V"), (7, 8, "ARG0"), (6, 7, "ARG1")]),
    ]
    spacy_lal.set_frames(doc, frames)
    return doc


def read(tmp_path, text):
    path = tmp_path / "some.checks"
    path.write_text(text, "utf8")
    return read_textbook(path)


@pytest.mark.parametrize(("checks", "expected"), [(HOLDING, True), (FAILING, False)])
def test_checks(tmp_path, doc, checks, expected):
    (text,) = read(tmp_path, f"## questions\n{TEXT}{checks}")
    assert text.text == doc.text
    assert {check.line: holds(check, doc) for check in text.checks} == {
        line.strip(): expected for line in checks.strip().splitlines()
    }


def test_the_measured_texts_are_read():
    texts = read_textbook(Path(__file__).parents[2] / "assets/textbook/measured.checks")
    assert len({text.kind for text in texts}) == 56


def test_words_that_the_tokens_cut_are_never_right(tmp_path, doc):
    """`isn't` is two tokens."""
    (text,) = read(tmp_path, f"## x\n{TEXT}\n    phrase VP It isn\n    no phrase VP It isn\n")
    assert [holds(check, doc) for check in text.checks] == [False, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## k\nHe ran.\n    verb ran\n", r":3: unknown check 'verb ran'"),
        ("## k\nHe ran.\n    no root ran\n", ":3: unknown check"),
        ("## k\nHe ran.\n    root runs\n", r":3: 'runs' is not 1 times in 'He ran\.'"),
        ("## k\nHe ran.\n    root ran#2\n", ":3: 'ran' is not 2 times"),
        ("## k\nHe ran.\n    head He ran\n", ":3: head takes 3 words"),
        ("## k\nHe ran.\n    sentences one\n", ":3: invalid literal"),
        ("## k\nHe ran.\n", ":2: a text without checks"),
        ("He ran.\n    root ran\n", ":1: a text without a kind"),
        ("## k\n    root ran\n", ":2: a check without a text"),
        ("# nothing\n", "no texts"),
    ],
)
def test_errors_name_the_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_shares_by_kind(tmp_path, doc):
    class Fake:
        def pipe(self, texts):
            return [doc for _ in texts]

    path = tmp_path / "some.checks"
    one = f"{TEXT}\n    root known\n"
    path.write_text(f"## a\n{one}{TEXT}\n    root saw\n    tag saw VBD\n## b\n{one}", "utf8")
    report = measure_textbook(Fake(), path)
    assert report["kinds"] == {"a": {"texts": 2, "right": 0.5}, "b": {"texts": 1, "right": 1.0}}
    assert report["all"] == {"texts": 3, "right": 2 / 3}
    assert report["failed"] == [{"kind": "a", "text": TEXT, "check": "root saw"}]
