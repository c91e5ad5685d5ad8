"""Errors on a Doc: written, read, kept."""

import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span, SpanGroup

from spacy_lal.annotations import install_extensions
from spacy_lal.annotations.grammar_errors import error_scores, get_errors, set_errors

WORDS = ["He", "go", "in", "home", "yesterday"]
LABELS = ["", "R", "U", "U", ""]
SCORES = [0.1, 0.9, 0.6, 0.75, 0.2]


@pytest.fixture
def doc():
    install_extensions()
    doc = Doc(spacy.blank("en").vocab, words=WORDS)
    set_errors(doc, LABELS, SCORES)
    return doc


def test_runs_of_one_label_are_one_span(doc):
    assert [(s.start, s.end, s.label_) for s in doc.spans["errors"]] == [(1, 2, "R"), (2, 4, "U")]
    assert doc.spans["errors"].attrs["scores"] == [0.9, 0.75]
    assert get_errors(doc) == LABELS
    assert error_scores(doc) == SCORES


def test_errors_as_tuples(doc):
    found = [(error.span.text, error.label, error.score) for error in doc._.grammar_errors]
    assert found == [("go", "R", 0.9), ("in home", "U", 0.75)]
    assert Doc(doc.vocab, words=WORDS)._.grammar_errors == []
    set_errors(doc, LABELS)
    assert [error.score for error in doc._.grammar_errors] == [None, None]


def test_views_of_tokens(doc):
    assert [t.text for t in doc if t._.is_error] == ["go", "in", "home"]
    assert [t._.error_score for t in doc] == SCORES
    plain = Doc(doc.vocab, words=WORDS)
    assert not any(t._.is_error for t in plain)
    assert plain[0]._.error_score is None


def test_nothing_wrong_is_not_the_same_as_not_annotated(doc):
    set_errors(doc, [""] * 5)
    assert list(doc.spans["errors"]) == []
    assert doc.spans["errors"].attrs["scores"] == []
    assert "errors" not in Doc(doc.vocab, words=WORDS).spans
    assert error_scores(doc) is None


def test_round_trips(doc):
    through_bytes = Doc(doc.vocab).from_bytes(doc.to_bytes())
    through_bin = next(DocBin(docs=[doc]).get_docs(doc.vocab))
    for copy in (through_bytes, through_bin, pickle.loads(pickle.dumps(doc)), doc.copy()):
        assert get_errors(copy) == LABELS
        assert error_scores(copy) == SCORES


def test_docs_put_together_lose_scores_but_no_errors(doc):
    both = Doc.from_docs([doc, doc])
    assert get_errors(both) == LABELS * 2
    assert error_scores(both) is None
    assert both[1]._.is_error
    assert both[1]._.error_score is None


def test_spans_of_users_making(doc):
    group = [Span(doc, 1, 4, label="A"), Span(doc, 3, 5, label="B"), Span(doc, 0, 1)]
    doc.spans["errors"] = SpanGroup(doc, name="errors", spans=group)
    assert get_errors(doc) == ["ERROR", "A", "A", "A", "B"]


def test_numbers_of_labels_and_scores_are_checked(doc):
    with pytest.raises(ValueError, match="4 labels for 5 tokens"):
        set_errors(doc, LABELS[:4])
    with pytest.raises(ValueError, match="5 labels and 1 scores for 5 tokens"):
        set_errors(doc, LABELS, [0.5])


def test_neighbours_that_are_errors_of_their_own(doc):
    """ "have go" are two errors; each may have its correction."""
    labels = ["", "R", "R", "R", ""]
    for begins, spans in (
        ((), [(1, 4)]),
        ({2}, [(1, 2), (2, 4)]),
        (range(5), [(1, 2), (2, 3), (3, 4)]),
        ({0, 4}, [(1, 4)]),
    ):
        set_errors(doc, labels, SCORES, begins=begins)
        assert [(s.start, s.end) for s in doc.spans["errors"]] == spans
        scores = [max(SCORES[start:end]) for start, end in spans]
        assert doc.spans["errors"].attrs["scores"] == scores
        assert get_errors(doc) == labels
