"""Scores by characters, counted by hand."""

import pytest
import spacy
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_lal.annotations.constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from spacy_lal.cli import app
from spacy_lal.evaluation.parse_scores import read_paragraphs
from spacy_lal.formats.docbins import write_spacy
from spacy_lal.scoring.raw_text import RawTextScores

VOCAB = spacy.blank("en").vocab


def gold():
    """Tea, e-mail! It is."""
    doc = Doc(
        VOCAB,
        words=["Tea", ",", "e-mail", "!", "It", "is", "."],
        spaces=[False, True, False, True, True, False, False],
        tags=["NN", ",", "NN", ".", "PRP", "VBZ", "."],
        heads=[0, 0, 0, 0, 5, 5, 5],
        deps=["ROOT", "punct", "list:x", "punct", "nsubj", "ROOT", "punct"],
    )
    set_constituents(doc, [(0, 4, "NP"), (0, 1, "NP"), (2, 3, "NP"), (4, 7, "S"), (4, 5, "NP")])
    return doc


def found():
    """The e-mail is in three tokens, the first sentence goes on to "It"."""
    doc = Doc(
        VOCAB,
        words=["Tea", ",", "e", "-", "mail", "!", "\n", "It", "is", "."],
        spaces=[False, True, False, False, False, False, False, True, False, False],
        tags=["NN", ",", "NN", "HYPH", "NN", ".", "_SP", "PRP", "VBZ", "."],
        heads=[0, 0, 4, 4, 0, 0, 5, 0, 8, 8],
        deps=["ROOT", "punct", "x", "punct", "list", "punct", "dep", "x", "ROOT", "punct"],
    )
    # over the same characters but for the full stop; of punctuation; across the boundary
    spans = [(0, 6, "NP"), (0, 1, "NP"), (2, 5, "NP"), (1, 2, "X"), (5, 9, "S")]
    set_constituents(doc, spans)
    return doc


def test_scores():
    scores = RawTextScores()
    scores.add(gold(), found())
    counts = {
        name: (score.tp, score.tp + score.fp, score.tp + score.fn)
        for name, score in scores.counts.items()
    }
    assert counts == {
        "words": (6, 9, 7),
        "boundaries": (0, 1, 1),
        "tags": (6, 9, 7),
        # Tea, comma, "!", is, full stop
        "uas": (5, 9, 7),
        "las": (5, 9, 7),
        # It is, without marks: the S from "!" to "is" has the same characters
        "brackets": (4, 4, 5),
    }


def test_words_that_have_no_annotation_in_gold() -> None:
    """Nor do they count on the other side, however they are cut there."""
    theirs = Doc(VOCAB, words=["a", "b", "c", "d"], spaces=[True, True, False, False])
    for token, tag in zip(theirs, ["DT", "NN", "X", "Y"], strict=True):
        token.tag_ = tag
    ours = Doc(VOCAB, words=["a", "b", "cd"], tags=["DT", "NN", ""])
    scores = RawTextScores()
    scores.add(ours, theirs)
    assert scores.as_dict()["tags_f"] == 1.0
    ours = Doc(VOCAB, words=["a", "b", "c"], heads=[1, 1, 1], deps=["det", "ROOT", ""])
    theirs = Doc(VOCAB, words=["a", "b", "c"], heads=[1, 1, 0], deps=["det", "ROOT", "x"])
    scores = RawTextScores()
    scores.add(ours, theirs)
    assert (scores.as_dict()["uas_f"], scores.as_dict()["las_f"]) == (1.0, 1.0)


def test_what_is_not_annotated_does_not_count():
    doc = Doc(VOCAB, words=["Tea", "!", "It", "is"], sent_starts=[True, False, True, False])
    set_constituents(doc, [(0, 2, "NP")], unparsed=[(2, 4)])
    other = Doc(VOCAB, words=["Tea", "!", "It", "is"], sent_starts=[True, False, False, False])
    set_constituents(other, [(0, 4, "S"), (0, 2, "NP"), (2, 4, "S")])
    scores = RawTextScores()
    scores.add(doc, other)
    shown = scores.as_dict()
    assert shown["uas_f"] is shown["tags_f"] is None
    assert (shown["brackets_p"], shown["brackets_r"]) == (0.5, 1)
    assert (shown["boundaries_r"], shown["words_f"]) == (0, 1)


def test_two_texts():
    with pytest.raises(ValueError, match="two texts"):
        RawTextScores().add(gold(), Doc(VOCAB, words=["Tea"]))


def test_command(tmp_path):
    docs = []
    for paragraph, words in enumerate((["Tea", "!", "it", "is", "."], ["No", "!"])):
        for part in (words[:2], words[2:]):
            if part:
                doc = Doc(VOCAB, words=part, sent_starts=[True, *[False] * (len(part) - 1)])
                doc.user_data["paragraph"] = str(paragraph)
                docs.append(doc)
    write_spacy(docs, tmp_path / "gold.spacy")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    result = CliRunner().invoke(
        app, ["evaluate", str(tmp_path / "model"), str(tmp_path / "gold.spacy"), "--raw"]
    )
    assert result.exit_code == 0, result.output
    (row,) = (line.split() for line in result.output.splitlines() if line.startswith("nothing"))
    assert row == ["nothing", "100.00", "100.00", "100.00", "100.00"]


def sentence(words, sent_id, spans=None):
    doc = Doc(VOCAB, words=words.split(), sent_starts=[True, *[False] * words.count(" ")])
    doc.user_data["sent_id"] = sent_id
    if spans is not None:
        set_constituents(doc, spans)
    return doc


def test_trees_of_another_corpus(tmp_path):
    """Those that are there count; a sentence without isn't one of words alone."""
    corpus, trees, others = (tmp_path / f"{name}.spacy" for name in ("corpus", "trees", "others"))
    write_spacy([sentence("Tea !", "a"), sentence("It is", "b", [(0, 2, "X")])], corpus)
    write_spacy([sentence("Tea !", "a", [(0, 2, "NP")]), sentence("It is", "b")], trees)
    write_spacy([sentence("Tea !", "c", [(0, 2, "NP")])], others)
    nlp = spacy.blank("en")
    docs = read_paragraphs(nlp, corpus, trees)
    assert [CONSTITUENTS_KEY in doc.spans for doc in docs] == [True, False]
    assert get_constituents(docs[0]) == [(0, 2, "NP")]
    with pytest.raises(ValueError, match=f"{others}: no sentence has the sent_id of one in"):
        read_paragraphs(nlp, corpus, others)
