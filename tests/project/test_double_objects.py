"""Sentences with two objects that a script makes of others."""

from __future__ import annotations

import random
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from spacy.tokens import Doc
from typer import Typer
from typer.testing import CliRunner

from spacy_lal.annotations import FrameSpans, get_frames, sentence_trees
from spacy_lal.formats.treebank_sentence import TreebankSentence, language_vocab, to_doc, write_docs

from .running import ROOT, read_docs

SCRIPT = SimpleNamespace(**runpy.run_path(str(ROOT / "projects/english/double_objects.py")))
VOCAB = language_vocab("en")
GAVE = TreebankSentence(
    words=["He", "says", "we", "gave", "a", "small", "book", "to", "the", "child", "."],
    spaces=[True] * 9 + [False, False],
    tags=["PRP", "VBZ", "PRP", "VBD", "DT", "JJ", "NN", "IN", "DT", "NN", "."],
    heads=[1, 1, 3, 1, 6, 6, 3, 9, 9, 3, 1],
    deps=["nsubj", "ROOT", "nsubj", "ccomp", "det", "amod", "obj", "case", "det", "obl", "punct"],
    constituents=[
        *((0, 11, "S"), (0, 1, "NP"), (1, 10, "VP"), (2, 10, "SBAR"), (2, 10, "S"), (2, 3, "NP")),
        *((3, 10, "VP"), (4, 7, "NP"), (7, 10, "PP"), (8, 10, "NP")),
    ],
    frames=[
        FrameSpans(1, "say.01", [(1, 2, "V"), (0, 1, "ARG0"), (2, 10, "ARG1")]),
        FrameSpans(3, "give.01", [(3, 4, "V"), (2, 3, "ARG0"), (4, 7, "ARG1"), (7, 10, "ARG2")]),
    ],
)
TOLD = TreebankSentence(
    words=["Please", "give", "me", "tea", "!"],
    tags=["UH", "VB", "PRP", "NN", "."],
    heads=[1, 1, 1, 1, 1],
    deps=["discourse", "ROOT", "iobj", "obj", "punct"],
    constituents=[(0, 5, "S"), (0, 1, "INTJ"), (1, 4, "VP"), (2, 3, "NP"), (3, 4, "NP")],
    frames=[FrameSpans(1, "give.01", [(1, 2, "V"), (2, 3, "ARG2"), (3, 4, "ARG1")])],
)


def made(sentence: TreebankSentence) -> list[Doc]:
    return [to_doc(new, VOCAB) for new in SCRIPT.shifted(to_doc(sentence, VOCAB))]


def changed(word: int, text: str) -> TreebankSentence:
    words = list(GAVE.words)
    words[word] = text
    return replace(GAVE, words=words)


def labelled(*spans: tuple[int, int, str]) -> list[FrameSpans]:
    return [FrameSpans(3, "give.01", [(3, 4, "V"), *spans])]


def test_dative_alternation() -> None:
    (doc,) = made(GAVE)
    assert doc.text == "He says we gave the child a small book."
    assert [token.tag_ for token in doc] == [
        "PRP",
        "VBZ",
        "PRP",
        "VBD",
        "DT",
        "NN",
        "DT",
        "JJ",
        "NN",
        ".",
    ]
    assert [token.head.i for token in doc] == [1, 1, 3, 1, 5, 3, 8, 8, 3, 1]
    assert [token.dep_ for token in doc][3:9] == ["ccomp", "det", "iobj", "det", "amod", "obj"]
    assert str(sentence_trees(doc)[0]) == (
        "(TOP (S (NP (PRP He)) (VP (VBZ says) (SBAR (S (NP (PRP we)) (VP (VBD gave) "
        "(NP (DT the) (NN child)) (NP (DT a) (JJ small) (NN book)))))) (. .)))"
    )
    assert [(frame.roleset, str(frame)) for frame in get_frames(doc)] == [
        ("say.01", "[ARG0: He] [V: says] [ARG1: we gave the child a small book] ."),
        (
            "give.01",
            "He says [ARG0: we] [V: gave] [ARG2: the child] [ARG1: a small book] .",
        ),
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        pytest.param(changed(3, "explained"), id="no such verb"),
        pytest.param(changed(7, "for"), id="another preposition"),
        pytest.param(replace(GAVE, frames=labelled((4, 7, "ARG1"), (7, 10, "ARG4"))), id="a place"),
        pytest.param(replace(GAVE, frames=labelled((4, 10, "ARG1"))), id="one argument"),
        pytest.param(
            replace(
                GAVE,
                frames=[*(GAVE.frames or ()), FrameSpans(6, "", [(6, 7, "V"), (2, 7, "ARG0")])],
            ),
            id="torn argument",
        ),
        pytest.param(
            replace(GAVE, heads=[1, 1, 3, 1, 6, 6, 3, 9, 7, 3, 1]), id="the preposition has a word"
        ),
        pytest.param(replace(GAVE, constituents=None), id="no tree"),
        pytest.param(replace(GAVE, frames=None), id="no frames"),
    ],
)
def test_nothing_to_alternate(sentence: TreebankSentence) -> None:
    assert made(sentence) == []


def test_a_pronoun_stays_first() -> None:
    """Nobody says "gave the child it"."""
    words = ["We", "gave", "it", "to", "the", "child", "."]
    spans = [(1, 2, "V"), (2, 3, "ARG1"), (3, 6, "ARG2")]
    phrases = [(0, 7, "S"), (1, 6, "VP"), (2, 3, "NP"), (3, 6, "PP"), (4, 6, "NP")]
    frames = [FrameSpans(1, "give.01", spans)]
    assert made(TreebankSentence(words, constituents=phrases, frames=frames)) == []
    words[2] = "tea"
    (doc,) = made(TreebankSentence(words, constituents=phrases, frames=frames))
    assert [token.text for token in doc] == ["We", "gave", "the", "child", "tea", "."]
    assert not doc.has_annotation("DEP")
    assert not doc.has_annotation("TAG")


def test_other_recipients() -> None:
    given = to_doc(TOLD, VOCAB)
    rng = random.Random(1)
    docs = [to_doc(new, VOCAB) for _ in range(200) for new in SCRIPT.with_recipients(given, rng)]
    assert len(docs) == 200
    assert len({doc.text for doc in docs}) > 100
    verbs = {doc[1].text for doc in docs}
    assert {"give", "lend", "show", "offer"} < verbs
    assert not verbs & {"gave", "given", "gives"}
    for doc in docs:
        (frame,) = get_frames(doc)
        (who, thing) = frame.arguments
        assert (who.label_, thing.label_, thing.text) == ("ARG2", "ARG1", "tea")
        assert frame.roleset == "" or (frame.roleset, doc[1].text) == ("give.01", "give")
        assert who.root.head.i == thing.root.head.i == 1
        assert who.root.dep_ == "iobj"
        assert who.root.i == who.end - 1
        assert doc.text.endswith(" tea ! ")
        (tree,) = sentence_trees(doc)
        assert [node.label for node in tree.children[0].children[1].children][1:] == ["NP", "NP"]


def test_times() -> None:
    """Behind the object, in all that the verb is in, and in no more."""
    short = TreebankSentence(
        words=["He", "says", "we", "like", "a", "small", "book", "."],
        tags=["PRP", "VBZ", "PRP", "VBP", "DT", "JJ", "NN", "."],
        spaces=[True] * 6 + [False, False],
        heads=[1, 1, 3, 1, 6, 6, 3, 1],
        deps=["nsubj", "ROOT", "nsubj", "ccomp", "det", "amod", "obj", "punct"],
        constituents=[
            *((0, 8, "S"), (0, 1, "NP"), (1, 7, "VP"), (2, 7, "SBAR"), (2, 7, "S"), (2, 3, "NP")),
            *((3, 7, "VP"), (4, 7, "NP")),
        ],
        frames=[
            FrameSpans(1, "say.01", [(1, 2, "V"), (0, 1, "ARG0"), (2, 7, "ARG1")]),
            FrameSpans(3, "like.01", [(3, 4, "V"), (2, 3, "ARG0"), (4, 7, "ARG1")]),
            FrameSpans(6, "book.01", [(6, 7, "V"), (5, 6, "ARGM-ADJ")]),
        ],
    )
    given = to_doc(short, VOCAB)
    rng = random.Random(2)
    docs = {
        doc.text: doc
        for _ in range(300)
        for new in SCRIPT.with_times(given, rng)
        for doc in [to_doc(new, VOCAB)]
    }
    assert len(docs) == len(set(SCRIPT.TIMES))
    doc = docs["He says we like a small book the next day."]
    assert [token.tag_ for token in doc] == [
        "PRP",
        "VBZ",
        "PRP",
        "VBP",
        "DT",
        "JJ",
        "NN",
        "DT",
        "JJ",
        "NN",
        ".",
    ]
    assert [token.head.i for token in doc] == [1, 1, 3, 1, 6, 6, 3, 9, 9, 3, 1]
    assert [token.dep_ for token in doc][7:] == ["det", "amod", "obl:unmarked", "punct"]
    assert str(sentence_trees(doc)[0]) == (
        "(TOP (S (NP (PRP He)) (VP (VBZ says) (SBAR (S (NP (PRP we)) (VP (VBP like) "
        "(NP (DT a) (JJ small) (NN book)) (NP (DT the) (JJ next) (NN day)))))) (. .)))"
    )
    assert [str(frame) for frame in get_frames(doc)] == [
        "[ARG0: He] [V: says] [ARG1: we like a small book the next day] .",
        "He says [ARG0: we] [V: like] [ARG1: a small book] [ARGM-TMP: the next day] .",
        "He says we like a [ARGM-ADJ: small] [V: book] the next day .",
    ]
    # a time is there; more of the clause follows; the verb is a noun
    (say, like, book) = short.frames or ()
    for frames in (
        [like._replace(spans=[*like.spans, (0, 1, "ARGM-TMP")])],
        [like._replace(spans=[*like.spans, (7, 8, "ARGM-ADV")])],
        [say, book],
    ):
        assert not list(SCRIPT.with_times(to_doc(replace(short, frames=frames), VOCAB), rng))


def test_contrasts() -> None:
    """A pronoun that is no recipient is replaced, too, before another phrase."""
    frames = [FrameSpans(1, "call.01", [(1, 2, "V"), (2, 3, "ARG1"), (3, 4, "ARG2")])]
    doc = to_doc(replace(TOLD, words=["Please", "call", "him", "Bill", "!"], frames=frames), VOCAB)
    rng = random.Random(1)
    assert not list(SCRIPT.with_recipients(doc, rng, contrasts=False))
    (new,) = SCRIPT.with_recipients(doc, rng)
    assert list(new.words)[:2] == ["Please", "call"]
    assert list(new.words)[-2:] == ["Bill", "!"]


@pytest.mark.parametrize(
    ("words", "label"), [("Please give tea tea !", "ARG2"), ("Please give me tea !", "")]
)
def test_no_recipient(words: str, label: str) -> None:
    spans = [(1, 2, "V"), (2, 3, label), (3, 4, "ARG1")]
    frames = [FrameSpans(1, "give.01", [span for span in spans if span[2]])]
    doc = to_doc(replace(TOLD, words=words.split(), frames=frames), VOCAB)
    assert not list(SCRIPT.with_recipients(doc, random.Random(1)))


def test_command(tmp_path: Path) -> None:
    app = Typer()
    app.command()(SCRIPT.main)
    (tmp_path / "shards").mkdir()
    write_docs([GAVE], tmp_path / "gold.spacy", "en")
    write_docs([TOLD], tmp_path / "shards/part.spacy", "en")
    given = [str(tmp_path / name) for name in ("new/out.spacy", "gold.spacy", "shards")]
    result = CliRunner().invoke(app, [*given, "--recipients", "3"])
    assert result.exit_code == 0, result.output
    docs = read_docs(tmp_path / "new/out.spacy")
    assert docs[0].text == "He says we gave the child a small book."
    assert len(docs) == 4
    counts = "sentences read 2 dative alternation 1 other recipients 3 a time 0"
    assert " ".join(result.output.split()) == counts
    alone = CliRunner().invoke(app, [*given, "--no-contrasts"])
    assert alone.output.split()[-4:] == ["recipients", "2", "a", "time", "0"][1:]
    write_docs([changed(3, "took")], tmp_path / "gold.spacy", "en")
    result = CliRunner().invoke(app, given[:2])
    assert result.exit_code == 1
    assert "gold.spacy" in result.output
    assert "can be changed" in " ".join(result.output.split())
